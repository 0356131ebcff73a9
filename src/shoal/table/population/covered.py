"""Covered: how many people of a table published vectors cover, by pairs of the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.table.covering import covering, ranges, selective_order
from shoal.table.equivalence_classes import person_weights

if TYPE_CHECKING:
    from shoal.table.encode import Table


def covered(vectors: Ints, population: Table, free: Sequence[Covers] = ()) -> Longs:
    """How many people of a population each vector of published values covers, int64[vectors].

    `vectors` is int32[vectors, q]: nodes of the population's trees, or codes of `free` values.
    Vectors may cover the same people.
    """
    if not len(vectors):
        return np.zeros(0, np.int64)
    asked, first, _ = group_rows(np.ascontiguousarray(vectors, np.int32))
    wide = vectors[first]
    label, first, _ = group_rows(np.ascontiguousarray(population.codes, np.int32))
    narrow = population.codes[first]

    covers = list(free) or [Covers(tree) for tree in population.trees]
    order = selective_order(wide, population, covers)
    found = _People.of(label, population.people, len(narrow), population.weight)
    count = np.zeros(len(wide), np.int64)
    several: list[Longs] = []
    for people, vector in covering(wide, narrow, covers, order):
        count += np.bincount(vector, found.alone[people], len(wide)).astype(np.int64)
        several.append(found.pairs(people, vector))
    if several:
        pairs = np.unique(np.concatenate(several))
        vector, person = np.divmod(pairs, found.size)
        often = None if found.weight is None else found.weight[person]
        count += np.bincount(vector, often, len(wide)).astype(np.int64)
    each: Longs = count[asked]
    return each


class _People(NamedTuple):
    """The people of each distinct row; a person with several different rows must count once."""

    alone: Longs  # int64[rows], people who have only this row
    start: Longs  # int64[rows + 1]
    who: Longs  # people who have other rows too: row r has who[start[r]:start[r + 1]]
    size: int  # one more than the highest number of a person
    weight: Longs | None = None  # int64[size], how many people each stands for; None: one

    @staticmethod
    def of(row: Longs, people: Longs | None, rows: int, weight: Longs | None = None) -> _People:
        if people is None:
            none = np.zeros(0, np.int64)
            alone = np.bincount(row, weight, rows).astype(np.int64)
            return _People(alone, np.zeros(rows + 1, np.int64), none, 1)
        size, many = int(people.max()) + 1, person_weights(people, weight)
        pair = np.unique(row * size + people)
        row, people = pair // size, pair % size
        one = np.bincount(people)[people] == 1
        start = np.append(0, np.cumsum(np.bincount(row[~one], minlength=rows)))
        often = None if many is None else many[people[one]]
        alone = np.bincount(row[one], often, rows).astype(np.int64)
        return _People(alone, start, people[~one], size, many)

    def pairs(self, row: Longs, vector: Longs) -> Longs:
        """Pairs of a vector and a person that it covers, as vector * size + person."""
        low, high = self.start[row], self.start[row + 1]
        pairs = np.repeat(vector, high - low) * self.size + self.who[ranges(low, high)]
        return np.unique(pairs)
