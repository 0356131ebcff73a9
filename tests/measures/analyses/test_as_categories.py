"""How values are spread over categories."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy
from shoal.hierarchies.free_values import Covers
from shoal.measures.analyses.as_categories import MOST, Spread, most_frequent, node_categories
from tests.naive import analyses as naive
from tests.strategies import trees


def paths_of(tree):
    """From each leaf up to the root, by labels."""
    found = {}
    for leaf in range(tree.size):
        if tree.end[leaf] == leaf + 1:
            here, path = leaf, [tree.labels[leaf]]
            while here:
                here = int(tree.parent[here])
                path.append(tree.labels[here])
            found[path[0]] = path
    return found


@given(tree=trees(), data=st.data())
def test_a_general_value_is_spread_as_the_table_is(tree, data):
    often = np.array(data.draw(st.lists(st.integers(0, 3), min_size=tree.size, max_size=tree.size)))
    labels = [label for label, many in zip(tree.labels, often, strict=True) for _ in range(many)]
    category = node_categories(tree, np.ones(tree.size, np.int64))
    spread = Spread.of(tree, category, often.astype(float))
    paths = paths_of(tree)
    codes = np.flatnonzero(often > 0)
    found = spread.of_codes(codes, Covers(tree))
    for code, row in zip(codes, found.row, strict=True):
        share = dict.fromkeys(paths, 0.0)
        wanted = naive.shares(tree.labels[code], labels, paths)
        if tree.size == 1:
            wanted = {tree.labels[0]: 1.0}
        share |= wanted or {}
        got = {v: found.share[row][category[tree.node(v)]] for v in paths}
        assert got == pytest.approx(share)


def test_free_sets_are_spread_by_the_values_that_are_published_exactly():
    tree = Hierarchy.free_sets().tree(["a", "b", "c"])
    covers = Covers(tree)
    codes = np.array([covers.code(tree.cover("{a, b}")), covers.code(tree.cover("{b, c}"))])
    often = np.array([0, 3, 0, 0.0])
    found = Spread.of(tree, node_categories(tree, np.ones(4, np.int64)), often)
    shares = found.of_codes(codes, covers)
    assert shares.share[shares.row].tolist() == [[1, 0, 0], [0, 0.5, 0.5]]


def test_the_finest_level_with_few_nodes_is_used():
    rows = [[f"{i:02}", f"{i // 3}x", f"{i // 30}xx", "*"] for i in range(90)]
    tree = Hierarchy.from_levels(rows).tree()
    category = node_categories(tree, np.ones(tree.size, np.int64))
    assert category.max() + 1 == 30
    assert category[tree.node("00")] == category[tree.node("0x")] == category[tree.node("02")]
    assert category[tree.node("00")] != category[tree.node("03")]
    assert category[tree.node("0xx")] == -1


def test_of_many_values_without_levels_the_rarer_ones_are_one_category():
    tree = Hierarchy.flat().tree([f"{i:03}" for i in range(100)])
    often = np.append(0, np.arange(100, 0, -1))
    category = node_categories(tree, often)[1:]
    assert category[: MOST - 1].tolist() == [*range(MOST - 1)]
    assert set(category[MOST - 1 :].tolist()) == {MOST - 1}
    assert most_frequent(often[1:]).tolist() == category.tolist()


def test_missing_values_have_no_category():
    tree = Hierarchy.flat().tree(["a", "b"]).with_missing(["?"])
    category = node_categories(tree, np.ones(tree.size, np.int64))
    assert category.tolist() == [-1, 0, 1, -1, -1]
    found = Spread.of(tree, category, np.ones(5)).of_codes(np.arange(5), Covers(tree))
    assert found.share[found.row].tolist() == [[0, 0], [1, 0], [0, 1], [0, 0], [0, 0]]
