"""The lattice of a table, and the search for the cheapest cells in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np

from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.pace import INTERVAL, Pace
from shoal.base.threads import Team, in_threads, team
from shoal.kernels.search import cells as kernels
from shoal.kernels.search.tighten import search_falls, search_raises

# How many tuples a search for the cheapest cells of all tuples may look at. They are counted, not
# timed, so that a table gives the same release on every machine.
LOOKS = 4_000  # for each tuple
LOOKS_AT_LEAST = 400_000_000  # in a table of few tuples
NONE = np.int64(1) << 61  # the cost if there is no cell
SHARED = 4_000  # tuples from which on threads share a search
SHARES = 8  # a run of tuples up to this fraction of all of them is searched by one thread


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


def part_of(lattice: kernels.Lattice, some: Longs | Bools) -> kernels.Lattice:
    """The lattice with some of its tuples only."""
    arrays = lattice.vector, lattice.own, lattice.people
    vector, own, people = in_threads(lambda array: array[some], arrays)
    return lattice._replace(vector=vector, own=own, people=people)


def no_cells(lattice: kernels.Lattice, k: int, spare: Longs | None = None) -> kernels.Best:
    """No cell known yet; each must cover k people."""
    n, q = lattice.vector.shape
    if spare is None:
        spare = np.full(n, -1)
    return kernels.Best(np.full(n, NONE), np.zeros((n, q), np.int32), np.full(n, k), spare)


def cheapest_cells(
    lattice: kernels.Lattice,
    best: kernels.Best,
    ceiling: int,
    reach: int,
    most: int,
    report: Callable[[], None],
) -> int:
    """Find the cheapest cell of each tuple that has none yet, up to the ceiling.

    Only people for whom the cell costs at most `reach` count. Stops after `most` visits of tuples;
    then there may be cheaper cells. Returns the number of visits.
    """
    n = len(lattice.vector)
    step = partial(kernels.search_cells, lattice, best)
    forks = _Forks(lattice, best, ceiling, reach)
    search = make_search(lattice, n // SHARES if n >= SHARED else 0)
    return search_all(search, lambda *at: step(at[0], ceiling, reach, *at[1:]), most, report, forks)


def cheapest_costs(
    lattice: kernels.Lattice, k: int, report: Callable[[float], None], most: int
) -> Longs:
    """The cost of the cheapest cell that covers each tuple and k people.

    If none is found, that of suppressing the tuple. The search stops after `most` looks at tuples:
    then there may be cheaper cells.
    """
    best = _cheapest(lattice, k, report, most)
    costs: Longs = np.minimum(best.cost, lattice.own[:, -1])
    return costs


def _cheapest(
    lattice: kernels.Lattice, k: int, report: Callable[[float], None], most: int
) -> kernels.Best:
    """The cheapest cell of each tuple that covers k people, by so many looks at tuples."""
    best = no_cells(lattice, k)
    for ceiling in ceilings(int(lattice.own[:, -1].max(initial=0))):
        done = float((best.cost < NONE).mean())
        most -= cheapest_cells(lattice, best, ceiling, int(NONE), most, lambda: report(done))  # noqa: B023
        best.need[best.cost < NONE] = NONE  # a tuple with a cell searches no further
        if most <= 0:
            break
    return best


def cheapest_vectors(
    lattice: kernels.Lattice, k: int, report: Callable[[float], None], most: int | None = None
) -> tuple[Ints, Bools]:
    """The cheapest cell of each tuple that covers k people, int32[tuples, q].

    Columns are in the order of the lattice. The search stops after `most` looks at tuples: then
    some tuples have a cell that is not the cheapest one, and some have none. Also returns which
    tuples have one; the others keep their own values.
    """
    looks = max(LOOKS_AT_LEAST, LOOKS * len(lattice.vector)) if most is None else most
    best = _cheapest(lattice, k, report, looks)
    found = best.cost < NONE
    node = lattice.climb[best.level, lattice.start[:-1] + lattice.vector]  # int32[tuples, q]
    return np.where(found[:, None], node, lattice.vector).astype(np.int32), found


def ceilings(highest: int) -> list[int]:
    """Rising ceilings up to the highest: what is found below one is not searched again."""
    found = [highest]
    while found[-1] > highest // 256:
        found.append(found[-1] // 2)
    return found[::-1]


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
    fall = cap.copy()
    none = np.zeros((0, lattice.vector.shape[1]), np.int32)
    return fall, _fall(lattice, size, cap, k, fall, none, most, report)


def tight_cells(
    lattice: kernels.Lattice,
    size: Longs,
    cap: Longs,
    k: int,
    most: int,
    report: Callable[[], None],
) -> tuple[Longs, Ints, int]:
    """The same for any caps that are not negative: where they are too low, falls are negative.

    Also returns the levels of the cell that decides for each tuple, int32[tuples, q]; -1: none.
    """
    fall, level = cap.copy(), np.full(lattice.vector.shape, -1, np.int32)
    looks = _fall(lattice, size, cap, k, fall, level, most, report)
    return fall, level, looks


def raised_caps(
    lattice: kernels.Lattice,
    size: Longs,
    cap: Longs,
    k: int,
    most: int,
    report: Callable[[], None],
) -> tuple[Longs, Ints, int]:
    """Caps that are valid for all cells, by raising those that are too low; the visits of tuples.

    Also returns the levels of a cell that raised each tuple, int32[tuples, q]; -1: none. The caps
    are valid only if there were fewer than `most` visits.
    """
    cap, level = cap.copy(), np.full(lattice.vector.shape, -1, np.int32)
    run, heap = np.zeros(3, np.int64), np.empty((k + 1, 2), np.int64)
    step = partial(search_raises, lattice, size, cap, k, level)
    search = make_search(lattice)
    looks = search_all(search, lambda *at: step(at[0], run, heap, *at[1:]), most, report)
    return cap, level, looks


def _fall(
    lattice: kernels.Lattice,
    size: Longs,
    cap: Longs,
    k: int,
    fall: Longs,
    level: Ints,
    most: int,
    report: Callable[[], None],
) -> int:
    run, heap = np.zeros(3, np.int64), np.empty((k + 1, 2), np.int64)
    step = partial(search_falls, lattice, size, cap, k, fall, level)
    search = make_search(lattice)
    return search_all(search, lambda *at: step(at[0], run, heap, *at[1:]), most, report)


def make_search(lattice: kernels.Lattice, short: int = 0) -> kernels.CellSearch:
    """The search of all tuples at its beginning; runs of up to `short` tuples become forks."""
    n, q = lattice.vector.shape
    nodes = np.diff(lattice.start)
    widest = int(nodes.max())
    # Forks wait until the end of a level. If a long run is searched before that, those of the next
    # depth join them: runs of one level per depth, all with different tuples.
    forks = min(int(nodes[:-1].sum()), n) if short else 0
    search = kernels.CellSearch(
        np.arange(n),
        np.empty(n, np.int64),
        np.empty(widest + 1, np.int64),
        np.zeros((q + 1, 5), np.int64),
        np.zeros(7, np.int64),
        np.empty((forks, q + 1, 5), np.int64),
        np.empty((forks, 7), np.int64),
    )
    search.stack[0, 1] = n
    search.at[kernels.ENTER], search.at[kernels.SHORT] = 1, short
    return search


def search_all(
    search: kernels.CellSearch,
    step: Callable[[kernels.CellSearch, int, int], int],
    most: int,
    report: Callable[[], None],
    forks: _Forks | None = None,
) -> int:
    """Search the cells of all tuples, with pauses for Ctrl-C; returns the visits of tuples."""
    pace, at, reported = Pace(1_000_000), search.at, perf_counter()
    with team() if at[kernels.SHORT] else nullcontext() as threads:
        while True:
            outcome = step(search, pace.begin(), most)
            if outcome == kernels.PAUSED:
                pace.end()
            elif outcome == kernels.FORKED and forks is not None and threads is not None:
                at[kernels.LOOKS] += forks.run(search, most - int(at[kernels.LOOKS]), threads)
                at[kernels.FORKS] = 0
            if outcome in (kernels.DONE, kernels.STOPPED) or at[kernels.LOOKS] >= most:
                return int(at[kernels.LOOKS])
            if perf_counter() - reported > INTERVAL:
                report()
                reported = perf_counter()


class _Forks:
    """Threads that share the forks of a search.

    Each fork may use a share of the remaining visits. What some do not need is shared among the
    others again, so that the result depends neither on the number of threads nor on their speed.
    """

    def __init__(
        self, lattice: kernels.Lattice, best: kernels.Best, ceiling: int, reach: int
    ) -> None:
        self.step = partial(kernels.search_forks, lattice, best)
        self.limits = ceiling, reach
        self.scratch: dict[int, kernels.CellSearch] = {}  # of each thread
        self.paces: dict[int, Pace] = {}

    def run(self, search: kernels.CellSearch, most: int, threads: Team) -> int:
        """Continue with all forks up to this number of visits; returns how many there were."""
        many = int(search.at[kernels.FORKS])
        depth = search.fork_at[:many, kernels.DEPTH]
        stack = search.fork_stack[np.arange(many), depth]
        size, looks = stack[:, 1] - stack[:, 0], search.fork_at[:many, kernels.LOOKS]
        open_ = np.arange(many)
        while len(open_) and looks.sum() < most:
            left = most - int(looks.sum())
            share = np.floor(left * (size[open_] / size[open_].sum())).astype(np.int64)
            share[0] += max(0, left - share.sum())
            self._share(search, open_, looks[open_] + share, size[open_], threads)
            open_ = np.flatnonzero(depth >= 0)
        return int(looks.sum())

    def _share(
        self, search: kernels.CellSearch, forks: Longs, most: Longs, size: Longs, threads: Team
    ) -> None:
        """Let threads continue with these forks, in pieces of similar size."""
        ends, pieces = np.cumsum(size), threads.pieces
        cuts = np.searchsorted(ends, np.arange(1, pieces) * ends[-1] / pieces)
        cuts = np.unique(np.concatenate([[0], cuts, [len(forks)]])).tolist()

        def continue_(begin: int, end: int, thread: int) -> None:
            own = self._own(search, thread)
            pace, state = self.paces[thread], np.array([begin, end], np.int64)
            while (
                self.step(own, *self.limits, forks, most, state, pace.begin()) == kernels.PAUSED
                and not threads.stopped
            ):
                pace.end()

        threads.run(partial(continue_, *piece) for piece in pairwise(cuts))

    def _own(self, search: kernels.CellSearch, thread: int) -> kernels.CellSearch:
        """The search with scratch space for this thread."""
        if thread not in self.scratch:
            spare, counts = np.empty_like(search.spare), np.empty_like(search.counts)
            self.scratch[thread] = search._replace(spare=spare, counts=counts)
            self.paces[thread] = Pace(1_000_000)
        return self.scratch[thread]
