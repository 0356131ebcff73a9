"""Less loss by annealing: classes are dissolved and grouped anew, and cells are opened, many times.

A linear program finds which cells the best classes would have if numbers of rows could be
fractions, and proposes them. Then, most of the time, new classes take the records of cells that are
missing; the rest of the time neighbouring classes are dissolved and grouped anew (ruin and
recreate; see `kernels.annealing`). At first both may lose something, so that the search leaves
classes that no single step improves.

The classes are a valid release all the time, so the search may be stopped at any moment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, log2
from time import monotonic
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.cells import part_of
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.peeling.exhaustive import best_of_all, is_best
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.proposals import proposed_cells
from shoal.base import interrupt
from shoal.base.arrays import Longs
from shoal.base.pace import Pace, parts
from shoal.base.threads import Team, in_threads, team
from shoal.base.wording import number
from shoal.kernels.annealing import class_moves as moves
from shoal.kernels.annealing import covering
from shoal.kernels.annealing import open_cells as opening
from shoal.kernels.annealing import recreate as kernels
from shoal.kernels.annealing.formed import Formed, Part
from shoal.kernels.annealing.proposals import no_proposals
from shoal.kernels.search.tuple_index import make_tuples
from shoal.kernels.sorting import sort_rows
from shoal.table.recoding import MAY_DIFFER

# How many looks at tuples and classes all attempts may take, if there is no limit on the time. They
# are counted, not timed, so that a table gives the same release on every machine. A core does about
# 50 to 110 million per second. Attempts with large classes move more tuples.
LOOKS, MORE_LOOKS = 100_000, 150_000  # for each tuple, and more for each time that k doubles
MOST_LOOKS = 25_000_000_000  # in a table of many tuples
PROGRAM = 0.5  # of these looks: what the linear program may take before
TIMED = 0.3  # of a limit on the time: the linear program, …
EACH_SECOND = 100_000_000  # … which takes about so many looks in a second; …
# … but no program if it would have less than this share of the looks: it would hardly begin. On
# Adult at k = 5 and 100, cells from a twentieth of the looks are better than none.
WORTH = 0.04
ROUNDS = 25
# A limit on the time also ends after so many times these looks, for small tables.
LONGEST = 100
SHORTEST = 0.2  # seconds of a round, if there is a limit on the time
HOT, COLD = 0.1, 0.004  # how much an attempt may lose, as a share of the mean loss of a class
NEAR = 48  # tuples whose classes are neighbours
OPENED = 0.7  # the share of the looks, or of the time, for cells that are opened
MOVES = 20_000  # tuples at most that an attempt to open cells moves
CLASSES = 5  # at most in an attempt to group classes anew
TUPLES = 1_500  # at most in such an attempt
# Parts whose classes are improved at the same time. Larger ones have more classes for every record
# to choose from, and take longer to search for them.
PARTS = 2
PART = 600  # classes of a part at most, unless there would be few tuples in it
SMALL = 2_000  # tuples of a part at least
Step = Callable[[int], bool]  # goes on for so many looks; returns whether it is done
SEED, MULTIPLIER = 0x9E3779B97F4A7C15, 6364136223846793005


class Recreating:
    """The state of a search for classes that lose less."""

    def __init__(self, problem: PeelingProblem, label: Longs) -> None:
        self.problem, self.rank = problem, sort_rows(problem.lattice.vector.T)
        self.trees, self.k = problem.layout.trees, problem.k
        vector = problem.lattice.vector[self.rank].copy(order="C")
        self.n, self.q = vector.shape
        _, of = np.unique(label[self.rank], return_inverse=True)
        of = of.astype(np.int64)
        size, people = problem.start.size[self.rank], problem.start.people[self.rank]
        wide = closures(problem.layout.shapes, vector, of)
        keeps = np.zeros(self.n, np.int64)
        keeps[of] = kept(self.trees, wide)
        self.formed = Formed(
            vector, size, people, self._near(vector), of, *_linked(of, self.n),
            np.bincount(of, size, self.n).astype(np.int64), keeps,
            np.bincount(of, people, self.n).astype(np.int64),
        )  # fmt: skip
        self.possible = int((kept(self.trees, vector) * size).sum())
        self.best, self.most_kept = of.copy(), self.kept
        self.random = SEED
        self.round = self.looks = 0
        self.index = make_tuples(vector, np.ones(self.n, np.int64), np.arange(self.n))
        self.cells, self.before = np.empty_like(vector), np.empty(self.n, np.int64)
        self.proposals = no_proposals(self.n, self.q)
        self._scratch: dict[int, _Scratch] = {}  # of each thread

    def propose(
        self,
        looks: int,
        report: Callable[[float], None],
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Find cells that are worth opening, by about so many looks at tuples, or until `over`."""
        lattice, layout = part_of(self.problem.lattice, self.rank), self.problem.layout
        self.proposals = proposed_cells(
            layout, lattice, self.k, self.formed.of, looks, report, over
        )

    @property
    def kept(self) -> int:
        """What all records keep now."""
        return int((self.formed.rows * self.formed.keeps).sum())

    @property
    def percent(self) -> float:
        """The loss of the best classes so far, in percent of all that can be lost."""
        return 100.0 * (1 - self.most_kept / self.possible) if self.possible else 0.0

    def label(self) -> Longs:
        """The class of each tuple in the best classes so far."""
        found: Longs = np.empty(self.n, np.int64)
        found[self.rank] = self.best
        return found

    def note_best(self) -> None:
        """Remember the classes if they are the best so far."""
        if self.kept > self.most_kept:
            self.best[:], self.most_kept = self.formed.of, self.kept

    def run(
        self, heat: float, looks: int, seconds: float, threads: Team, report: Callable[[], None]
    ) -> None:
        """One round in parts that are cut anew: so many looks for all of them, or seconds."""
        classes = int((self.formed.head >= 0).sum())
        mean = (self.possible - self.most_kept) / max(1, classes)
        mine = self._cut(max(1, min(max(PARTS, classes // PART), self.n // SMALL)))
        each = seconds * min(threads.threads, len(mine)) / len(mine)

        def improve(part: Part, thread: int) -> None:
            most = looks * len(part.tuples) // self.n
            for share, step in self._steps(part, heat * mean, most, thread):
                pace, since = Pace(1_000_000), monotonic()
                while not step(pace.begin()):
                    pace.end()
                    if thread == 0:
                        report()
                    late = monotonic() - since > share * each
                    if threads.stopped or interrupt.asked() or late:
                        break

        threads.run(partial(improve, part) for part in mine)
        self.round += 1
        self.looks += sum(int(part.at[1] + part.at[3]) for part in mine)
        self.note_best()

    def _steps(self, part: Part, heat: float, looks: int, thread: int) -> list[tuple[float, Step]]:
        """What is done with a part in a round, with its share of the looks or of the time."""
        if thread not in self._scratch:
            self._scratch[thread] = _Scratch.of(self.n, self.q)
        own, scratch = (self.trees, self.formed, part), self._scratch[thread]
        opening_looks = int(OPENED * looks)
        return [
            (
                OPENED,
                partial(
                    opening.open_cells, *own, self._open(part), scratch.undo, scratch.opening,
                    self.index, self.proposals, self.k, heat, opening_looks,
                ),
            ),
            (
                1 - OPENED,
                partial(
                    kernels.ruin_and_recreate, *own, scratch.attempt, self.k, heat,
                    looks - opening_looks,
                ),
            ),
        ]  # fmt: skip

    def _open(self, part: Part) -> covering.Open:
        """The classes of a part."""
        people = int(self.formed.people[part.tuples].sum())
        more = opening.DEEPEST  # new classes have no tuples at first
        opened = covering.no_classes(self.trees, people, self.cells, self.before, self.k, more)
        moves.open_all(self.trees, self.formed, part, opened)
        return opened

    def _near(self, vector: np.ndarray) -> np.ndarray:
        """The tuples near each tuple, int32[tuples, …]."""
        n, q = vector.shape
        tuples = make_tuples(vector, np.ones(n, np.int64), np.arange(n))
        many = min(NEAR, n)
        near = np.empty((n, many), np.int32)
        pieces = np.array_split(np.arange(n), max(1, n // SMALL))

        def find(piece: Longs) -> None:
            stack, heap = np.empty((q, 8), np.int64), np.empty((many + 1, 3), np.int64)
            for begin, stop in parts(len(piece), Pace(100)):
                first = int(piece[0])
                kernels.list_near(
                    tuples, self.trees, first + begin, first + stop, many, stack, heap, near
                )

        in_threads(find, pieces)
        return near

    def _cut(self, many: int) -> list[Part]:
        """Give each part neighbouring classes, in an order of the tuples by other columns."""
        formed, turn = self.formed, self.round % self.q
        order = [*range(turn, self.q), *range(turn)]
        place = np.empty(self.n, np.int64)
        place[np.lexsort(formed.vector[:, order[::-1]].T)] = np.arange(self.n)
        used = np.flatnonzero(formed.head >= 0)
        part_of_class = np.zeros(self.n, np.int64)
        part_of_class[used] = place[formed.head[used]] * many // self.n
        part_of = part_of_class[formed.of]
        unused, at, found = np.flatnonzero(formed.head < 0), 0, []
        for one in range(many):
            tuples = np.flatnonzero(part_of == one)
            room = len(tuples) - int((part_of_class[used] == one).sum())  # as many as it can need
            free = np.empty(len(tuples), np.int64)
            free[:room] = unused[at : at + room]
            at += room
            self.random = (self.random * MULTIPLIER + SEED) % (1 << 64)
            state = np.array([self.random | 1], np.uint64)
            found.append(
                Part(tuples, part_of, one, free, state, np.array([room, 0, 0, 0], np.int64))
            )
        return [part for part in found if len(part.tuples)]


def recreated(problem: PeelingProblem, label: Longs, seconds: float | None = None) -> Longs:
    """The classes after a search for so many seconds, or of a fixed number of looks.

    Ctrl-C ends it and keeps the best classes so far. There is no search where none can be better.
    """
    if np.bincount(label, problem.start.people)[label].min() < problem.k or interrupt.asked():
        return label
    begin = monotonic()
    try:
        best = label if is_best(problem, label) else best_of_all(problem)
        if best is not None:
            return best
        search = Recreating(problem, label)
    except KeyboardInterrupt:
        note_interrupt(problem, begin)
        return label
    try:
        search.run(0.0, 0, 0.0, Team(None, 1), lambda: None)  # compiles, which takes no time of it
        begin = monotonic()
        _propose(search, seconds, partial(problem.progress, "relaxing"))
        left = None if seconds is None else max(0.0, seconds - (monotonic() - begin))
        _search(search, left, partial(problem.progress, "recreating"))
    except KeyboardInterrupt:
        note_interrupt(problem, begin)
        search.note_best()
    else:
        if seconds is not None and search.looks >= most_timed(search):
            problem.notes.append(
                f"peel: the improvement of the classes ended after "
                f"{number(round(monotonic() - begin, 1))} of {number(seconds)} seconds, as "
                f"{LONGEST} times the work of high effort was done; on a slower machine "
                f"{MAY_DIFFER}"
            )
        elif seconds is not None:
            problem.notes.append(
                f"peel: the improvement of the classes was limited to {number(seconds)} seconds; "
                f"{MAY_DIFFER}, as that depends on the speed of the machine"
            )
    return search.label()


def note_interrupt(problem: PeelingProblem, begin: float) -> None:
    """Note that Ctrl-C ended the improvement; other interrupts are raised again."""
    if not interrupt.keeps_best():
        raise
    problem.notes.append(
        f"peel: the improvement of the classes was interrupted after "
        f"{number(round(monotonic() - begin, 1))} seconds; these are the best classes found "
        f"until then, and {MAY_DIFFER}"
    )


def _propose(search: Recreating, seconds: float | None, report: Callable[[float], None]) -> None:
    """Find cells that are worth opening, in a part of the work or of the time."""
    most = most_looks(search.n, search.k)
    if seconds is None:
        search.propose(int(PROGRAM * most), report)
        return
    late = monotonic() + TIMED * seconds
    looks = min(TIMED * EACH_SECOND * seconds, PROGRAM * LONGEST * most)
    if looks >= WORTH * most:
        search.propose(int(looks), report, lambda: monotonic() > late)


def _search(search: Recreating, seconds: float | None, report: Callable[[float], None]) -> None:
    """Rounds with a heat that falls, until the limit is reached or Ctrl-C was pressed."""
    begin = monotonic()
    most = most_looks(search.n, search.k) if seconds is None else most_timed(search)
    looks = -(-most // ROUNDS)
    each = inf if seconds is None else max(SHORTEST, seconds / ROUNDS)
    share = 0.0
    with team() as threads:
        while share < 1 and not interrupt.asked():
            report(share)
            heat = HOT * (COLD / HOT) ** share
            search.run(heat, looks, each, threads, partial(report, share))
            share = search.round / ROUNDS
            if seconds is not None:
                share = max((monotonic() - begin) / max(seconds, SHORTEST), search.looks / most)
                each = min(each, max(SHORTEST, seconds - (monotonic() - begin)))
    interrupt.check()  # a signal that came while kernels ran
    report(1.0)


def most_looks(tuples: int, k: int) -> int:
    """How many looks at tuples and classes all attempts may take."""
    return min(tuples * int(LOOKS + MORE_LOOKS * log2(k)), MOST_LOOKS)


def most_timed(search: Recreating) -> int:
    """How many looks a search may take that has a limit on the time."""
    return LONGEST * most_looks(search.n, search.k)


def _linked(of: Longs, n: int) -> tuple[Longs, Longs]:
    """The classes as linked lists: the tuple after each tuple, and the first of each class."""
    order = np.argsort(of, kind="stable")
    after, head = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    same = of[order[1:]] == of[order[:-1]]
    after[order[:-1][same]] = order[1:][same]
    first = np.append(True, ~same)
    head[of[order[first]]] = order[first]
    return after, head


class _Scratch(NamedTuple):
    """Scratch space of a thread."""

    undo: moves.Undo
    opening: opening.Opening
    attempt: kernels.Attempt

    @classmethod
    def of(cls, n: int, q: int) -> _Scratch:
        """Scratch space for so many tuples and columns."""
        long, node = partial(np.empty, dtype=np.int64), partial(np.empty, dtype=np.int32)
        moved = min(4 * n, MOVES)
        # Every move touches two classes; each new one is touched before, as is one that is widened.
        classes = min(n, 2 * moved + opening.DEEPEST + 1)
        undo = moves.Undo(
            np.zeros(n, np.int64), long(classes), long(classes), long(classes),
            node((classes, q)), long(moved), long(moved), np.zeros(3, np.int64),
        )  # fmt: skip
        cell = opening.Opening(
            node(q), node(q), long((q, 2)), long(n), np.zeros(n, np.int64), long(n)
        )
        most = min(TUPLES, n) + 1
        attempt = kernels.Attempt(
            long(CLASSES), long(most), long(most), long(most), long(most), node((most, q)),
            long(most), long(most), long(most), long(most), long(q),
        )  # fmt: skip
        return cls(undo, cell, attempt)
