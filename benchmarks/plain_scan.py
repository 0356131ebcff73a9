"""The greedy merge with a plain compiled scan of all classes: the baseline for the index.

It makes the same merges in the same order as shoal, including ties; only the search differs.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True)
def matrices(start, parent, end, cost):
    """What each value loses if generalized to cover each other value (Def. 5, Mauger 2023)."""
    q = len(start) - 1
    widest = 0
    for j in range(q):
        widest = max(widest, start[j + 1] - start[j])
    matrix = np.zeros((q, widest, widest), np.int64)
    for j in range(q):
        for a in range(start[j + 1] - start[j]):
            for b in range(start[j + 1] - start[j]):
                top = a
                while not (top <= b < end[start[j] + top]):
                    top = parent[start[j] + top]
                matrix[j, a, b] = cost[start[j] + a] - cost[start[j] + top]
    return matrix


@numba.njit(cache=True)
def plain_merge(start, parent, end, cost, vector, size, first, k, by_size):
    """Merge until every class has k records. Return the final class of each class.

    As fast as a scan can be: costs are looked up in matrices, and a candidate is dropped as
    soon as it costs more than the best.
    """
    n, q = vector.shape
    matrix = matrices(start, parent, end, cost)
    live = np.arange(n)  # the remaining classes, in no particular order
    alive = n
    into = np.arange(n)
    while alive > 1:
        c = -1
        for i in range(alive):
            e = live[i]
            if size[e] < k and (
                c < 0 or size[e] < size[c] or (size[e] == size[c] and first[e] < first[c])
            ):
                c = e
        if c < 0:
            break
        best, at_best, best_cost = -1, -1, np.int64(1) << 62
        size_c = size[c] if by_size else np.int64(1)
        for i in range(alive):
            e = live[i]
            if e == c:
                continue
            size_e = size[e] if by_size else np.int64(1)
            total = np.int64(0)
            for j in range(q):
                a, b = vector[c, j], vector[e, j]
                if a != b:
                    total += size_c * matrix[j, a, b] + size_e * matrix[j, b, a]
                    if total > best_cost:
                        break
            if total < best_cost or (total == best_cost and first[e] < first[best]):
                best, at_best, best_cost = e, i, total
        for j in range(q):
            top = vector[c, j]
            while not (top <= vector[best, j] < end[start[j] + top]):
                top = parent[start[j] + top]
            vector[c, j] = top
        size[c] += size[best]
        first[c] = min(first[c], first[best])
        into[best] = c
        live[at_best] = live[alive - 1]
        alive -= 1
        for i in range(alive):  # classes with equal published values are merged
            e = live[i]
            if e == c:
                continue
            same = True
            for j in range(q):
                if vector[e, j] != vector[c, j]:
                    same = False
                    break
            if same:
                size[c] += size[e]
                first[c] = min(first[c], first[e])
                into[e] = c
                live[i] = live[alive - 1]
                alive -= 1
                break
    for c in range(n):
        top = c
        while into[top] != top:
            top = into[top]
        into[c] = top
    return into
