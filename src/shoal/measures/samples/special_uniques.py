"""Special uniques: records that are unique on few columns already (SUDA).

A minimal sample unique of a record is a set of columns on which it is unique in the table, and on
no smaller part of that set (Elliot, Manning, Ford 2002; SUDA2: Manning, Haglin, Keane 2008). Fewer
columns are easier to know, so that smaller sets count more.

Variants that public programs disagree on, as they are here:
- With M the largest size looked at, a minimal unique of m columns adds Π_{i=m}^{M−1} (M − i) =
  (M − m)! to the score of its record.
- A missing value is a value like any other, as in the classes of the requirements.
- DIS scores are the scores scaled so that their mean over all sample uniques is the probability
  that a unique match is correct, π u / (π u + 2 (1 − π) p) with u classes of one record, p classes
  of two and the sampling fraction π (Skinner and Elliot 2002); they are at most 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import BadInput
from shoal.kernels.group import group_rows, number_codes
from shoal.kernels.search.unique_sets import (
    divide,
    empty_table,
    keep_others,
    table_slots,
    tally_minimal,
)

DIS_FRACTION = 0.01  # where the sampling fraction is not known, as other programs assume
MOST_BYTES = 2_000_000_000  # for which records are unique on which sets
MOST_COLUMNS = 62  # a set of columns is the bits of an integer


@dataclass(frozen=True)
class SetRisk:
    """What knowledge of a set of columns discloses."""

    columns: tuple[str, ...]
    unique: int  # records that are unique on them
    average_risk: float  # the mean of 1 / class size over records
    minimal: int  # records for which it is a minimal sample unique


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of all records."""

    most: int  # the largest size looked at
    names: tuple[str, ...]
    counts: Ints  # int32[n, most], minimal uniques of each record, by size
    smallest: Ints  # int32[n], the size of the smallest one; 0: none
    smallest_set: Longs  # int64[n], its columns as bits
    sets: tuple[SetRisk, ...]  # those looked at, the smallest first
    fraction: float  # for DIS scores
    unique: int  # records that are unique on all columns
    pairs: int  # classes of two records

    @property
    def scores(self) -> Floats:
        """The score of each record, float64[n]."""
        worth = [float(factorial(self.most - m)) for m in range(1, self.most + 1)]
        found: Floats = self.counts @ np.array(worth)
        return found

    @property
    def dis_scores(self) -> Floats:
        """The DIS score of each record, float64[n]: its part of the probability of a match.

        Scaled so that its mean over all sample uniques is `correct_match`, then cut off at 1. A
        record with a score is unique on some columns, and so on all of them.
        """
        scores = self.scores
        if not scores.any():
            return scores
        mean = float(scores.sum()) / self.unique
        return np.minimum(scores / mean * self.correct_match, 1.0)

    @property
    def correct_match(self) -> float:
        """The probability that a unique match is correct (Skinner and Elliot 2002)."""
        if not self.unique:
            return 0.0
        hit = self.fraction * self.unique
        return hit / (hit + 2 * (1 - self.fraction) * self.pairs)

    @property
    def special(self) -> int:
        """Records that are unique on fewer columns than there are."""
        return int(((self.smallest > 0) & (self.smallest < len(self.names))).sum())

    def contributions(self) -> dict[str, float]:
        """For each column the share of all minimal uniques that it is part of."""
        total = sum(one.minimal for one in self.sets)
        return {
            name: sum(one.minimal for one in self.sets if name in one.columns) / max(total, 1)
            for name in self.names
        }

    def columns_of(self, row: int) -> list[str]:
        """The columns of a smallest minimal unique of a record."""
        mask = int(self.smallest_set[row])
        return [name for j, name in enumerate(self.names) if mask >> j & 1]

    def as_dict(self) -> dict[str, Any]:
        """The numbers of the JSON file."""
        scores = self.scores
        return {
            "largest_size": self.most,
            "records": int((self.smallest > 0).sum()),
            "special_uniques": self.special,
            "unique_on_all_columns": self.unique,
            "minimal_uniques": [int(count) for count in self.counts.sum(axis=0)],  # by size
            "highest_score": float(scores.max(initial=0.0)),
            "mean_score": float(scores.mean()) if len(scores) else 0.0,
            "dis_fraction": self.fraction,
            "correct_match": self.correct_match,
            "contributions": self.contributions(),
            "sets": [
                {
                    "columns": list(one.columns),
                    "unique": one.unique,
                    "average_risk": one.average_risk,
                    "minimal_uniques": one.minimal,
                }
                for one in self.sets
            ],
        }


def special_uniques(
    names: tuple[str, ...],
    codes: Ints,
    most: int,
    fraction: float = DIS_FRACTION,
    report: Callable[[float], None] = lambda _: None,
) -> SpecialUniques:
    """Find the minimal sample uniques of up to `most` columns; `codes` is int32[n, q], -1 missing.

    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]], np.int32)
    >>> found = special_uniques(("a", "b"), codes, 2)
    >>> found.scores.tolist(), found.columns_of(4)
    ([1.0, 1.0, 1.0, 1.0, 1.0], ['b'])
    """
    n, q = codes.shape
    most = min(most, q)
    _check_size(n, q, most)
    search = _Search(names, codes, most, report)
    search.run()
    _, _, size = group_rows(codes)
    order = sorted(search.found, key=lambda one: (len(one.columns), -one.unique, one.columns))
    return SpecialUniques(
        most=most,
        names=names,
        counts=search.counts,
        smallest=search.smallest,
        smallest_set=search.smallest_set,
        sets=tuple(order),
        fraction=fraction,
        unique=int((size == 1).sum()),
        pairs=int((size == 2).sum()),
    )


def _check_size(n: int, q: int, most: int) -> None:
    """Raise an error if there are too many sets of columns to remember."""
    if most < 1:
        raise BadInput(f"minimal sample uniques have 1 column or more, got {most}")
    sets = sum(comb(q, m) for m in range(1, most))
    if q > MOST_COLUMNS or sets * (n // 8 + 1) > MOST_BYTES:
        fits = next(
            (m for m in range(most - 1, 0, -1)
             if sum(comb(q, s) for s in range(1, m)) * (n // 8 + 1) <= MOST_BYTES), 1
        )  # fmt: skip
        way = f"up to {fits} columns" if q <= MOST_COLUMNS else f"{MOST_COLUMNS} columns or fewer"
        raise BadInput(
            f"there are too many sets of up to {most} of {q} quasi-identifiers for {n:,} records; "
            f"ask for {way}"
        )


class _Search:
    """The sets of columns, in depth-first order; `kernels/search/unique_sets.py` says in which."""

    def __init__(
        self, names: tuple[str, ...], codes: Ints, most: int, report: Callable[[float], None]
    ) -> None:
        n, q = codes.shape
        self.names, self.most, self.report = names, most, report
        self.columns: list[Ints] = []  # int32[n] per column, 0 and up
        self.sizes: list[int] = []
        for j in range(q):
            column = np.ascontiguousarray(codes[:, j]) + np.int32(1)
            numbers, used = number_codes(column, int(column.max(initial=0)) + 1)
            self.columns.append(numbers)
            self.sizes.append(len(used))
        self.places: dict[int, int] = {}  # of each set of columns among `bits`
        sets = sum(comb(q, m) for m in range(1, most))
        self.bits = np.zeros((max(sets, 1), n // 8 + 1), np.uint8)
        self.rows = [np.arange(n, dtype=np.int32)] + [np.empty(n, np.int32) for _ in range(most)]
        self.labels = [np.zeros(n, np.int32) for _ in range(most + 1)]
        self.new, self.count = np.empty(n, np.int32), np.empty(n, np.int32)
        self.minimal = np.empty(n, np.int32)
        self.keys, self.ids = empty_table(table_slots(n))
        self.counts = np.zeros((n, most), np.int32)
        self.smallest = np.zeros(n, np.int32)
        self.smallest_set = np.zeros(n, np.int64)
        self.found: list[SetRisk] = []
        self.n, self.q = n, q

    def run(self) -> None:
        """Visit all sets."""
        for first in range(self.q - 1, -1, -1):
            self._visit(first, 0, 0, self.n, 0)
            self.report(1 - first / self.q)

    def _visit(self, column: int, before: int, depth: int, many: int, gone: int) -> None:
        """Add a column to the set `before`, of whose rows `many` are left and `gone` are unique."""
        rows, label = self.rows[depth], self.labels[depth]
        slots = min(table_slots(many), len(self.ids))
        groups = divide(
            rows, label, many, self.columns[column], self.sizes[column],
            self.keys, self.ids, slots, self.new, self.count,
        )  # fmt: skip
        mask, size = before | 1 << column, depth + 1
        own = -1
        if size < self.most:
            own = self.places[mask] = len(self.places)
        smaller = [self.places[mask & ~(1 << j)] for j in range(column) if before >> j & 1]
        known = np.array(smaller, np.int64)
        found, left = keep_others(
            rows, many, self.new, self.count, self.rows[size], self.labels[size],
            known, len(smaller), self.bits, own, self.minimal,
        )  # fmt: skip
        tally_minimal(
            self.minimal, found, size, mask, self.counts, self.smallest, self.smallest_set
        )
        unique = gone + many - left
        self.found.append(
            SetRisk(
                tuple(name for j, name in enumerate(self.names) if mask >> j & 1),
                unique,
                (gone + groups) / self.n,
                found,
            )
        )
        if size < self.most:
            for further in range(self.q - 1, column, -1):
                self._visit(further, mask, size, left, unique)
