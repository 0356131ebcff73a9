"""The lattice of a table, and the search for the cheapest cells in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import Pace
from shoal.kernels.search import cells as kernels
from shoal.kernels.search.tighten import search_falls

NONE = np.int64(1) << 61  # the cost if there is no cell


def make_lattice(layout: Layout, vector: Ints, people: Longs) -> kernels.Lattice:
    """The lattice with the columns in the order of the layout; so are the vectors of the tuples."""
    shapes, trees = layout.shapes, layout.trees
    levels = max(tree.height for tree in shapes)
    climb = [np.arange(tree.size, dtype=np.int32) for tree in shapes]
    rows = []
    for level in range(levels):
        for tree, top in zip(shapes, climb, strict=True):
            above = tree.parent[top]
            rises = tree.level[above] <= level
            while rises.any() and not np.array_equal(top[rises], above[rises]):
                top[rises] = above[rises]
                above = tree.parent[top]
                rises = tree.level[above] <= level
        rows.append(np.concatenate(climb))
    own = np.stack([trees.cost[trees.start[j] + vector[:, j]] for j in range(len(shapes))], axis=1)
    own = np.cumsum(own, axis=1)
    spans = list(pairwise(trees.start.tolist()))
    keeps = [[trees.cost[lo:hi][row[lo:hi]].max() for lo, hi in spans] for row in rows]
    return kernels.Lattice(
        start=trees.start,
        end=trees.end,
        cost=trees.cost,
        height=np.array([tree.height for tree in shapes], np.int64),
        level=np.concatenate([tree.level for tree in shapes]).astype(np.int32),
        climb=np.stack(rows),
        vector=vector,
        own=own,
        lowest=own.min(axis=0),
        keeps=np.array(keeps, np.int64),
        people=people,
    )


def no_cells(lattice: kernels.Lattice, k: int) -> kernels.Best:
    """No cell known yet; each must cover k people."""
    n, q = lattice.vector.shape
    return kernels.Best(
        np.full(n, NONE), np.zeros((n, q), np.int32), np.full(n, k, np.int64), np.full(n, -1)
    )


def cheapest_cells(
    lattice: kernels.Lattice,
    best: kernels.Best,
    among: Longs,
    ceiling: int,
    reach: int,
    most: int,
    report: Callable[[], None],
) -> int:
    """Find the cheapest cell of each tuple in `among` that has none yet, up to the ceiling.

    Only people for whom the cell costs at most `reach` count. Stops after `most` visits of tuples;
    then there may be cheaper cells. Returns the number of visits.
    """
    # If `among` is sorted, tuples that are visited together are close in memory.
    some = lattice._replace(
        vector=lattice.vector[among], own=lattice.own[among], people=lattice.people[among]
    )
    found = kernels.Best(*(each[among] for each in best))
    step = partial(kernels.search_cells, some, found)
    looks = _search(some, lambda *at: step(at[0], ceiling, reach, *at[1:]), most, report)
    best.cost[among], best.level[among] = found.cost, found.level
    return looks


def common_falls(
    lattice: kernels.Lattice,
    size: Longs,
    cap: Longs,
    k: int,
    most: int,
    report: Callable[[], None],
) -> tuple[Longs, int]:
    """By how much all upper bounds on what tuples keep may fall at once, and the visits of tuples.

    The result is valid only if there were fewer than `most` visits.
    """
    fall, run, heap = cap.copy(), np.zeros(3, np.int64), np.empty((k + 1, 2), np.int64)
    step = partial(search_falls, lattice, size, cap, k, fall)
    return fall, _search(lattice, lambda *at: step(at[0], run, heap, *at[1:]), most, report)


def _search(
    lattice: kernels.Lattice,
    step: Callable[[kernels.CellSearch, int, int], int],
    most: int,
    report: Callable[[], None],
) -> int:
    """Search the cells of all tuples, with pauses for Ctrl-C; returns the visits of tuples."""
    n, q = lattice.vector.shape
    widest = int(np.diff(lattice.start).max())
    search = kernels.CellSearch(
        np.arange(n),
        np.empty(n, np.int64),
        np.empty(widest + 1, np.int64),
        np.zeros((q + 1, 5), np.int64),
        np.array([0, 1, 0, 0], np.int64),
    )
    search.stack[0, 1] = n
    pace = Pace(1_000_000)
    while True:
        outcome = step(search, pace.begin(), most)
        if outcome != kernels.PAUSED:
            return int(search.at[2])
        report()
        pace.end()
