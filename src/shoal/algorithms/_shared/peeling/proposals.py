"""Cells worth opening: those that the best classes have if numbers of people may be fractions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.algorithms._shared.cells import cheapest_costs
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation.fractions import Fractions, Start, fractions
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.base.arrays import Longs
from shoal.kernels.annealing.proposals import Proposals, no_proposals
from shoal.kernels.group import group_rows
from shoal.kernels.search.cells import Lattice

CELLS = 0.1  # of the looks: the search for the cheapest cells of all tuples


def proposed_cells(
    layout: Layout,
    lattice: Lattice,
    k: int,
    label: Longs,
    most: int,
    report: Callable[[float], None],
    over: Callable[[], bool],
) -> Proposals:
    """The cells of the linear program's groups of k people, by about so many looks at tuples.

    `lattice` has sorted tuples, and `label` numbers their classes, from which the program begins.
    A tuple's probability of a cell is the share of its people in groups of the cell. There are
    tuples in no group, for which no cell is proposed. `over` ends the program after a round.
    """
    n, q = lattice.vector.shape
    looks = int(CELLS * most)
    cost = cheapest_costs(lattice, k, lambda _: report(0.0), looks)
    keeps = kept(layout.trees, closures(layout.shapes, lattice.vector, label))
    # Several records of a person count once: prices per person need not be those of the records.
    pricing, start = Pricing(lattice, layout.trees, lattice.people, k), Start(label, keeps, cost)
    found = fractions(pricing, start, most - looks, report, exactly=False, over=over)
    return _by_tuple(layout, lattice, found) if len(found.groups) else no_proposals(n, q)


def _by_tuple(layout: Layout, lattice: Lattice, found: Fractions) -> Proposals:
    """The different cells of the groups that each tuple is a member of."""
    groups, of = found.groups, found.groups.of_member
    cell = closures(layout.shapes, lattice.vector[groups.member], of)[groups.start[:-1]]
    equal, first, _ = group_rows(cell)
    pairs, pair = np.unique(groups.member * len(first) + equal[of], return_inverse=True)
    member, which = np.divmod(pairs, len(first))
    people = np.bincount(pair, groups.times * found.weight[of])
    start = np.searchsorted(member, np.arange(len(lattice.vector) + 1))
    upto = np.cumsum(people)
    before = np.append(0.0, upto)[start]  # of all tuples before
    whole = np.diff(before)
    return Proposals(start, which, (upto - before[member]) / whole[member], cell[first])
