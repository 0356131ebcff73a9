"""Trees: spans, joins, levels, leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadHierarchy
from shoal.hierarchies.tree import Tree
from tests.naive import losses as naive
from tests.strategies import trees


@given(tree=trees(most=14), data=st.data())
def test_join_is_the_least_node_that_covers_both(tree, data):
    a = data.draw(st.integers(0, tree.size - 1))
    b = data.draw(st.integers(0, tree.size - 1))
    above = [v for v in range(tree.size) if tree.covers(v, a) and tree.covers(v, b)]
    assert tree.join(a, b) == tree.join(b, a) == max(above)


@given(tree=trees(most=14))
def test_levels_leaves_and_height_as_defined(tree):
    assert tree.level.tolist() == [naive.level(tree, v) for v in range(tree.size)]
    assert tree.leaves.tolist() == [naive.leaves(tree, v) for v in range(tree.size)]
    assert tree.height == naive.height(tree)


@given(tree=trees(most=14))
def test_a_node_covers_itself_and_what_is_below(tree):
    for v in range(tree.size):
        below = [v]
        for w in range(v + 1, tree.size):
            if tree.parent[w] in below:
                below.append(w)
        assert [w for w in range(tree.size) if tree.covers(v, w)] == below


def test_a_missing_value_is_a_leaf_under_the_root():
    tree = Tree.from_rows([["a", "A", "*"], ["b", "A", "*"]]).with_missing()
    missing = tree.node(None)
    assert tree.parent[missing] == 0
    assert tree.covers(0, missing)
    assert not tree.covers(tree.node("A"), missing)
    assert tree.leaves[0] == 3
    assert tree.with_missing() is tree


def test_a_value_that_is_also_a_group_counts_itself():
    tree = Tree.from_rows([["Other", "*"], ["Foo", "Other", "*"]])
    assert tree.leaves[tree.node("Other")] == 2


def test_a_label_that_follows_itself_is_one_node():
    tree = Tree.from_rows(
        [["White", "White", "*"], ["Black", "Other", "*"], ["Asian", "Other", "*"]]
    )
    assert tree.labels == ("*", "White", "Other", "Black", "Asian")
    assert tree.height == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "empty"),
        ([["a", "X", "*"], ["a", "Y", "*"]], "'a' has the parents 'X', 'Y'"),
        ([["a", "X", "P", "*"], ["b", "X", "Q", "*"]], "'X' has the parents 'P', 'Q'"),
        ([["a", "X", "*"], ["b", "X", "all"]], r"'\*' \(row 1\), 'all' \(row 2\)"),
        ([["a", "b", "*"], ["b", "a", "*"]], "only one parent"),
        ([["a", "b", "a"]], "cycle"),
    ],
)
def test_what_is_wrong_is_named(rows, message):
    with pytest.raises(BadHierarchy, match=message):
        Tree.from_rows(rows)


def test_counts_override_the_leaves_that_occur():
    tree = Tree.from_rows([["3", "[0, 5)", "*"], ["7", "[5, 10)", "*"]], {"[0, 5)": 2, "*": 5})
    assert dict(zip(tree.labels, tree.leaves.tolist(), strict=True)) == {
        "*": 5, "[0, 5)": 2, "3": 1, "[5, 10)": 1, "7": 1,
    }  # fmt: skip
    assert tree.leaves.dtype == np.int64
