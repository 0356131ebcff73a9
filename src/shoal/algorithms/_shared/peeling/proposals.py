"""Cells worth opening: those that the best classes have if numbers of rows may be fractions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.algorithms._shared.cells import cheapest_costs
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation.fractions import Fractions, fractions
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.base.arrays import Longs
from shoal.kernels.annealing.proposals import Proposals, no_proposals
from shoal.kernels.search.cells import Lattice

CELLS = 0.1  # of the looks: the search for the cheapest cells of all tuples


def proposed_cells(
    layout: Layout,
    lattice: Lattice,
    size: Longs,
    k: int,
    label: Longs,
    most: int,
    report: Callable[[float], None],
) -> Proposals:
    """The cells of the linear program's groups, for all tuples, by at most so many looks at them.

    `lattice` has sorted tuples, each of `size` rows, and `label` numbers their classes, from which
    the program begins. A tuple's probability of a group is its share of rows in it.
    """
    n, q = lattice.vector.shape
    if not lattice.own[:, -1].any() or most == 0:
        return no_proposals(n, q)
    rows = lattice._replace(people=size)  # of which the groups of the program consist
    cost = cheapest_costs(rows, k, lambda _: report(0.0), int(CELLS * most))
    keeps = kept(layout.trees, closures(layout.shapes, lattice.vector, label))
    pricing = Pricing(rows, layout.trees, size, k)
    found = fractions(pricing, label, keeps, cost, most - int(CELLS * most), report)
    return _by_tuple(layout, lattice, found) if len(found.groups) else no_proposals(n, q)


def _by_tuple(layout: Layout, lattice: Lattice, found: Fractions) -> Proposals:
    """The cells of the groups that each tuple is a member of."""
    groups, of = found.groups, found.of_member
    cell = closures(layout.shapes, lattice.vector[groups.member], of)[groups.start[:-1]]
    order = np.argsort(groups.member, kind="stable")
    many = np.bincount(groups.member, minlength=len(lattice.vector))
    start = np.append(0, np.cumsum(many))
    upto = np.append(0.0, np.cumsum((groups.times * found.many[of])[order]))
    whole = np.repeat(upto[start[1:]] - upto[start[:-1]], many)
    before = np.repeat(upto[start[:-1]], many)
    return Proposals(start, of[order].astype(np.int32), (upto[1:] - before) / whole, cell)
