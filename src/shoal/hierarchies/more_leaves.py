"""More leaves for a tree whose inner nodes are known from a few of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.hierarchies.tree import Labels, Tree


def with_more_leaves(few: Tree, labels: pa.Array, heads: Longs) -> tuple[Tree, Longs]:
    """The tree with all of these leaves in the places of its own, and the node of each leaf.

    All leaves are below inner nodes without other inner nodes. `labels` are in the order of the
    tree; those at `heads` are the first below each such node, and leaves of the tree already.

    >>> few = Tree.from_rows([["1", "low", "*"], ["7", "high", "*"]])
    >>> tree, nodes = with_more_leaves(few, pa.array(["1", "2", "7"]), np.array([0, 2]))
    >>> tree.labels, nodes.tolist()
    (('*', 'low', '1', '2', 'high', '7'), [2, 3, 5])
    """
    count = len(labels)
    is_leaf = few.end == np.arange(1, few.size + 1)
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    first = np.append(heads, count)  # the place among the labels of each leaf of the tree

    def before(nodes: Longs) -> Longs:
        """How many labels come before these nodes."""
        return first[np.minimum(np.searchsorted(leaves, nodes), len(heads))]

    begin = before(inner)
    nodes = np.arange(count) + np.searchsorted(begin, np.arange(count), side="right")
    place = np.arange(len(inner)) + begin  # of the inner nodes in the new tree
    after = few.end[inner].astype(np.int64)
    size = len(inner) + count
    parent, end = np.zeros(size, np.int32), np.arange(1, size + 1, dtype=np.int32)
    parent[place] = place[np.searchsorted(inner, few.parent[inner])]
    parent[nodes] = place[nodes - np.arange(count) - 1]
    end[place] = np.searchsorted(inner, after) + before(after)
    below, order = np.ones(size, few.leaves.dtype), np.empty(size, np.int64)
    below[place] = few.leaves[inner]
    order[place], order[nodes] = count + np.arange(len(inner)), np.arange(count)
    names = pa.array([few.labels[node] for node in inner.tolist()], labels.type)
    made = Labels(pa.concat_arrays([labels, names]), pa.array(order))
    return replace(few, labels=made, parent=parent, end=end, leaves=below), nodes
