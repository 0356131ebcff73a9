"""The people of a table as points: numbers and categories, each column on the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

import numpy as np

from shoal.algorithms._shared.clusters import Units
from shoal.base.arrays import Floats, Longs
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, number_of, range_of
from shoal.table.encode import Table

BITS = 52  # in which the sum of all numbers of a column is exact
FINEST = 40  # binary places of a standardized number at the most


@dataclass(frozen=True, eq=False)
class Standardized:
    """Points, one per unit, and what two different categories of a column are apart.

    Numbers are divided by their standard deviation. Then two units are apart by 2 on average, by
    their squared distance; categories are weighed so that this is true of them too. The importance
    of a column multiplies its distances. A column in which all units are the same is left out.
    """

    x: Floats  # float64[units, d]; a category is the code of its column, 0 and up
    cost: Floats  # float64[d], 0 for numbers
    start: Longs  # int64[d + 1], the codes of each column: none for numbers

    @staticmethod
    def of(table: Table, units: Units) -> Standardized:
        """The units of a table as points."""
        columns: list[Floats] = []
        costs: list[float] = []
        for j, tree in enumerate(table.trees):
            weight = table.importance[j] if table.importance else 1.0
            known = numbers_of(tree)
            kinds = units.vector[:, j]
            if known is not None:
                numbers, lacking = _of_units(known[table.codes[:, j]], units)
                _add_numbers(columns, costs, numbers, weight)
                kinds = lacking.astype(np.int32)  # a missing number is far from all others
            codes = np.unique(kinds, return_inverse=True)[1].astype(np.float64)
            share = np.bincount(codes.astype(np.int64)) / len(codes)
            if len(share) > 1:
                columns.append(codes)
                costs.append(float(2 * weight / (1 - (share**2).sum())))
        if not columns:  # all units are the same
            columns, costs = [np.zeros(len(units))], [0.0]
        sizes = [0 if cost == 0 else int(x.max()) + 1 for x, cost in zip(columns, costs)]  # noqa: B905
        return Standardized(
            np.stack(columns, axis=1), np.array(costs), np.append(0, np.cumsum(sizes))
        )

    @property
    def often(self) -> Longs:
        """How many units have each category, int64[codes]."""
        counts = np.zeros(int(self.start[-1]), np.int64)
        for j in np.flatnonzero(self.cost > 0):
            at, end = self.start[j], self.start[j + 1]
            counts[at:end] = np.bincount(self.x[:, j].astype(np.int64), minlength=int(end - at))
        return counts

    @property
    def squares(self) -> Longs:
        """The sum of the squares of these counts, int64[d]."""
        often = self.often
        ends = zip(self.start[:-1], self.start[1:], strict=True)
        return np.array([int((often[at:end] ** 2).sum()) for at, end in ends], np.int64)

    @property
    def is_sorted_by_one_column(self) -> bool:
        """Whether there is a single column, and it has numbers."""
        return len(self.cost) == 1 and bool(self.cost[0] == 0)


def numbers_of(tree: Tree) -> Floats | None:
    """The number of each value of a column, nan for others; None: it is no column of numbers.

    Numbers are values that are generalized to ranges. Codes such as postcodes are not, and neither
    is a column without a hierarchy. The lowest number is 0: large ones that differ by little would
    be the same as floats.
    """
    if isinstance(tree, FreeTree):
        if tree.kind != "ranges":
            return None
        return _from_lowest([None, *tree.numbers, *[None] * (tree.size - tree.last - 1)])
    inner = [tree.labels[v] for v in np.flatnonzero(tree.end > np.arange(tree.size) + 1).tolist()]
    if len(inner) < 2 or not all(one == ROOT or _is_range(one) for one in inner):
        return None
    lacking = {None, ROOT, *tree.words}
    exact = [None if label in lacking else number_of(label) for label in tree.labels]
    leaves = np.flatnonzero(tree.end == np.arange(tree.size) + 1).tolist()
    if any(exact[v] is None and tree.labels[v] not in lacking for v in leaves):
        return None  # some are ranges already
    return _from_lowest(exact)


def _from_lowest(numbers: Sequence[Fraction | None]) -> Floats:
    """By how much each number is above the lowest one; nan for None."""
    lowest = min((one for one in numbers if one is not None), default=Fraction(0))
    return np.array([np.nan if one is None else float(one - lowest) for one in numbers])


def _is_range(label: Label) -> bool:
    return range_of(label) is not None or str(label).startswith(("<", ">="))


def _of_units(numbers: Floats, units: Units) -> tuple[Floats, Longs]:
    """The mean number of the records of each unit, and whether one of them has none."""
    lacking = np.bincount(units.of_row, np.isnan(numbers), len(units)) > 0
    summed = np.bincount(units.of_row, np.nan_to_num(numbers), len(units))
    return np.where(lacking, np.nan, summed / units.size), lacking.astype(np.int64)


def _add_numbers(columns: list[Floats], costs: list[float], numbers: Floats, weight: float) -> None:
    """Add the standardized numbers, unless all are the same; a missing one is at the mean."""
    there = ~np.isnan(numbers)
    if not there.any() or (deviation := float(numbers[there].std())) == 0:
        return
    scaled = np.zeros(len(numbers))
    scaled[there] = (numbers[there] - numbers[there].mean()) / deviation * np.sqrt(weight)
    # Rounded so finely that only sums become exact, whatever the order of the records.
    room = BITS - ceil(log2(len(numbers) * max(1.0, float(np.abs(scaled).max()))))
    columns.append(np.ldexp(np.rint(np.ldexp(scaled, min(room, FINEST))), -min(room, FINEST)))
    costs.append(0.0)
