"""Vectors that share people of a population: grouped by an index, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchies.tree import Tree
from shoal.table.encode import Table
from shoal.table.population.population import Population
from tests.naive import sharing
from tests.strategies import examples, tables


def places(label):
    """The groups as lists of places."""
    return sorted(np.flatnonzero(label == one).tolist() for one in np.unique(label))


@settings(max_examples=examples(200), deadline=None)
@pytest.mark.parametrize("free", [False, True])
@given(data=st.data())
def test_groups_are_those_of_all_pairs(free, data):
    table = data.draw(tables(most_rows=12, free=free))
    population = Population(Table(table.names, table.trees, table.codes, None, table.exact))
    labels = []
    for j, covers in enumerate(table.covers):
        one = list(dict.fromkeys(covers.labels()))
        kind = getattr(covers.tree, "kind", "")
        if kind == "sets" and len(covers.tree.labels) > 3:
            leaves = [label for label in covers.tree.labels[1:] if label is not None]
            some = data.draw(st.sets(st.sampled_from(leaves), min_size=2))
            if len(some) < len(leaves):
                one.append("{" + ", ".join(sorted(some)) + "}")
        elif kind == "ranges" and len(covers.tree.numbers) > 2:
            low = data.draw(st.integers(0, len(covers.tree.numbers) - 2))
            one.append(f"[{covers.tree.numbers[low]}, {covers.tree.numbers[low + 1]}]")
        labels.append([label for label in one if label is not None])
        assert labels[j]
    vectors = data.draw(
        st.lists(
            st.tuples(*(st.integers(0, len(one) - 1) for one in labels)),
            min_size=1, max_size=8, unique=True,
        )
    )  # fmt: skip
    codes = np.array(vectors, np.int32)
    named = [tuple(one[c] for one, c in zip(labels, row, strict=True)) for row in vectors]
    found = population.reader(table.names, labels).groups(codes)
    assert places(found) == sharing.groups(population.table, named)


def test_a_chain_of_vectors_is_one_group():
    tree = Tree.from_rows([["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"]])
    codes = np.array([[tree.find(a), tree.find(b)] for a, b in ["12", "13", "33"]], np.int32)
    population = Population(Table(("a", "b"), (tree, tree), codes, None, (True, True)))
    reader = population.reader(("a", "b"), [tree.labels, tree.labels])
    asked = [("low", "2"), ("1", "*"), ("low", "high"), ("high", "*"), ("2", "2")]
    vectors = np.array([[tree.find(a), tree.find(b)] for a, b in asked], np.int32)
    assert places(reader.groups(vectors)) == [[0, 1, 2], [3], [4]]
