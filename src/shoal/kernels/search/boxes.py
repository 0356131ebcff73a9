"""Boxes: published vectors whose values are nodes of trees, ranges of numbers or sets of values.

A box is a row of whole numbers: one for a node, two for the first and the last value of a range,
and one bit per value of a set. Node 0, the root, is the first value of a range and the first bit of
a set; a box with it keeps nothing in that column. What a box keeps is a sum over its columns, and
never grows when boxes are joined. Joining a and b loses what both keep minus what the join keeps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

TREE, RANGE, SET = 0, 1, 2
NO_COST = np.int64(1) << 61


class Shapes(NamedTuple):
    """The columns: how their values may be published, and what these keep."""

    kind: np.ndarray  # int64[q]
    at: np.ndarray  # int64[q + 1], where the numbers of a column begin in a box
    start: np.ndarray  # int64[q + 1], where the nodes or values of a column begin below
    parent: np.ndarray  # int32[nodes], of a tree, numbered within the column
    end: np.ndarray  # int32[nodes]
    worth: np.ndarray  # int64[nodes]: for a node what it keeps, for a value of a range its position
    most: np.ndarray  # int64[q], what a single value of a range or set keeps
    unit: np.ndarray  # int64[q], what each further value of a set loses


@lean_kernel
def bits(word):
    """The number of bits that are set."""
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean_kernel
def kept_of_values(shapes, j, a, at, b, bt):
    """What column j of a join keeps: its numbers are a[at], a[at + 1] … and b[bt], b[bt + 1] …"""
    start = shapes.start[j]
    kind = shapes.kind[j]
    if kind == TREE:
        top, other = a[at], b[bt]
        while not (top <= other < shapes.end[start + top]):
            top = np.int64(shapes.parent[start + top])
        return shapes.worth[start + top]
    if kind == RANGE:
        low, high = min(a[at], b[bt]), max(a[at + 1], b[bt + 1])
        span = shapes.worth[start + high] - shapes.worth[start + low]
        return max(shapes.most[j] - span, np.int64(0))
    if (a[at] | b[bt]) & 1:
        return np.int64(0)
    count = np.int64(0)
    for w in range(shapes.at[j + 1] - shapes.at[j]):
        count += bits(a[at + w] | b[bt + w])
    return shapes.most[j] - shapes.unit[j] * (count - 1)


@lean_kernel
def kept_by_join(shapes, j, a, b):
    """What column j of the join of two boxes keeps."""
    return kept_of_values(shapes, j, a, shapes.at[j], b, shapes.at[j])


@lean_kernel
def kept(shapes, a):
    """What a box keeps."""
    total = np.int64(0)
    for j in range(len(shapes.kind)):
        total += kept_by_join(shapes, j, a, a)
    return total


@lean_kernel
def note_kept(shapes, a, keeps):
    """Store what each column of a box keeps, int64[q]."""
    for j in range(len(shapes.kind)):
        keeps[j] = kept_by_join(shapes, j, a, a)


@lean_kernel
def join_boxes(shapes, a, b):
    """Make box a cover box b too."""
    for j in range(len(shapes.kind)):
        at = shapes.at[j]
        if shapes.kind[j] == TREE:
            start = shapes.start[j]
            top, other = a[at], b[at]
            while not (top <= other < shapes.end[start + top]):
                top = np.int64(shapes.parent[start + top])
            a[at] = top
        elif shapes.kind[j] == RANGE:
            a[at], a[at + 1] = min(a[at], b[at]), max(a[at + 1], b[at + 1])
        else:
            for w in range(at, shapes.at[j + 1]):
                a[w] |= b[w]


@kernel
def kept_by_each(shapes, box):
    """What each column of each box keeps, int64[boxes, q]."""
    keeps = np.empty((len(box), len(shapes.kind)), np.int64)
    for b in range(len(box)):
        note_kept(shapes, box[b], keeps[b])
    return keeps


@kernel
def kept_by_values(shapes, start, part):
    """What each value keeps by itself, int64[values]; a column's values begin at its start."""
    keeps = np.empty(len(part), np.int64)
    for j in range(len(shapes.kind)):
        for v in range(start[j], start[j + 1]):
            keeps[v] = kept_of_values(shapes, j, part[v], 0, part[v], 0)
    return keeps
