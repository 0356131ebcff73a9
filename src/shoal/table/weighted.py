"""Weighted tables: equal records counted together, in an order that does not depend on the input.

An algorithm breaks ties by the order of the records that it sees. The order here follows from the
values alone, so the same records in any order, from any file, lead to the same classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.threads import cached_property
from shoal.kernels.group import group_rows
from shoal.kernels.sorting import sort_rows
from shoal.table.encode import Table
from shoal.table.person_order import mixed, sorted_people
from shoal.table.profiles import Profiles
from shoal.table.recoding import Recoding
from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, eq=False)
class Weighted:
    """The records of a table in the order of their values, and equal ones counted together.

    Two records are equal if their quasi-identifiers are, and their sensitive values where those
    matter. If people may have several, they are counted together if all of their records are equal.
    """

    rows: Table  # the given table
    sensitive: bool = True  # whether sensitive values matter

    @cached_property
    def unit(self) -> Longs:
        """The number of each record's values among the distinct ones, in order; int64[n].

        Tuples are in the order of a hash of their values. If similar ones came one after the other,
        ties would always go to the same side, and the greedy merge lost more (Adult, k = 100).
        """
        codes = self.rows.codes
        if self._columns:
            codes = np.concatenate([codes, *(one.codes[:, None] for one in self._columns)], axis=1)
        label, first, _ = group_rows(codes)
        rank = np.empty(len(first), np.int64)
        distinct = codes[first].T
        scattered = mixed(distinct[: len(self.rows.names)])
        rank[sort_rows(distinct, scattered)] = np.arange(len(first))
        found: Longs = rank[label]
        return found

    @cached_property
    def _columns(self) -> tuple[Sensitive, ...]:
        return tuple(one.in_order() for one in self.rows.sensitive) if self.sensitive else ()

    @cached_property
    def order(self) -> Longs:
        """The records in the order of their values, and of their people; int64[n]."""
        others = None if self.rows.others is None else self.rows.others()
        if self.rows.people is not None:
            return sorted_people(self.rows.people, self.unit, others)
        value = self.unit if others is None else self.unit * len(self.unit) + others
        return np.argsort(value, kind="stable")

    def table(self, together: bool) -> Table:
        """The table to recode; `together`: equal records are counted."""
        assert together or self.rows.weight is None, "records that were counted stay counted"
        rows = self.rows
        order = self._first if together else self.order
        people = rows.people
        if people is not None:
            people = self._profiles.people if together else _numbered(people[order])
        found = replace(
            rows,
            codes=np.ascontiguousarray(rows.codes[order]),
            people=people,
            sensitive=tuple(replace(one, codes=one.codes[order]) for one in self._columns),
            weight=self._weight if together else None,
            others=None,
        )
        found.__dict__["domains"] = rows.domains  # the same values, as often, and known costs
        return found

    def of_rows(self, recoding: Recoding, together: bool) -> Recoding:
        """A recoding of that table as one of the given records."""
        if together:
            record = recoding.record[self.unit if self.rows.people is None else self._profiles.row]
        else:
            record = np.empty_like(recoding.record)
            record[self.order] = recoding.record
        return replace(recoding, record=record)

    @cached_property
    def _profiles(self) -> Profiles:
        assert self.rows.people is not None
        return Profiles.of(self.rows.people, self.unit)

    @cached_property
    def _weight(self) -> Longs:
        """How many records there are of each kind, int64[units]."""
        if self.rows.people is not None:
            return self._profiles.weight(self.rows.weight)
        return np.bincount(self.unit, self.rows.weight).astype(np.int64)

    @cached_property
    def _first(self) -> Longs:
        """A record of each kind, int64[units]."""
        if self.rows.people is not None:
            return self._profiles.first
        first = np.empty(int(self.unit.max()) + 1, np.int64)
        first[self.unit] = np.arange(len(self.unit))
        return first


def _numbered(people: Longs) -> Longs:
    """The same people, numbered in the order in which they appear."""
    _, first, person = np.unique(people, return_index=True, return_inverse=True)
    found: Longs = np.argsort(np.argsort(first))[person]
    return found
