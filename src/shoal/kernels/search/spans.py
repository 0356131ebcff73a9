"""Spans: what a tuple, or a part of a table, covers in each column.

The span of a tree or of a range is its first and its last value; the span of a set is one bit per
value. The least node that covers some nodes is the least that covers the first and the last.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.boxes import RANGE, SET, TREE, bits


@lean_kernel
def top_of(shapes, j, low, high):
    """The least node of a tree that covers both."""
    start = shapes.start[j]
    while high >= shapes.end[start + low]:
        low = np.int64(shapes.parent[start + low])
    return low


@lean_kernel
def keeps(shapes, j, span):
    """What column j of a span keeps."""
    at, start = shapes.at[j], shapes.start[j]
    if shapes.kind[j] == TREE:
        return shapes.worth[start + top_of(shapes, j, span[at], span[at + 1])]
    if shapes.kind[j] == RANGE:
        lost = shapes.worth[start + span[at + 1]] - shapes.worth[start + span[at]]
        return max(shapes.most[j] - lost, np.int64(0))
    if span[at] & 1:
        return np.int64(0)
    count = np.int64(0)
    for w in range(at, shapes.at[j + 1]):
        count += bits(span[w])
    return shapes.most[j] - shapes.unit[j] * (count - 1)


@lean_kernel
def keeps_all(shapes, span):
    """What a span keeps."""
    total = np.int64(0)
    for j in range(len(shapes.kind)):
        total += keeps(shapes, j, span)
    return total


@lean_kernel
def copy(source, target):
    """Copy one array into another."""
    for i in range(len(source)):
        target[i] = source[i]


@lean_kernel
def widen(shapes, span, other):
    """Make a span cover another one too."""
    for j in range(len(shapes.kind)):
        at = shapes.at[j]
        if shapes.kind[j] == SET:
            for w in range(at, shapes.at[j + 1]):
                span[w] |= other[w]
        else:
            span[at] = min(span[at], other[at])
            span[at + 1] = max(span[at + 1], other[at + 1])


@lean_kernel
def lowest_bit(span, at, stop):
    """The first value of a set."""
    for w in range(at, stop):
        word = span[w]
        if word != 0:
            return 64 * (w - at) + bits((word & -word) - 1)
    return np.int64(0)


@kernel
def tops(shapes, j, low, high):
    """The least node that covers each pair, int64[pairs]."""
    top = np.empty(len(low), np.int64)
    for i in range(len(low)):
        top[i] = top_of(shapes, j, low[i], high[i])
    return top
