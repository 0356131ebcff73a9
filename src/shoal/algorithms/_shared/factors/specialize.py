"""Publish rows as more specific cells, as long as all of them can have k members each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.algorithms._shared.cells import cheapest_costs, make_lattice
from shoal.algorithms._shared.factors.factor import Factor, People, closed, tightened
from shoal.algorithms._shared.factors.relaxed import CellFractions, relaxed_rows
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.pace import Pace, parts
from shoal.kernels.group import group_rows
from shoal.kernels.matching.factor import (
    Rows,
    Scratch,
    add_rows,
    anneal_rows,
    change_all,
    move_row,
)
from shoal.kernels.search.cells import Lattice
from shoal.kernels.search.tuple_index import count_covered, list_covered

LOOKS = 4_000  # for each tuple, in the search for cells
PAIRS_EACH = 2_000  # of a tuple and a cell that covers it, on average over the tuples
HOT, COLD = 0.05, 0.0005  # the heat of the annealing, as a share of what a record can keep
WARM = 0.01  # the heat at the beginning, if it starts from a rounded solution
TINY = 1e-6  # rows: none
SHARES = (1.0, 0.98, 0.95, 0.9, 0.8, 0.5, 0.0)  # of a solution, until one of them is possible
PROGRAM = 0.8  # of the time: the linear program
FAR = 1 << 40  # visits: no limit
EASY = 20  # k, up to which rows move often; larger ones hardly move after they were rounded
REACH = 2_000  # visits until a row that finds no members gives up
LOG = 100_000  # changes of one move, beyond one per tuple


def cheapest(people: People, report: Callable[[], None]) -> tuple[Lattice, Longs]:
    """The lattice of all cells; for each tuple, what the cheapest that covers k people costs."""
    lattice = make_lattice(people.layout, people.tuples.vector, people.size)
    most = LOOKS * len(people.size)
    return lattice, cheapest_costs(lattice, people.k, lambda _: report(), most)


def specialize(
    people: People,
    classes: Factor,
    rounds: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> Factor:
    """A factor that keeps more than that of some classes, or the same one if none is found.

    A linear program finds how many rows each cell would have if they could be fractions. These
    numbers are rounded, and then rows move between cells by simulated annealing.
    """
    begin, end = partial(report, 0.0), partial(report, 1.0)
    lattice, cost = cheapest(people, begin)
    # People far from others come last in a row: the first rows of a cell can do without them.
    people = replace(people, rank=np.argsort(np.argsort(cost, kind="stable")))
    factor, _ = tightened(people, classes, begin)
    wanted = relaxed_rows(people, classes, lattice, cost, lambda share: report(share * PROGRAM))
    top = closed(people, np.zeros(len(people.size), np.int64), np.arange(len(people.size)))
    annealing = Annealing(people, factor, np.concatenate([wanted.vector, top]))
    found, heat = [factor], WARM
    if annealing.restart(annealing.placed(wanted), partial(report, PROGRAM)):
        found.append(annealing.found())
    else:
        annealing, heat = Annealing(people, factor, annealing.vector), HOT
    tries = min(rounds, -(-rounds * EASY // people.k))
    rest = 1.0 - PROGRAM
    found.append(annealing.run(tries, heat, rng, lambda share: report(PROGRAM + share * rest)))
    return _best(people, found, end)


def _best(people: People, factors: list[Factor], report: Callable[[], None]) -> Factor:
    """The factor that keeps most, after all of them are tightened."""
    tight = [tightened(people, factor, report)[0] for factor in factors]
    return max(tight, key=lambda one: int(people.keeps(one.vector) @ one.many))


class Annealing:
    """Rows that move between the cells of a factor and other cells."""

    def __init__(self, people: People, factor: Factor, others: Ints) -> None:
        self.people, self.factor = people, factor
        self.vector, start, fits = self._covering(others)
        n, m, pairs = len(people.size), len(self.vector), len(fits)
        of_cell = np.repeat(np.arange(m, dtype=np.int32), np.diff(start))
        self.rows = Rows(
            size=people.size,
            keeps=people.keeps(self.vector),
            many=np.append(factor.many, np.zeros(m - len(factor.many), np.int64)),
            filled=np.zeros(m, np.int64),
            start=start,
            tuple=fits,
            cell=of_cell,
            units=np.zeros(pairs, np.int64),
            head=np.full(n, -1, np.int32),
            after=np.full(pairs, -1, np.int32),
            before=np.full(pairs, -1, np.int32),
        )
        key = of_cell.astype(np.int64) * n + fits
        place = np.argsort(key, kind="stable")
        held = place[np.searchsorted(key, factor.cell * n + factor.tuple, sorter=place)]
        change_all(self.rows, held, factor.units)
        by = np.argsort(fits, kind="stable")
        self.near = of_cell[by]
        self.near_start = np.append(0, np.cumsum(np.bincount(fits, minlength=n)))
        zeros = partial(np.zeros, dtype=np.int64)
        self.scratch = Scratch(
            zeros(m),
            zeros(m),
            zeros(n),
            zeros(n),
            zeros(m),
            zeros(n),
            zeros((n + LOG, 2)),
            zeros(1),
        )

    def _covering(self, others: Ints) -> tuple[Ints, Longs, Ints]:
        """The cells of the factor and those others that cover k people; what they all cover."""
        people, own = self.people, len(self.factor.vector)
        _, first, _ = group_rows(np.concatenate([self.factor.vector, others]))
        vector = np.concatenate([self.factor.vector, others[np.sort(first[first >= own]) - own]])
        tuples, trees, q = people.tuples, people.layout.trees, vector.shape[1]
        count, found = np.empty(len(vector), np.int64), np.empty(len(people.size), np.int64)
        stack = np.empty((q, 2), np.int64)
        for begin, stop in parts(len(vector)):
            count_covered(tuples, trees, vector, begin, stop, count, stack, found)
        # The most general cells cover most pairs, and are of least use.
        order = np.append(np.arange(own), own + np.argsort(count[own:], kind="stable"))
        most = max(PAIRS_EACH * len(people.size), int(count[:own].sum()))
        fits = np.cumsum(count[order]) <= most
        fits[:own] = True
        vector = np.ascontiguousarray(vector[order][fits])
        start = np.append(0, np.cumsum(count[order][fits]))
        listed = np.empty(int(start[-1]), np.int32)
        for begin, stop in parts(len(vector)):
            list_covered(tuples, trees, vector, begin, stop, start, listed, stack, found)
        return self._with_enough(vector, start, listed, own)

    def _with_enough(
        self, vector: Ints, start: Longs, listed: Ints, own: int
    ) -> tuple[Ints, Longs, Ints]:
        """Without other cells that cover fewer than k people."""
        upto = np.append(0, np.cumsum(self.people.size[listed]))
        kept: Bools = upto[start[1:]] - upto[start[:-1]] >= self.people.k
        kept[:own] = True
        many = np.diff(start)
        pairs = listed[np.repeat(kept, many)]
        return vector[kept], np.append(0, np.cumsum(many[kept])), pairs

    def placed(self, wanted: CellFractions) -> Floats:
        """How many rows each cell should have, float64[cells]."""
        many = dict(zip(map(bytes, wanted.vector), wanted.many.tolist(), strict=True))
        return np.array([many.get(bytes(cell), 0.0) for cell in self.vector])

    def restart(self, wanted: Floats, report: Callable[[], None]) -> bool:
        """Start from numbers of rows near these, float64[cells], instead of the factor.

        They are those of a solution with fractions. Rounded down they can be filled, and all other
        rows can be of the most general cell: there every membership is scaled as its cell is, and
        what that frees of a person is no more than those rows are. Then rows of that cell move to
        others as long as a flow allows it, first to the largest fractions, and then to those that
        keep most. A solution that is only nearly possible is reduced until it is possible. Returns
        whether all rows found a place, which they do if the most general cell is one of these.
        """
        rows, n = self.rows, int(self.rows.many.sum())
        count = np.diff(rows.start)
        top = int(np.argmax(count))
        if count[top] < len(rows.size):
            return False
        for share in SHARES:
            whole = np.floor(share * wanted + TINY).astype(np.int64)
            if self._filled(whole, top, n, report):
                break
        part = wanted - rows.many
        upward = np.flatnonzero(part > TINY)
        for cell in upward[np.argsort(-part[upward], kind="stable")].tolist():
            report()
            if cell != top and rows.many[top]:
                self._move(top, cell)
        for cell in np.argsort(-rows.keeps, kind="stable").tolist():
            report()
            if rows.keeps[cell] <= rows.keeps[top]:
                break
            while rows.many[top] and self._move(top, cell):
                pass
        return True

    def _filled(self, whole: Longs, top: int, n: int, report: Callable[[], None]) -> bool:
        """Start from these numbers of rows, and all others of one cell that covers everybody."""
        rows = self.rows
        change_all(rows, np.arange(len(rows.units)), -rows.units)
        rows.many[:] = 0
        self.scratch.freed[:] = self.people.k * self.people.size
        for cell in np.flatnonzero(whole).tolist():
            report()
            self._add_most(cell, int(whole[cell]))
        self._add_most(top, n - int(rows.many.sum()))
        return bool(rows.many.sum() == n)

    def _move(self, old: int, new: int) -> bool:
        return bool(move_row(self.rows, self.scratch, self.people.k, old, new, FAR))

    def _add_most(self, cell: int, most: int) -> None:
        """Add as many rows as free memberships can fill, up to a number.

        A solution that is only nearly possible may ask for some rows too many.
        """
        low = 0  # so many can be added, and fewer than `most` if it was tried
        while low < most:
            more = most - low
            while more and not self._add(cell, more):
                most = low + more - 1
                more //= 2
            low += more
            if not more:
                return

    def _add(self, cell: int, more: int) -> bool:
        return bool(add_rows(self.rows, self.scratch, self.people.k, cell, more, FAR))

    def run(
        self, rounds: int, hot: float, rng: np.random.Generator, report: Callable[[float], None]
    ) -> Factor:
        """Move rows, so many times each on average; returns what they have become."""
        rows, n = self.rows, int(self.rows.many.sum())
        unit = float(self.people.keeps(self.people.tuples.vector).mean())
        if unit == 0:  # nothing can be lost
            return self.factor
        cell_of = np.repeat(np.arange(len(rows.many)), rows.many)
        at, total, pace = np.zeros(2, np.int64), rounds * n, Pace(1_000)
        while not anneal_rows(
            rows, self.scratch, self.people.k, cell_of, self.near_start, self.near,
            hot * unit, COLD * unit, total, REACH, rng, at, pace.begin(),
        ):  # fmt: skip
            pace.end()
            report(int(at[0]) / total)
        return self.found()

    def found(self) -> Factor:
        """The cells that have rows now, and their members."""
        rows = self.rows
        used, held = rows.many > 0, rows.units > 0
        number = np.cumsum(used) - 1
        cell, tuple_ = number[rows.cell[held]], rows.tuple[held].astype(np.int64)
        return Factor(self.vector[used], rows.many[used], cell, tuple_, rows.units[held])
