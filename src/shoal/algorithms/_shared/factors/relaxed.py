"""Which cells the best rows would have if numbers of rows could be fractions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.factors.factor import Factor, People, closed
from shoal.algorithms._shared.relaxation.fractions import Start, fractions
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.base.arrays import Floats, Ints, Longs
from shoal.kernels.group import group_rows
from shoal.kernels.search.cells import Lattice

LOOKS = 200_000  # for each person, in the linear program


class CellFractions(NamedTuple):
    """Cells, and how many rows each has in a solution with fractions that is nearly possible."""

    vector: Ints  # int32[cells, q]
    many: Floats  # float64[cells]


def relaxed_rows(
    people: People, classes: Factor, lattice: Lattice, cost: Longs, report: Callable[[float], None]
) -> CellFractions:
    """Nearly an optimum of the linear program over fractions of rows, by column generation.

    A row with k members is a group of k records of a cell, and everybody is a member of k rows. So
    if rows could be fractions, the best of them would be the linear relaxation of the best
    k-anonymous release (see `relaxation`), in which groups that price out bring the cells that
    rows need. The search starts from some classes, a factor in which every tuple is in one cell,
    and from `cost`, that of the cheapest cell of each tuple that covers k records.
    """
    if lattice.own[:, -1].max(initial=0) == 0:  # nothing can be lost
        return CellFractions(classes.vector, classes.many.astype(np.float64))
    label = np.empty(len(people.size), np.int64)
    label[classes.tuple] = classes.cell
    pricing = Pricing(lattice, people.layout.trees, people.size, people.k)
    start = Start(label, people.keeps(classes.vector)[label], cost)
    found = fractions(pricing, start, LOOKS * int(people.size.sum()), report)
    if not len(found.groups):
        return CellFractions(np.zeros((0, people.tuples.vector.shape[1]), np.int32), np.zeros(0))
    vector = closed(people, found.groups.of_member, found.groups.member)
    cell, first, _ = group_rows(vector)
    many: Floats = np.bincount(cell, found.weight, len(first)).astype(np.float64)
    return CellFractions(vector[first], many)
