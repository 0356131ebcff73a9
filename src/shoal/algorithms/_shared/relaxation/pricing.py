"""Which groups keep more than the prices of their members: the pricing of column generation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.cells import tight_cells
from shoal.algorithms._shared.relaxation.columns import Groups
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import Pace
from shoal.base.threads import cached_property
from shoal.kernels.search.cell_groups import list_groups
from shoal.kernels.search.cells import Lattice
from shoal.kernels.search.class_index import Trees
from shoal.kernels.search.tuple_index import Tuples, make_tuples

NEAR = 0.002  # of the highest price: a group this far from being tight may be needed soon


class Priced(NamedTuple):
    """What a pass over all cells finds for some prices."""

    cap: Longs  # int64[tuples], prices that are valid for all cells
    groups: Groups  # of the cell that decides, for each tuple; equal cells once
    looks: int  # visits of tuples


@dataclass(frozen=True, eq=False)
class Pricing:
    """All cells of a table whose tuples are sorted."""

    lattice: Lattice
    trees: Trees
    size: Longs  # int64[tuples], rows
    k: int

    @cached_property
    def tuples(self) -> Tuples:
        """The prefix tree of the tuples."""
        vector = self.lattice.vector
        made: Tuples = make_tuples(vector, self.size, np.arange(len(vector)))
        return made

    def price(self, cap: Longs, most: int, report: Callable[[], None]) -> Priced | None:
        """Make prices valid; None if that takes more than `most` visits.

        A cell whose k lowest prices have a mean below what the cell keeps raises the prices of all
        its tuples by the difference. Where the mean is higher in all cells of a tuple, its price
        falls by the least difference. Then the mean is high enough in every cell.
        """
        fall, level, looks = tight_cells(self.lattice, self.size, cap, self.k, most, report)
        if looks >= most:
            return None
        return Priced(cap - fall, self._groups(cap, fall, level), looks)

    def _groups(self, cap: Longs, fall: Longs, level: Ints) -> Groups:
        """The groups with the lowest prices in the cells that decide, if they are tight."""
        lattice, q = self.lattice, self.lattice.vector.shape[1]
        near = int(NEAR * max(cap.max(initial=0), 1))
        some = np.flatnonzero((level[:, 0] >= 0) & (fall <= near))
        nodes = [
            lattice.climb[level[some, j], lattice.start[j] + lattice.vector[some, j]]
            for j in range(q)
        ]
        _, first = np.unique(np.stack(nodes, axis=1), axis=0, return_index=True)
        some = some[np.sort(first)]
        start = np.zeros(len(some) + 1, np.int64)
        member, times = (np.empty(len(some) * self.k, np.int64) for _ in range(2))
        keeps, at, pace = np.empty(len(some), np.int64), np.zeros(1, np.int64), Pace(1_000_000)
        args = (
            self.tuples, self.trees, lattice, some, level, cap, self.size, self.k,
            np.empty((q, 2), np.int64), np.empty(len(cap), np.int64),
            np.empty((self.k + 1, 2), np.int64), np.empty(q, np.int32), start, member, times, keeps,
            at,
        )  # fmt: skip
        while not list_groups(*args, pace.begin()):
            pace.end()
        return Groups(start, member[: start[-1]], times[: start[-1]], keeps)
