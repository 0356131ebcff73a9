"""Grouping of equal rows by hashing, in the order of their first appearance."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel


@kernel
def group_rows(codes):
    """Number the distinct rows of `codes` (int32[n, q]) by first appearance.

    Returns label int64[n], first int64[groups], size int64[groups].
    """
    n, q = codes.shape
    slots = 1
    while slots < 2 * n + 2:
        slots *= 2
    mask = np.uint64(slots - 1)
    table = np.full(slots, -1, np.int64)  # slot → group
    label = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    size = np.zeros(n, np.int64)
    groups = 0
    for i in range(n):
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
    return label, first[:groups].copy(), size[:groups].copy()
