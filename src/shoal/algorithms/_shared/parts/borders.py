"""Exchange between parts: classes that lose much are recoded again, with those of other parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.parts.cuts import Cuts, taken
from shoal.algorithms._shared.parts.joined import Joined
from shoal.base.arrays import Ints, Longs
from shoal.base.errors import CannotReach
from shoal.base.progress import Progress
from shoal.hierarchies.free_values import Covers
from shoal.kernels.search.boxes import kept_by_each
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

AT_ONCE = 1 << 16  # vectors whose worth is computed at once


class Borders:
    """Recodes classes of both sides of a cut together, where that loses less.

    A class loses much if what it lacks is on the other side of a cut. The classes that lose most
    per record, of both sides together, are recoded once more. They all satisfy the models, so they
    do so together, and no other class changes.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        joined: Joined,
    ) -> None:
        self.algorithm, self.table, self.models, self.loss = algorithm, table, models, loss
        self.joined = joined
        self.space = Space.of(table, loss)
        n = len(table.codes)
        self.weight = np.ones(n, np.int64) if table.weight is None else table.weight
        self.lost = self.keeps(table.codes, table.covers)  # int64[n], what a record has lost
        self.lost -= self._kept_now(np.arange(n))

    def keeps(self, vectors: Ints, covers: Sequence[Covers]) -> Longs:
        """What a record keeps by each of these vectors, int64[vectors]."""
        found = [
            kept_by_each(
                self.space.shapes, self.space.boxes(vectors[at : at + AT_ONCE], covers)
            ).sum(axis=1)
            for at in range(0, len(vectors), AT_ONCE)
        ]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def _kept_now(self, rows: Longs) -> Longs:
        """What these records keep as they are published now; a suppressed one keeps nothing."""
        joined = self.joined
        return self._kept_by(np.concatenate(joined.vectors), joined.covers, joined.record[rows])

    def _kept_by(self, vectors: Ints, covers: Sequence[Covers], record: Longs) -> Longs:
        keeps = np.append(self.keeps(vectors, covers), 0)  # the last one is that of SUPPRESSED
        return keeps[record]

    def exchange(
        self, rows: Longs, most: int, rng: np.random.Generator, progress: Progress
    ) -> bool:
        """Recode the worst classes among these rows, of so many tuples; returns whether it gained.

        No class may have some of these rows and others, too.
        """
        rows = self._worst(rows, most)
        if not len(rows):
            return False
        part = taken(self.table, rows)
        with suppress(CannotReach):  # an algorithm may find no classes
            found = self.algorithm.with_share(0).recode(part, self.models, self.loss, rng, progress)
            return self._take(rows, found)
        return False

    def _take(self, rows: Longs, found: Recoding) -> bool:
        """Publish these rows so if that loses less."""
        own = self.keeps(self.table.codes[rows], self.table.covers)
        lost = own - self._kept_by(found.vectors, found.covers or self.table.covers, found.record)
        weight = self.weight[rows]
        if int(lost @ weight) >= int(self.lost[rows] @ weight):
            return False
        self.joined.add(rows, found)
        self.lost[rows] = lost
        return True

    def _worst(self, rows: Longs, most: int) -> Longs:
        """The tuples of the classes among these rows with the highest loss per record."""
        rows = rows[self.joined.record[rows] != SUPPRESSED]
        label = np.unique(self.joined.record[rows], return_inverse=True)[1]
        if not len(rows):
            return rows
        weight = self.weight[rows]
        mean = np.bincount(label, self.lost[rows] * weight) / np.bincount(label, weight)
        order = np.argsort(-mean, kind="stable")
        tuples = np.cumsum(np.bincount(label)[order])
        chosen = np.zeros(len(mean), np.bool_)
        chosen[order[(tuples <= most) & (mean[order] > 0)]] = True
        return rows[chosen[label]]


def below(cuts: Cuts) -> list[set[int]]:
    """The parts below each cut.

    >>> below(Cuts((0, 1), (4, 2), (-3, -1), (1, -2)))
    [{0, 1, 2}, {0, 1}]
    """
    found: list[set[int]] = [set() for _ in cuts.column]
    for i in reversed(range(len(found))):  # those below a cut come after it
        for one in (cuts.low[i], cuts.high[i]):
            found[i] |= found[one] if one >= 0 else {-1 - one}
    return found
