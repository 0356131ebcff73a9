"""A node of the generalization lattice: the classes that tuples form at one level per column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

AT_A_TIME = 10_000_000  # values between two pauses for Ctrl-C


class Lattice(NamedTuple):
    """Distinct tuples, and the generalization of each value at every level of its column."""

    code: np.ndarray  # int32[tuples, q]
    size: np.ndarray  # int64[tuples], rows
    people: np.ndarray  # int64[tuples]
    start: np.ndarray  # int64[q], where a column begins below
    nodes: np.ndarray  # int64[q], nodes of its tree
    above: np.ndarray  # int32[…]: above[start[j] + level * nodes[j] + v], the value v at a level
    keeps: np.ndarray  # int64[…], the information that this value keeps


class Grouping(NamedTuple):
    """The classes of a node, and scratch space for finding them."""

    label: np.ndarray  # int64[tuples], the class of each
    first: np.ndarray  # int64[tuples], the first tuple of each class
    size: np.ndarray  # int64[tuples], its rows
    people: np.ndarray  # int64[tuples]
    keeps: np.ndarray  # int64[tuples], the information that one of its rows keeps
    value: np.ndarray  # int32[tuples, q], the value of each class
    own: np.ndarray  # int32[q]
    slot: np.ndarray  # int32[slots], a power of two and more than the tuples
    start: np.ndarray  # int64[q], where the column begins at its level


@kernel
def empty_grouping(tuples, q):
    """Room for the classes of a node."""
    slots = 4
    while slots < 2 * tuples:
        slots *= 2
    return Grouping(
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int64),
        np.zeros((tuples, q), np.int32),
        np.zeros(q, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(q, np.int64),
    )


def group_at(lattice: Lattice, level: np.ndarray, group: Grouping) -> int:
    """Find the classes at these levels, int64[q]; returns how many there are."""
    m, q = lattice.code.shape
    group.start[:] = lattice.start + level * lattice.nodes
    group.slot[:] = -1
    classes, tuples = 0, max(1, AT_A_TIME // q)
    for begin in range(0, m, tuples):
        classes = group_some(lattice, group, classes, begin, min(begin + tuples, m))
    return classes


@lean_kernel
def group_some(lattice, group, classes, begin, stop):
    """Find the classes of the tuples from `begin` to `stop`; returns how many there are then."""
    q = lattice.code.shape[1]
    mask = np.uint64(len(group.slot) - 1)
    for i in range(begin, stop):
        h = np.uint64(1469598103934665603)
        for j in range(q):
            value = lattice.above[group.start[j] + lattice.code[i, j]]
            group.own[j] = value
            h = (h ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            c = np.int64(group.slot[slot])
            if c < 0:
                c = np.int64(classes)
                group.slot[slot] = c
                classes += 1
                group.first[c] = i
                group.size[c], group.people[c], group.keeps[c] = 0, 0, 0
                for j in range(q):
                    group.value[c, j] = group.own[j]
                    group.keeps[c] += lattice.keeps[group.start[j] + lattice.code[i, j]]
                break
            same = True
            for j in range(q):
                if group.value[c, j] != group.own[j]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        group.label[i] = c
        group.size[c] += lattice.size[i]
        group.people[c] += lattice.people[i]
    return classes


@kernel
def lifted(parent, level, levels):
    """The generalization of each node at every level, int32[levels, nodes].

    It is its lowest ancestor, or itself, whose level is not lower.
    """
    above = np.empty((levels, len(parent)), np.int32)
    for at in range(levels):
        for v in range(len(parent)):  # a parent has a smaller number than its children
            above[at, v] = v if level[v] >= at or v == 0 else above[at, parent[v]]
    return above
