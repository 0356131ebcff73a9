"""Exchange of tuples between classes, pass by pass, as long as it reduces the loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import Pace
from shoal.base.threads import Team, team
from shoal.hierarchies.tree import Tree
from shoal.kernels.grouping import exchange as kernels
from shoal.kernels.grouping import lookahead
from shoal.kernels.grouping.merge import PAUSED
from shoal.kernels.grouping.parts import (
    BEGIN,
    CHANGED,
    MOST_VISITS,
    NEXT,
    ROUND,
    UNTIL,
    Parts,
    fill_index,
    link_all,
)
from shoal.kernels.search import class_index as trie
from shoal.table.equivalence_classes import Classes

NEIGHBOURS = 4  # classes with which a class is partitioned again
VISITS = 1_000  # nodes of the index per tuple that one kind of move may visit in a pass
LITTLE = 0.001  # another pass follows if this share of the loss was gained
# The longer a round, the more threads can share it, but the more classes change before its end.
TUPLES_AHEAD = 512  # tuples per round
CLASSES_AHEAD = 128  # classes per round
ROUNDS = 32  # at least, for few tuples or classes
ROOM = 1 << 24  # bytes for the splits of a round

Kernel = Callable[..., int]


class Exchange:
    """Reduces the loss of classes of tuples; attributes are in the order of the index."""

    def __init__(self, layout: Layout, vector: Ints, start: Classes, k: int) -> None:
        self.shapes, self.trees, self.k = layout.shapes, layout.trees, k
        self.vector, self.start = vector, start
        self.whole = kept(self.trees, vector) * start.size  # what tuples keep as they are
        self.possible = int(self.whole.sum())
        self.hurried = False  # whether a move ended before all classes were tried

    def improve(self, label: Longs, passes: int, report: Callable[[float], None]) -> Longs:
        """Renumber the class of each tuple; by the guiding costs, the loss never rises."""
        loss = self.loss(label)
        for number in range(passes):
            report(number / passes)
            better = self.one_pass(label, partial(_share_of, report, number, passes))
            now = self.loss(better)
            if now >= loss:
                break
            label, gain = better, loss - now
            if gain < LITTLE * loss:
                break
            loss = now
        report(1.0)
        return label

    def loss(self, label: Longs) -> int:
        """The loss of all records; infinite if a class has too few people."""
        if np.bincount(label, self.start.people)[label].min() < self.k:
            return self.possible + 1
        wide = closures(self.shapes, self.vector, label)
        return self.possible - int((kept(self.trees, wide) * self.start.size).sum())

    def one_pass(self, label: Longs, report: Callable[[float], None]) -> Longs:
        """Move tuples, dissolve classes, re-partition neighbours: once each."""
        with team() as threads:
            state = _Pass(self, label, threads, report)
            state.fill()
            state.each(1, state.tuples, lookahead.look_ahead_moves, kernels.move_tuples)
            for stage, look, move in (
                (2, lookahead.look_ahead_dissolving, kernels.dissolve_classes),
                (3, lookahead.look_ahead_splits, kernels.repartition),
            ):
                order = self._worst(state.classes, state.parts)
                state.each(stage, len(order), look, move, order)
        self.hurried = self.hurried or state.hurried
        return state.parts.of

    def _worst(self, classes: trie.IndexedClasses, parts: Parts) -> Longs:
        """The classes, in descending order of their loss per record."""
        many = len(parts.head)
        whole = np.bincount(parts.of, self.whole, many)
        lost = whole / np.maximum(classes.size[:many], 1) - kept(self.trees, classes.vector[:many])
        return np.argsort(-lost, kind="stable")


class _Pass:
    """The state of one pass, which works in rounds: threads look ahead, then moves are made.

    Neither the rounds nor what is counted depends on the number of threads, nor does the result.
    """

    def __init__(
        self, exchange: Exchange, label: Longs, threads: Team, report: Callable[[float], None]
    ) -> None:
        self.trees, self.k, self.threads, self.report = exchange.trees, exchange.k, threads, report
        self.tuples, q = exchange.vector.shape
        self.classes, self.parts = in_classes(
            exchange.shapes, exchange.vector, exchange.start, label
        )
        self.many = len(self.parts.head)
        self.index, self.fan = make_index(self.many, self.trees), fan_of(self.trees)
        self.work = make_work(self.trees)  # of the moves, which count what they use of a lookahead
        self.works = [make_work(self.trees) for _ in range(threads.threads)]
        self.scratch = [make_scratch(self.tuples, q) for _ in range(threads.threads)]
        self.paces = [Pace(10_000) for _ in range(threads.threads)]
        self.pace = Pace(1_000)  # of the moves
        self.ahead = make_ahead(self.tuples, self.k)
        self.hurried = False

    def fill(self) -> None:
        """Insert all classes into the index."""

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = fill_index(index, self.trees, self.classes, self.parts, self.fan, pieces)
            return outcome

        share = partial(self._report, 0, self.many)
        self.index = run(step, self.index, self.trees, share)

    def each(
        self, stage: int, total: int, look: Kernel, move: Kernel, order: Longs | None = None
    ) -> None:
        """Make one kind of move for all items, round by round."""
        at, visits = self.parts.at, self.work.visits
        at[NEXT], at[MOST_VISITS] = 0, visits[0] + VISITS * self.tuples
        size = TUPLES_AHEAD if order is None else len(self.ahead.split_round)
        size = max(1, min(size, total // ROUNDS))
        for begin in range(0, total, size):
            at[ROUND], at[CHANGED] = at[ROUND] + 1, 0
            at[BEGIN], at[UNTIL] = begin, min(begin + size, total)
            extra = () if order is None else (order,)
            if size > 1:
                self._look_ahead(look, *extra)
            self._move(partial(self._report, stage, total), move, *extra)
            if visits[0] >= at[MOST_VISITS]:
                self.hurried = True
                return

    def _look_ahead(self, look: Kernel, *extra: Any) -> None:
        """Search for all items of a round, on threads."""
        begin, until = int(self.parts.at[BEGIN]), int(self.parts.at[UNTIL])
        # Passing all arrays to a kernel takes long, compared with the work of a round.
        piece = -(-(until - begin) // min(self.threads.pieces, 2 * self.threads.threads))

        def search(lo: int, thread: int) -> None:
            work, scratch, pace = self.works[thread], self.scratch[thread], self.paces[thread]
            if thread == 0:
                work = work._replace(
                    visits=work.visits.copy()
                )  # moves count them when they use them
            scratch.at[:] = lo, min(lo + piece, until)
            args = (self.index, self.trees, self.classes, self.parts, self.ahead, work, scratch)
            while look(*args, *extra, self.k, pace.begin()) == PAUSED and not self.threads.stopped:
                pace.end()

        self.threads.run(partial(search, lo) for lo in range(begin, until, piece))

    def _move(self, report: Callable[[], None], move: Kernel, *extra: Any) -> None:
        """Make the moves of a round, one after the other."""

        def step(index: trie.Index, pieces: int) -> int:
            return move(
                index, self.trees, self.classes, self.parts, self.ahead, self.work,
                self.scratch[0], *extra, self.k, self.fan, pieces,
            )  # fmt: skip

        self.index = run(step, self.index, self.trees, report, self.pace)

    def _report(self, stage: int, total: int) -> None:
        """Report the progress of this pass."""
        self.report((stage + self.parts.at[NEXT] / total) / 4)


def make_scratch(n: int, q: int) -> lookahead.Scratch:
    """Scratch space of a thread, for this number of tuples and columns."""
    return lookahead.Scratch(
        vector=np.empty(q, np.int32),
        members=np.empty(n, np.int64),
        order=np.empty(n, np.int64),
        rest=np.empty(n + 1, np.int64),
        keeps=np.empty(n, np.int64),
        inside=np.empty(n, np.bool_),
        best=np.empty(n, np.bool_),
        near=np.empty(NEIGHBOURS, np.int64),
        own=np.empty(n, np.int64),
        at=np.zeros(2, np.int64),
    )


def make_ahead(n: int, k: int) -> lookahead.Ahead:
    """Room for what is found for a round; classes of a split have this many people at most."""
    most = min(lookahead.WIDE * k, n)
    items = max(1, min(CLASSES_AHEAD, ROOM // (NEIGHBOURS * most)))
    return lookahead.Ahead(
        round=np.full(n, -1, np.int64),
        nearest=np.empty(n, np.int64),
        cost=np.empty(n, np.int64),
        visits=np.empty(n, np.int64),
        gain=np.empty(n, np.int64),
        split_round=np.full(items, -1, np.int64),
        partner=np.empty((items, NEIGHBOURS), np.int64),
        split_gain=np.empty((items, NEIGHBOURS), np.int64),
        split=np.empty((items, NEIGHBOURS, most), np.bool_),
    )


def kept(trees: trie.Trees, vectors: Ints) -> Longs:
    """What a record keeps by each of these vectors: their cost to the roots."""
    total = np.zeros(len(vectors), np.int64)
    for j, start in enumerate(trees.start[:-1]):
        total += trees.cost[start + vectors[:, j]]
    return total


def in_classes(
    shapes: Sequence[Tree], vector: Ints, start: Classes, label: Longs
) -> tuple[trie.IndexedClasses, Parts]:
    """Classes of tuples in the form of the kernels: the classes first, then each tuple."""
    n, size, people, first = len(vector), start.size, start.people, start.first
    _, begin, label = np.unique(label, return_index=True, return_inverse=True)
    many = len(begin)
    earliest = np.full(many, n + first.max(), np.int64)
    np.minimum.at(earliest, label, first)
    classes = trie.IndexedClasses(
        np.concatenate([closures(shapes, vector, label)[begin], vector]),
        np.concatenate([np.bincount(label, size).astype(np.int64), size]),
        np.concatenate([earliest, first]),
        np.zeros(many + n, np.bool_),
    )
    parts = Parts(
        np.full(many, -1, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        label.astype(np.int64),
        np.bincount(label, people).astype(np.int64),
        people,
        np.full(many, -1, np.int64),
        np.empty(many, np.int64),
        np.zeros(7, np.int64),
    )
    link_all(parts)
    return classes, parts


def _share_of(report: Callable[[float], None], number: int, passes: int, share: float) -> None:
    """Report the progress of all passes, given that of one."""
    report((number + share) / passes)
