"""The prices and weights of the groups that are known: the restricted master program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.algorithms._shared.relaxation.solver import solve_exactly
from shoal.base.arrays import Floats, Longs
from shoal.base.pace import Pace
from shoal.kernels.search.cell_groups import weigh_groups

RESTART = 250  # rounds after which the method goes on from the mean of these rounds
RESTARTS = 2
SMALL = 60_000  # entries of the matrix up to which a solver finds the exact optimum in a second
# Prices change by thousandths of the highest one, weights by whole rows. In this unit both steps of
# the first-order method have about the same size: on Adult it then is ten times as precise.
STEP = 0.002


@dataclass(frozen=True, eq=False)
class Master:
    """The program of the known groups; `unit` is the highest price.

    A small program is solved exactly. Others have ten thousands of rows and columns, and there are
    dozens of them: a first-order method is faster, and can be interrupted. What its prices lack in
    precision costs a little of the bound, which is made of valid prices only.
    """

    columns: Columns
    size: Longs  # int64[tuples]
    unit: float
    exactly: bool = True  # whether a solver may be used: another version may find other weights

    @property
    def is_small(self) -> bool:
        """Whether the program is solved exactly."""
        return self.exactly and len(self.columns.groups.member) <= SMALL

    def solve(self, price: Floats, low: Floats, high: Floats) -> tuple[Floats, int]:
        """Better prices between two limits, and the work; the weights of the columns change too."""
        if self.is_small:
            found = solve_exactly(self.columns, self.size, self.unit, low, high)
            if found is not None:
                self.columns.weight = found.weight
                return found.price, RESTART * len(self.columns.groups.member)
        return self._approximate(price, low, high)

    def _approximate(self, price: Floats, low: Floats, high: Floats) -> tuple[Floats, int]:
        """The same by the first-order method, from these prices on."""
        groups, unit = self.columns.groups, self.unit * STEP
        share, by_tuple = groups.times / self.columns.k, self.columns.by_tuple()
        keeps, size = groups.keeps / unit, self.size.astype(np.float64)
        low, high, price = (one / unit for one in (low, high, price))
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
        return price * unit, 2 * RESTARTS * RESTART * len(share)
