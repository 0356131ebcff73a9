"""Perfect matchings as they read: all permutations, looked at one by one."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def perfect_matchings(covers):
    """All ways to give each record i a published record j of its own with covers[i, j]."""
    n = len(covers)
    return [p for p in permutations(range(n)) if all(covers[i, p[i]] for i in range(n))]


def chances(covers):
    """The share of perfect matchings that pair i with j, float64[n, n]."""
    found = perfect_matchings(covers)
    share = np.zeros(covers.shape)
    for given in found:
        share[np.arange(len(covers)), given] += 1
    return share / len(found)
