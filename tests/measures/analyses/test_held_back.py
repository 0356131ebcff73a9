"""Which records are trained on and tested on: no record is on both sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadTable, Plan
from shoal.measures.analyses import held_back
from shoal.measures.analyses.held_back import as_published, released_without, split
from shoal.measures.analyses.variables import Forms, forms_of
from tests.measures.analyses.tables import case
from tests.strategies import examples


def everything(table):
    return np.ones(len(table.codes), np.int64)


def people(n=60, persons=False):
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "zip": rng.choice(["02138", "02139", "02141", "10001"], n),
            "disease": rng.choice(["flu", "cold", "gout"], n),
            "patient": rng.integers(0, n // 2, n) if persons else np.arange(n),
            "row": np.arange(n),
        }
    )


def release(n=60, persons=False, k=3, **more):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "disease": "sensitive",
        "patient": "person" if persons else "drop",
        "row": "other",
    }
    models = [{"name": "k-anonymity", "k": k}]
    return shoal.anonymize(people(n, persons), Plan(columns=columns, models=models, seed=1, **more))


def test_both_sides_have_different_records_and_all_of_them_are_used():
    table = release().tables.original
    found = split(table, everything(table))
    assert len(found.tested) == 20
    assert sorted([*found.trained, *found.tested]) == [*range(60)]
    again = split(table, everything(table))
    assert again.tested.tolist() == found.tested.tolist()


def test_all_records_of_a_person_are_on_one_side():
    table = release(200, persons=True).tables.original
    found = split(table, everything(table))
    assert not {*table.people[found.trained]} & {*table.people[found.tested]}
    assert sorted([*found.trained, *found.tested]) == [*range(200)]
    assert 40 <= len(found.tested) <= 67


def test_records_that_cannot_be_used_are_on_no_side():
    table = release(90, persons=True).tables.original
    usable = everything(table)
    usable[::2] = 0
    found = split(table, usable)
    assert sorted([*found.trained, *found.tested]) == [*range(1, 90, 2)]


def test_large_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(held_back, "TRAINED", 30)
    monkeypatch.setattr(held_back, "TESTED", 12)
    table = release(200).tables.original
    found = split(table, everything(table))
    assert (len(found.trained), len(found.tested)) == (30, 12)
    assert not {*found.trained} & {*found.tested}
    weight = np.full(200, 5, np.int64)
    counted = split(replace(table, weight=weight), everything(table))
    assert (len(counted.trained), len(counted.tested)) == (30, 12)
    both = np.bincount([*counted.trained, *counted.tested])
    assert both.max() <= 5


def test_too_few_records():
    table = release(20).tables.original
    with pytest.raises(BadTable, match="too few records"):
        split(table, everything(table))


def test_the_published_version_of_each_record_is_known_from_the_recoding():
    made = release(algorithm={"name": "full-domain", "suppression": 0.5}, loss="lm", k=6)
    tables = made.tables
    assert made.suppressed
    forms = forms_of(tables)
    records, rows = as_published(tables, forms, np.arange(60))
    assert len(rows) == 60 - made.suppressed
    shown = {row["row"]: row for row in made.frame.to_pylist()}
    assert sorted(rows) == sorted(shown)
    for at, row in enumerate(rows.tolist()):
        for (codes, covers), name in zip(records.quasi, ("age", "zip"), strict=True):
            assert covers.labels()[codes[at]] == str(shown[row][name])


@settings(max_examples=examples(20), deadline=None)
@given(n=st.integers(45, 80), suppress=st.booleans())
def test_without_the_recoding_no_tested_record_is_trained_on(n, suppress):
    """The column `row` tells which record is whose: it must find exactly these."""
    algorithm = {"name": "full-domain", "suppression": 0.3} if suppress else "peel"
    made = release(n, algorithm=algorithm)
    tables = replace(made.tables, recoding=None)
    forms = forms_of(tables)
    chosen = split(tables.original, everything(tables.original))
    _, rows = released_without(tables, forms, forms.unchanged, chosen)
    published = np.array(made.frame["row"].to_pylist())[rows]
    assert not {*published.tolist()} & {*chosen.tested.tolist()}
    assert len(set(rows.tolist())) == len(rows)
    if not suppress:
        assert sorted(published.tolist()) == sorted(chosen.trained.tolist())


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_each_tested_record_takes_one_out_that_could_be_its_own(seed):
    """Also if nothing tells records apart: as many are left as if it were known."""
    one = case(seed, rows=60)
    tables = replace(one.release.tables, recoding=None)
    forms = forms_of(tables)
    bare = Forms(forms.quasi, [])
    chosen = split(tables.original, everything(tables.original))
    records, rows = released_without(tables, bare, forms.unchanged, chosen)
    assert len(records) == len(rows) == len(set(rows.tolist()))
    published, suppressed = one.release.published, one.release.suppressed
    # A suppressed record that was tested may take out that of another person, or nothing.
    assert published - len(chosen.tested) <= len(rows)
    assert len(rows) <= published - len(chosen.tested) + suppressed + len(chosen.tested) // 4
