"""Members of a class: how many of its people remain if something more is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.table.equivalence_classes import of_people


@dataclass(frozen=True, eq=False)
class Members:
    """Some records, and the people they belong to."""

    rows: Longs  # int64[m]
    people: Longs | None  # int64[m]; None: each record is one person
    weight: Longs | None  # int64[m], how many people each row stands for; None: one

    @staticmethod
    def of(rows: Longs, people: Longs | None, weight: Longs | None) -> Members:
        """These rows of a table with so many people and weights."""
        return Members(
            rows,
            None if people is None else np.unique(people[rows], return_inverse=True)[1],
            None if weight is None else weight[rows],
        )

    def left(self, codes: Ints | Longs) -> Longs:
        """How many people remain for each of them if codes are known, int64[people].

        Somebody with several records remains among those who share the rarest of them.
        """
        value = np.unique(codes, return_inverse=True)[1]
        if self.people is None:
            return np.bincount(value, self.weight)[value].astype(np.int64)
        size = int(self.people.max()) + 1
        pair = np.unique(value * size + self.people)
        often = None if self.weight is None else self.each()[pair % size]
        each = np.bincount(pair // size, often).astype(np.int64)  # people per value
        fewest = np.full(size, np.iinfo(np.int64).max)
        np.minimum.at(fewest, self.people, each[value])
        return fewest

    def each(self) -> Longs:
        """How many people each of them stands for, int64[people]."""
        if self.people is None:
            return np.ones(len(self.rows), np.int64) if self.weight is None else self.weight
        if self.weight is None:
            return np.ones(int(self.people.max()) + 1, np.int64)
        return of_people(self.weight, self.people)

    @property
    def count(self) -> int:
        """Number of people."""
        return int(self.each().sum())

    def person_at(self, row: int) -> int:
        """The place of the person of a row."""
        at = int(np.flatnonzero(self.rows == row)[0])
        return at if self.people is None else int(self.people[at])
