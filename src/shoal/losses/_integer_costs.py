"""Exact costs: losses as integers, so that sums are exact and ties are real ties."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import frexp, lcm

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.kernels.tree_sums import least_below
from shoal.losses import Loss, costs_of
from shoal.table.encode import Domain

# What a sum of costs over all records may reach. Kernels add a few such sums, and hold what costs
# 2 ** 61 for dearer than anything: no real sum may come near that.
HEADROOM = 58
LARGEST = 1 << HEADROOM
DENOMINATOR = 10**6
DISTINCT = 5_000  # different costs of a column beyond which no common denominator is sought


def exact_costs(
    loss: Loss, domains: Sequence[Domain], records: int, falling: bool = False
) -> list[Longs]:
    """For every column the cost from each node to the root, as integers of one unit.

    Most metrics are fractions with a small common denominator: the integers are then exactly
    proportional to them. Otherwise they are rounded to the finest unit that cannot overflow.
    Where a loss would fall on the way up (entropy may), climbing is made free instead: a search
    that could gain by generalizing would never end. That is not the loss that is reported any more:
    whoever proves something about it asks for the costs as they are, with `falling`.
    """
    costs = costs_of(loss, domains)
    if not falling:
        costs = [never_falling(domain, cost) for domain, cost in zip(domains, costs, strict=True)]
    highest = sum(float(np.abs(cost).max()) for cost in costs) * max(records, 1)
    if highest == 0:
        return [np.zeros(len(cost), np.int64) for cost in costs]
    unit = common_denominator(costs)
    if unit is None or unit * highest >= LARGEST:
        # A power of two keeps what is exact in floating point exact here.
        scale = 2.0 ** (HEADROOM - 1 - frexp(highest)[1])
        return [np.rint(cost * scale).astype(np.int64) for cost in costs]
    return [_whole(cost, unit) for cost in costs]


def _whole(cost: Floats, unit: int) -> Longs:
    """The costs times their denominator, without rounding on the way."""
    values, place = np.unique(cost, return_inverse=True)
    exact = [int(Fraction(value).limit_denominator(DENOMINATOR) * unit) for value in values]
    return np.array(exact, np.int64)[place]


def never_falling(domain: Domain, cost: Floats) -> Floats:
    """The same costs, but climbing is free where it would gain."""
    if not (cost[domain.tree.parent] > cost).any():
        return cost
    least: Floats = least_below(domain.tree.parent, cost)
    risen: Floats = least - least[0]
    return risen


def common_denominator(costs: Sequence[Floats]) -> int | None:
    """The least number that makes every cost a whole one, or None when there is no small one.

    >>> common_denominator([np.array([0, 1 / 3]), np.array([0, 0.5, 1.0])])
    6
    """
    shared = 1
    for cost in costs:
        values = np.unique(cost)
        if len(values) > DISTINCT:
            return None
        for value in values:
            fraction = Fraction(value).limit_denominator(DENOMINATOR)
            if abs(float(fraction) - value) > 1e-13 * max(1.0, abs(value)):
                return None
            shared = lcm(shared, fraction.denominator)
            if shared > LARGEST:
                return None
    return shared
