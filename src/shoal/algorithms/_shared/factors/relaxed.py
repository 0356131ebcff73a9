"""Which cells the best rows would have if numbers of rows could be fractions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.factors.factor import Factor, People, closed
from shoal.algorithms._shared.relaxation.columns import Columns, of_classes
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.relaxation import Relaxation
from shoal.base.arrays import Floats, Ints, Longs
from shoal.kernels.group import group_rows
from shoal.kernels.search.cells import Lattice
from shoal.losses._integer_costs import LARGEST

PASSES = 3  # over all cells, until prices are worth a linear program
ROUNDS = 25  # of column generation
LOOKS = 200_000  # for each person, in all rounds
GAP = 0.003  # of the loss: when the bound is so close to what the program loses, it is over
TINY = 1e-3  # of a row: no part of the solution


class Fractions(NamedTuple):
    """Cells, and how many rows each has in a solution with fractions that is nearly possible."""

    vector: Ints  # int32[cells, q]
    many: Floats  # float64[cells]


def relaxed_rows(
    people: People, classes: Factor, lattice: Lattice, cost: Longs, report: Callable[[float], None]
) -> Fractions:
    """Nearly an optimum of the linear program over fractions of rows, by column generation.

    A row with k members is a group of k records of a cell, and everybody is a member of k rows. So
    if rows could be fractions, the best of them would be the linear relaxation of the best
    k-anonymous release (see `relaxation`), in which groups that price out bring the cells that
    rows need. The search starts from some classes, a factor in which every tuple is in one cell,
    and from `cost`, that of the cheapest cell of each tuple that covers k records. Looks at tuples
    are counted, not timed, so that the result is the same on every machine.
    """
    highest, n = int(lattice.own[:, -1].max(initial=0)), int(people.size.sum())
    if highest == 0:  # nothing can be lost
        return Fractions(classes.vector, classes.many.astype(np.float64))
    fine = max(1, LARGEST // (4 * n * highest))  # a mean is no whole number
    lattice = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
    own, cap = lattice.own[:, -1], lattice.own[:, -1] - cost * fine
    pricing = Pricing(lattice, people.layout.trees, people.size, people.k)
    relaxation = Relaxation(pricing, cap, _columns(people, classes, fine))
    _first_prices(relaxation, LOOKS * n, partial(report, 0.0))
    possible = int((own * people.size).sum())
    for done in range(ROUNDS):
        over = relaxation.improve(LOOKS * n, partial(report, done / ROUNDS)) is None
        close = GAP * (possible - relaxation.bound)
        if over or relaxation.bound - relaxation.kept <= close:
            break
    return _cells(people, relaxation.columns)


def _columns(people: People, classes: Factor, fine: int) -> Columns:
    """The groups of the classes."""
    label = np.empty(len(people.size), np.int64)
    label[classes.tuple] = classes.cell
    columns = Columns(len(label), people.k)
    keeps = people.keeps(classes.vector)[label] * fine
    columns.add(of_classes(label, people.size, keeps, people.k))
    return columns


def _first_prices(relaxation: Relaxation, most: int, report: Callable[[], None]) -> None:
    """Lower valid prices, as far as a few passes over all cells do, and the groups they show."""
    for _ in range(PASSES):
        found = relaxation.pricing.price(relaxation.cap, most - relaxation.work, report)
        if found is None:
            return
        relaxation.columns.add(found.groups)
        relaxation.cap, relaxation.price = found.cap, found.cap.astype(np.float64)
        relaxation.work += found.looks


def _cells(people: People, columns: Columns) -> Fractions:
    """The rows of each cell, from the weights of its groups."""
    held = columns.weight > TINY
    groups = columns.groups.some(held)
    if not len(groups):
        return Fractions(np.zeros((0, people.tuples.vector.shape[1]), np.int32), np.zeros(0))
    label = np.repeat(np.arange(len(groups)), np.diff(groups.start))
    vector = closed(people, label, groups.member)
    cell, first, _ = group_rows(vector)
    many: Floats = np.bincount(cell, columns.weight[held], len(first)).astype(np.float64)
    return Fractions(vector[first], many)
