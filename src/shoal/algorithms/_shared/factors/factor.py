"""A k-factor: cells, how many rows are published as each, and who are the members of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import parts
from shoal.kernels.group import group_rows
from shoal.kernels.matching.factor import deal_members
from shoal.kernels.search.tuple_index import Tuples, make_tuples
from shoal.kernels.sorting import sort_rows

AT_ONCE = 1_000_000  # members whose values are in memory together


@dataclass(frozen=True, eq=False)
class People:
    """Some records of a table: distinct tuples, sorted, with the columns in the order of a layout.

    `rank` puts tuples next to each other that are to be members of the same rows.
    """

    layout: Layout
    tuples: Tuples
    rank: Longs  # int64[tuples]
    records: Longs  # int64[n], those of each tuple together
    k: int

    @staticmethod
    def of(layout: Layout, vector: Ints, records: Longs, k: int) -> People:
        """These records of a table with their values, in the order of the layout."""
        by = sort_rows(vector.T)
        vector = np.ascontiguousarray(vector[by])
        first = np.flatnonzero(np.append(True, (vector[1:] != vector[:-1]).any(axis=1)))
        size = np.diff(np.append(first, len(vector)))
        tuples = make_tuples(vector[first], size, first)
        return People(layout, tuples, np.arange(len(first)), records[by], k)

    @property
    def size(self) -> Longs:
        """The records of each tuple."""
        size: Longs = self.tuples.size
        return size

    def keeps(self, vector: Ints) -> Longs:
        """What a row that is published as each of these cells keeps."""
        trees = self.layout.trees
        kept: Longs = np.zeros(len(vector), np.int64)
        for j in range(vector.shape[1]):
            kept += trees.cost[trees.start[j] + vector[:, j]]
        return kept


@dataclass(frozen=True, eq=False)
class Factor:
    """Cells with numbers of rows, and the memberships of tuples in them.

    Every tuple of s records has s · k memberships, every cell of r rows r · k, and at most s · r of
    them are of the same tuple. Then the members of each row can be k different records, and each
    record a member of k different rows.
    """

    vector: Ints  # int32[cells, q], in the order of the layout
    many: Longs  # int64[cells], rows
    cell: Longs  # int64[pairs], sorted
    tuple: Longs  # int64[pairs]
    units: Longs  # int64[pairs], memberships, more than none

    def members(self, people: People) -> Longs:
        """The k tuples of each row, int64[n, k]; the rows of a cell are together."""
        order = np.lexsort((people.rank[self.tuple], self.cell))
        start = np.searchsorted(self.cell, np.arange(len(self.many) + 1))
        before = np.append(0, np.cumsum(self.many))
        found = np.empty((int(before[-1]), people.k), np.int64)
        scratch = np.empty((2, len(order)), np.int64)
        tuple_, units = self.tuple[order], self.units[order]
        for part in parts(len(self.many)):
            deal_members(
                people.size, before, start, tuple_, units, people.k, *scratch, found, *part
            )
        return found


def of_classes(people: People, label: Longs) -> Factor:
    """The factor of a partition of tuples into classes of at least k records."""
    vector = closed(people, label, np.arange(len(label)))
    many = np.bincount(label, people.size).astype(np.int64)
    order = np.argsort(label, kind="stable")
    return Factor(vector, many, label[order], order, people.k * people.size[order])


def closed(people: People, label: Longs, tuples: Longs) -> Ints:
    """The closure of the tuples of each label, int32[labels, q]."""
    _, first = np.unique(label, return_index=True)
    wide = closures(people.layout.shapes, people.tuples.vector[tuples], label)
    vector: Ints = wide[first]
    return vector


def tightened(people: People, factor: Factor, report: Callable[[], None]) -> tuple[Factor, Longs]:
    """The factor in which each row is the closure of its members, and the members.

    They are int64[n, k], tuples; the rows of a cell are together, in the order of the cells.
    """
    members = factor.members(people)
    n, k = members.shape
    wide = np.empty((n, factor.vector.shape[1]), np.int32)
    step = max(1, AT_ONCE // k)
    for begin in range(0, n, step):
        some = members[begin : begin + step]
        row = np.repeat(np.arange(len(some)), k)
        wide[begin : begin + step] = closed(people, row, some.ravel())
        report()
    label, first, many = group_rows(wide)
    order = np.argsort(label, kind="stable")
    key = np.repeat(label, k) * len(people.size) + members.ravel()
    pair, units = np.unique(key, return_counts=True)
    cell, tuple_ = np.divmod(pair, len(people.size))
    return Factor(wide[first], many.astype(np.int64), cell, tuple_, units), members[order]


def pairs_of(people: People, members: Longs) -> tuple[Longs, Longs]:
    """All pairs of a record and a row with that member, int64[n · k] each.

    The memberships of a tuple are dealt to its records in turn, row by row: so each gets k of them,
    and none gets two in the same row.
    """
    n, k = members.shape
    order = np.argsort(members.ravel(), kind="stable")  # by tuple, then by row
    start = np.append(0, np.cumsum(people.size))[:-1]  # the first record of each tuple
    tuple_ = members.ravel()[order]
    turn = np.arange(n * k) - k * start[tuple_]
    person = people.records[start[tuple_] + turn % people.size[tuple_]]
    return person, order // k
