from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from shoal import Hierarchy, datasets
from shoal.base.errors import BadInput
from shoal.datasets.artificial import DISTRIBUTIONS, SUBSETS, hierarchies
from shoal.hierarchies.tree import Tree


def tree(name: str) -> Tree:
    return Hierarchy.from_tree(hierarchies()[name]).tree()  # type: ignore[arg-type]


def sets(name: str) -> set[frozenset[str]]:
    """The collection of permissible subsets: the leaves below every node."""

    def walk(nested: object, label: str) -> frozenset[str]:
        if nested is None:
            below = frozenset([label])
        else:
            assert isinstance(nested, dict)
            below = frozenset().union(*(walk(inside, one) for one, inside in nested.items()))
        found.add(below)
        return below

    found: set[frozenset[str]] = set()
    walk(hierarchies()[name]["*"], "*")  # type: ignore[index]
    return found


def values(first: int, last: int) -> frozenset[str]:
    return frozenset(f"a{i}" for i in range(first, last + 1))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_probabilities_sum_to_one(name: str) -> None:
    assert sum(Fraction(str(chance)) for chance in DISTRIBUTIONS[name]) == 1


def test_distributions_as_printed() -> None:
    assert [len(chances) for chances in DISTRIBUTIONS.values()] == [2, 4, 4, 25, 10, 5]
    often = [DISTRIBUTIONS["A4"].count(chance) for chance in (0.07, 0.04, 0.02)]
    assert often == [6, 10, 9]
    assert DISTRIBUTIONS["A4"] == tuple(sorted(DISTRIBUTIONS["A4"], reverse=True))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_values_are_as_frequent_as_said(name: str) -> None:
    rows = 200_000
    counts = {
        one["values"]: one["counts"]
        for one in datasets.artificial(rows, seed=5)[name].value_counts().to_pylist()
    }
    for i, chance in enumerate(DISTRIBUTIONS[name], 1):
        spread = (rows * chance * (1 - chance)) ** 0.5
        assert abs(counts[f"a{i}"] - rows * chance) < 5 * spread


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_trees_hold_the_sets_of_the_paper_and_no_others(name: str) -> None:
    size = len(DISTRIBUTIONS[name])
    singles = {values(i, i) for i in range(1, size + 1)}
    assert sets(name) == {values(1, size)} | singles | {values(*span) for span in SUBSETS[name]}


def test_the_tree_that_the_paper_describes() -> None:
    """Unbalanced, of height 3: a4 and a5 are 3 from the root, the others 2."""
    unbalanced = tree("A6")

    def depth(label: str) -> int:
        node, steps = unbalanced.node(label), 0
        while node:
            node, steps = int(unbalanced.parent[node]), steps + 1
        return steps

    assert [depth(f"a{i}") for i in range(1, 6)] == [2, 2, 2, 3, 3]
    assert unbalanced.height == 4  # in nodes


def test_shape() -> None:
    table = datasets.artificial()
    assert table.num_rows == 5_000
    assert table.column_names == list(DISTRIBUTIONS) == list(hierarchies())
    assert set(table.schema.types) == {pa.string()}
    for name in DISTRIBUTIONS:
        for value in table[name].unique().to_pylist():
            node = tree(name).node(value)
            assert node > 0
            assert tree(name).leaves[node] == 1


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_as_many_rows_as_asked_for(rows: int) -> None:
    assert datasets.artificial(rows).num_rows == rows


def test_a_seed_gives_one_table() -> None:
    assert datasets.artificial(300, seed=1).equals(datasets.artificial(300, seed=1))
    assert not datasets.artificial(300, seed=1).equals(datasets.artificial(300, seed=2))


def test_fewer_rows_than_none() -> None:
    with pytest.raises(BadInput, match="got rows=-1"):
        datasets.artificial(-1)
