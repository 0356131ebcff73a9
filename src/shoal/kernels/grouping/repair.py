"""Repair of classes that violate a model: near classes and tuples, merges, moves.

Classes and tuples are stored as in `exchange`: tuple x is class number `len(parts.head) + x`.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.grouping.clusters import nearest_few
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.grouping.parts import (
    add,
    assign,
    empty,
    kept,
    kept_by_both,
    link,
    put,
    unlink,
)
from shoal.kernels.search.class_index import has_room, insert, remove
from shoal.kernels.search.tuple_index import join


@lean_kernel
def fill_with(index, trees, classes, rows, fan, at, budget):
    """Insert these rows into an index; `at` is int64[1], the next of them."""
    while at[0] < len(rows):
        if budget <= 0:
            return PAUSED
        budget -= 1
        if not has_room(index, 2 * classes.vector.shape[1], 2 * fan):
            return NEEDS_ROOM
        insert(index, trees, classes, rows[at[0]])
        at[0] += 1
    return DONE


@lean_kernel
def near_classes(index, trees, classes, ids, work, found, costs, used):
    """The nearest classes of each of these, nearest first."""
    for i in range(len(ids)):
        remove(index, trees, classes, ids[i], True)
        used[i] = nearest_few(index, trees, classes, ids[i], work, found[i], costs[i])
        insert(index, trees, classes, ids[i])


@lean_kernel
def near_holders(index, trees, classes, parts, ids, holds, work, found, costs, used):
    """The nearest tuples of each class that are in the index and not in the class itself.

    The index has the tuples with some value: those marked in `holds`, bool[tuples].
    """
    many = len(parts.head)
    for i in range(len(ids)):
        x = parts.head[ids[i]]
        while x >= 0:
            if holds[x]:
                remove(index, trees, classes, many + x, True)
            x = parts.after[x]
        used[i] = nearest_few(index, trees, classes, ids[i], work, found[i], costs[i])
        for place in range(used[i]):
            found[i, place] -= many
        x = parts.head[ids[i]]
        while x >= 0:
            if holds[x]:
                insert(index, trees, classes, many + x)
            x = parts.after[x]


@lean_kernel
def count_members(parts, c):
    """How many tuples a class has; none if it is -1."""
    many = 0
    x = parts.head[c] if c >= 0 else -1
    while x >= 0:
        many += 1
        x = parts.after[x]
    return many


@kernel
def members_of(parts, a, b, minus, plus):
    """The tuples of class a and class b, without one tuple and with another one.

    Each is -1 if there is none. Returns start int64[trials + 1], and the tuples.
    """
    start = np.zeros(len(a) + 1, np.int64)
    for i in range(len(a)):
        many = count_members(parts, a[i]) + count_members(parts, b[i])
        start[i + 1] = start[i] + many - (minus[i] >= 0) + (plus[i] >= 0)
    member = np.empty(start[-1], np.int64)
    at = 0
    for i in range(len(a)):
        for c in (a[i], b[i]):
            x = parts.head[c] if c >= 0 else -1
            while x >= 0:
                if x != minus[i]:
                    member[at] = x
                    at += 1
                x = parts.after[x]
        if plus[i] >= 0:
            member[at] = plus[i]
            at += 1
    return start, member


@lean_kernel
def costs_of_merges(trees, classes, a, b, costs):
    """The cost of merging each pair."""
    vector, size = classes.vector, classes.size
    for i in range(len(a)):
        one, other = vector[a[i]], vector[b[i]]
        both = kept_by_both(trees, one, other)
        costs[i] = size[a[i]] * (kept(trees, one) - both) + size[b[i]] * (kept(trees, other) - both)


@lean_kernel
def cover_others(trees, classes, parts, x, left):
    """Write the closure of a tuple's class without the tuple into `left`; the class has others."""
    many, begun = len(parts.head), False
    y = parts.head[parts.of[x]]
    while y >= 0:
        if y != x and not begun:
            assign(left, classes.vector[many + y])
            begun = True
        elif y != x:
            join(trees, left, classes.vector[many + y])
        y = parts.after[y]


@lean_kernel
def gains_of_leaving(trees, classes, parts, tuples, left, gains):
    """The reduction of the loss if each of the tuples alone leaves its class."""
    many = len(parts.head)
    for i in range(len(tuples)):
        row, a = many + tuples[i], parts.of[tuples[i]]
        cover_others(trees, classes, parts, tuples[i], left)
        now = kept(trees, classes.vector[a])
        gains[i] = classes.size[row] * (kept(trees, classes.vector[row]) - now)
        gains[i] += (classes.size[a] - classes.size[row]) * (kept(trees, left) - now)


@lean_kernel
def merge_two(index, trees, classes, parts, a, b):
    """Merge class b into class a."""
    remove(index, trees, classes, a, True)
    remove(index, trees, classes, b, True)
    join(trees, classes.vector[a], classes.vector[b])
    classes.size[a] += classes.size[b]
    classes.first[a] = min(classes.first[a], classes.first[b])
    parts.class_people[a] += parts.class_people[b]
    x = parts.head[b]
    while x >= 0:
        after = parts.after[x]
        link(parts, x, a)
        x = after
    empty(classes, parts, b)
    put(index, trees, classes, parts, a)


@lean_kernel
def move_one(index, trees, classes, parts, x, b, left):
    """Move a tuple to class b; its own class has others."""
    a, row = parts.of[x], len(parts.head) + x
    cover_others(trees, classes, parts, x, left)
    remove(index, trees, classes, a, True)
    remove(index, trees, classes, b, True)
    unlink(parts, x)
    classes.size[a] -= classes.size[row]
    parts.class_people[a] -= parts.people[x]
    assign(classes.vector[a], left)
    add(trees, classes, parts, x, b)
    put(index, trees, classes, parts, a)
    if parts.head[b] >= 0:
        put(index, trees, classes, parts, b)
