"""The best classes if numbers of rows could be fractions, nearly: a linear program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.relaxation.columns import NO_GROUPS, Columns, Groups, of_classes
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
    weight: Floats  # float64[groups]


class Start(NamedTuple):
    """Where the program begins."""

    label: Longs  # int64[tuples], the class of each
    keeps: Longs  # int64[tuples], what a row of its class keeps
    cost: Longs  # int64[tuples], what the cheapest cell costs that covers k rows, or more


def fractions(
    pricing: Pricing,
    start: Start,
    most: int,
    report: Callable[[float], None],
    exactly: bool = True,
    over: Callable[[], bool] = lambda: False,
) -> Fractions:
    """The groups that have a part in nearly an optimum, by about so many looks at tuples.

    Looks are counted, not timed, so that the result is the same on every machine. Without
    `exactly` it does not depend on the version of a solver. `over` ends it after a round.
    """
    lattice, n = pricing.lattice, int(pricing.size.sum())
    highest = int(lattice.own[:, -1].max(initial=0))
    if highest == 0:  # nothing can be lost
        return Fractions(NO_GROUPS, np.zeros(0))
    fine = max(1, LARGEST // (4 * n * highest))  # a mean is no whole number
    lattice = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
    own, columns = lattice.own[:, -1], Columns(len(start.label), pricing.k)
    columns.add(of_classes(start.label, pricing.size, start.keeps * fine, pricing.k))
    pricing = replace(pricing, lattice=lattice)
    relaxation = Relaxation(pricing, own - start.cost * fine, columns, exactly)
    _first_prices(relaxation, most, partial(report, 0.0))
    possible = int((own * pricing.size).sum())
    for done in range(ROUNDS):
        share = min(1.0, max(done / ROUNDS, relaxation.work / max(most, 1)))
        stopped = relaxation.improve(most, partial(report, share)) is None or over()
        close = GAP * (possible - relaxation.bound)
        # Groups that keep more than is possible have too much weight: the program goes on.
        if stopped or abs(relaxation.bound - relaxation.kept) <= close:
            break
    held = columns.weight > TINY
    return Fractions(columns.groups.some(held), columns.weight[held])


def _first_prices(relaxation: Relaxation, most: int, report: Callable[[], None]) -> None:
    """Make prices valid, and lower them by a few passes over all cells; add the groups seen."""
    for _ in range(PASSES):
        found = relaxation.pricing.price(relaxation.cap, most - relaxation.work, report)
        if found is None:
            relaxation.work = most
            return
        relaxation.columns.add(found.groups)
        relaxation.cap, relaxation.price = found.cap, found.cap.astype(np.float64)
        relaxation.work += found.looks
