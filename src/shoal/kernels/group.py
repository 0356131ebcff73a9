"""Grouping of equal rows by hashing, in the order of their first appearance."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels import lean_kernel

AT_A_TIME = 10_000_000  # values between two pauses for Ctrl-C


def group_rows(codes: Any) -> tuple[Any, Any, Any]:
    """Number the distinct rows of `codes` (int32[n, q]) by first appearance.

    Returns label int64[n], first int64[groups], size int64[groups].
    """
    n, q = codes.shape
    slots = 1 << (2 * n + 1).bit_length()
    table = np.full(slots, -1, np.int64)  # slot → group
    label, first, size = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    groups, rows = 0, max(1, AT_A_TIME // max(q, 1))
    for begin in range(0, n, rows):
        stop = min(begin + rows, n)
        groups = group_some(codes, table, label, first, size, groups, begin, stop)
    return label, first[:groups].copy(), size[:groups].copy()


@lean_kernel
def group_some(codes, table, label, first, size, groups, begin, stop):
    """Number the rows from `begin` to `stop`; returns how many groups there are then."""
    q = codes.shape[1]
    mask = np.uint64(len(table) - 1)
    for i in range(begin, stop):
        h = np.uint64(1469598103934665603)
        for j in range(q):
            h = (h ^ np.uint64(codes[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = groups
                first[groups] = i
                size[groups] = 1
                label[i] = groups
                groups += 1
                break
            same = True
            row = first[g]
            for j in range(q):
                if codes[row, j] != codes[i, j]:
                    same = False
                    break
            if same:
                size[g] += 1
                label[i] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return groups
