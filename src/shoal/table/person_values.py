"""Person values: the people of each class, with their records and sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.threads import cached_property
from shoal.kernels.hitting import hitting_sizes
from shoal.table.sensitive import Histogram, Sensitive

NO_END = 1 << 62
SEARCH_BUDGET = 50_000_000  # people that a search for hitting sets may visit: about a second


@dataclass(frozen=True, eq=False)
class PeopleHistogram(Histogram):
    """A histogram of people, who may have several values: shares may add up to more than 1."""

    people: Longs  # int64[classes]
    person_count: int  # people of the whole table

    @property
    def size(self) -> Longs:
        """People of each class, int64[classes]."""
        return self.people

    @property
    def overall(self) -> Floats:
        """The share of all people who have each value, float64[values]."""
        return self.total / max(self.person_count, 1)


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The people of each class with their distinct sensitive values."""

    column: Sensitive
    start: Longs  # int64[classes + 1]: class c has the people start[c] … start[c + 1] - 1
    who: Longs  # int64[people], person numbers; a person in several classes has one
    records: Longs  # int64[people], records of each
    weight: Longs  # int64[people], how many people have just these records and values
    first: Longs  # int64[people + 1]: person e has the values first[e] … first[e + 1] - 1
    value: Ints  # int32[pairs], places in column.values, rising within a person
    total: Longs  # int64[values], people of the whole table who have the value
    person_count: int  # people of the whole table

    @staticmethod
    def of(
        label: Longs,
        classes: int,
        people: Longs,
        column: Sensitive,
        weight: Longs | None = None,
    ) -> PersonValues:
        """Gather the values of each person in each class; person p stands for `weight[p]`."""
        person_count = int(people.max()) + 1 if len(people) else 0
        if weight is None:
            weight = np.ones(person_count, np.int64)
        order = np.lexsort((column.codes, people, label))
        label, people, code = label[order], people[order], column.codes[order]
        new_person = np.ones(len(label), np.bool_)
        new_person[1:] = (label[1:] != label[:-1]) | (people[1:] != people[:-1])
        new_value = new_person.copy()
        new_value[1:] |= code[1:] != code[:-1]
        begins = np.flatnonzero(new_person)
        many = np.bincount(label[begins], minlength=classes)
        places = np.cumsum(new_value) - 1  # the place of each record's value
        first = np.append(places[begins], int(new_value.sum()))
        values = len(column.values)
        total, everyone = column.people_total, column.people_count
        if total is None or everyone is None:  # these are all people of the table
            person, place = np.divmod(np.unique(people * values + code), values)
            total = np.bincount(place, weight[person], values).astype(np.int64)
            everyone = int(weight.sum())
        return PersonValues(
            column,
            np.append(0, np.cumsum(many)),
            people[begins],
            np.diff(np.append(begins, len(label))),
            weight[people[begins]],
            first,
            code[new_value],
            total,
            everyone,
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def different(self) -> Longs:
        """People of each class, those who stand for several counted once; int64[classes]."""
        return np.diff(self.start)

    @cached_property
    def of_class(self) -> Longs:
        """The class of each person, int64[people]."""
        return np.repeat(np.arange(len(self)), self.different)

    @cached_property
    def people(self) -> Longs:
        """People of each class, int64[classes]."""
        return np.bincount(self.of_class, self.weight, len(self)).astype(np.int64)

    @cached_property
    def size(self) -> Longs:
        """Records of each class, int64[classes]."""
        return np.add.reduceat(self.records * self.weight, self.start[:-1])

    @cached_property
    def most_records(self) -> Longs:
        """The most records of any person of each class, int64[classes]."""
        return np.maximum.reduceat(self.records, self.start[:-1])

    @property
    def most_people(self) -> Longs:
        """The most people of each class who share a value, int64[classes]."""
        return np.maximum.reduceat(self._counted.count, self._counted.start[:-1])

    @cached_property
    def _counted(self) -> Histogram:
        """The number of people with each value, per class."""
        many = np.diff(self.first)
        of_holding = np.repeat(self.of_class, many)
        values = len(self.column.values)
        pair, place = np.unique(of_holding * values + self.value, return_inverse=True)
        people = np.bincount(place, np.repeat(self.weight, many), len(pair)).astype(np.int64)
        start = np.searchsorted(pair, np.arange(len(self) + 1) * values)
        return Histogram(self.column, start, (pair % values).astype(np.int32), people, self.total)

    def histogram(self, of_people: bool) -> Histogram:
        """The number of people with each value; shares are of the people, or of all such pairs."""
        if not of_people:
            return self._counted
        old = self._counted
        return PeopleHistogram(
            old.column, old.start, old.value, old.count, old.total, self.people, self.person_count
        )

    def in_classes(self, some: Bools) -> int:
        """The number of distinct people with a record in some of the classes."""
        inside = some[self.of_class]
        once = np.unique(self.who[inside], return_index=True)[1]
        return int(self.weight[inside][once].sum())

    def hitting_sizes(
        self, limits: Longs, budget: Longs | None = None, which: Longs | None = None
    ) -> Longs:
        """The size of the smallest set of values of which each person of a class has one.

        int64[which]. Sizes above the limit of a class are given as the limit + 1; -1: the
        `budget`, int64[1], of people to visit was spent.
        """
        which = np.arange(len(self)) if which is None else which
        people = self.start[which + 1] - self.start[which]
        begin = np.append(0, np.cumsum(people))
        who = np.repeat(self.start[which] - begin[:-1], people) + np.arange(begin[-1])
        many = self.first[who + 1] - self.first[who]
        first = np.append(0, np.cumsum(many))
        place = np.repeat(self.first[who] - first[:-1], many) + np.arange(first[-1])
        # A smallest hitting set has at most as many values as there are different people.
        limits = np.minimum(limits, people)
        budget = np.array([NO_END]) if budget is None else budget
        sizes: Longs = hitting_sizes(
            begin, first, self.value[place], limits, len(self.column.values), budget
        )
        return sizes

    def merged(self, part: Longs, classes: int) -> PersonValues:
        """The same people in fewer classes: class c becomes part of part[c], or of none (-1).

        No person may be in two classes that become one.
        """
        of_person = part[self.of_class]
        order = np.argsort(of_person, kind="stable")
        order = order[of_person[order] >= 0]
        many = np.bincount(of_person[order], minlength=classes)
        held = np.diff(self.first)[order]
        first = np.append(0, np.cumsum(held))
        places = np.repeat(self.first[order] - first[:-1], held) + np.arange(first[-1])
        start = np.append(0, np.cumsum(many))
        return PersonValues(
            self.column,
            start,
            self.who[order],
            self.records[order],
            self.weight[order],
            first,
            self.value[places],
            self.total,
            self.person_count,
        )
