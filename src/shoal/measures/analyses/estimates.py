"""Estimates with confidence intervals, from the original and from the release.

Intervals are at 95 % and treat the records as a random sample in which each is independent of the
others. Those of means, variances and correlations are analytic: the normal approximation with the
standard error by the delta method, which does not assume that values are normally distributed.
Variances are compared on a logarithmic scale, correlations on Fisher's, so that no interval leaves
the possible values. Each analysis uses the records in which no value that it needs is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, exp, sqrt, tanh
from typing import Any

import numpy as np

from shoal.base.arrays import Floats
from shoal.measures.analyses.variables import Variable, Variables

LEVEL = 0.95
Z = 1.959963984540054  # of the normal distribution, for this level
UNIFORM = 9 / 5  # fourth moment of a uniform distribution, in squares of its variance
MANY_PAIRS = 1 << 20  # pairs of values that are counted rather than going through the records


@dataclass(frozen=True)
class Estimate:
    """An estimate and its confidence interval."""

    value: float
    low: float
    high: float
    records: float  # that it is made from; general values may count in part

    def as_dict(self) -> dict[str, float]:
        """The numbers by the names of the JSON file."""
        return {
            "estimate": self.value,
            "low": self.low,
            "high": self.high,
            "records": self.records,
        }


@dataclass(frozen=True)
class Compared:
    """The same estimate from the original and from the release; None: it is not defined."""

    before: Estimate | None
    after: Estimate | None

    @property
    def difference(self) -> float | None:
        """Release minus original."""
        if self.before is None or self.after is None:
            return None
        return self.after.value - self.before.value

    @property
    def inside(self) -> bool | None:
        """Whether the estimate from the release is inside the interval of the original."""
        if self.before is None or self.after is None:
            return None
        slack = 1e-9 * (abs(self.before.value) + self.before.high - self.before.low)
        return self.before.low - slack <= self.after.value <= self.before.high + slack

    def mapped(self, function: Callable[[float], float]) -> Compared:
        """The same estimates on another scale, which keeps their order."""

        def map_one(one: Estimate | None) -> Estimate | None:
            if one is None:
                return None
            value, low, high = map(function, (one.value, one.low, one.high))
            return Estimate(value, low, high, one.records)

        return Compared(map_one(self.before), map_one(self.after))

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "before": None if self.before is None else self.before.as_dict(),
            "after": None if self.after is None else self.after.as_dict(),
            "difference": self.difference,
            "inside": self.inside,
        }


@dataclass(frozen=True)
class NumberFact:
    """A column of numbers: its mean and its variance."""

    column: str
    mean: Compared
    variance: Compared
    in_years: bool = False  # whether its numbers are dates

    @property
    def shift(self) -> float | None:
        """The difference of the means in standard deviations of the original."""
        spread = self.variance.before
        if self.mean.difference is None or spread is None or spread.value <= 0:
            return None
        return self.mean.difference / sqrt(spread.value)

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "unit": "years" if self.in_years else None,
            "mean": self.mean.as_dict(),
            "variance": self.variance.as_dict(),
            "shift": self.shift,
        }


@dataclass(frozen=True)
class CorrelationFact:
    """Pearson's correlation of two columns of numbers."""

    columns: tuple[str, str]
    correlation: Compared

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {"columns": list(self.columns), **self.correlation.as_dict()}


def number_facts(before: Variables, after: Variables) -> list[NumberFact]:
    """The means and variances of all columns of numbers."""
    found = []
    for one, other in zip(before.columns, after.columns, strict=True):
        if one.numbers is not None and other.numbers is not None:
            was, now = moments(before, one), moments(after, other)
            means, variances = (Compared(a, b) for a, b in zip(was, now, strict=True))
            found.append(NumberFact(one.name, means, variances, one.in_years))
    return found


def moments(table: Variables, column: Variable) -> tuple[Estimate | None, Estimate | None]:
    """The mean and the variance of a column of numbers."""
    numbers = column.numbers
    assert numbers is not None
    if not numbers.computable:
        return None, None
    there = np.isfinite(numbers.mean)
    often = np.where(there, table.counts(column, len(numbers.mean)), 0.0)
    n = float(often.sum())
    if not n:
        return None, None
    value = np.where(there, numbers.mean, 0.0)
    mean = float(often @ value) / n
    square = (value - mean) ** 2
    second = float(often @ (square + numbers.variance)) / n
    if n < 2:
        return Estimate(mean, mean, mean, n), None
    variance = second * n / (n - 1)
    half = Z * sqrt(variance / n)
    fourth = square**2 + 6 * square * numbers.variance + UNIFORM * numbers.variance**2
    error = sqrt(max(float(often @ fourth) / n - second**2, 0.0) / n)
    factor = exp(Z * error / second) if second > 0 else 1.0
    return (
        Estimate(mean, mean - half, mean + half, n),
        Estimate(variance, variance / factor, variance * factor, n),
    )


def correlation_facts(
    before: Variables, after: Variables, pairs: list[tuple[int, int]]
) -> list[CorrelationFact]:
    """The correlations of these pairs of columns of numbers."""
    return [
        CorrelationFact(
            (before.columns[i].name, before.columns[j].name),
            Compared(correlation(before, i, j), correlation(after, i, j)),
        )
        for i, j in pairs
    ]


def correlation(table: Variables, i: int, j: int) -> Estimate | None:
    """Pearson's correlation of two columns; None if one of them is constant."""
    often, x, y, within_x, within_y = _pairs(table, i, j)
    n = float(often.sum())
    if n < 2:
        return None
    x, y = x - float(often @ x) / n, y - float(often @ y) / n
    square_x, square_y, product = x**2 + within_x, y**2 + within_y, x * y
    var_x, var_y = float(often @ square_x) / n, float(often @ square_y) / n
    if min(var_x, var_y) <= 1e-300:
        return None
    r = float(often @ product) / n / sqrt(var_x * var_y)
    r = max(-1.0, min(1.0, r))
    # The influence of a record on the correlation (delta method).
    influence = product / sqrt(var_x * var_y) - r / 2 * (square_x / var_x + square_y / var_y)
    error = sqrt(float(often @ influence**2) / n / n)
    if 1 - r**2 < 1e-12:
        return Estimate(r, r, r, n)
    half = Z * error / (1 - r**2)
    return Estimate(r, tanh(atanh(r) - half), tanh(atanh(r) + half), n)


def _pairs(table: Variables, i: int, j: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Pairs of numbers: how many records have them, both numbers, and the variance within each."""
    one, other = table.columns[i], table.columns[j]
    assert one.numbers is not None
    assert other.numbers is not None
    size = len(other.numbers.mean)
    if len(one.numbers.mean) * size <= MANY_PAIRS:
        key = one.codes.astype(np.int64) * size + other.codes
        often = np.bincount(key, table.weight).astype(np.float64)
        key = np.flatnonzero(often)
        often = often[key]
        a, b = key // size, key % size
    else:
        a, b = one.codes, other.codes  # type: ignore[assignment]
        often = np.ones(len(a)) if table.weight is None else table.weight.astype(np.float64)
    x, y = one.numbers.mean[a], other.numbers.mean[b]
    there = np.isfinite(x) & np.isfinite(y)
    within = one.numbers.variance[a], other.numbers.variance[b]
    return often[there], x[there], y[there], within[0][there], within[1][there]
