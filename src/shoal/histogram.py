"""Histograms: how often each class holds each value of a sensitive column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import BadHierarchy
from shoal.hierarchy import Hierarchy
from shoal.kernels.histogram import count_values
from shoal.tree import Tree
from shoal.values import plain, text

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column: which value each row has. A missing value is a value of its own."""

    name: str
    codes: Ints  # int32[n], places in `values`
    values: tuple[Any, ...]  # None is the missing value, and the last one
    hierarchy: Hierarchy | None = None

    @staticmethod
    def of(
        name: str, codes: Ints, values: Sequence[Any], hierarchy: Hierarchy | None = None
    ) -> Sensitive:
        """From codes in which -1 is missing."""
        if len(codes) and codes.min() < 0:
            values = [*values, None]
            codes = np.where(codes < 0, len(values) - 1, codes).astype(np.int32)
        return Sensitive(name, codes, tuple(values), hierarchy)

    def among(self, rows: Longs) -> Sensitive:
        """The column of some rows alone, with the values that occur there."""
        there, codes = np.unique(self.codes[rows], return_inverse=True)
        values = tuple(self.values[code] for code in there)
        return Sensitive(self.name, codes.astype(np.int32), values, self.hierarchy)

    @cached_property
    def tree(self) -> Tree | None:
        """The column's own hierarchy, with a leaf for missing values if there are some."""
        if self.hierarchy is None:
            return None
        known = [value for value in self.values if value is not None]
        tree = self.hierarchy.tree(known)
        return tree.with_missing() if len(known) < len(self.values) else tree

    @cached_property
    def nodes(self) -> Ints:
        """The node of each value in the column's own hierarchy, int32[values]."""
        assert self.tree is not None
        nodes = np.empty(len(self.values), np.int32)
        alike: dict[str, int] = {}
        for i, value in enumerate(self.values):
            node = self.tree.node(None if value is None else text(value))
            if node < 0:
                alike = alike or {plain(str(label)): n for n, label in enumerate(self.tree.labels)}
                node = alike.get(plain(text(value)), -1)
            if node < 0:
                raise BadHierarchy(
                    f"column {self.name!r}: its hierarchy lacks the value {text(value)!r}; add it"
                )
            nodes[i] = node
        return nodes


@dataclass(frozen=True, eq=False)
class Histogram:
    """The values of a sensitive column, class by class: a sparse table of counts."""

    column: Sensitive
    start: Longs  # int64[classes + 1]: class c has the pairs start[c] … start[c + 1] - 1
    value: Ints  # int32[pairs], places in column.values, rising within a class
    count: Longs  # int64[pairs], rows
    total: Longs  # int64[values], rows of the whole table

    @staticmethod
    def of(label: Longs, classes: int, column: Sensitive) -> Histogram:
        """Count the rows of each class."""
        start, value, count = count_values(label, column.codes, classes, len(column.values))
        total = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
        return Histogram(column, start, value, count, total)

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def size(self) -> Longs:
        """Rows of each class, int64[classes]."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def of_class(self) -> Longs:
        """The class of each pair, int64[pairs]."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def share(self) -> npt.NDArray[np.float64]:
        """The share of its class that each pair is, float64[pairs]: P of the papers."""
        return self.count / self.size[self.of_class]

    @cached_property
    def overall(self) -> npt.NDArray[np.float64]:
        """The share of the table that each value is, float64[values]: Q of the papers."""
        return self.total / max(int(self.total.sum()), 1)

    def dense(self) -> npt.NDArray[np.float64]:
        """The share of every value in every class, float64[classes, values]; for small ones."""
        table = np.zeros((len(self), len(self.total)))
        table[self.of_class, self.value] = self.share
        return table
