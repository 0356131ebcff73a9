"""An index of clusters, and how the kernels that search it are run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.base.pace import Pace
from shoal.kernels.grouping import merge as merging
from shoal.kernels.search import class_index as trie


def fan_of(trees: trie.Trees) -> int:
    """The most children that a node of an index can have."""
    return int(np.diff(trees.start).max())


def make_index(clusters: int, trees: trie.Trees) -> trie.Index:
    """An empty index for so many clusters."""
    q, fan = len(trees.start) - 1, fan_of(trees)
    nodes, pool = 2 * clusters + 8 * q + 8, 3 * clusters + 4 * fan + 16 * q + 64
    index: trie.Index = trie.empty_index(clusters, len(trees.cost), nodes, pool)
    return index


def larger(index: trie.Index, trees: trie.Trees) -> trie.Index:
    """The same index with twice the room."""
    room = 2 * len(index.node), 2 * len(index.pool) + 4 * fan_of(trees)
    grown: trie.Index = trie.grow_index(index, *room)
    return grown


def make_work(trees: trie.Trees) -> trie.Work:
    """Scratch space for searches."""
    q = len(trees.start) - 1
    return trie.Work(
        np.empty((q + 1, 9), np.int64), np.zeros(q + 1, np.int64), np.zeros(2, np.int64)
    )


def run(
    step: Callable[[trie.Index, int], int],
    index: trie.Index,
    trees: trie.Trees,
    tell: Callable[[], None],
) -> trie.Index:
    """Call a kernel piece by piece until it is done, with a larger index where it needs one.

    Returns that index. Between two pieces there is time to tell how far it is, and for Ctrl-C.
    """
    pace = Pace(1_000)
    while True:
        outcome = step(index, pace.begin())
        if outcome == merging.DONE:
            return index
        if outcome == merging.NEEDS_ROOM:
            index = larger(index, trees)
        else:
            pace.end()
        tell()
