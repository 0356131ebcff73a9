"""The distinct records of a population, in the order in which they are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.kernels.group import group_rows
from shoal.kernels.search.tuple_index import Tuples, make_tuples
from shoal.table.encode import Table

LARGEST = 2**62  # number of different rows that fit into one number


@dataclass(frozen=True, eq=False)
class Index:
    """The distinct records of some columns, and the people who have them."""

    table: Table  # of these columns only
    order: Longs  # of the columns in the prefix tree: those with most values come first
    tuples: Tuples
    upto: Longs  # int64[tuples + 1], the people with a tuple before each

    @staticmethod
    def of(table: Table, names: Sequence[str]) -> Index:
        """The records of these columns."""
        lacking = [name for name in names if name not in table.names]
        if lacking:
            raise BadTable(
                f"the population lacks the quasi-identifiers {preview(lacking)} of the table"
                f"{did_you_mean(lacking[0], table.names)}"
            )
        at = [table.names.index(name) for name in names]
        codes = np.ascontiguousarray(table.codes[:, at])
        trees = tuple(table.trees[j] for j in at)
        narrow = Table(
            tuple(names), trees, codes, table.people, (True,) * len(at), weight=table.weight
        )
        order = np.argsort([-tree.size for tree in trees], kind="stable")
        distinct, size = _sorted_distinct(codes, order, [tree.size for tree in trees], table.weight)
        tuples = make_tuples(distinct, size, np.zeros(len(size), np.int64))
        return Index(narrow, order, tuples, np.append(0, np.cumsum(size)))


def _sorted_distinct(
    codes: Ints, order: Longs, sizes: Sequence[int], weight: Longs | None
) -> tuple[Ints, Longs]:
    """The distinct rows with their columns in this order, sorted, and how often each occurs.

    Rows are compared as single numbers if these fit: millions of them are sorted in a second.
    """
    if weight is not None or prod(sizes) > LARGEST:
        label, first, size = group_rows(codes)
        if weight is not None:
            size = np.bincount(label, weight, len(first)).astype(np.int64)
        distinct = np.ascontiguousarray(codes[first][:, order])
        place = np.lexsort(distinct.T[::-1])
        return distinct[place], size[place]
    key: Longs = np.zeros(len(codes), np.int64)
    for j in order.tolist():
        np.multiply(key, sizes[j], out=key)
        np.add(key, codes[:, j], out=key)
    key.sort()
    start = np.flatnonzero(np.diff(key, prepend=-1))
    size, key = np.diff(np.append(start, len(key))), key[start]
    distinct = np.empty((len(key), len(order)), np.int32)
    for i in range(len(order) - 1, -1, -1):
        key, distinct[:, i] = np.divmod(key, sizes[int(order[i])])
    return distinct, size
