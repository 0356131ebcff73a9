"""Moving tuples between the classes of a part, so that it can be taken back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.covering import SLOTS, WORD, best_covering, insert, remove
from shoal.kernels.annealing.formed import MORE, joining_cost, kept_by
from shoal.kernels.search.tuple_index import join

CLASSES, MOVES, LOOKS = 0, 1, 2  # places in `Undo.at`


class Undo(NamedTuple):
    """What an attempt has changed."""

    mark: np.ndarray  # int64[classes], 1 + the place of the class in the lists below; 0: none
    touched: np.ndarray  # int64[…], classes
    rows: np.ndarray  # int64[…], their records before
    keeps: np.ndarray  # int64[…], what a record of them kept before
    cell: np.ndarray  # int32[…, q], their cells before
    moved: np.ndarray  # int64[…], tuples
    source: np.ndarray  # int64[…], where they were
    at: np.ndarray  # int64[3], touched classes, moved tuples, looks at tuples and classes so far


@lean_kernel
def class_cell(trees, formed, a, cell):
    """Write the least general cell that covers a class; returns how many tuples it has."""
    t, many = formed.head[a], 1
    for j in range(len(cell)):
        cell[j] = formed.vector[t, j]
    t = formed.after[t]
    while t >= 0:
        join(trees, cell, formed.vector[t])
        t = formed.after[t]
        many += 1
    return many


@lean_kernel
def open_all(trees, formed, part, opened):
    """Open all classes of a part."""
    for i in range(len(part.tuples)):
        t = part.tuples[i]
        a = formed.of[t]
        if formed.head[a] != t:
            continue
        before = np.int64(-1)
        while t >= 0:
            opened.before[t] = before
            before, t = t, formed.after[t]
        class_cell(trees, formed, a, opened.cell[a])
        insert(trees, opened, a)


@lean_kernel
def touch(formed, opened, undo, a):
    """Remember a class before it changes."""
    if undo.mark[a] > 0:
        return
    i = undo.at[CLASSES]
    undo.at[CLASSES] += 1
    undo.mark[a] = i + 1
    undo.touched[i], undo.rows[i], undo.keeps[i] = a, formed.rows[a], formed.keeps[a]
    for j in range(opened.cell.shape[1]):
        undo.cell[i, j] = opened.cell[a, j]


@lean_kernel
def put(formed, opened, t, to):
    """Put a tuple into another class."""
    a, before, after = formed.of[t], opened.before[t], formed.after[t]
    if before >= 0:
        formed.after[before] = after
    else:
        formed.head[a] = after
    if after >= 0:
        opened.before[after] = before
    formed.rows[a] -= formed.size[t]
    formed.class_people[a] -= formed.people[t]
    head = formed.head[to]
    formed.of[t], formed.after[t], opened.before[t] = to, head, -1
    if head >= 0:
        opened.before[head] = t
    formed.head[to] = t
    formed.rows[to] += formed.size[t]
    formed.class_people[to] += formed.people[t]


@lean_kernel
def move(formed, opened, undo, t, to):
    """Move a tuple to another class so that it can be taken back; whether there was room for it."""
    i = undo.at[MOVES]
    if i == len(undo.moved):
        return False
    touch(formed, opened, undo, formed.of[t])
    touch(formed, opened, undo, to)
    undo.moved[i], undo.source[i] = t, formed.of[t]
    undo.at[MOVES] += 1
    put(formed, opened, t, to)
    return True


@lean_kernel
def take_back(trees, formed, opened, undo):
    """Take back all that has changed."""
    for i in range(undo.at[MOVES] - 1, -1, -1):
        put(formed, opened, undo.moved[i], undo.source[i])
    for i in range(undo.at[CLASSES]):
        remove(trees, opened, undo.touched[i])
    for i in range(undo.at[CLASSES]):
        a = undo.touched[i]
        formed.keeps[a] = undo.keeps[i]
        for j in range(opened.cell.shape[1]):
            opened.cell[a, j] = undo.cell[i, j]
        if undo.rows[i] > 0:
            insert(trees, opened, a)
        undo.mark[a] = 0
    undo.at[CLASSES] = undo.at[MOVES] = 0


@lean_kernel
def keep_changes(formed, part, undo):
    """Accept all that has changed; classes without tuples may be used again."""
    for i in range(undo.at[CLASSES]):
        a = undo.touched[i]
        if formed.head[a] < 0:
            part.free[part.at[0]] = a
            part.at[0] += 1
        undo.mark[a] = 0
    undo.at[CLASSES] = undo.at[MOVES] = 0


@lean_kernel
def best_open(trees, formed, opened, undo, t, floor):
    """The class that keeps most among those that cover a tuple, above a floor; -1 if none."""
    undo.at[LOOKS] += 4 + opened.many[SLOTS] // WORD
    return best_covering(trees, formed, opened, t, floor)


@lean_kernel
def cheapest_wider(trees, formed, opened, undo, t, limit):
    """The class that loses least if it covers a tuple too, and that loss for all its records.

    The loss includes that of the tuple compared with keeping `limit`.
    """
    best, found = MORE, np.int64(-1)
    undo.at[LOOKS] += 2 * opened.many[SLOTS]
    for slot in range(opened.many[SLOTS]):
        a = opened.class_at[slot]
        if a < 0 or formed.head[a] < 0:
            continue
        base = (limit - formed.keeps[a]) * formed.size[t]
        if base >= best:
            continue
        most = (best - base) // (formed.rows[a] + formed.size[t])
        cost = joining_cost(trees, opened.cell[a], formed.vector[t], most)
        loss = cost * (formed.rows[a] + formed.size[t]) + base
        if loss < best:
            best, found = loss, a
    return found, best


@lean_kernel
def widen(trees, formed, opened, undo, a, t):
    """Make the cell of a class cover a tuple too."""
    touch(formed, opened, undo, a)
    remove(trees, opened, a)
    join(trees, opened.cell[a], formed.vector[t])
    formed.keeps[a] = kept_by(trees, opened.cell[a])
    insert(trees, opened, a)


@lean_kernel
def is_same(cell, other):
    """Whether two cells are the same."""
    for j in range(len(cell)):  # noqa: SIM110 (a generator does not compile)
        if cell[j] != other[j]:
            return False
    return True


@lean_kernel
def tighten(trees, formed, opened, undo, a, cell):
    """Make the cell of a class as specific as possible; `cell` is scratch space."""
    if formed.head[a] < 0:
        remove(trees, opened, a)
        return
    undo.at[LOOKS] += 2 * class_cell(trees, formed, a, cell)
    if opened.slot[a] >= 0 and is_same(opened.cell[a], cell):
        return
    remove(trees, opened, a)
    for j in range(len(cell)):
        opened.cell[a, j] = cell[j]
    formed.keeps[a] = kept_by(trees, cell)
    insert(trees, opened, a)
