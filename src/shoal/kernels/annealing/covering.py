"""Which open classes cover a tuple: sets of classes as bits, one for each value of an attribute.

The classes that cover a tuple are in the sets of all its values. Looking at one class after the
other for the best of them was two thirds of all looks of the search.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.formed import is_inside
from shoal.kernels.search.class_index import Trees

NARROW = 512  # nodes at most of an attribute that has sets; a wide cell would take long to enter
WORD = 64
NO_BIT, ONE, ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)
# The place of the only bit of a word, by its remainder: those of powers of 2 differ.
DIVISOR = np.uint64(67)
PLACE = np.zeros(67, np.int64)
PLACE[[2**place % 67 for place in range(WORD)]] = np.arange(WORD)
SLOTS, VACANT = 0, 1  # places in `Open.many`


class Open(NamedTuple):
    """The open classes of a part with their cells; each has a slot, its place in the sets."""

    cell: np.ndarray  # int32[classes, q]
    before: np.ndarray  # int64[tuples], the tuple before it in its class; -1: none
    slot: np.ndarray  # int64[classes]; -1: not open
    class_at: np.ndarray  # int64[slots]; -1: the slot is vacant
    vacant: np.ndarray  # int64[slots], slots that were used before
    many: np.ndarray  # int64[2], slots used so far, and how many of them are vacant
    row: np.ndarray  # int64[q], where the sets of an attribute begin; -1: it has none
    bits: np.ndarray  # uint64[values of all attributes, slots / 64]


def no_classes(
    trees: Trees, people: int, cell: np.ndarray, before: np.ndarray, k: int, more: int
) -> Open:
    """No open classes; there is room for all that so many people can form, and for `more`."""
    room = people // k + more
    size = np.diff(trees.start)
    size[size > NARROW] = 0
    row = np.where(size > 0, np.cumsum(size) - size, -1)
    long = partial(np.full, fill_value=-1, dtype=np.int64)
    bits = np.zeros((size.sum(), -(-room // WORD)), np.uint64)
    many = np.zeros(2, np.int64)
    return Open(cell, before, long(len(cell)), long(room), long(room), many, row, bits)


@lean_kernel
def insert(trees, opened, a):
    """Open a class; its cell must be right."""
    if opened.many[VACANT] > 0:
        opened.many[VACANT] -= 1
        slot = opened.vacant[opened.many[VACANT]]
    else:
        slot = opened.many[SLOTS]
        opened.many[SLOTS] += 1
    opened.slot[a], opened.class_at[slot] = slot, a
    word, bit = slot // WORD, ONE << np.uint64(slot % WORD)
    for j in range(len(opened.row)):
        row, top = opened.row[j], opened.cell[a, j]
        if row >= 0:
            for value in range(top, trees.end[trees.start[j] + top]):
                opened.bits[row + value, word] |= bit


@lean_kernel
def remove(trees, opened, a):
    """Close a class, if it is open; its cell must be the one with which it was opened."""
    slot = opened.slot[a]
    if slot < 0:
        return
    opened.slot[a] = opened.class_at[slot] = -1
    opened.vacant[opened.many[VACANT]] = slot
    opened.many[VACANT] += 1
    word, others = slot // WORD, ~(ONE << np.uint64(slot % WORD))
    for j in range(len(opened.row)):
        row, top = opened.row[j], opened.cell[a, j]
        if row >= 0:
            for value in range(top, trees.end[trees.start[j] + top]):
                opened.bits[row + value, word] &= others


@lean_kernel
def best_covering(trees, formed, opened, t, floor):
    """The open class that keeps most among those that cover a tuple, above a floor; -1 if none."""
    found, most, vector = np.int64(-1), floor, formed.vector[t]
    q, exact = len(vector), True  # whether the bits alone say which classes cover the tuple
    for j in range(q):
        exact = exact and opened.row[j] >= 0
    for word in range((opened.many[SLOTS] + WORD - 1) // WORD):
        bits = ALL
        for j in range(q):
            if opened.row[j] >= 0:
                bits &= opened.bits[opened.row[j] + vector[j], word]
                if bits == NO_BIT:
                    break
        while bits != NO_BIT:
            lowest = bits & (~bits + ONE)
            bits ^= lowest
            slot = word * WORD + PLACE[lowest % DIVISOR]
            # Without sets there are bits of vacant slots, and of those beyond the last.
            a = opened.class_at[slot] if slot < opened.many[SLOTS] else np.int64(-1)
            if a < 0 or formed.keeps[a] <= most:
                continue
            if exact or is_inside(trees, opened.cell[a], vector):
                found, most = a, formed.keeps[a]
    return found
