"""The linear relaxation of the best k-anonymous release, by column generation.

A class of at least k records can be counted as groups of exactly k, each with a weight. So a
program over the weights of all groups, in which each record is in groups of a total weight of at
most one, keeps at least as much as every release. It is the fractional version of the partition
into classes.

Its dual has a price for every record: in no cell do the k lowest prices have a mean below what the
cell keeps. Any such prices bound what a release can keep (see `lower_bound`), and the best of them
are the optimum of the program. Groups are added where prices are too low. The prices of few groups
are far from valid, so they may not be far from the best valid ones, and mixtures of both are tried
too (Wentges 1997).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.algorithms._shared.relaxation.master import Master
from shoal.algorithms._shared.relaxation.pricing import Priced, Pricing
from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.pace import Pace, parts
from shoal.base.threads import in_threads, only_here
from shoal.kernels.search.cell_groups import use_others, use_room

SHARES = (1.0, 0.3)  # of the new prices in the mixtures
REACH = 0.03  # how far prices may be from valid ones, as a share of the highest
FARTHER, NEARER = 1.5, 0.6  # if the first mixture is best, or the last one
INNER = 6  # times that groups of known cells are added, before a pass over all cells
FEW = 0.01  # new groups, as a share of the known ones, for which the program is not solved again
CROWDED = 16  # members of groups per tuple, from which on groups without weight are forgotten
CHEAP = 4  # entries of the matrix that take as long as one visit of a tuple


@dataclass(eq=False)
class Relaxation:
    """The state of column generation; if its prices are valid, they are so whenever it stops."""

    pricing: Pricing
    cap: Longs  # int64[tuples], the best valid prices
    columns: Columns
    exactly: bool = True  # whether a solver solves small programs
    price: Floats = field(init=False)  # float64[tuples], of the known groups
    reach: float = REACH
    work: int = 0  # in visits of tuples
    cells: Ints = field(init=False)  # int32[…, q], those that were nearly tight once
    best: float = 0.0  # the most that `reached` was: the program keeps from this to the bound

    def __post_init__(self) -> None:
        self.price = self.cap.astype(np.float64)
        self.cells = np.zeros((0, self.pricing.lattice.vector.shape[1]), np.int32)

    @property
    def bound(self) -> int:
        """What no release can keep more than."""
        return int((self.cap * self.pricing.size).sum())

    @property
    def is_small(self) -> bool:
        """Whether the program of the known groups is solved exactly."""
        return Master(self.columns, self.pricing.size, 1.0, self.exactly).is_small

    @property
    def kept(self) -> float:
        """What the known groups keep, with weights that are nearly possible."""
        return float(self.columns.groups.keeps @ self.columns.weight)

    @property
    def reached(self) -> float:
        """What the known groups keep, with weights that are possible: at most what all keep.

        No group has more than its weight at first, and those that keep most come first. What they
        lack then is sought among other tuples of their cells. What is left of the tuples goes to
        the groups that still have room.
        """
        groups, weight = self.columns.groups, self.columns.weight
        room, share = self.pricing.size.astype(np.float64), groups.times / self.columns.k
        order = np.argsort(-groups.keeps, kind="stable")
        possible = np.zeros(len(groups))
        use_room(groups.start, groups.member, share, order, possible, weight, room)
        others = self._of_others(order, weight - possible, room)
        every = np.full(len(groups), np.inf)
        use_room(groups.start, groups.member, share, order, possible, every, room)
        return float(groups.keeps @ (possible + others))

    def _of_others(self, order: Longs, lacking: Floats, room: Floats) -> Floats:
        """The rows that each group lacks and other tuples of its cell can be; `room` falls."""
        pricing, groups, left = self.pricing, self.columns.groups, lacking.copy()
        n, q = pricing.lattice.vector.shape
        scratch = np.empty((q, 2), np.int64), np.empty(n, np.int64), np.empty(q, np.int32)
        order = order[lacking[order] > 0]
        for begin, stop in parts(len(order), Pace(10)):
            use_others(
                pricing.tuples, pricing.trees, groups.start, groups.member, order[begin:stop],
                left, pricing.size, pricing.k, room, *scratch,
            )  # fmt: skip
        return lacking - left

    def begin(self, most: int, report: Callable[[], None]) -> bool:
        """Find the first groups; False if that takes more than `most` visits."""
        first = self.pricing.price(self.cap, most, report)
        if first is None:
            return False
        self.columns.add(first.groups)
        self.cells, self.work = first.cells, self.work + first.looks
        if int((first.cap * self.pricing.size).sum()) < self.bound:
            self.cap, self.price = first.cap, first.cap.astype(np.float64)
        return True

    def improve(self, budget: int, report: Callable[[], None]) -> int | None:
        """One round of column generation; returns how many groups are new, None if it is over."""
        inner = self._solve(budget, report)
        mixed = [np.rint(share * self.price + (1 - share) * self.cap) for share in SHARES]
        left = max(0, budget - self.work) // len(mixed)
        priced = in_threads(
            partial(self.pricing.raised, most=left, report=only_here(report)),
            [one.astype(np.int64) for one in mixed],
            report,
        )
        done = [one for one in priced if one is not None]
        if len(done) < len(mixed):
            return None
        self.best = max(self.best, self.reached)
        self._choose(done)
        new = inner + sum(self.columns.add(one.groups) for one in done)
        self.cells = np.unique(np.concatenate([self.cells, *(one.cells for one in done)]), axis=0)
        if len(self.columns.groups.member) > CROWDED * len(self.cap):
            self.columns.keep(self.columns.weight > 0)
        return new

    def _solve(self, budget: int, report: Callable[[], None]) -> int:
        """Solve the program of the known groups, and add those of known cells that it lacks."""
        highest = float(max(self.cap.max(initial=1), 1))
        cap, away = self.cap.astype(np.float64), self.reach * highest
        low: Floats = np.maximum(cap - away, 0.0)
        added = 0
        for _ in range(INNER):
            master = Master(self.columns, self.pricing.size, highest, self.exactly)
            self.price, entries = master.solve(self.price, low, cap + away)
            self.work += entries // CHEAP
            report()
            if self.work >= budget:
                break
            price = np.rint(self.price).astype(np.int64)
            groups, looks = self.pricing.within(self.cells, price, 0)
            self.work += looks
            new = self.columns.add(groups)
            added += new
            if new <= FEW * len(self.columns):
                break
        return added

    def _choose(self, done: list[Priced]) -> None:
        """Go on with the best of these prices, if they are better than before."""
        self.work += sum(one.looks for one in done)
        kept = [int((one.cap * self.pricing.size).sum()) for one in done]
        best = int(np.argmin(kept))
        if kept[best] < self.bound:
            self.cap = done[best].cap
        if best == 0:
            self.reach = min(1.0, self.reach * FARTHER)
        elif best == len(done) - 1:
            self.reach *= NEARER
