"""Equivalence classes: the records of a table grouped by their published values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.threads import cached_property
from shoal.kernels.candidates import Memberships, candidates, lists
from shoal.kernels.group import group_rows
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram, Sensitive

if TYPE_CHECKING:
    from shoal.table.population.coverage import Coverage


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table, in the order in which they first appear."""

    label: Longs  # int64[n], the class of each record
    first: Longs  # int64[classes], its first record
    size: Longs  # int64[classes], its records
    people: Longs  # int64[classes], its people
    candidates: Longs  # int64[n], people who could be the person of the record
    histograms: dict[str, Histogram] = field(default_factory=dict)  # sensitive columns by name
    person_values: dict[str, PersonValues] = field(
        default_factory=dict
    )  # the same, where there are people
    # int64[people], the candidates of each person; None: everyone's records are in one class.
    of_person: Longs | None = None
    person_weight: Longs | None = None  # int64[people], how many people each stands for; None: one
    coverage: Coverage | None = None  # whom they cover in a population; None: there is no table
    # The households of each class, by records and, where there are people, by people; (): in
    # `histograms`, if members are generalized each by itself.
    homes: tuple[Histogram, ...] = ()

    def __len__(self) -> int:
        return len(self.size)

    @property
    def fewest_candidates(self) -> Longs:
        """The candidates of the most exposed person of each class, int64[classes]."""
        fewest = self.people.copy()
        np.minimum.at(fewest, self.label, self.candidates)
        return fewest

    @property
    def smallest(self) -> int:
        """Candidates of the most exposed person in the table."""
        return int(self.candidates.min()) if len(self.candidates) else 0

    @property
    def people_by_candidates(self) -> tuple[Longs, Longs]:
        """Numbers of candidates, and how many people of the table have so many."""
        if self.of_person is None:
            return self.people, self.people
        candidates, place = np.unique(self.of_person, return_inverse=True)
        people = np.bincount(place, self.person_weight, len(candidates)).astype(np.int64)
        return candidates, people

    @property
    def households(self) -> tuple[Histogram, ...]:
        """The households of each class, by records and by people; (): `people` are households."""
        if self.homes:
            return self.homes
        for name, one in self.histograms.items():
            if one.column.is_household:
                people = self.person_values.get(name)
                return (one,) if people is None else (one, people.histogram(of_people=True))
        return ()

    def without_households(self) -> Classes:
        """The same with households aside: they are not published, and nothing discloses them."""
        names = [name for name, one in self.histograms.items() if one.column.is_household]
        if not names:
            return self
        return replace(
            self,
            homes=self.households,
            histograms={n: one for n, one in self.histograms.items() if n not in names},
            person_values={n: one for n, one in self.person_values.items() if n not in names},
        )

    def merged(self, into: Longs, ids: Longs) -> Classes:
        """The classes with the numbers `ids` after these ones were merged `into` them.

        Each merged class counts as one record, as single records are not known here.
        """
        number = np.full(len(into), -1, np.int64)
        number[ids] = np.arange(len(ids))
        part = number[into]  # int64[classes]; -1: not asked for
        chosen, many = part >= 0, len(ids)
        size = np.bincount(part[chosen], self.size[chosen], many).astype(np.int64)
        people = np.bincount(part[chosen], self.people[chosen], many).astype(np.int64)
        histograms = {name: old.merged(part, many) for name, old in self.histograms.items()}
        person_values = {name: old.merged(part, many) for name, old in self.person_values.items()}
        return Classes(
            np.arange(many), self.first[ids], size, people, people, histograms, person_values
        )


def tally(
    codes: Ints,
    people: Longs | None = None,
    sensitive: Iterable[Sensitive] = (),
    weight: Longs | None = None,
) -> Classes:
    """Group equal rows of int32[n, q] codes into classes.

    `people` numbers the person of each record, 0 and up; without it every record is one person.
    With `weight`, row i stands for so many records, each of another person; that is the same
    number for all rows of a person, as each of those people has records like all of them.
    An attacker who sees which records belong to one person can look for people with a record in
    every class where that person has one. These candidates may be fewer than the people of a class.

    >>> tally(np.array([[1, 2], [0, 0], [1, 2]], np.int32)).size.tolist()
    [2, 1]
    >>> tally(np.array([[7], [8]], np.int32), np.array([0, 0]), weight=np.array([3, 3])).smallest
    3
    >>> tally(np.array([[1], [2], [1], [2], [2]], np.int32), np.array([0, 0, 1, 2, 3])).smallest
    1
    """
    sensitive = tuple(sensitive)
    label, first, size = group_rows(np.ascontiguousarray(codes, np.int32))
    if weight is not None:
        size = np.bincount(label, weight, len(first)).astype(np.int64)
    counted = {one.name: Histogram.of(label, len(first), one, weight) for one in sensitive}
    if people is None:
        return Classes(label, first, size, size, size[label], counted)
    person_count = int(people.max()) + 1 if len(people) else 0
    by_class, by_person = np.lexsort((people, label)), np.lexsort((label, people))
    class_start, class_person = lists(label[by_class], people[by_class], len(first))
    person_start, person_class = lists(people[by_person], label[by_person], person_count)
    many, each = person_weights(people, weight), np.diff(class_start)
    if many is not None:
        of_class = np.repeat(np.arange(len(first)), each)
        each = np.bincount(of_class, many[class_person], len(first)).astype(np.int64)
    once = np.ones(person_count, np.int64) if many is None else many
    found = candidates(
        Memberships(class_start, class_person, person_start, person_class, once, each)
    )
    person_values = {
        one.name: PersonValues.of(label, len(first), people, one, many) for one in sensitive
    }
    return Classes(label, first, size, each, found[people], counted, person_values, found, many)


class CountedRows:
    """Rows of an original table or of a published one, which stand for records and people."""

    codes: Ints  # int32[n, q]
    people: Longs | None  # int64[n], the person of each row; None: each record is one person
    weight: Longs | None  # int64[n], how many equal records each row stands for; None: one

    @cached_property
    def rows(self) -> int:
        """Number of records."""
        return len(self.codes) if self.weight is None else int(self.weight.sum())

    @cached_property
    def person_count(self) -> int:
        """Number of people."""
        if self.people is None:
            return self.rows
        if self.person_weight is not None:
            return int(self.person_weight.sum())
        return int(self.people.max()) + 1

    @cached_property
    def person_weight(self) -> Longs | None:
        """How many people each person stands for, int64[people]; None: one."""
        return person_weights(self.people, self.weight)


def person_weights(people: Longs | None, weight: Longs | None) -> Longs | None:
    """How many people each one stands for, int64[people]; None: one, or there is no such number.

    >>> person_weights(np.array([0, 1, 0]), np.array([5, 2, 5])).tolist()
    [5, 2]
    """
    return None if people is None or weight is None else of_people(weight, people)


def of_people(of_rows: Longs, people: Longs) -> Longs:
    """Values per person, int64[people], from values that all records of a person share."""
    each = np.zeros(int(people.max()) + 1 if len(people) else 0, np.int64)
    each[people] = of_rows
    return each
