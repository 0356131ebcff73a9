"""The least loss of releases that satisfy a model about sensitive values.

As in `lower_bound`, every record has a cap on what it keeps. Caps are valid for all releases if in
every cell no group of records that may be a class has a mean cap below what the cell keeps.
With a model fewer groups may be a class, so caps fall further. What a class of n ≥ k records needs:

- at least l different values. The group with the lowest mean cap has the cheapest record of each of
  the l cheapest values. The others follow by rising caps: until there are k records, and as long as
  they lower the mean. (For n records this is the lowest sum: exchanging a record for a cheaper one
  that is not yet there leaves l values, unless it was the only one of its value; and then another
  of the cheapest values can replace it. A group of more than k can have a lower mean than all
  groups of k: one expensive record of a rare value among many cheap ones.)
- limited shares: value v has at most the share b(v), and beyond this all values together have at
  most the share e. A maximum share of a value has b(v) = 1/l and e = 0. For t-closeness with equal
  distances b(v) is the share in the table and e = t: the distance is the sum of the shares beyond
  b. Each record has a share of 1/n ≤ 1/k of its class. So the lowest mean is at least that of
  fractions of records: each up to 1/k, together 1, within b and e. Taking them by rising caps is
  best, as in every partition matroid. This holds for classes of all sizes, and is a relaxation:
  shares of whole records may need more.

The same conditions without caps say of which cells a class can satisfy the model. If a cell cannot,
none within it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.cells import NONE, ceilings, make_lattice, make_search, search_all
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.progress import Progress
from shoal.kernels.search.cells import Lattice
from shoal.kernels.search.model_cells import (
    Needs,
    Scratch,
    search_model_cells,
    search_model_falls,
)
from shoal.kernels.sorting import sort_rows
from shoal.losses._integer_costs import LARGEST
from shoal.models import ClassNeeds, Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally

GAIN = 0.01  # smallest relative gain that is worth another pass over all cells
WHOLE = 1 << 16  # the fractions in which shares are counted: at least so many per class
SPLIT = 0.75  # how far up from the loss for k to that for a model suppression is ruled out


class Caps(NamedTuple):
    """What records keep at most, in the unit of the costs, and what they lose together at least."""

    lost: float
    cap: Floats  # float64[units]
    size: Longs  # int64[units], records of each
    whole: bool = True  # whether the search was not stopped early

    def least_suppressed(self, many: int) -> float:
        """The least that all lose if at least so many records are suppressed: they keep nothing."""
        order = np.argsort(self.cap, kind="stable")
        before = np.cumsum(self.size[order]) - self.size[order]
        rows = np.clip(many - before, 0, self.size[order])
        return self.lost + float((rows * self.cap[order]).sum())

    def suppressed_within(self, lost: float) -> int:
        """How many records can be suppressed, at most, if all lose less than this."""
        order = np.argsort(self.cap, kind="stable")
        cost = self.lost + np.cumsum(self.size[order] * self.cap[order])
        return int(self.size[order][cost < lost].sum())


def covered_by_bound(table: Table, model: Model) -> bool:
    """Whether the bound accounts for what a model says about sensitive values.

    It counts records. With a person column or `at_most` there would be more to account for.
    """
    if table.people is not None or table.tops or table.free:
        return False
    shares = {one.name: np.zeros(len(one.values)) for one in table.sensitive}
    return model.about in shares and model.class_needs(shares[model.about]) is not None


def loss_with_model(
    table: Table,
    costs: Sequence[Longs],
    model: Model,
    k: int,
    plain: Caps,
    most: int,
    progress: Progress,
) -> tuple[float, bool]:
    """The least that the records of a table lose by a model; `plain` is for k people alone.

    Also returns whether the search was not stopped early.

    What a model compares with is the distribution of the published records. If at most S of n
    records are suppressed, it is no farther than S / n from that of all records (in the distance
    `equal`), so that t + S / n is a valid limit. If more are suppressed, they lose all that they
    have. The bound is the lower of both, for an S at which they are similar.
    """
    column = next(one for one in table.sensitive if one.name == model.about)
    total = column.counted(table.weight)
    needs = model.class_needs(total / max(int(total.sum()), 1))
    assert needs is not None
    units = _Units.of(table, costs, column.codes)
    found = units.caps(needs, k, most, progress)
    if not needs.compares or found.lost <= plain.lost:
        return found.lost, found.whole
    goal = plain.lost + SPLIT * (found.lost - plain.lost)
    many = plain.suppressed_within(goal)
    wider = needs._replace(extra=needs.extra + many / table.rows)
    found = units.caps(wider, k, most, progress)
    return min(found.lost, plain.least_suppressed(many + 1)), found.whole


class _Units(NamedTuple):
    """Records with equal quasi-identifiers and equal sensitive value count as one unit."""

    lattice: Lattice
    size: Longs  # int64[units]
    value: Longs  # int64[units]

    @staticmethod
    def of(table: Table, costs: Sequence[Longs], values: Ints) -> _Units:
        both = np.column_stack([table.codes, values]).astype(np.int32)
        start = tally(both, None, (), table.weight)
        rows = Table(table.names, table.trees, table.codes, None, table.exact, weight=table.weight)
        layout = Layout.of(rows, start, costs)
        vector = layout.arranged(table.codes[start.first])
        rank = sort_rows(vector.T)
        vector, size = vector[rank].copy(order="C"), start.size[rank]
        lattice = make_lattice(layout, vector, size)
        return _Units(lattice, size, values[start.first][rank].astype(np.int64))

    def caps(self, needs: ClassNeeds, k: int, most: int, progress: Progress) -> Caps:
        """Caps that are valid for all releases that satisfy these needs, by so many looks.

        Sums of caps count fractions of records. Where these would be beyond whole numbers of 64
        bits, costs are counted in larger units, rounded up: caps are then no lower, and valid.
        """
        heaviest = max(int(self.size.sum()), max(k, needs.least_records) * _mass(needs, k))
        unit = -(-4 * heaviest * int(self.lattice.own[:, -1].max(initial=0)) // LARGEST)
        if unit <= 1:
            return self.search(needs, k, progress).caps(most)
        coarse = self._replace(lattice=_in_units(self.lattice, unit))
        found = coarse.search(needs, k, progress).caps(most)
        own, rounded = (one.lattice.own[:, -1] @ self.size for one in (self, coarse))
        lost = max(0.0, int(own) - unit * (int(rounded) - found.lost))
        return found._replace(lost=lost, cap=found.cap * unit)

    def search(self, needs: ClassNeeds, k: int, progress: Progress) -> _Search:
        """The search with these needs in whole numbers."""
        k = max(k, needs.least_records)
        values, mass = int(self.value.max()) + 1, _mass(needs, k)
        limit = np.ones(values) if needs.distinct else needs.limit[:values]
        # Rounded up, by more than what a model forgives as an error of rounding.
        base = np.minimum(np.floor(limit * (k * mass) + 1e-3).astype(np.int64) + 1, k * mass)
        extra = min(floor(needs.extra * k * mass + 1e-3) + (needs.extra > 0), k * mass)
        need = Needs(self.value, needs.distinct, mass, base, extra)
        return _Search(self.lattice, self.size, k, need, progress)


def _mass(needs: ClassNeeds, k: int) -> int:
    """In how many fractions a record is counted."""
    return 1 if needs.distinct else max(1, ceil(WHOLE / max(k, needs.least_records)))


def _in_units(lattice: Lattice, unit: int) -> Lattice:
    """The same lattice with costs in larger units, rounded up."""
    each = np.diff(lattice.own, axis=1, prepend=0)
    own = np.cumsum(-(-each // unit), axis=1)
    return lattice._replace(
        cost=-(-lattice.cost // unit),
        own=own,
        lowest=own.min(axis=0),
        keeps=-(-lattice.keeps // unit),
    )


class _Search(NamedTuple):
    """The search for the caps of all units."""

    lattice: Lattice
    size: Longs
    k: int
    needs: Needs
    progress: Progress

    def caps(self, most: int) -> Caps:
        """Each unit alone, then all together."""
        own = self.lattice.own[:, -1]
        known, left = self.alone(most)
        if left <= 0:
            lost = float((known * self.size).sum())
            return Caps(lost, (own - known).astype(np.float64), self.size, False)
        return self.together(known, left)

    def alone(self, most: int) -> tuple[Longs, int]:
        """What each unit loses by the cheapest cell that can satisfy the needs; the looks left.

        A unit without such a cell can only be suppressed, and loses all it has.
        """
        own = self.lattice.own[:, -1]
        best, known, left = np.full(len(own), NONE), np.zeros(len(own), np.int64), most
        for ceiling in ceilings(int(own.max(initial=0))):
            done = int((best < NONE).sum()) / (2 * max(len(own), 1))
            open_ = np.where(best < NONE, -1, NONE)
            step = partial(
                search_model_cells, self.lattice, self.size, self.k, self.needs, open_, ceiling
            )
            left -= self._search(step, left, partial(self.progress, "bounding", done))
            if left <= 0:
                break
            best = np.where(open_ >= 0, np.minimum(best, open_), best)
            known = np.minimum(np.minimum(best, ceiling), own)
        return known, left

    def together(self, known: Longs, most: int) -> Caps:
        """All caps fall as far as the groups that satisfy the needs allow; see `lower_bound`."""
        lattice, size = self.lattice, self.size
        highest, rows = int(lattice.own[:, -1].max(initial=0)), int(size.sum())
        heaviest = max(rows, self.k * self.needs.mass, 1)
        fine = max(1, LARGEST // (4 * heaviest * max(highest, 1)))
        scaled = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
        own = scaled.own[:, -1]
        cap = own - known * fine
        lost, left = int(((own - cap) * size).sum()), most
        while True:
            fall = cap.copy()
            step = partial(search_model_falls, scaled, size, cap, self.k, self.needs, fall)
            report = partial(self.progress, "bounding", 1 - left / (2 * most))
            left -= self._search(step, left, report)
            if left <= 0:
                break  # the last falls may be too deep
            cap -= fall
            more = int((fall * size).sum())
            lost += more
            if more <= GAIN * lost:
                break
        return Caps(lost / fine, cap / fine, size)

    def _search(self, step: Callable[..., int], most: int, report: Callable[[], None]) -> int:
        n, values = len(self.size), len(self.needs.base)
        scratch = Scratch(
            np.empty(n, np.int64),
            np.zeros(values, np.int64),
            np.empty((self.k + 1, 2), np.int64),
            np.zeros(3, np.int64),
        )
        search = make_search(self.lattice)
        return search_all(search, lambda *at: step(at[0], scratch, *at[1:]), most, report)
