"""Classes of tuples that a search changes, random numbers, and what a record keeps by a cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel

MORE = np.int64(1) << 61
UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


class Formed(NamedTuple):
    """Classes of tuples; the tuples of a class are a linked list."""

    vector: np.ndarray  # int32[tuples, q]
    size: np.ndarray  # int64[tuples], records
    people: np.ndarray  # int64[tuples]
    near: np.ndarray  # int32[tuples, …], the nearest tuples, then -1
    of: np.ndarray  # int64[tuples], the class of each
    after: np.ndarray  # int64[tuples], the next tuple of the class; -1: none
    head: np.ndarray  # int64[classes], the first tuple; -1: the class has none
    rows: np.ndarray  # int64[classes], records
    keeps: np.ndarray  # int64[classes], what each record keeps
    class_people: np.ndarray  # int64[classes]


class Part(NamedTuple):
    """What one thread may change: the classes whose tuples are in this part."""

    tuples: np.ndarray  # int64[…]
    part_of: np.ndarray  # int64[tuples], the part of every tuple
    number: int  # of this part
    free: np.ndarray  # int64[…], classes without tuples
    random: np.ndarray  # uint64[1]
    at: np.ndarray  # int64[4]: free classes, looks of `recreate`, gain, looks of `open_cells`


@lean_kernel
def draw(random):
    """A random number from 0 to 1 (xorshift, Marsaglia 2003)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return np.float64(x >> np.uint64(11)) * UNIT


@lean_kernel
def is_inside(trees, cell, vector):
    """Whether a cell covers a tuple."""
    for j in range(len(cell)):  # noqa: SIM110 (a generator does not compile)
        if not (cell[j] <= vector[j] < trees.end[trees.start[j] + cell[j]]):
            return False
    return True


@lean_kernel
def joining_cost(trees, cell, vector, limit):
    """What a record of the cell loses if it covers the tuple too; anything above the limit."""
    cost = np.int64(0)
    for j in range(len(cell)):
        start = trees.start[j]
        top, value = cell[j], vector[j]
        if top <= value < trees.end[start + top]:
            continue
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        cost += trees.cost[start + cell[j]] - trees.cost[start + top]
        if cost > limit:
            break
    return cost


@lean_kernel
def kept_by(trees, cell):
    """What a record keeps that is published as the cell."""
    keeps = np.int64(0)
    for j in range(len(cell)):
        keeps += trees.cost[trees.start[j] + cell[j]]
    return keeps
