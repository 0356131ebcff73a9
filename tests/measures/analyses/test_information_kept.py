"""The information that a column keeps, against pairs in lists and all ways to pair them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.measures.analyses.information_kept import kept_facts, most_entropy
from shoal.measures.analyses.variables import forms_of
from tests.measures.analyses.tables import case
from tests.naive import analyses as naive
from tests.strategies import examples


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_information_kept_is_that_of_the_pairs(seed):
    one = case(seed)
    table, recoding = one.release.tables.original, one.release.tables.recoding
    forms = forms_of(one.release.tables).quasi
    exact = kept_facts(one.release.tables, forms)
    least = kept_facts(replace(one.release.tables, recoding=None), forms)
    for j, (fact, bound) in enumerate(zip(exact, least, strict=True)):
        before, after = table.codes[:, j].tolist(), recoding.column(j).tolist()
        wanted = naive.kept(before, after)
        assert fact.percent == (None if wanted is None else pytest.approx(wanted, abs=1e-9))
        assert not fact.at_least
        assert bound.at_least
        if wanted is not None:
            assert bound.percent <= fact.percent + 1e-9


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_no_way_to_pair_the_records_has_less_information(data):
    """All ways in which every published value covers its original, one by one."""
    values = data.draw(st.lists(st.sampled_from(["11", "12", "21", "22"]), min_size=2, max_size=5))
    published = [
        data.draw(st.sampled_from([value, f"{value[0]}*", "*"]), label=value) for value in values
    ]
    plan = Plan(columns={"code": {"role": "quasi", "hierarchy": {"prefixes": True}}})
    found = shoal.audit(
        pa.table({"code": published}), plan, original=pa.table({"code": values})
    ).analyses
    ways = [
        way
        for way in permutations(published)
        if all(v.startswith(p.rstrip("*")) for v, p in zip(values, way, strict=True))
    ]
    each = [naive.kept(values, way) for way in ways]
    (fact,) = found.kept
    if each[0] is None:
        assert fact.percent is None
    else:
        assert fact.percent <= min(each) + 1e-6


def test_the_bound_is_close_if_values_are_generalized_at_random():
    """Of two values, half of the records each become their common parent."""
    had, has = np.array([500.0, 500.0]), np.array([250.0, 250.0, 500.0])
    pairs = np.array([[0, 0], [1, 1], [0, 2], [1, 2]]).T
    # The pairs are equally likely: two bits.
    assert most_entropy(had, has, *pairs) == pytest.approx(2, abs=1e-6)


def test_columns_that_keep_all_or_nothing():
    table = pa.table({"age": ["1", "2", "1", "2"], "sex": ["f", "f", "m", "m"], "one": ["x"] * 4})
    columns = dict.fromkeys(table.column_names, "quasi")
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}])
    release = shoal.anonymize(table, plan)
    found = {fact.column: fact.percent for fact in release.analyses.kept}
    assert sorted(found.values(), key=str) == [0, 100, None]
    assert found["one"] is None
