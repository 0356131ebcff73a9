"""Placing: which published vector each record of a new table gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.table.covering import covering, ranges, selective_order
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED


def first_covering(
    vectors: Ints, covers: Sequence[Covers], table: Table, progress: Progress = silent
) -> Longs:
    """For each record the first vector that covers all records of its person, or -1; int64[n]."""
    none = len(vectors)
    if not none:
        return np.full(table.rows, SUPPRESSED)
    label, first, _ = group_rows(np.ascontiguousarray(table.codes))
    narrow = table.codes[first]
    pairs = covering(vectors, narrow, covers, selective_order(vectors, table, covers), progress)
    if table.people is None or table.person_count == table.rows:
        best = np.full(len(narrow), none)
        for tuples, vector in pairs:
            np.minimum.at(best, tuples, vector)
        record = best[label]
    else:
        record = _best_of_people(pairs, label, table.people, len(narrow), none)
    return np.where(record == none, SUPPRESSED, record)


def _best_of_people(
    pairs: Iterable[tuple[Longs, Longs]], label: Longs, people: Longs, tuples: int, none: int
) -> Longs:
    """For each record the first vector that covers all records of its person, or `none`.

    It covers all if it covers as many distinct records as the person has.
    """
    person_count = int(people.max()) + 1
    owned = np.unique(label * person_count + people)  # pairs of a distinct record and a person
    person_of_record = owned % person_count
    start = np.searchsorted(owned // person_count, np.arange(tuples + 1))
    needed = np.bincount(person_of_record, minlength=person_count)
    found = [np.zeros(0, np.int64)]  # pairs of a person and a vector that covers some record
    for low, high in pairs:
        many = start[low + 1] - start[low]
        who = person_of_record[ranges(start[low], start[low + 1])]
        found.append(who * none + np.repeat(high, many))
    both, count = np.unique(np.concatenate(found), return_counts=True)
    who, vector = both // none, both % none
    all_of_them = count == needed[who]
    best = np.full(person_count, none)
    np.minimum.at(best, who[all_of_them], vector[all_of_them])
    return np.asarray(best[people])


@dataclass(eq=False)
class Placement:
    """The vector of each record while classes are given up."""

    table: Table
    vectors: Ints
    covers: Sequence[Covers]
    record: Longs  # the vector of each record, -1: suppressed
    alive: Bools  # vectors that are not given up, bool[vectors]

    @property
    def published(self) -> Longs:
        """The records that are not suppressed."""
        return np.flatnonzero(self.record != SUPPRESSED)

    def without(self, given_up: Longs) -> Longs:
        """The vector of each record if these are given up: the next that covers it, or -1."""
        alive = self.alive.copy()
        alive[given_up] = False
        rows = self.published
        moving = rows[~alive[self.record[rows]]]
        left = np.flatnonzero(alive)
        found = first_covering(self.vectors[left], self.covers, self.table.take(moving))
        record = self.record.copy()
        record[moving] = np.where(found == SUPPRESSED, SUPPRESSED, np.append(left, -1)[found])
        return record

    def give_up(self, given_up: Longs) -> None:
        """Publish no record with these vectors."""
        self.record = self.without(given_up)
        self.alive[given_up] = False

    def suppress(self, rows: Longs) -> None:
        """Do not publish these records."""
        self.record = self.record.copy()
        self.record[rows] = SUPPRESSED

    def people(self, record: Longs) -> tuple[Longs, Longs]:
        """The vectors in use, and how many people have each."""
        rows = np.flatnonzero(record != SUPPRESSED)
        used, label = np.unique(record[rows], return_inverse=True)
        if self.table.people is None:
            return used, np.bincount(label, minlength=len(used))
        pairs = np.unique(self.table.people[rows] * len(used) + label)
        return used, np.bincount(pairs % max(len(used), 1), minlength=len(used))

    def can_move(self, classes: Longs) -> Bools:
        """Whether another vector covers each record of a class, bool[classes]."""
        rows = self.published
        rows = rows[np.isin(self.record[rows], classes)]
        left = np.flatnonzero(self.alive)[::-1]  # so that the last one that covers is found
        last = left[first_covering(self.vectors[left], self.covers, self.table.take(rows))]
        return ~np.isin(classes, self.record[rows][last == self.record[rows]])
