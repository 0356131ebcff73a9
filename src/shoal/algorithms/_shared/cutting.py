"""Cuts of a table into parts that all satisfy the models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.requirements import Judge, judge_by, k_and_others
from shoal.base.arrays import Bools, Longs
from shoal.base.progress import Progress
from shoal.hierarchies.free_values import FreeTree
from shoal.kernels.grouping import mondrian as kernels
from shoal.kernels.search.boxes import TREE
from shoal.kernels.search.spans import tops
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import Recoding

AT_A_TIME = 2_000_000  # approximate number of values between two progress reports


def cut_further(
    table: Table, start: Classes, models: Sequence[Model], loss: Loss, label: Longs,
    progress: Progress,
) -> Recoding:  # fmt: skip
    """Cut classes that satisfy these models, as long as their parts satisfy them too.

    `start` are the distinct tuples with their sensitive values, and `label` is the class of each.
    """
    k, others = k_and_others(models)
    space = Space.of(table, loss, np.arange(len(table.trees)))
    cutting = Cutting(space, start, k, True, judge_by(others, start))
    edges = np.cumsum(np.unique(label, return_counts=True)[1])
    cutting.cut(np.split(np.argsort(label, kind="stable"), edges[:-1]), progress)
    return cutting.recoding()


class Cutting:
    """The state of a run: the finished parts, and those that may still be cut.

    The columns of the space must be in the order of the table.
    """

    def __init__(
        self, space: Space, start: Classes, k: int, relaxed: bool, judge: Judge | None
    ) -> None:
        self.table = table = space.table
        self.space, self.start, self.k, self.relaxed, self.judge = space, start, k, relaxed, judge
        boxes = space.boxes(table.unified[start.first], table.covers)
        old, kinds = space.shapes.at, space.shapes.kind
        both = zip(pairwise(old), kinds == TREE, strict=True)
        # A node is a span from itself to itself.
        place = [[lo, lo] if tree else range(lo, hi) for (lo, hi), tree in both]
        self.shapes = space.shapes._replace(
            at=np.append(0, np.cumsum([len(words) for words in place]))
        )
        last = [t.last if isinstance(t, FreeTree) else t.size for t in table.trees]
        self.tuples = kernels.Tuples(
            span=boxes[:, [word for words in place for word in words]].copy(order="C"),
            size=start.size,
            people=start.people,
            last=np.array(last, np.int64),
        )
        self.member = self.group = np.zeros(0, np.int64)
        self.done: list[tuple[Longs, Longs]] = []  # where parts begin and stop
        nodes = int(self.shapes.start[-1])
        self.scratch = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(1, np.int64)

    def cut(self, pieces: Sequence[Longs], progress: Progress) -> None:
        """Cut these parts round by round, until none can be cut further."""
        self.member = np.concatenate(pieces)
        self.group = np.zeros_like(self.member)
        n, finished = len(self.member), 0
        stops = np.cumsum([len(piece) for piece in pieces])
        parts = self._parts(np.append(0, stops[:-1]), stops)
        progress("cutting", 0.0)
        while len(parts.begin):
            self._propose(parts, progress, finished / n)
            fine = self._accepted(parts)
            whole = (parts.groups == 0) & parts.refused.all(axis=1)
            self.done.append((parts.begin[whole], parts.stop[whole]))
            finished += int((parts.stop - parts.begin)[whole].sum())
            chosen = np.flatnonzero(fine)
            begin, stop = kernels.apply_cuts(
                self.member, parts, self.group, chosen, int(parts.groups[chosen].sum())
            )
            again = np.flatnonzero(~fine & ~whole)
            new = self._parts(
                np.append(begin, parts.begin[again]), np.append(stop, parts.stop[again])
            )
            new.refused[len(begin) :] = parts.refused[again]
            new.groups[len(begin) :] = parts.groups[again]
            new.kind[len(begin) :] = parts.kind[again]
            new.column[len(begin) :] = parts.column[again]
            parts = new
            progress("cutting", finished / n)

    def _parts(self, begin: Longs, stop: Longs) -> kernels.Parts:
        """Parts that have not been examined yet."""
        n = len(begin)
        nothing = np.zeros(n, np.int64)
        refused = np.zeros((n, len(self.table.trees)), np.bool_)
        return kernels.Parts(begin, stop, refused, nothing - 1, nothing.copy(), nothing.copy())

    def _propose(self, parts: kernels.Parts, progress: Progress, share: float) -> None:
        """Propose a cut for every part without one; if there is none, refuse all columns."""
        fresh = np.flatnonzero(parts.groups == 0)
        asked = kernels.Parts(*(field[fresh] for field in parts))
        amount = np.cumsum(asked.stop - asked.begin) * len(self.table.trees)
        at = 0
        while at < len(fresh):
            before = amount[at - 1] if at else 0
            stop = max(at + 1, int(np.searchsorted(amount, before + AT_A_TIME)))
            kernels.propose(
                self.shapes, self.tuples, self.member, asked, self.group, self.k, self.relaxed,
                *self.scratch, at, stop,
            )  # fmt: skip
            at = stop
            progress("cutting", share)
        asked.refused[asked.groups == 0] = True
        for field, found in zip(parts, asked, strict=True):
            field[fresh] = found

    def _accepted(self, parts: kernels.Parts) -> Bools:
        """Which cuts satisfy the models; the others are repaired or refused."""
        fine = parts.groups > 0
        if self.judge is None:
            return fine
        cut = np.flatnonzero(fine)
        if not len(cut):
            return fine
        base = np.append(0, np.cumsum(parts.groups[cut]))
        length = (parts.stop - parts.begin)[cut]
        owner = np.repeat(np.arange(len(cut)), length)
        place = np.arange(len(owner)) - np.repeat(np.append(0, np.cumsum(length))[:-1], length)
        place += parts.begin[cut][owner]
        child = base[owner] + self.group[place]  # int64[members of all these parts]
        # A group is identified by its first tuple.
        first = np.full(base[-1], len(self.start), np.int64)
        np.minimum.at(first, child, self.member[place])
        into = np.arange(len(self.start))
        into[self.member[place]] = first[child]
        passes = self.judge(into, first)
        sound = np.logical_and.reduceat(passes, base[:-1])
        for i in np.flatnonzero(~sound):
            p = cut[i]
            fine[p] = False
            left = 0
            if parts.kind[p] == kernels.BRANCHES:
                verdict = passes[base[i] : base[i + 1]]
                left = kernels.regroup(self.tuples, self.member, parts, self.group, p, verdict)
            if left < 2:
                parts.refused[p, parts.column[p]] = True
                parts.groups[p] = 0
        return fine

    def parts(self) -> list[Longs]:
        """The tuples of each part."""
        both = [zip(begin, stop, strict=True) for begin, stop in self.done]
        return [self.member[lo:hi] for part in both for lo, hi in part]

    def recoding(self) -> Recoding:
        """The least values that cover each part."""
        begin = np.concatenate([begin for begin, _ in self.done])
        stop = np.concatenate([stop for _, stop in self.done])
        spans = kernels.closures(self.shapes, self.tuples, self.member, begin, stop)
        boxes = np.zeros((len(begin), int(self.space.shapes.at[-1])), np.int64)
        at, old = self.shapes.at, self.space.shapes.at
        for j, kind in enumerate(self.shapes.kind):
            if kind == TREE:
                low, high = spans[:, at[j]].copy(), spans[:, at[j] + 1].copy()
                boxes[:, old[j]] = tops(self.shapes, j, low, high)
            else:
                boxes[:, old[j] : old[j + 1]] = spans[:, at[j] : at[j + 1]]
        vectors, covers = self.space.vectors(boxes)
        order = np.argsort(begin)
        label = np.empty(len(self.member), np.int64)
        label[self.member] = np.repeat(order, (stop - begin)[order])
        same = tally(vectors)  # parts with the same published values are one class
        return Recoding(vectors[same.first], same.label[label][self.start.label], covers)
