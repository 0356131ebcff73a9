"""Evidence: what a table shows about which values of columns and quasi-identifiers go together.

Cells are counted once per column, or pair of columns, for all quasi-identifiers at the same time.
They are in the order of their places from the beginning, and sorted by counting after that: cells
of the same values and the same place are then next to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from shoal.attacks._unchanged import Cells
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.threads import cached_property, in_threads
from shoal.kernels import relations as kernels

EXPECTED = 5.0  # people that a test needs by chance: with fewer it cannot show anything
# With the expected number e, the probability that a twentieth of it or less occurs, the default of
# `rare`, falls as exp(-0.8 e) (Chernoff's bound), and of more than a twentieth more slowly. Where
# values are judged together their numbers are not quite independent: the margin is larger.
SINGLE, MARGIN = 0.8, 0.625
BANDS = 64  # of units: powers of two
FEW = 1024  # units of a value, below which what is expected is computed once for all such values
DENSE = 1 << 20  # counts of pairs and leaves that are in one table: a cache has room for them
AT_A_TIME = 5_000_000  # rows between two pauses for Ctrl-C
CLOSE = 1e-9
NOTHING, NO_SUB = np.zeros(0, np.int64), np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Known:
    """The leaves that are known, of places: these are classes, or rows."""

    place: Longs  # int64[rows], the place of each row
    leaf: Sequence[Ints]  # int32[places] per quasi-identifier; -1: not known
    leaves: Sequence[int]  # their number per quasi-identifier
    person: Longs | None  # int64[rows]; None: each record is one person
    once: bool = False  # whether rows with the same values count once per place

    def leaves_of(self, quasi: Sequence[int]) -> Leaf:
        """The leaves of some quasi-identifiers next to each other."""
        bounds = np.cumsum([0, *(self.leaves[j] for j in quasi)])
        leaf = np.empty((len(self.leaf[0]), len(quasi)), np.int32)
        for at, j in enumerate(quasi):
            leaf[:, at] = np.where(self.leaf[j] < 0, bounds[-1], self.leaf[j] + bounds[at])
        return Leaf(leaf, bounds)


@dataclass(frozen=True, eq=False)
class Leaf:
    """The leaves of some quasi-identifiers at each place, numbered one after the other."""

    of_place: Ints  # int32[places, q]; the last bound: not known
    bounds: Longs  # int64[q + 1], where those of each begin

    @property
    def many(self) -> int:
        """All leaves, and one that stands for those that are not known."""
        return int(self.bounds[-1]) + 1

    def scratch(self) -> tuple[Longs, Longs, Longs, Longs, Longs]:
        """Arrays for the kernels: count, last, seen per leaf; leaves, people per quasi."""
        q = len(self.bounds) - 1
        return (
            np.zeros(self.many, np.int64),
            np.zeros(self.many, np.int64),
            np.zeros(self.many, np.int64),
            np.zeros(q, np.int64),
            np.zeros(q, np.int64),
        )


@dataclass(frozen=True, eq=False)
class Ordered:
    """Cells in the order of their values."""

    start: Longs  # int64[values + 2], missing first
    sub: Ints  # int32[cells], the values of a second column; empty: there is none
    place: Ints  # int32[cells]
    person: Longs  # empty: each counts as one
    weight: Longs  # empty: one
    once: bool
    rows: Ints  # int32[cells], which of all cells each is; empty: not needed any more

    @property
    def values(self) -> int:
        """Different values, and one for missing."""
        return len(self.start) - 1

    @property
    def varies(self) -> bool:
        """Whether there is more than one value."""
        return int((np.diff(self.start) > 0).sum()) > 1

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of values, each of a limited number of rows, where that is possible."""
        steps = np.arange(AT_A_TIME, int(self.start[-1]), AT_A_TIME)
        cuts = np.searchsorted(self.start[:-1], steps)
        return pairwise(np.unique(np.concatenate([[0], cuts, [self.values]])).tolist())

    def sizes(self, leaf: Leaf) -> Longs:
        """How many have each leaf, over all values."""
        size = np.zeros(leaf.many, np.int64)
        if len(self.person):
            scratch = leaf.scratch()
            for block in self.blocks():
                kernels.add_sizes(
                    self.start, *block, self.sub, self.place, self.once, leaf.of_place, leaf.bounds,
                    self.person, self.weight, *scratch, size,
                )  # fmt: skip
            return size
        many = np.zeros(len(leaf.of_place), np.int64)  # at each place
        if self.once:
            for block in self.blocks():
                kernels.count_once(self.start, *block, self.sub, self.place, many)
        else:
            weight = self.weight if len(self.weight) else None
            many += np.bincount(self.place, weight, len(many)).astype(np.int64)
        kernels.add_at_places(leaf.of_place, many, size)
        return size


@dataclass(frozen=True, eq=False)
class Arranged:
    """All cells of a table in the order of their places, or of their persons."""

    rows: Ints | None  # int32[cells], which cell each is; None: they are in this order
    place: Ints  # int32[cells]
    codes: Sequence[Ints]  # int32[cells] per column, -1 is missing
    person: Longs  # empty: each counts as one
    weight: Longs  # empty: one
    once: bool

    @staticmethod
    def of(cells: Cells, known: Known) -> Arranged:
        """The cells in the order in which they are counted."""
        place = known.place if cells.row is None else known.place[cells.row]
        person = weight = NOTHING
        by = place if known.once else None
        if not known.once:
            weight = NOTHING if cells.weight is None else cells.weight
            if (who := cells.person_by(known.person)) is not None:
                by = person = who
        rows = None if by is None else _in_order(by.astype(np.int32))[1]
        made = Arranged(rows, place.astype(np.int32), cells.codes, person, weight, known.once)
        if rows is None:
            return made
        return replace(
            made,
            place=made.place[rows],
            codes=in_threads(made.in_order, cells.codes),
            person=person[rows] if len(person) else person,
            weight=weight[rows] if len(weight) else weight,
        )

    def in_order(self, codes: Ints) -> Ints:
        """What is given per cell, in this order."""
        return codes if self.rows is None else codes[self.rows]

    def by(self, codes: Ints) -> Ordered:
        """The cells in the order of these codes, of a column or of several."""
        start, rows = _in_order(codes)
        return Ordered(
            start=start,
            sub=NO_SUB,
            place=self.place[rows],
            person=self.person[rows] if len(self.person) else self.person,
            weight=self.weight[rows] if len(self.weight) else self.weight,
            once=self.once,
            rows=rows,
        )

    def by_both(self, a: int, b: int, start: Longs, second: Ordered) -> Ordered:
        """The cells in the order of the column a, which begins at `start`, and of the column b.

        `second` has them in the order of b. Neither persons nor weights may count.
        """
        sub, place = np.empty(len(second.place), np.int32), np.empty_like(second.place)
        kernels.divide(
            self.codes[a], self.codes[b], second.rows, second.place, start.copy(), sub, place
        )
        return replace(second, start=start, sub=sub, place=place, rows=NO_SUB)

    def in_table(self, a: int, b: int, leaf: Leaf) -> Ints | None:
        """How often each pair of values and each leaf occur together; None: too many of them.

        int32[pairs, leaves]. Only where cells count once per place.
        """
        width, many = self.values[b], self.values[a] * self.values[b]
        if many * leaf.many > DENSE:
            return None
        table = np.zeros((many, leaf.many), np.int32)
        before = np.full(many, -1, np.int32)
        for begin in range(0, len(self.place), AT_A_TIME):
            stop = min(begin + AT_A_TIME, len(self.place))
            kernels.count_pairs(
                self.codes[a], self.codes[b], width, begin, stop, self.place, leaf.of_place,
                before, table,
            )  # fmt: skip
        return table

    @cached_property
    def values(self) -> list[int]:
        """Different values of each column, and one for missing."""
        return [int(codes.max(initial=-1)) + 2 for codes in self.codes]


def _in_order(codes: Ints) -> tuple[Longs, Ints]:
    """Where each code begins, from -1 on, and the rows in their order."""
    start = np.zeros(int(codes.max(initial=-1)) + 3, np.int64)
    number = np.int32 if len(codes) <= np.iinfo(np.int32).max else np.int64
    order: Ints = np.empty(len(codes), number)
    kernels.value_order(codes, start, order)
    return start, order


class Shares(NamedTuple):
    """How many have each leaf of some quasi-identifiers."""

    size: Longs  # int64[leaves]
    ranked: Longs  # int64[leaves], from each bound on the most frequent ones first
    total: Longs  # int64[q]
    sizes: Longs  # int64[leaves], from each bound on different sizes, rising
    often: Longs  # int64[leaves], how many leaves have each of them
    ends: Longs  # int64[q, 2], leaves that occur, and different sizes

    @staticmethod
    def of(size: Longs, leaf: Leaf) -> Shares:
        """From the number of each leaf."""
        ranked, sizes, often = (np.zeros(len(size), np.int64) for _ in range(3))
        total, ends = [], []
        for begin, stop in pairwise(leaf.bounds.tolist()):
            own = size[begin:stop]
            order = np.argsort(-own, kind="stable")
            ranked[begin:stop] = order + begin
            different, many = np.unique(own[own > 0], return_counts=True)
            sizes[begin : begin + len(different)] = different
            often[begin : begin + len(different)] = many
            total.append(int(own.sum()))
            ends.append((int((own > 0).sum()), len(different)))
        return Shares(size, ranked, np.array(total, np.int64), sizes, often, np.array(ends))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was counted for one relation."""

    single: Longs  # int64[bands], units with a leaf that no other one with their value has
    expected: Floats  # float64[bands], how many that would be by chance
    single_tests: int  # of values, and of pairs of values that are expected often enough
    rarest: float  # the most that are expected of a pair that is rare; 0: no pair is
    surprise: float  # of the value that shows fewest leaves for its number of units

    @cached_property
    def tests(self) -> int:
        """How many tests that are."""
        return int((self.expected >= EXPECTED - CLOSE).sum()) + self.single_tests

    def trusted(self, needed: float, rare: float) -> Bools:
        """Where what nobody shows is ruled out, bool[bands]."""
        enough = self.expected >= max(EXPECTED, expected_for(needed, rare) / MARGIN) - CLOSE
        return enough & (self.single <= rare * self.expected + CLOSE)

    def says(self, needed: float, rare: float) -> bool:
        """Whether anything is ruled out."""
        return (
            self.surprise >= needed - CLOSE
            or self.rarest >= expected_for(needed, rare) - CLOSE
            or bool(self.trusted(needed, rare).any())
        )


def expected_for(needed: float, rare: float) -> float:
    """The expected number of which a share of `rare` is unlikely enough, by Chernoff's bound.

    The probability of that share or less is at most exp(-needed).

    >>> round(expected_for(8.0, 0.05), 6), round(expected_for(8.0, 0.3), 1)
    (10.0, 23.6)
    """
    exponent = 1.0 - rare + (rare * log(rare) if rare else 0.0)
    return needed / max(min(exponent, SINGLE), CLOSE)


def weigh(values: Ordered, leaf: Leaf, rare: float) -> list[Evidence]:
    """The evidence for each of these quasi-identifiers."""
    found = _Weighed(leaf, Shares.of(values.sizes(leaf), leaf))
    scratch = leaf.scratch()
    for block in values.blocks():
        kernels.weigh_values(
            values.start, *block, values.sub, values.place, values.once, leaf.of_place, leaf.bounds,
            values.person, values.weight, *scratch, *found.shares, rare, EXPECTED - CLOSE,
            *found.counts,
        )  # fmt: skip
    return found.evidence()


def weigh_table(table: Ints, leaf: Leaf, rare: float) -> list[Evidence]:
    """The same from a table of counts, int32[values, leaves]."""
    found = _Weighed(leaf, Shares.of(table.sum(axis=0, dtype=np.int64), leaf))
    count, _, *scratch = leaf.scratch()
    kernels.weigh_pairs(
        table, count, *scratch, leaf.bounds, *found.shares, rare, EXPECTED - CLOSE,
        *found.counts,
    )  # fmt: skip
    return found.evidence()


class _Weighed:
    """The sums over all values."""

    def __init__(self, leaf: Leaf, shares: Shares) -> None:
        q = len(leaf.bounds) - 1
        self.leaf, self.shares = leaf, shares
        few = np.zeros((2, q, FEW), np.int64)  # values of few units, and units that are alone
        single, expected = np.zeros((q, BANDS), np.int64), np.zeros((q, BANDS))
        self.counts = (few[0], few[1], single, expected, np.zeros((q, 3)))

    def evidence(self) -> list[Evidence]:
        """What was counted for each quasi-identifier."""
        _, _, total, sizes, often, ends = self.shares
        kernels.weigh_small(self.leaf.bounds, total, sizes, often, ends, *self.counts)
        _, _, single, expected, tests = self.counts
        return [
            Evidence(single[j], expected[j], int(tests[j, 0]), tests[j, 1], tests[j, 2])
            for j in range(len(tests))
        ]
