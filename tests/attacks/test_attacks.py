"""Attacks with other options than the default, against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from shoal.attacks.similarity import Similarity
from shoal.hierarchies.base import Hierarchy
from shoal.table.published_table import Published
from shoal.table.sensitive import Sensitive
from tests.attacks.tables import columns, look
from tests.naive import attacks as naive
from tests.strategies import trees

TREE = Hierarchy.from_tree({"*": {"a": {"b": ["0", "1"], "2": None}, "c": ["3", "4"], "5": None}})


@given(table=columns(), limits=st.tuples(*[st.sampled_from([0, 0.1, 1 / 3, 0.5, 0.9, 1])] * 2))
def test_skewness_with_other_limits(table, limits):
    attack = catalog.attacks["skewness"](gain=limits[0], belief=limits[1])
    assert attack.run(look(*table))["s"] == pytest.approx(naive.skewness(*table, *limits))


@given(tree=trees(), data=st.data())
def test_similarity_by_hierarchy(tree, data):
    codes, values = data.draw(columns((*tree.labels, None)))
    hierarchy = Hierarchy.from_tree({"n0": {}})
    hierarchy._tree = tree
    found = Similarity().run(look(codes, values, hierarchy))["s"]
    expected = naive.one_branch(codes, values, tree.with_missing())
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@given(
    table=columns((-40, 0, 1, 2, 3.5, 5, 6, 7, 9, 100, None)), narrow=st.sampled_from([0, 0.3, 1])
)
def test_similarity_by_numbers(table, narrow):
    found = Similarity(narrow=narrow).run(look(*table))["s"]
    if found["judged_by"] == "nothing":  # all values are missing
        assert set(table[1]) == {None}
        assert found["percent"] is None
        return
    expected = naive.narrow_range(*table, narrow)
    assert {key: found[key] for key in expected} == pytest.approx(expected)


def test_many_classes_are_no_burden():
    rng = np.random.default_rng(1)
    codes = np.arange(300_000, dtype=np.int32)[:, None] // 3
    numbers = rng.integers(0, 1000, 300_000).astype(np.int32)
    column = Sensitive("s", numbers, tuple(range(1000)), Hierarchy.ranges([10, 100]))
    table = Published(("p",), codes, (list(range(100_000)),), None, (column,))
    for kind in catalog.attacks.values():
        assert kind.needs_original or kind().run(table)
