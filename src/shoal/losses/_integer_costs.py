"""Integer costs: losses as integers, so that sums are exact and ties are real ties."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import frexp, lcm

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.kernels.tree_sums import least_below
from shoal.losses import Loss, costs_of
from shoal.table.encode import Domain, Domains

# Largest sum of costs over all records. Kernels add a few such sums and use 2 ** 61 as infinity:
# no real sum may come near it.
HEADROOM = 58
LARGEST = 1 << HEADROOM
DENOMINATOR = 10**6
DISTINCT = 5_000  # with more different costs in a column, no common denominator is sought


def exact_costs(
    loss: Loss, domains: Sequence[Domain], records: int, falling: bool = False
) -> list[Longs]:
    """For every column the cost from each node to the root, as integers of one unit.

    Most metrics are fractions with a small common denominator: the integers are then exactly
    proportional to them. Otherwise they are rounded to the finest unit that cannot overflow.
    Where a loss falls when a value is generalized (entropy can), the step is made free instead: a
    search that could gain by generalizing would never end. These costs are then not the reported
    loss. Code that proves something about the loss asks for its real costs with `falling`.
    """
    if isinstance(domains, Domains) and domains.whole is not None:
        whole = _of_whole(loss, domains.whole, falling)
        part = zip(whole, domains.tops, domains, strict=True)
        return [cost[top : top + one.tree.size] - cost[top] for cost, top, one in part]
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


def _of_whole(loss: Loss, domains: Domains, falling: bool) -> list[Longs]:
    """The integer costs of a table, computed once for all of its parts."""
    key = type(loss), loss.model_dump_json(), falling
    if key not in domains.exact_costs:
        rows = int(domains[0].counts.sum()) if len(domains) else 0
        domains.exact_costs[key] = exact_costs(loss, domains, rows, falling)
    return domains.exact_costs[key]


def _whole(cost: Floats, unit: int) -> Longs:
    """The costs times their denominator, without rounding."""
    values, place = np.unique(cost, return_inverse=True)
    exact = [int(Fraction(value).limit_denominator(DENOMINATOR) * unit) for value in values]
    return np.array(exact, np.int64)[place]


def never_falling(domain: Domain, cost: Floats) -> Floats:
    """The same costs, but a step up that would lower the loss is free."""
    if not (cost[domain.tree.parent] > cost).any():
        return cost
    least: Floats = least_below(domain.tree.parent, cost)
    risen: Floats = least - least[0]
    return risen


def common_denominator(costs: Sequence[Floats]) -> int | None:
    """The smallest number that makes every cost an integer, or None if it is too large.

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
