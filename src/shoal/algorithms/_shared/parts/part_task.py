"""Recode one part of a table, in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.parts.cuts import taken
from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Cover, Covers
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class PartRows(NamedTuple):
    """The tuples of one part; small enough to be sent to another process."""

    number: int
    codes: Ints  # int32[n, q]
    weight: Longs | None
    sensitive: tuple[Ints, ...]  # int32[n] each


class PartFound(NamedTuple):
    """The recoding of a part without the trees, which the receiver has."""

    vectors: Ints
    record: Longs
    covers: tuple[list[Cover], ...]
    notes: tuple[str, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PartTask:
    """What all parts share: how they are recoded, trees, and frequencies of the whole table."""

    algorithm: Algorithm
    models: tuple[Model, ...]
    loss: Loss
    seed: int
    frame: Table  # a part without tuples
    tuples: int  # of all parts

    @staticmethod
    def of(
        algorithm: Algorithm, table: Table, models: Iterable[Model], loss: Loss, seed: int
    ) -> PartTask:
        """The task of recoding the parts of a table."""
        frame = taken(table, np.zeros(0, np.int64))
        return PartTask(algorithm, tuple(models), loss, seed, frame, len(table.codes))

    def rows(self, table: Table, number: int, rows: Longs) -> PartRows:
        """These rows of the table as a part of it."""
        return PartRows(
            number,
            np.ascontiguousarray(table.codes[rows]),
            None if table.weight is None else table.weight[rows],
            tuple(one.codes[rows] for one in table.sensitive),
        )

    def run(self, part: PartRows, progress: Progress = silent) -> PartFound:
        """Recode a part; the same part always gives the same result, wherever it runs."""
        frame = self.frame
        own = zip(frame.sensitive, part.sensitive, strict=True)
        table = replace(
            frame,
            codes=part.codes,
            weight=part.weight,
            sensitive=tuple(replace(one, codes=codes) for one, codes in own),
        )
        table.__dict__["domains"] = frame.domains
        rng = rng_of(self.seed, part.number)
        algorithm = self.algorithm.with_share(len(part.codes) / max(1, self.tuples))
        found = algorithm.recode(table, self.models, self.loss, rng, progress)
        covers = tuple(one.covers for one in found.covers)
        return PartFound(found.vectors, found.record, covers, found.notes, found.levels)

    def recoding(self, found: PartFound) -> Recoding:
        """What was found, with the trees."""
        covers = []
        for tree, values in zip(self.frame.trees, found.covers, strict=False):
            known = Covers(tree)
            for value in values:
                known.code(value)
            covers.append(known)
        return Recoding(found.vectors, found.record, tuple(covers), found.notes, found.levels)


# Recodes parts somewhere else, for example on a cluster, and returns what it found in their order.
MapParts = Callable[[PartTask, list[PartRows], Progress], Iterable[PartFound]]


def rng_of(seed: int, part: int) -> np.random.Generator:
    """The random numbers of a part, wherever it is recoded."""
    return np.random.default_rng([seed, part])
