"""The two tables of an anatomy as any reader sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadTable, NotHeld, did_you_mean, preview
from shoal.hierarchies.values import number_of, text
from shoal.io.frames import Frame
from shoal.kernels.group import group_rows
from shoal.models import Check, Model
from shoal.table.coded_columns import coded, merged_codes, side_by_side
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.sensitive import Sensitive

GROUP, COUNT = "group", "count"
LARGEST = 2**53  # whole numbers that floats still represent


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
        if not names or not quasi.height:
            raise BadTable("the table of quasi-identifiers has no records, or only group numbers")
        codes = side_by_side([coded(quasi, name, ())[0] for name in names])
        mine = whole_numbers(quasi, GROUP, "quasi-identifiers")
        theirs = whole_numbers(sensitive, GROUP, "sensitive values")
        count = whole_numbers(sensitive, COUNT, "sensitive values")
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
                "have different numbers of records"
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

    @property
    def of_pair(self) -> Longs:
        """The group of each pair of a group and a value, int64[pairs]."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @property
    def share(self) -> Floats:
        """The share of each value in its group, float64[pairs]."""
        return np.asarray(self.count / self.size[self.of_pair])

    def pairs_of(self, groups: Longs) -> tuple[Longs, Longs]:
        """The pairs of these groups one after the other, and how many each group has."""
        width = np.diff(self.start)[groups]
        first = np.repeat(self.start[groups] - np.cumsum(width) + width, width)
        return first + np.arange(width.sum()), width

    def classes(self, column: str) -> Classes:
        """The groups in the form that models take; each record is one person."""
        label = np.repeat(self.of_pair, self.count)
        codes = np.repeat(self.value, self.count).astype(np.int32)
        secret = Sensitive.of(column, codes, list(self.values), None)
        return tally(label[:, None].astype(np.int32), None, [secret])

    def check(self, models: Sequence[Model], column: str) -> list[Check]:
        """Check every requirement."""
        classes = self.classes(column)
        return [model.check(classes) for model in models]

    def reconstruction_error(self) -> float:
        """The mean error of the distribution that a reader assigns to a record, from 0 to 2.

        Of a record with the value v in a group the reader knows the share of each value. The error
        is (1 - share of v)² and the square of each other share (Xiao and Tao 2006).
        """
        share, of_pair = self.share, self.of_pair
        squares = np.bincount(of_pair, share**2, len(self.start) - 1)[of_pair]
        error = (1 - share) ** 2 + squares - share**2
        return float((error * self.count).sum() / self.count.sum())


def whole_numbers(frame: Frame, name: str, table: str) -> Longs:
    """The numbers of groups, or of records; raise an error for anything else."""
    if name not in frame.names:
        raise BadTable(
            f"the table of {table} has no column {name!r}{did_you_mean(name, frame.names)}; give "
            "the two files that shoal anatomy wrote, the one with the quasi-identifiers first"
        )
    plain = _plain_numbers(frame, name)
    if plain is not None:
        return plain
    codes, values = coded(frame, name, ())
    if (codes < 0).any():
        raise BadTable(f"the table of {table}: column {name!r} has missing values")
    exact = [number_of(value) for value in values]
    wrong = [
        text(value)
        for value, one in zip(values, exact, strict=True)
        if one is None or one != int(one) or not 1 <= one <= LARGEST
    ]
    if wrong:
        raise BadTable(
            f"the table of {table}: column {name!r} needs whole numbers from 1 on, and has "
            f"{preview(wrong)}"
        )
    return np.array([int(one) for one in exact if one is not None], np.int64)[codes]


def _plain_numbers(frame: Frame, name: str) -> Longs | None:
    """Whole numbers that are written as such; None: some are not, or are none."""
    cells = frame.column(name)
    if cells.null_count:
        return None
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        if not pc.all(pc.match_substring_regex(cells, "^[1-9][0-9]{0,14}$")).as_py():
            return None
    elif not pa.types.is_integer(cells.type):
        return None
    try:
        found: Longs = np.asarray(cells.cast(pa.int64()))
    except pa.ArrowInvalid:  # beyond the integers
        return None
    return found if len(found) and found.min() >= 1 and found.max() <= LARGEST else None
