"""The people of a population whom published values cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.pace import parts
from shoal.hierarchies.free_values import Cover, Covers, FreeTree
from shoal.hierarchies.values import text
from shoal.kernels.group import group_rows
from shoal.kernels.search.joined_boxes import join_boxes, join_pairs
from shoal.kernels.search.people_inside import people_inside
from shoal.table.covering import covering, selective_order
from shoal.table.population.coverage import Coverage
from shoal.table.population.covered import coverage_by_pairs, covered, fitting
from shoal.table.population.index import Index

if TYPE_CHECKING:
    from shoal.table.population.population import Population

NOBODY = -1  # the code of a published value that covers no value of the population


class Reader:
    """Finds the people of a population whom vectors of published labels cover."""

    def __init__(
        self,
        population: Population,
        index: Index,
        labels: Sequence[Sequence[object]],
        linked: bool = True,
    ) -> None:
        self.population, self._index, self._linked = population, index, linked
        self._covers = [Covers(tree) for tree in index.table.trees]
        # The code in the population of each label; the last one is that of a missing value.
        self._codes = [
            np.append(_codes(known, covers), covers.tree.node(None))
            for known, covers in zip(labels, self._covers, strict=True)
        ]

    def people(self, vectors: Ints) -> Longs:
        """How many people each vector covers, int64[vectors]; -1 is a missing value."""
        codes, there = self._in_population(vectors)
        if self._by_pairs(codes):
            found = np.zeros(len(vectors), np.int64)
            found[there] = covered(codes[there], self._index.table, self._covers, self._linked)
            return found
        return self._inside(self._boxes(codes, there))

    def coverage(self, vectors: Ints) -> Coverage:
        """Whom distinct vectors cover, and who is covered twice or not at all."""
        codes, there = self._in_population(vectors)
        whole, incomplete = self.population.people, self.population.incomplete
        if self.population.several_records and not self._linked:
            # Somebody may be covered by several of their records.
            everywhere = np.ones(len(vectors), np.bool_)
            return Coverage(self.people(vectors), everywhere, 0, incomplete)
        if self._by_pairs(codes):
            table = self._index.table
            return coverage_by_pairs(codes, there, table, self._covers, incomplete)
        boxes = self._boxes(codes, there)
        upto = self._index.upto
        change = np.zeros(len(upto), np.int64)
        people = self._inside(boxes, change)
        often = np.cumsum(change)[:-1]  # int64[tuples], the vectors that cover each
        size = np.diff(upto)
        twice = np.append(0, np.cumsum(np.where(often > 1, size, 0)))
        shared = self._inside(boxes, upto=twice) > 0
        return Coverage(people, shared, whole - int(size[often > 0].sum()), incomplete)

    def fitting(self, vectors: Ints, start: Longs, member: Longs) -> Longs:
        """How many people could be somebody with linked records, int64[sets].

        The records of set s have the vectors member[start[s]:start[s + 1]]. People fit if one of
        these covers each of their records, and each covers one of them.
        """
        codes, there = self._in_population(vectors)
        number, first, _ = group_rows(np.ascontiguousarray(codes))
        of_set = np.repeat(np.arange(len(start) - 1), np.diff(start))
        lacking = np.unique(of_set[~there[member]])
        of_set, vector = np.divmod(np.unique(of_set * len(first) + number[member]), len(first))
        start = np.searchsorted(of_set, np.arange(len(start)))
        known = there[first]
        place, codes = np.cumsum(known) - 1, codes[first][known]
        kept = known[vector]
        keeps = np.append(0, np.cumsum(kept))[start]
        table = self._index.table
        found = fitting(codes, keeps, place[vector[kept]], table, self._covers)
        found[lacking] = 0  # one of their vectors covers nobody
        return found

    def groups(self, vectors: Ints) -> Longs:
        """Number the groups of vectors that share records, int64[vectors].

        Two vectors are in one group if some record of the population is covered by both, or if
        other vectors link them in this way. Vectors that share nothing are alone.
        """
        codes, there = self._in_population(vectors)
        if self._by_pairs(codes):
            return self._groups_by_pairs(codes, there)
        boxes, many = self._boxes(codes, there), len(self._index.upto) - 1
        into, further = np.arange(many + len(codes)), np.arange(many)
        stack = np.empty((codes.shape[1], 2), np.int64)
        for part in parts(len(codes)):
            join_boxes(self._index.tuples, *boxes, *part, many, into, further, stack)
        return _numbered(into, many)

    def _groups_by_pairs(self, codes: Ints, there: Bools) -> Longs:
        table = self._index.table
        _, first, _ = group_rows(np.ascontiguousarray(table.codes))
        rows, wide = np.flatnonzero(there), codes[there]
        into = np.arange(len(first) + len(codes))
        order = selective_order(wide, table, self._covers)
        for low, high in covering(wide, table.codes[first], self._covers, order):
            join_pairs(into, low, len(first) + rows[high])
        return _numbered(into, len(first))

    def _in_population(self, vectors: Ints) -> tuple[Ints, Bools]:
        """The codes of vectors in the population, and which of them can cover somebody."""
        columns = [codes[vectors[:, j]] for j, codes in enumerate(self._codes)]
        found = np.stack(columns, axis=1).astype(np.int32)
        return found, (found != NOBODY).all(axis=1)

    def _by_pairs(self, codes: Ints) -> bool:
        """Whether runs of values are not enough: sets of values, or people with several records."""
        sets = any(
            isinstance(one.tree, FreeTree)
            and one.tree.kind == "sets"
            and codes[:, j].max(initial=0) >= one.tree.size
            for j, one in enumerate(self._covers)
        )
        return sets or self.population.several_records

    def _boxes(self, codes: Ints, there: Bools) -> tuple[Longs, Longs, Longs]:
        """The run of values of each vector in each column, and where the last limit is."""
        low, high = np.zeros(codes.shape, np.int64), np.zeros(codes.shape, np.int64)
        whole = np.zeros(codes.shape, np.bool_)
        for j, covers in enumerate(self._covers):
            one, begin = codes[:, j], covers.tree.size
            free = np.array(covers.covers, np.int64).reshape(-1, 2) if _ranges(covers) else None
            node = np.where(one < begin, one, 0)
            low[:, j], high[:, j] = node, covers.tree.end[node]
            if free is not None:
                wide = one >= begin
                ends = free[one[wide] - begin]
                low[wide, j], high[wide, j] = ends[:, 0], ends[:, 1] + 1
            whole[:, j] = one == 0
        low[~there], high[~there] = 0, 0
        order = self._index.order
        inner = ~whole[:, order]
        depths = np.where(inner.any(axis=1), inner.shape[1] - np.argmax(inner[:, ::-1], axis=1), 0)
        depths[~there] = 1
        return np.ascontiguousarray(low[:, order]), np.ascontiguousarray(high[:, order]), depths

    def _inside(
        self,
        boxes: tuple[Longs, Longs, Longs],
        change: Longs | None = None,
        upto: Longs | None = None,
    ) -> Longs:
        """The people inside each box, int64[boxes]; `upto` counts others than all people."""
        found = np.zeros(len(boxes[0]), np.int64)
        change = np.zeros(0, np.int64) if change is None else change
        stack = np.empty((boxes[0].shape[1], 2), np.int64)
        counted = self._index.upto if upto is None else upto
        for part in parts(len(found)):
            people_inside(self._index.tuples, *boxes, counted, *part, found, change, stack)
        return found


def _numbered(into: Longs, many: int) -> Longs:
    """The number of the group of each node behind the first `many` of a forest, from 0 on."""
    while True:
        above = into[into]
        if np.array_equal(above, into):
            break
        into = above
    number: Longs = np.unique(into[many:], return_inverse=True)[1].astype(np.int64)
    return number


def _ranges(covers: Covers) -> list[Cover]:
    """The free ranges of a column."""
    tree = covers.tree
    return covers.covers if isinstance(tree, FreeTree) and tree.kind == "ranges" else []


def _codes(labels: Sequence[object], covers: Covers) -> Longs:
    """The code of each label in the population; NOBODY: it covers none of its values."""
    return np.array([_code(label, covers) for label in labels], np.int64)


def _code(label: object, covers: Covers) -> int:
    """The code of one label: of a set, the values that the population has.

    The table may have values that the population lacks. A set of such a value and of others still
    covers the people with the others.
    """
    tree = covers.tree
    if label is None:
        return tree.node(None)
    if not isinstance(tree, FreeTree):
        return tree.find(text(label))
    found = tree.known_part(text(label))
    return NOBODY if found is None else covers.code(found)
