"""The best classes if numbers of rows could be fractions, nearly: a linear program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns, Groups, of_classes
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.relaxation import Relaxation
from shoal.base.arrays import Floats, Longs
from shoal.losses._integer_costs import LARGEST

PASSES = 3  # over all cells, until prices are worth a linear program
ROUNDS = 25  # of column generation
GAP = 0.003  # of the loss: when the bound is so close to what the program loses, it is over
TINY = 1e-3  # of a row: no part of the solution


class Fractions(NamedTuple):
    """Groups of k rows, and the number of rows of each in a solution that is nearly possible."""

    groups: Groups
    many: Floats  # float64[groups]

    @property
    def of_member(self) -> Longs:
        """The group of each of their members."""
        found: Longs = np.repeat(np.arange(len(self.groups)), np.diff(self.groups.start))
        return found


def fractions(
    pricing: Pricing,
    label: Longs,
    keeps: Longs,
    cost: Longs,
    most: int,
    report: Callable[[float], None],
) -> Fractions:
    """The groups that have a part in nearly an optimum, by at most so many looks at tuples.

    The search starts from classes: `label` numbers that of each tuple, and `keeps` has what a row
    of it keeps. `cost` is that of the cheapest cell of each tuple that covers k rows. Looks are
    counted, not timed, so that the result is the same on every machine.
    """
    lattice, n = pricing.lattice, int(pricing.size.sum())
    fine = max(1, LARGEST // (4 * n * int(lattice.own[:, -1].max())))  # a mean is no whole number
    lattice = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
    own, columns = lattice.own[:, -1], Columns(len(label), pricing.k)
    columns.add(of_classes(label, pricing.size, keeps * fine, pricing.k))
    relaxation = Relaxation(replace(pricing, lattice=lattice), own - cost * fine, columns)
    _first_prices(relaxation, most, partial(report, 0.0))
    possible = int((own * pricing.size).sum())
    for done in range(ROUNDS):
        share = min(1.0, max(done / ROUNDS, relaxation.work / most))
        over = relaxation.improve(most, partial(report, share)) is None
        close = GAP * (possible - relaxation.bound)
        # Groups that keep more than is possible have too much weight: the program goes on.
        if over or abs(relaxation.bound - relaxation.kept) <= close:
            break
    held = relaxation.columns.weight > TINY
    return Fractions(relaxation.columns.groups.some(held), relaxation.columns.weight[held])


def _first_prices(relaxation: Relaxation, most: int, report: Callable[[], None]) -> None:
    """Lower valid prices, as far as a few passes over all cells do, and the groups they show."""
    for _ in range(PASSES):
        found = relaxation.pricing.price(relaxation.cap, most - relaxation.work, report)
        if found is None:
            return
        relaxation.columns.add(found.groups)
        relaxation.cap, relaxation.price = found.cap, found.cap.astype(np.float64)
        relaxation.work += found.looks
