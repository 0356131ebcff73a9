"""Sorting of rows: by several columns, their values next to each other in few keys of 64 bits, or
by the number of a group, in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels import lean_kernel

KEY_BITS = 63
MIXER = np.uint64(0x9E3779B97F4A7C15)


def sort_rows(columns: Any, major: Any = None) -> Any:
    """The order of rows by their columns (int32[q, n]), the first one first; int64[n].

    `major` (int64 or uint64[n]) is compared before the columns. Equal rows stay in their order.

    >>> sort_rows(np.array([[2, 1, 2], [0, 5, -1]], np.int32)).tolist()
    [1, 2, 0]
    """
    if columns.shape[1] == 0:
        return np.zeros(0, np.int64)
    keys = packed_keys(columns)
    if major is not None:
        keys.insert(0, major)
    # Few rows are equal in the first key, and only those are compared further.
    order = np.argsort(keys[0])
    first = keys[0][order]
    same = first[1:] == first[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order


def packed_keys(columns: Any) -> list[Any]:
    """Few keys (int64[n]) that compare like the columns, the first one first."""
    low, high = (getattr(columns, end)(axis=1).astype(np.int64) for end in ("min", "max"))
    keys: list[Any] = []
    free = 0
    for column, least, span in zip(columns, low, high - low, strict=True):
        bits = int(span).bit_length()
        if not keys or bits > free:
            keys.append(np.zeros(columns.shape[1], np.int64))
            free = KEY_BITS
        key = keys[-1]
        key <<= bits
        key += column
        key -= least
        free -= bits
    return keys


def by_group(group: Any, many: int, order: Any = None) -> Any:
    """Numbers in the order of their groups, which are below `many` (int64[n]); int64[n].

    Those of a group stay as they are in `order`, which may leave numbers out.

    >>> by_group(np.array([1, 0, 1, 0]), 2, np.array([3, 2, 1, 0])).tolist()
    [3, 1, 2, 0]
    """
    if order is None:
        order = np.arange(len(group))
    found = np.empty(len(order), np.int64)
    _count_sort(group, order, np.zeros(many + 1, np.int64), found)
    return found


@lean_kernel
def _count_sort(group, order, start, found):
    """Write what is in `order` group by group; `start` int64[groups + 1] is 0 before."""
    for number in order:
        start[group[number] + 1] += 1
    for g in range(1, len(start)):
        start[g] += start[g - 1]
    for number in order:
        g = group[number]
        found[start[g]] = number
        start[g] += 1


@lean_kernel
def mix_rows(columns, begin, stop, number):
    """Write a hash of each row of int32[q, n] from `begin` to `stop`; the same everywhere."""
    for i in range(begin, stop):
        h = np.uint64(0)
        for j in range(len(columns)):
            h ^= (np.uint64(columns[j, i]) + np.uint64(j)) * MIXER
            for shift in (30, 27, 31):
                h = (h ^ (h >> np.uint64(shift))) * MIXER
            h ^= h >> np.uint64(29)
        number[i] = h
