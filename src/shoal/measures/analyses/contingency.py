"""Contingency tables: how two columns of categories go together, before and after.

The association is Cramér's V, from 0 to 1, corrected for bias, as a release has fewer records with
both values. Its intervals are ± 1.96 standard errors, found by the bootstrap: 200 tables drawn
from the counted one, always with the same random seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats
from shoal.measures.analyses.estimates import Compared, Estimate, Z
from shoal.measures.analyses.variables import Variable, Variables

RESAMPLES = 200
SEED = 0  # fixed: the same release gives the same intervals


@dataclass(frozen=True)
class AssociationFact:
    """The association of two columns of categories."""

    columns: tuple[str, str]
    association: Compared  # Cramér's V
    distance: float | None  # share of records in another cell of the table: half the L1 distance

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "columns": list(self.columns),
            **self.association.as_dict(),
            "distance": self.distance,
        }


def association_facts(
    before: Variables, after: Variables, pairs: list[tuple[int, int]]
) -> list[AssociationFact]:
    """The associations of these pairs of columns of categories."""
    found = []
    for i, j in pairs:
        was, now = contingency(before, i, j), contingency(after, i, j)
        names = before.columns[i].name, before.columns[j].name
        both = Compared(association(was), association(now))
        found.append(AssociationFact(names, both, table_distance(was, now)))
    return found


def contingency(table: Variables, i: int, j: int) -> Floats:
    """How many records are in each pair of categories, float64[categories, categories].

    A general value counts in part in each category that it covers; missing values do not count.
    """
    one, other = table.columns[i], table.columns[j]
    left, right = _shares(one), _shares(other)
    assert one.categories is not None
    assert other.categories is not None
    rows = one.categories.row[one.codes].astype(np.int64)
    rows *= len(right)
    rows += other.categories.row[other.codes]
    often = np.bincount(rows, table.weight, len(left) * len(right)).astype(np.float64)
    return np.asarray(left.T @ often.reshape(len(left), len(right)) @ right)


def _shares(column: Variable) -> Floats:
    assert column.categories is not None
    return column.categories.share


def association(counts: Floats) -> Estimate | None:
    """Cramér's V of a contingency table; None if a column has fewer than two categories."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n = float(counts.sum())
    if min(counts.shape, default=0) < 2 or n < 1:
        return None
    value = float(_v(counts[None])[0])
    rng = np.random.default_rng(SEED)
    drawn = rng.multinomial(round(n), (counts / n).ravel(), RESAMPLES)
    half = Z * float(_v(drawn.reshape(RESAMPLES, *counts.shape).astype(np.float64)).std(ddof=1))
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), n)


def _v(counts: Floats) -> Floats:
    """Cramér's V of each of several tables, corrected for bias (W. Bergsma 2013), float64[tables].

    Without the correction, V grows the fewer records there are. Rows and columns without a record
    do not count.
    """
    n = counts.sum(axis=(1, 2))
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :]
    squares = np.where(expected > 0, counts**2 / np.where(expected > 0, expected, 1.0), 0.0)
    r, c = (rows > 0).sum(axis=1), (columns > 0).sum(axis=1)
    more = np.maximum(n - 1, 1e-9)
    phi = np.maximum(squares.sum(axis=(1, 2)) - 1 - (r - 1) * (c - 1) / more, 0.0)
    least = np.minimum(r - (r - 1) ** 2 / more, c - (c - 1) ** 2 / more) - 1
    known = (least > 0) & (n > 1)
    return np.where(known, np.minimum(np.sqrt(phi / np.where(known, least, 1.0)), 1.0), 0.0)


def table_distance(was: Floats, now: Floats) -> float | None:
    """Half the sum of the differences of all shares; None if a table is empty."""
    if not was.sum() or not now.sum():
        return None
    return float(np.abs(was / was.sum() - now / now.sum()).sum() / 2)
