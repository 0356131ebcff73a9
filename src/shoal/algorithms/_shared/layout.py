"""The order of a table's columns in an index of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.tree import Tree
from shoal.kernels.search import class_index as trie
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes

RARE = 0.02  # a column with more distinct values than this share of the rows has many rare ones


@dataclass(frozen=True, eq=False)
class Layout:
    """The order of the columns in an index, and their hierarchies in that order."""

    order: Longs  # int64[q], columns of the table
    shapes: list[Tree]
    trees: trie.Trees  # the same hierarchies in the form of the kernels

    @staticmethod
    def of(table: Table, start: Classes, costs: Sequence[Longs]) -> Layout:
        """A good order for the distinct tuples of a table, with the cost of each node to the root.

        Columns whose smallest step is expensive come first, as they cut off branches early. But a
        column with many values has many branches, all of which are searched in the worst case.
        """
        worth = []
        for j, tree in enumerate(table.trees):
            used = np.flatnonzero(np.bincount(table.unified[start.first, j]))
            steps = (costs[j] - costs[j][tree.parent])[used]
            least = int(steps[steps > 0].min()) if (steps > 0).any() else 0
            worth.append(least / np.log2(1 + len(used)))
        return Layout.in_order(table, costs, np.argsort(-np.array(worth), kind="stable"))

    @staticmethod
    def in_order(table: Table, costs: Sequence[Longs], order: Longs) -> Layout:
        """The columns in a given order."""
        shapes = [table.trees[j] for j in order]
        trees = trie.Trees(
            start=np.concatenate([[0], np.cumsum([tree.size for tree in shapes])]),
            parent=np.concatenate([tree.parent for tree in shapes]),
            end=np.concatenate([tree.end for tree in shapes]),
            cost=np.concatenate([costs[j] for j in order]),
            step=np.concatenate([_cheapest_edges(table.trees[j], costs[j]) for j in order]),
            ahead=any(_values(table.unified[:, j]) > RARE * table.rows for j in order),
        )
        return Layout(order, shapes, trees)

    def arranged(self, vectors: Ints) -> Ints:
        """Vectors of the table with their columns in the order of the index."""
        return np.ascontiguousarray(vectors[:, self.order])

    def restored(self, vectors: Ints) -> Ints:
        """Vectors of the index with their columns in the order of the table."""
        back = np.empty_like(vectors)
        back[:, self.order] = vectors
        return back


def _values(codes: Ints) -> int:
    """The number of different codes; counting them takes less time than sorting them."""
    return int(np.count_nonzero(np.bincount(codes)))


def _cheapest_edges(tree: Tree, cost: Longs) -> Longs:
    """The cost of the cheapest edge below each node."""
    step = np.full(tree.size, np.iinfo(np.int64).max)
    np.minimum.at(step, tree.parent[1:], (cost - cost[tree.parent])[1:])
    childless = np.bincount(tree.parent[1:], minlength=tree.size) == 0
    return np.where(childless, 0, step)
