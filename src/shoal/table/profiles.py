"""Profiles: people with the same records counted together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Longs
from shoal.table.covering import ranges
from shoal.table.person_order import sorted_people


@dataclass(frozen=True, eq=False)
class Profiles:
    """The distinct sets of records that people have, in an order that follows from them alone.

    A set may contain equal records, each of which is a row of its profile.
    """

    people: Longs  # int64[rows], the profile of each row; rising
    first: Longs  # int64[rows], a record like each row
    row: Longs  # int64[n], the row of each record
    of_person: Longs  # int64[people], the profile of each person
    record: Longs  # int64[people], a record of each person

    @staticmethod
    def of(people: Longs, unit: Longs) -> Profiles:
        """Compare the records of people; `unit` numbers the values of each record, int64[n].

        >>> found = Profiles.of(np.array([0, 1, 1, 2, 2]), np.array([4, 4, 7, 7, 4]))
        >>> found.people.tolist(), found.weight().tolist(), found.row.tolist()
        ([0, 1, 1], [1, 2, 2], [0, 1, 2, 2, 1])
        """
        order = sorted_people(people, unit)
        who, what = people[order], unit[order]
        start = np.flatnonzero(np.diff(who, prepend=-1))
        many = np.diff(np.append(start, len(who)))
        # People with the same records come one after the other. Their order is by hashes, so each
        # is compared with the one before, record by record.
        as_many = np.append(False, many[1:] == many[:-1])
        like = np.repeat(as_many, many)
        there = np.flatnonzero(like)
        like[there] = what[there] == what[there - np.repeat(many, many)[there]]
        of_person = np.cumsum(~np.logical_and.reduceat(like, start)) - 1
        head = np.unique(of_person, return_index=True)[1]
        begin = np.cumsum(many[head]) - many[head]
        row = np.empty(len(who), np.int64)
        row[order] = ranges(begin[of_person], begin[of_person] + many)
        return Profiles(
            people=np.repeat(np.arange(len(head)), many[head]),
            first=order[ranges(start[head], start[head] + many[head])],
            row=row,
            of_person=of_person,
            record=order[start],
        )

    def weight(self, weight: Longs | None = None) -> Longs:
        """How many people have the profile of each row, int64[rows].

        `weight`, int64[n]: how many people the person of each record stands for.
        """
        each = None if weight is None else weight[self.record]
        return np.bincount(self.of_person, each).astype(np.int64)[self.people]
