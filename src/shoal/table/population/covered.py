"""Covered: how many people of a table published vectors cover, by pairs of the two.

A person, or a household whose members are published linked, may have several records. All of them
are published with the same values, so that only somebody can be meant all of whose records these
values cover. If nothing links the records that are published, a record could be of everybody with
one record that it covers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.kernels.matching.fitting_sets import Sides, count_fitting_sets
from shoal.table.covering import covering, ranges, selective_order
from shoal.table.equivalence_classes import person_weights
from shoal.table.population.coverage import Coverage

if TYPE_CHECKING:
    from shoal.table.encode import Table


def covered(
    vectors: Ints, population: Table, free: Sequence[Covers] = (), linked: bool = True
) -> Longs:
    """How many people of a population each vector of published values covers, int64[vectors].

    `vectors` is int32[vectors, q]: nodes of the population's trees, or codes of `free` values.
    Vectors may cover the same people. `linked`: people count all of whose records are covered,
    otherwise those with one record that is.
    """
    if not len(vectors):
        return np.zeros(0, np.int64)
    asked, first, _ = group_rows(np.ascontiguousarray(vectors, np.int32))
    wide = vectors[first]
    found = _People.of(population)
    count = np.zeros(len(wide), np.int64)
    several = []
    for row, vector in found.covering(wide, population, free):
        count += np.bincount(vector, found.alone[row], len(wide)).astype(np.int64)
        several.append(found.pairs(row, vector))
    vector, person = found.people_of(several, linked)
    count += np.bincount(vector, found.stands_for(person), len(wide)).astype(np.int64)
    each: Longs = count[asked]
    return each


def coverage_by_pairs(
    vectors: Ints, there: Bools, population: Table, free: Sequence[Covers], incomplete: bool
) -> Coverage:
    """Whom distinct vectors cover, and who is covered twice or not at all.

    Only vectors that are `there` can cover somebody.
    """
    wide = vectors[there]
    found = _People.of(population)
    people, often = np.zeros(len(wide), np.int64), np.zeros(len(found.alone), np.int64)
    pairs, several = [], []
    for row, vector in found.covering(wide, population, free):
        people += np.bincount(vector, found.alone[row], len(wide)).astype(np.int64)
        often += np.bincount(row, minlength=len(often))
        pairs.append((row, vector))
        several.append(found.pairs(row, vector))
    shared = np.zeros(len(wide), np.bool_)
    for row, vector in pairs:
        shared[vector[(often[row] > 1) & (found.alone[row] > 0)]] = True
    vector, person = found.people_of(several, True)
    people += np.bincount(vector, found.stands_for(person), len(wide)).astype(np.int64)
    times = np.bincount(person, minlength=found.size)
    shared[vector[times[person] > 1]] = True
    left = np.flatnonzero((times == 0) & (found.rows > 0))
    nobody = int(found.alone[often == 0].sum()) + int(found.stands_for(left).sum())
    every, twice = np.zeros(len(vectors), np.int64), np.zeros(len(vectors), np.bool_)
    every[there], twice[there] = people, shared
    return Coverage(every, twice, nobody, incomplete)


def fitting(
    vectors: Ints, start: Longs, member: Longs, population: Table, free: Sequence[Covers]
) -> Longs:
    """How many people of a population could be published with each set of vectors, int64[sets].

    Set s has the distinct vectors member[start[s]:start[s + 1]]. Somebody fits if one of them
    covers each of their records, and each of them covers one of these records.
    """
    found = _People.of(population, apart=False)
    blocks = [*found.covering(vectors, population, free)]
    nothing = np.zeros(0, np.int64)
    row = np.concatenate([nothing, *(low for low, _ in blocks)])
    vector = np.concatenate([nothing, *(high for _, high in blocks)])
    who_row = np.repeat(np.arange(len(found.first)), np.diff(found.start))
    sides = Sides(
        *_grouped(vector, row, len(vectors)),
        *_grouped(row, vector, len(found.first)),
        found.start,
        found.who,
        *_grouped(found.who, who_row, found.size),
        found.stands_for(np.arange(found.size)),
    )
    people: Longs = count_fitting_sets(start, member, sides)
    return people


def _grouped(of: Longs, what: Longs, groups: int) -> tuple[Longs, Longs]:
    """Where each group begins, and its items."""
    start = np.append(0, np.cumsum(np.bincount(of, minlength=groups)))
    return start, what[np.argsort(of, kind="stable")]


class _People(NamedTuple):
    """The people of each distinct row; people with several different rows stand apart."""

    first: Longs  # int64[rows], a record like each row
    alone: Longs  # int64[rows], people who have only this row
    start: Longs  # int64[rows + 1]
    who: Longs  # people who have other rows too: row r has who[start[r]:start[r + 1]]
    size: int  # one more than the highest number of a person
    rows: Longs  # int64[size], the different rows of each of these people; 0: they are not apart
    weight: Longs | None = None  # int64[size], how many people each stands for; None: one

    @staticmethod
    def of(population: Table, apart: bool = True) -> _People:
        """The people of a population; with `apart`, those with a single row are only counted."""
        row, first, _ = group_rows(np.ascontiguousarray(population.codes, np.int32))
        people, weight, rows = population.people, population.weight, len(first)
        if people is None:
            nobody = np.zeros(0, np.int64)
            alone = np.bincount(row, weight, rows).astype(np.int64)
            return _People(first, alone, np.zeros(rows + 1, np.int64), nobody, 0, nobody)
        size, many = int(people.max()) + 1, person_weights(people, weight)
        row, people = np.divmod(np.unique(row * size + people), size)
        one = (np.bincount(people)[people] == 1) & apart
        start = np.append(0, np.cumsum(np.bincount(row[~one], minlength=rows)))
        often = None if many is None else many[people[one]]
        alone = np.bincount(row[one], often, rows).astype(np.int64)
        each = np.bincount(people[~one], minlength=size)
        return _People(first, alone, start, people[~one], size, each, many)

    def covering(
        self, wide: Ints, population: Table, free: Sequence[Covers]
    ) -> Iterator[tuple[Longs, Longs]]:
        """Blocks of pairs (row, vector that covers it), each pair once."""
        covers = list(free) or [Covers(tree) for tree in population.trees]
        order = selective_order(wide, population, covers) if len(wide) else np.zeros(0, np.int64)
        yield from covering(wide, population.codes[self.first], covers, order)

    def pairs(self, row: Longs, vector: Longs) -> tuple[Longs, Longs]:
        """Pairs vector * size + person, rising, and how many rows of the person are covered."""
        low, high = self.start[row], self.start[row + 1]
        pairs = np.repeat(vector, high - low) * self.size + self.who[ranges(low, high)]
        return np.unique(pairs, return_counts=True)

    def people_of(
        self, several: Sequence[tuple[Longs, Longs]], linked: bool
    ) -> tuple[Longs, Longs]:
        """Vectors and the people whom they cover, of blocks of such pairs."""
        nothing = np.zeros(0, np.int64)
        if not self.size:
            return nothing, nothing
        pairs = np.concatenate([nothing, *(one for one, _ in several)])
        rows = np.concatenate([nothing, *(many for _, many in several)])
        pairs, place = np.unique(pairs, return_inverse=True)
        vector, person = np.divmod(pairs, self.size)
        if linked:
            whole = np.bincount(place, rows, len(pairs)) == self.rows[person]
            vector, person = vector[whole], person[whole]
        return vector, person

    def stands_for(self, person: Longs) -> Longs:
        """How many people each of these stands for."""
        return np.ones(len(person), np.int64) if self.weight is None else self.weight[person]
