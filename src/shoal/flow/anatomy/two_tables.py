"""What a reader learns from the two tables of an anatomy, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import NotHeld
from shoal.io.frames import Frame
from shoal.kernels.group import group_rows
from shoal.measures.verify import raise_unless_satisfied
from shoal.models import Check, Model
from shoal.table.coded_columns import coded, merged_codes, side_by_side
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.sensitive import Sensitive

GROUP, COUNT = "group", "count"


@dataclass(frozen=True)
class AnatomyAttacks:
    """What an attacker learns who knows the quasi-identifiers of a person of the table."""

    surest: float  # probability of the likeliest sensitive value, for the person it is highest for
    average: float  # the same on average over all people
    unique: float  # share of the people whose quasi-identifiers nobody else has: they are found

    def as_dict(self) -> dict[str, float]:
        """By the names of the JSON file."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class TwoTables:
    """The two published tables as arrays."""

    vector: Longs  # int64[records], numbers equal quasi-identifiers
    group: Longs  # int64[records], 0 and up
    start: Longs  # int64[groups + 1]
    value: Longs  # int64[pairs]: the sensitive values of group g are value[start[g]:start[g + 1]]
    count: Longs  # int64[pairs], how many records of the group have the value
    values: Sequence[Any]

    @staticmethod
    def of(
        quasi: Frame, sensitive: Frame, column: str, missing_values: Sequence[str] = ()
    ) -> TwoTables:
        """Read both tables; raise an error if they do not fit together.

        Spellings of one sensitive value count as one, and so do all words for a missing value.
        """
        names = [name for name in quasi.names if name != GROUP]
        codes = side_by_side([coded(quasi, name, ())[0] for name in names])
        mine = np.asarray(quasi.column(GROUP).to_numpy(), np.int64)
        theirs = np.asarray(sensitive.column(GROUP).to_numpy(), np.int64)
        count = np.asarray(sensitive.column(COUNT).to_numpy(), np.int64)
        secret = merged_codes(sensitive, column, missing_values)
        value, values = secret.codes, secret.values
        number, label = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
        group, owner = label[: len(mine)], label[len(mine) :]
        size = np.bincount(group, minlength=len(number))
        summed = np.bincount(owner, count, len(number)).astype(np.int64)
        if (size != summed).any() or (count < 1).any():
            wrong = number[(size != summed)][:1].tolist()
            raise NotHeld(
                f"the two tables do not fit together: in group {wrong[0] if wrong else '?'} they "
                "have different numbers of records; nothing is released"
            )
        base = len(values) + 1
        pair, place = np.unique(owner * base + value + 1, return_inverse=True)
        return TwoTables(
            group_rows(np.ascontiguousarray(codes))[0],
            group,
            np.searchsorted(pair // base, np.arange(len(number) + 1)),
            pair % base - 1,
            np.bincount(place, count).astype(np.int64),
            list(values),
        )

    @property
    def size(self) -> Longs:
        """The records of each group."""
        return np.bincount(self.group, minlength=len(self.start) - 1)

    def classes(self, column: str) -> Classes:
        """The groups in the form that models take; each record is one person."""
        of_pair = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        label = np.repeat(of_pair, self.count)
        codes = np.repeat(self.value, self.count).astype(np.int32)
        secret = Sensitive.of(column, codes, list(self.values), None)
        return tally(label[:, None].astype(np.int32), None, [secret])

    def check(self, models: Sequence[Model], column: str) -> list[Check]:
        """Check every requirement; raise an error unless all are satisfied."""
        classes = self.classes(column)
        checks = [model.check(classes) for model in models]
        raise_unless_satisfied(models, checks)
        return checks

    def attacks(self) -> AnatomyAttacks:
        """Attack it: of the records with a person's quasi-identifiers, each may be that person's.

        The probability of a value is its share of the group, on average over those records.
        """
        many = np.bincount(self.vector)  # int64[vectors], records that have each
        pair, often = np.unique(
            self.vector * len(self.size) + self.group, return_counts=True
        )  # pairs of a vector and a group
        vector, group = np.divmod(pair, len(self.size))
        width = np.diff(self.start)[group]
        at = np.repeat(self.start[group] - np.cumsum(width) + width, width) + np.arange(width.sum())
        share = (self.count / np.repeat(self.size, np.diff(self.start)))[at]
        weight = np.repeat(often / many[vector], width)
        key = np.repeat(vector, width) * len(self.values_and_missing) + self.value[at] + 1
        known, place = np.unique(key, return_inverse=True)
        belief = np.bincount(place, share * weight)
        best: Floats = np.zeros(len(many))
        np.maximum.at(best, known // len(self.values_and_missing), belief)
        return AnatomyAttacks(
            surest=float(best.max()),
            average=float((best * many).sum() / many.sum()),
            unique=float((many == 1).sum() / many.sum()),
        )

    @property
    def values_and_missing(self) -> range:
        """Codes of values, from 0; the first is that of a missing value."""
        return range(len(self.values) + 2)

    def reconstruction_error(self) -> float:
        """The mean error of the distribution that a reader assigns to a record, from 0 to 2.

        Of a record with the value v in a group the reader knows the share of each value. The error
        is (1 - share of v)² and the square of each other share (Xiao and Tao 2006).
        """
        share = self.count / np.repeat(self.size, np.diff(self.start))
        of_pair = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        squares = np.bincount(of_pair, share**2, len(self.start) - 1)[of_pair]
        error = (1 - share) ** 2 + squares - share**2
        return float((error * self.count).sum() / self.count.sum())
