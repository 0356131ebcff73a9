"""Published values as leaves: runs of neighbours in the order of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadTable
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import text


def covered_leaves(tree: Tree, label: Label) -> Longs:
    """The leaves that a published label covers: sorted numbers of nodes.

    >>> tree = Tree.from_rows([["Cat", "Felid", "*"], ["Lion", "Felid", "*"], ["Dog", "*"]])
    >>> covered_leaves(tree, "Felid").tolist()
    [2, 3]
    """
    node = tree.node(label)
    if node < 0:
        return leaves_outside(tree, label)
    below = np.arange(node, tree.end[node], dtype=np.int64)
    return np.asarray(below[tree.end[below] == below + 1])


def leaves_outside(tree: Tree, label: Label) -> Longs:
    """The leaves of a label that is not a node of the tree: those of a free value."""
    cover = tree.cover(label) if isinstance(tree, FreeTree) and label is not None else None
    if isinstance(cover, tuple):
        assert isinstance(tree, FreeTree)
        return tree.members(cover).astype(np.int64)
    if cover is not None:
        return covered_leaves(tree, tree.labels[cover])
    raise BadTable(
        f"publishes {'a missing value' if label is None else repr(label)}, which its hierarchy "
        "lacks; use the plan that the release was made with"
    )


@dataclass(frozen=True, eq=False)
class LeafRuns:
    """The leaves that published values cover, as runs in the order of the tree."""

    start: Longs  # int64[values]: value v has the runs start[v] … start[v + 1] - 1
    low: Longs  # int64[runs], places among the leaves
    high: Longs  # int64[runs], one past the last
    size: Longs  # int64[values], leaves

    @staticmethod
    def of_nodes(tree: Tree, nodes: Longs) -> LeafRuns:
        """The runs of nodes: one each."""
        upto = leaves_before(tree)
        low, high = upto[nodes], upto[tree.end[nodes]]
        return LeafRuns(np.arange(len(nodes)), low, high, high - low)

    @staticmethod
    def of_labels(tree: Tree, values: Sequence[Any]) -> LeafRuns:
        """The runs of values as a table has them; None is missing."""
        missing = tree.node(None)
        found = [missing if value is None else tree.find(text(value)) for value in values]
        nodes = np.array(found, np.int64)
        if (nodes >= 0).all():
            return LeafRuns.of_nodes(tree, nodes)
        upto, runs = leaves_before(tree), []
        for value, node in zip(values, nodes, strict=True):
            label = None if value is None else text(value)
            leaves = covered_leaves(tree, label if node < 0 else tree.labels[node])
            runs.append(_runs(upto[leaves]))
        many = np.array([len(low) for low, _ in runs])
        low, high = (np.concatenate(ends) for ends in zip(*runs, strict=True))
        start = np.cumsum(many) - many
        return LeafRuns(start, low, high, np.add.reduceat(high - low, start))

    def share(self, low: int, high: int) -> Floats:
        """The share of each value's leaves that are in a span, float64[values]."""
        return np.asarray(self.shares(np.array([low]), np.array([high]))[0])

    def shares(self, low: Longs, high: Longs) -> Floats:
        """The share of each value's leaves that are in each span, float64[spans, values].

        |pred(A) ∩ r.A| / |r.A| of eq. 19, Wang 2018.
        """
        inside = np.minimum(self.high, high[:, None]) - np.maximum(self.low, low[:, None])
        np.maximum(inside, 0, out=inside)
        return np.asarray(np.add.reduceat(inside, self.start, axis=1) / self.size)


def leaves_before(tree: Tree) -> Longs:
    """The number of leaves before each node in the order of the tree, int64[nodes + 1]."""
    leaf = tree.end == np.arange(1, tree.size + 1)
    return np.append(0, np.cumsum(leaf)).astype(np.int64)


def _runs(leaves: Longs) -> tuple[Longs, Longs]:
    """Sorted positions as runs of neighbours: where each starts, and one past its end."""
    breaks = np.flatnonzero(np.diff(leaves) > 1)
    return leaves[np.append(0, breaks + 1)], leaves[np.append(breaks, len(leaves) - 1)] + 1
