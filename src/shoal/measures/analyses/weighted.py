"""Weighted analyses: means, shares and tables in people of the population.

Each record counts as often as its sampling weight says. There are no intervals: how far a weighted
estimate varies depends on how the sample was drawn, which a plan does not state.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from shoal.measures.analyses.contingency import contingency, table_distance
from shoal.measures.analyses.variables import Forms, Tables, Variable, Variables, variables


@dataclass(frozen=True)
class WeightedMean:
    """The weighted mean of a column of numbers; None: it has none in that table."""

    column: str
    before: float | None
    after: float | None
    deviation: float | None  # weighted standard deviation of the original
    in_years: bool = False  # whether its numbers are dates

    @property
    def difference(self) -> float | None:
        """Release minus original."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before

    @property
    def shift(self) -> float | None:
        """The difference in standard deviations of the original."""
        if self.difference is None or not self.deviation:
            return None
        return self.difference / self.deviation

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "shift": self.shift,
        }


@dataclass(frozen=True)
class WeightedTable:
    """How far the weighted shares of the cells of a table move; of one column, or of two."""

    columns: tuple[str, ...]
    distance: float | None  # share of the people in another cell: half the L1 distance

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {"columns": list(self.columns), "distance": self.distance}


@dataclass(frozen=True)
class WeightedAnalyses:
    """Statistics in people of the population, from the original and from the release."""

    means: tuple[WeightedMean, ...]
    shares: tuple[WeightedTable, ...]  # of one column each
    tables: tuple[WeightedTable, ...]  # of two columns each

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "means": {one.column: one.as_dict() for one in self.means},
            "shares": {one.columns[0]: one.distance for one in self.shares},
            "tables": [one.as_dict() for one in self.tables],
        }


def weighted_analyses(
    tables: Tables, forms: Forms, pairs: list[tuple[int, int]]
) -> WeightedAnalyses | None:
    """The same statistics by the weights of the records; None: the tables have no weights.

    `pairs` are columns of categories.
    """
    if tables.weights is None:
        return None
    before, after = variables(tables, forms, tables.weights)
    both = list(zip(before.columns, after.columns, strict=True))
    return WeightedAnalyses(
        tuple(_mean(before, after, *pair) for pair in both if pair[0].numbers is not None),
        tuple(
            WeightedTable((one.name,), table_distance(_shares(before, one), _shares(after, other)))
            for one, other in both
            if one.categories is not None
        ),
        tuple(
            WeightedTable(
                (before.columns[i].name, before.columns[j].name),
                table_distance(contingency(before, i, j), contingency(after, i, j)),
            )
            for i, j in pairs
        ),
    )


def _mean(before: Variables, after: Variables, one: Variable, other: Variable) -> WeightedMean:
    mean, variance = weighted_moments(before, one)
    now, _ = weighted_moments(after, other)
    deviation = None if variance is None else sqrt(variance)
    return WeightedMean(one.name, mean, now, deviation, one.in_years)


def weighted_moments(table: Variables, column: Variable) -> tuple[float | None, float | None]:
    """The weighted mean Σ w x / Σ w of a column, and its variance; None: it has no numbers."""
    numbers = column.numbers
    if numbers is None or not numbers.computable:
        return None, None
    there = np.isfinite(numbers.mean)
    often = np.where(there, table.counts(column, len(numbers.mean)), 0.0)
    total = float(often.sum())
    if not total:
        return None, None
    value = np.where(there, numbers.mean, 0.0)
    mean = float(often @ value) / total
    return mean, float(often @ ((value - mean) ** 2 + numbers.variance)) / total


def _shares(table: Variables, column: Variable) -> Any:
    """The weight of each category, float64[categories]; general values count in parts."""
    assert column.categories is not None
    share = column.categories.share
    rows = np.bincount(column.categories.row[column.codes], table.weight, len(share))
    return rows @ share
