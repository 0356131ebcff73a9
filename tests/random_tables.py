"""Small random tables by the thousand, for laws that are checked against brute force.

They are drawn from a seeded generator rather than by hypothesis: a thousand take seconds. Trees
are unbalanced and have chains, values are skewed, some are general already or missing, and people
may have several records.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from shoal import catalog
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import FreeTree
from shoal.table.allowed.at_most import AtMost, tops_of
from shoal.table.encode import Table


def random_tree(rng, most=8):
    """Any small tree, now and then with a leaf for missing values.

    Half of them are balanced: with one column at one level these have more to choose from.
    """
    if rng.random() < 0.5:
        rows = [[f"v{i}"] for i in range(int(rng.integers(3, most + 1)))]
        for level in range(int(rng.integers(1, 3))):
            up = {row[-1]: f"g{level}{rng.integers(0, 4 - level)}" for row in rows}
            rows = [[*row, up[row[-1]]] for row in rows]
        tree = Hierarchy.from_levels([[*row, "*"] for row in rows]).tree()
        return tree.with_missing() if rng.random() < 0.2 else tree
    size = int(rng.integers(1, most + 1))
    if size == 1:
        return Hierarchy.from_levels([["only"]]).tree()
    above = {f"n{i}": f"n{rng.integers(0, i)}" for i in range(1, size)}
    tree = Hierarchy.from_parents(above).tree()
    return tree.with_missing() if rng.random() < 0.2 else tree


def random_table(rng, most_rows=12, most_columns=3, least_rows=2):
    """A table; in half of them people may have several records."""
    rows = int(rng.integers(least_rows, most_rows + 1))
    trees = tuple(random_tree(rng) for _ in range(int(rng.integers(1, most_columns + 1))))
    codes = np.empty((rows, len(trees)), np.int32)
    for j, tree in enumerate(trees):
        general = rng.random() < 0.25
        pool = [v for v in range(tree.size) if general or tree.end[v] == v + 1]
        share = rng.dirichlet(np.full(len(pool), rng.choice([0.2, 1.0, 5.0])))
        if rng.random() < 0.5:  # one value dominates: entropy falls on the way up
            share = np.full(len(pool), 0.4 / len(pool))
            share[rng.integers(len(pool))] += 0.6
        codes[:, j] = rng.choice(pool, rows, p=share)
    people = None
    if rng.random() < 0.5:
        people = np.unique(rng.integers(0, rows, rows), return_inverse=True)[1].astype(np.int64)
    names = tuple(f"q{j}" for j in range(len(trees)))
    return Table(names, trees, codes, people, (True,) * len(trees))


def weighted(table, rng):
    """The same table with columns of random importance, 1 on average as in `encode`."""
    drawn = rng.choice([0.25, 1.0, 1.0, 3.0, 10.0, rng.random() + 0.01], len(table.names))
    return replace(table, importance=tuple((drawn * len(drawn) / drawn.sum()).tolist()))


class ByTree(Hierarchy):
    """A hierarchy that leaves it to the tree of the column how high a value is."""

    name = "by tree"

    def tree(self, values=()):
        raise NotImplementedError

    def setting(self):
        return {"flat": True}

    def level_of(self, label):
        return None


def limited(table, rng):
    """The same table with `at_most` for some columns: a random level, or a width of ranges."""
    tops = []
    for tree in table.trees:
        at_most = AtMost(level=int(rng.integers(0, max(tree.height, 1))))
        if isinstance(tree, FreeTree):
            width = Fraction(int(rng.choice([1, 2, 3, 5])))
            at_most = AtMost(level=0) if tree.kind == "sets" else AtMost(width=width)
        found = tops_of(at_most, ByTree(), tree)
        tops.append(None if found.without_effect or rng.random() < 0.2 else found)
    return replace(table, tops=tuple(tops) if any(tops) else ())


def random_loss(name, table, rng):
    """The loss of this name and its edge weights: random ones, some of them zero, for `weights`."""
    if name != "weights":
        return catalog.losses[name](), None
    weights = {
        column: {
            label: float(rng.choice([0.0, 1.0, 2.0, rng.random()]))
            for label in tree.labels[1:]
            if label is not None
        }
        for column, tree in zip(table.names, table.trees, strict=True)
    }
    return catalog.losses[name](edge_weights=weights), weights
