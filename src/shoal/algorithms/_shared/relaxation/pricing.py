"""Which groups keep more than the prices of their members: the pricing of column generation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.cells import raised_caps, tight_cells
from shoal.algorithms._shared.relaxation.columns import Groups, joined
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import Pace
from shoal.base.threads import allowed, cached_property, in_threads
from shoal.kernels.search.cell_groups import list_groups
from shoal.kernels.search.cells import Lattice
from shoal.kernels.search.class_index import Trees
from shoal.kernels.search.tuple_index import Tuples, make_tuples

NEAR = 0.002  # of the highest price: a group this far from being tight may be needed soon
BATCH = 2_000_000  # members of the groups that are listed at once, for a bounded memory


class Priced(NamedTuple):
    """What a pass over all cells finds for some prices."""

    cap: Longs  # int64[tuples], prices that are valid for all cells
    groups: Groups  # of the cell that decides, for each tuple; equal cells once
    looks: int  # visits of tuples
    cells: Ints  # int32[…, q], the cells of these groups
    raised: int = 0  # cells in which prices were too low, at least


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
        near = int(NEAR * max(cap.max(initial=0), 1))
        cells = self._cells(np.flatnonzero((level[:, 0] >= 0) & (fall <= near)), level)
        groups, more = self._groups(cells, cap, int(self.lattice.own[:, -1].max()))
        return Priced(cap - fall, groups, looks + more, cells)

    def within(self, cells: Ints, cap: Longs, slack: int) -> tuple[Groups, int]:
        """The groups with the lowest prices of some cells, and the visits of tuples.

        Only those whose mean price is at most `slack` above what the cell keeps.
        """
        pieces = np.array_split(cells, allowed())
        found = in_threads(partial(self._groups, cap=cap, slack=slack), pieces)
        return joined([groups for groups, _ in found]), sum(looks for _, looks in found)

    def raised(self, cap: Longs, most: int, report: Callable[[], None]) -> Priced | None:
        """Make prices valid at the least cost per cell; None if that takes too many visits.

        Prices rise in a cell where they are too low, those of the lowest ones up to a level, and
        all of them fall after that as `price` lets them.
        """
        enough, level, looks = raised_caps(self.lattice, self.size, cap, self.k, most, report)
        valid = self.price(enough, most - looks, report) if looks < most else None
        if valid is None:
            return None
        cells = self._cells(np.flatnonzero(level[:, 0] >= 0), level)
        both = np.unique(np.concatenate([cells, valid.cells]), axis=0)
        return valid._replace(looks=valid.looks + looks, cells=both, raised=len(cells))

    def _cells(self, some: Longs, level: Ints) -> Ints:
        """The cells of some tuples on these levels, equal ones once."""
        lattice = self.lattice
        nodes: Ints = lattice.climb[level[some], lattice.start[:-1] + lattice.vector[some]]
        return np.unique(nodes, axis=0)

    def _groups(self, cells: Ints, cap: Longs, slack: int) -> tuple[Groups, int]:
        """The groups with the lowest prices of some cells, batch by batch."""
        k, q, many = self.k, cells.shape[1], max(1, BATCH // self.k)
        stack, heap = np.empty((q, 2), np.int64), np.empty((k + 1, 2), np.int64)
        found, pace = np.empty(len(cap), np.int64), Pace(1_000_000)
        room = min(many, len(cells))
        member, times = (np.empty(room * k, np.int64) for _ in range(2))
        listed, looks = [], 0
        for begin in range(0, len(cells), many):
            batch = cells[begin : begin + many]
            start, keeps = np.zeros(len(batch) + 1, np.int64), np.empty(len(batch), np.int64)
            at = np.zeros(3, np.int64)
            while not list_groups(
                self.tuples, self.trees, self.lattice, batch, cap, self.size, k, slack, stack,
                found, heap, start, member, times, keeps, at, pace.begin(),
            ):  # fmt: skip
                pace.end()
            start, keeps, end = start[: at[1] + 1], keeps[: at[1]], start[at[1]]
            listed.append(Groups(start, member[:end].copy(), times[:end].copy(), keeps))
            looks += int(at[2])
        return joined(listed), looks
