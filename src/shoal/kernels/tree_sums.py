"""Sums along the paths of a tree."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel


@kernel
def sum_to_root(parent, weight):
    """Sum the weights of the edges from each node to the root (node 0, nodes in preorder)."""
    total = np.zeros(len(parent), np.float64)
    for node in range(1, len(parent)):
        total[node] = total[parent[node]] + weight[node]
    return total


@kernel
def sum_below(parent, value):
    """Sum the values at and below each node."""
    total = value.copy()
    for node in range(len(parent) - 1, 0, -1):
        total[parent[node]] += total[node]
    return total


@kernel
def least_below(parent, value):
    """The least value at or below each node."""
    least = value.copy()
    for node in range(len(parent) - 1, 0, -1):
        least[parent[node]] = min(least[parent[node]], least[node])
    return least
