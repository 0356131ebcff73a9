"""Sensitive columns, and histograms of their values per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import BadHierarchy, preview
from shoal.base.threads import cached_property
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import plain, text
from shoal.kernels.histogram import count_values


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column: the value of each record. Missing counts as a value."""

    name: str
    codes: Ints  # int32[n], places in `values`
    values: tuple[Any, ...]  # None is the missing value, and the last one
    hierarchy: Hierarchy | None = None
    # Spellings that count as one value, that of `values` first.
    spellings: tuple[tuple[Any, ...], ...] = ()
    # int64[values], records of the whole table, if these are only a part of it; None: they are all.
    total: Longs | None = None
    # The same for people: int64[values], how many have each value, and how many there are.
    people_total: Longs | None = None
    people_count: int | None = None
    # Whether these are households, which are not published, and nobody's sensitive values.
    is_household: bool = False

    @staticmethod
    def of(
        name: str,
        codes: Ints,
        values: Sequence[Any],
        hierarchy: Hierarchy | None = None,
        spellings: tuple[tuple[Any, ...], ...] = (),
    ) -> Sensitive:
        """Make it from codes in which -1 is missing."""
        if len(codes) and codes.min() < 0:
            values = [*values, None]
            codes = np.where(codes < 0, len(values) - 1, codes).astype(np.int32)
        return Sensitive(name, codes, tuple(values), hierarchy, spellings)

    @staticmethod
    def of_households(name: str, homes: Longs) -> Sensitive:
        """The household of each record, numbered from 0, as a column that classes count."""
        many = int(homes.max(initial=-1)) + 1
        return Sensitive(name, homes.astype(np.int32), tuple(range(many)), is_household=True)

    def take(self, rows: Longs) -> Sensitive:
        """These records, with only the values that occur in them."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        values = tuple(self.values[code] for code in used)
        spellings = self.spellings
        if spellings:
            there = set(values)
            spellings = tuple(ways for ways in spellings if ways[0] in there)
        return Sensitive(
            self.name,
            codes.astype(np.int32),
            values,
            self.hierarchy,
            spellings,
            is_household=self.is_household,
        )

    def part(self, rows: Longs, weight: Longs | None = None) -> Sensitive:
        """These records as a part of the table: models still compare with the whole of it.

        `weight`: how many records each of all rows stands for.
        """
        return replace(self, codes=self.codes[rows], total=self.counted(weight))

    def counted(self, weight: Longs | None = None) -> Longs:
        """How many records of the whole table have each value, int64[values]."""
        if self.total is not None:
            return self.total
        return np.bincount(self.codes, weight, len(self.values)).astype(np.int64)

    def in_order(self) -> Sensitive:
        """The same with the values sorted by their text; missing stays the last one."""
        order = sorted(
            range(len(self.values)), key=lambda i: (self.values[i] is None, text(self.values[i]))
        )
        if order == list(range(len(order))):
            return self
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        values = tuple(self.values[i] for i in order)
        total, people = (
            None if one is None else one[order] for one in (self.total, self.people_total)
        )
        return replace(
            self, codes=place[self.codes], values=values, total=total, people_total=people
        )

    @cached_property
    def tree(self) -> Tree | None:
        """The hierarchy of the column, with a leaf for missing values if there are any."""
        if self.hierarchy is None:
            return None
        known = [value for value in self.values if value is not None]
        tree = self.hierarchy.tree(known)
        return tree.with_missing() if len(known) < len(self.values) else tree

    @cached_property
    def nodes(self) -> Ints:
        """The node of each value in the hierarchy of the column, int32[values]."""
        assert self.tree is not None
        nodes = np.empty(len(self.values), np.int32)
        several = {ways[0]: ways for ways in self.spellings}
        for i, value in enumerate(self.values):
            if value is None:
                nodes[i] = self.tree.node(None)
                continue
            ways = several.get(value, (value,))
            found = [node for node in map(self._node, ways) if node >= 0]
            if not found:
                raise BadHierarchy(
                    f"column {self.name!r}: its hierarchy lacks the value {text(value)!r}; add it"
                )
            if len(set(self.tree.parent[found])) > 1:
                raise BadHierarchy(
                    f"column {self.name!r}: {preview(ways)} count as one value, but its hierarchy "
                    "has different parents for them; use one spelling in table and hierarchy, or "
                    "clearly different ones if different values are meant"
                )
            nodes[i] = found[0]
        return nodes

    def _node(self, value: Any) -> int:
        """The node of a value in the hierarchy of the column, in any spelling; or -1."""
        assert self.tree is not None
        node = self.tree.node(None if value is None else text(value))
        return node if node >= 0 else self._plain_nodes.get(plain(text(value)), -1)

    @cached_property
    def _plain_nodes(self) -> dict[str, int]:
        assert self.tree is not None
        return {plain(str(label)): node for node, label in enumerate(self.tree.labels)}


@dataclass(frozen=True, eq=False)
class Histogram:
    """The counts of sensitive values per class, as a sparse table."""

    column: Sensitive
    start: Longs  # int64[classes + 1]: class c has the pairs start[c] … start[c + 1] - 1
    value: Ints  # int32[pairs], places in column.values, rising within a class
    count: Longs  # int64[pairs], records
    total: Longs  # int64[values], records of the whole table

    @staticmethod
    def of(label: Longs, classes: int, column: Sensitive, weight: Longs | None = None) -> Histogram:
        """Count the records of each class; record i counts `weight[i]` times."""
        values = len(column.values)
        often = np.zeros(0, np.int64) if weight is None else weight
        start, value, count = count_values(label, column.codes, often, classes, values)
        return Histogram(column, start, value, count, column.counted(weight))

    def __len__(self) -> int:
        return len(self.start) - 1

    def merged(self, into: Longs, classes: int) -> Histogram:
        """The histogram after each class became part of the class `into`; -1: of none."""
        label = into[self.of_class]
        inside = label >= 0
        values = len(self.total)
        key = label[inside] * values + self.value[inside]
        pairs, place = np.unique(key, return_inverse=True)
        count = np.bincount(place, self.count[inside], len(pairs)).astype(np.int64)
        first = np.searchsorted(pairs, np.arange(classes + 1) * values)
        value = (pairs % values).astype(np.int32)
        return Histogram(self.column, first, value, count, self.total)

    @cached_property
    def size(self) -> Longs:
        """Records of each class, int64[classes]."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def of_class(self) -> Longs:
        """The class of each pair, int64[pairs]."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def share(self) -> Floats:
        """The share of each pair in its class, float64[pairs]: P in the papers."""
        return self.count / self.size[self.of_class]

    @cached_property
    def overall(self) -> Floats:
        """The share of each value in the table, float64[values]: Q in the papers."""
        return self.total / max(int(self.total.sum()), 1)

    def dense(self) -> Floats:
        """The share of every value in every class, float64[classes, values]; for small tables."""
        table = np.zeros((len(self), len(self.total)))
        table[self.of_class, self.value] = self.share
        return table
