"""Variance lost: what microaggregation takes away of the variance of a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.table.roles import Microaggregate, microaggregated_columns
from shoal.table.written.microaggregation import numbers_of_rows


@dataclass(frozen=True)
class VarianceLost:
    """How much of the variance of a column is lost."""

    column: str
    published: Microaggregate  # of each class
    records: int  # with a number in the original and in the release
    not_published: int  # records with a number in the original, and none in the release
    # SSE / SST, from 0 (nothing); None: the original has no variance, or records are not matched.
    share: float | None

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return {
            "published": self.published,
            "records": self.records,
            "not_published": self.not_published,
            "variance_lost": self.share,
        }


def variances_lost(
    plan: Plan, before: Frame | None, after: Frame, rows: Longs | None
) -> tuple[VarianceLost, ...]:
    """The variance lost of each microaggregated column; `rows` says which record each row was."""
    if before is None or rows is None:
        return ()
    found = []
    for name in microaggregated_columns(plan.columns):
        how, words = plan.columns[name].microaggregate, plan.missing_of(name)
        if how is None or name not in before.names or name not in after.names:
            continue
        original = numbers_of_rows(before, name, words)[rows]
        released = numbers_of_rows(after, name, words)
        known = ~np.isnan(original)
        both = known & ~np.isnan(released)
        share = variance_lost(original[both], released[both])
        found.append(VarianceLost(name, how, int(both.sum()), int((known & ~both).sum()), share))
    return tuple(found)


def variance_lost(original: Floats, published: Floats) -> float | None:
    """SSE / SST of records (Domingo-Ferrer and Mateo-Sanz 2002); None: all numbers are the same.

    With means and without rounding it is the share of the variance that the release lacks.

    >>> variance_lost(np.array([1.0, 3.0, 11.0, 13.0]), np.array([2.0, 2.0, 12.0, 12.0]))
    0.038461538461538464
    """
    if not len(original):
        return None
    total = float(((original - original.mean()) ** 2).sum())
    return float(((original - published) ** 2).sum()) / total if total > 0 else None
