"""The prices and weights of the groups that are known: the restricted master program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.base.arrays import Floats, Longs
from shoal.base.pace import Pace
from shoal.kernels.search.cell_groups import weigh_groups

RESTART = 250  # rounds after which the method goes on from the mean of these rounds
RESTARTS = 8


@dataclass(frozen=True, eq=False)
class Master:
    """The program of the known groups; prices are in units of `unit`.

    A first-order method, as the programs have ten thousands of rows and columns, and there are
    dozens of them. What its prices lack in precision costs a little of the bound, which is made
    of valid prices only.
    """

    columns: Columns
    size: Longs  # int64[tuples]
    unit: float

    def solve(self, price: Floats, low: Floats, high: Floats) -> tuple[Floats, int]:
        """Better prices between two limits, and the work; the weights of the columns change too."""
        groups = self.columns.groups
        share, by_tuple = groups.times / self.columns.k, self.columns.by_tuple()
        keeps, size = groups.keeps / self.unit, self.size.astype(np.float64)
        low, high, price = (one / self.unit for one in (low, high, price))
        weight, ahead = self.columns.weight.copy(), np.empty_like(price)
        for _ in range(RESTARTS):
            prices, weights = np.zeros_like(price), np.zeros_like(weight)
            pace, left = Pace(), RESTART
            while left:
                rounds = min(left, pace.begin())
                weigh_groups(
                    groups.start, groups.member, share, *by_tuple, keeps, size, low, high, price,
                    weight, rounds, prices, weights, ahead,
                )  # fmt: skip
                pace.end(rounds)
                left -= rounds
            price, weight = prices / RESTART, weights / RESTART
        self.columns.weight = weight
        return price * self.unit, 2 * RESTARTS * RESTART * len(share)
