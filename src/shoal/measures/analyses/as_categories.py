"""As categories: how the values of a column enter contingency tables and models.

A column has at most 30 categories: the finest level of its hierarchy with no more nodes, or its
most frequent values and the rest. A general value is spread over the categories that it covers, in
proportion to the records that the same table has below each of them, and evenly over the values
where it has none. For values that are nested this is the most likely distribution if values are
generalized at random (Heitjan, Rubin 1991: coarsening at random), and it needs the table alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.tree import Tree
from shoal.measures.analyses.as_numbers import is_missing, leaves

MOST = 30  # categories of a column
NOWHERE = -1  # the category of a node that covers several, or none


class Categories(NamedTuple):
    """The values of a column as categories."""

    row: Ints  # int32[values], places in `share`
    share: Floats  # float64[rows, categories]; a missing value has a row of zeros

    @property
    def number(self) -> int:
        """Number of categories."""
        return int(self.share.shape[1])


def node_categories(tree: Tree, often: Longs) -> Ints:
    """The category of each node at or below the level that is used, int32[nodes]; -1 above.

    `often` is how many records of the original have each node.
    """
    depth = depths(tree)
    leaf = leaves(tree)
    inner = tree.end > np.arange(1, tree.size + 1)
    below = _below(tree, often)
    top = np.flatnonzero(leaf)  # of a tree of a single value
    for level in range(int(depth.max()), 0, -1):
        top = np.flatnonzero(((depth == level) & (leaf | inner)) | (leaf & (depth < level)))
        if len(top) <= MOST:
            break
    number = np.arange(len(top))
    if len(top) > MOST:  # the most frequent ones; all others are one category
        order = np.argsort(-below[top], kind="stable")
        number[order] = np.minimum(np.arange(len(top)), MOST - 1)
    category = np.full(tree.size, NOWHERE, np.int32)
    for node, place in zip(top.tolist(), number.tolist(), strict=True):
        category[node : tree.end[node]] = place
    return category


def depths(tree: Tree) -> Longs:
    """The number of edges from each node to the root, int64[nodes]."""
    depth = np.zeros(tree.size, np.int64)
    here = tree.parent.astype(np.int64)
    up = np.arange(tree.size) > 0
    while up.any():
        depth[up] += 1
        up &= here > 0
        here = tree.parent[here].astype(np.int64)
    return depth


def _below(tree: Tree, often: Floats | Longs) -> Floats:
    """The records at or below each node, float64[nodes]."""
    upto = np.append(0.0, np.cumsum(often, dtype=np.float64))
    return np.asarray(upto[tree.end] - upto[:-1])


class Spread(NamedTuple):
    """How the values of a column are spread over its categories, learned from one table."""

    tree: Tree
    category: Ints  # int32[nodes]
    number: int  # categories
    weight: Floats  # float64[nodes]: a node is spread over those below it in proportion to this
    often: Floats  # float64[nodes], records of the table

    @staticmethod
    def of(tree: Tree, category: Ints, often: Floats) -> Spread:
        """Learn from how many records of a table have each node."""
        below = _below(tree, often)
        inside = np.zeros(tree.size)  # records below the node, not at it
        np.add.at(inside, tree.parent[1:], below[1:])
        values = np.zeros(tree.size)  # leaves of all children
        size = tree.leaves.astype(np.float64)
        np.add.at(values, tree.parent[1:], size[1:])
        up = tree.parent
        known = inside[up] > 0
        share = np.where(
            known, below / np.where(known, inside[up], 1.0), size / np.maximum(values[up], 1.0)
        )
        share[0] = 1.0
        weight = np.ones(tree.size)
        depth = depths(tree)
        for level in range(1, int(depth.max()) + 1):
            here = np.flatnonzero(depth == level)
            weight[here] = weight[up[here]] * share[here]
        return Spread(tree, category, int(category.max()) + 1, weight, often)

    def of_codes(self, codes: Longs, covers: Covers) -> Categories:
        """The shares of these codes: nodes of the tree, or free values."""
        row = np.full(len(codes), self.number, np.int32)  # the row of zeros
        node = codes < self.tree.size
        known = self.category[np.where(node, codes, 0)]
        single = node & (known != NOWHERE)
        row[single] = known[single]
        share = [*np.eye(self.number), np.zeros(self.number)]
        for place in np.flatnonzero(~single).tolist():
            code = int(codes[place])
            if code >= self.tree.size or not is_missing(self.tree, code):
                row[place] = len(share)
                share.append(self._general(code, covers))
        return Categories(row, np.array(share).reshape(-1, self.number))

    def _general(self, code: int, covers: Covers) -> Floats:
        """The shares of a value that covers several categories."""
        if code < self.tree.size:
            inside = np.arange(code + 1, int(self.tree.end[code]))
            # The topmost nodes with a category: those below them have the same one.
            inside = inside[
                (self.category[inside] != NOWHERE)
                & (self.category[self.tree.parent[inside]] == NOWHERE)
            ]
            weight = self.weight[inside]
            if not weight.sum():  # a value that the table does not have
                weight = self.tree.leaves[inside].astype(np.float64)
        else:
            members = covers.free.members(covers.covers[code - self.tree.size])
            inside = np.flatnonzero(self.category[members] != NOWHERE)
            inside = members[inside].astype(np.int64)
            weight = self.often[inside]
            if not weight.sum():
                weight = np.ones(len(inside))
        share = np.bincount(self.category[inside], weight, self.number)
        total = share.sum()
        return np.asarray(share / total if total > 0 else share)


def most_frequent(often: Longs) -> Ints:
    """The category of each value of an unchanged column, int32[values], by its frequency.

    >>> most_frequent(np.array([5, 9])).tolist()
    [1, 0]
    """
    order = np.argsort(-often, kind="stable")
    category = np.empty(len(often), np.int32)
    category[order] = np.minimum(np.arange(len(often)), MOST - 1)
    return category
