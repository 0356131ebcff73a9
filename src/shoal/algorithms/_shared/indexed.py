"""The index of classes, and the loop that runs kernels over an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from shoal.base.pace import Pace
from shoal.kernels.grouping import merge as merging
from shoal.kernels.search import class_index as trie
from shoal.kernels.search.class_search import Work

Index = TypeVar("Index")


def fan_of(trees: trie.Trees) -> int:
    """The maximum number of children of a node of an index."""
    return int(np.diff(trees.start).max())


def make_index(clusters: int, trees: trie.Trees) -> trie.Index:
    """An empty index for this number of clusters."""
    q, fan = len(trees.start) - 1, fan_of(trees)
    nodes, pool = 2 * clusters + 8 * q + 8, 3 * clusters + 4 * fan + 16 * q + 64
    index: trie.Index = trie.empty_index(clusters, len(trees.cost), nodes, pool)
    return index


def larger(index: trie.Index, trees: trie.Trees) -> trie.Index:
    """The same index with twice the room."""
    room = 2 * len(index.node), 2 * len(index.pool) + 4 * fan_of(trees)
    grown: trie.Index = trie.grow_index(index, *room)
    return grown


def make_work(trees: trie.Trees) -> Work:
    """Scratch space for searches."""
    q = len(trees.start) - 1
    return Work(np.empty((q + 1, 9), np.int64), np.zeros(q + 1, np.int64), np.zeros(2, np.int64))


def run(
    step: Callable[[trie.Index, int], int],
    index: trie.Index,
    trees: trie.Trees,
    report: Callable[[], None],
    pace: Pace | None = None,
) -> trie.Index:
    """Run a kernel over an index of classes, which grows if needed; returns the index.

    Pass a pace to reuse what earlier work of the same kind has shown.
    """
    return run_steps(step, index, lambda full: larger(full, trees), report, pace)


def run_steps(
    step: Callable[[Index, int], int],
    index: Index,
    enlarge: Callable[[Index], Index],
    report: Callable[[], None],
    pace: Pace | None = None,
) -> Index:
    """Call a kernel repeatedly until it is done; returns the index, which may be a new one.

    Between two calls progress is reported, and Ctrl-C works. Only a step that used up its pieces
    says something about the pace.
    """
    pace = pace or Pace(1_000)
    report()
    while True:
        outcome = step(index, pace.begin())
        if outcome == merging.PAUSED:
            pace.end()
        elif outcome == merging.NEEDS_ROOM:
            index = enlarge(index)
        report()
        if outcome == merging.DONE:
            return index
