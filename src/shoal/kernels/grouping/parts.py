"""Classes of tuples that change: lists of tuples, their closures, and their place in an index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.class_index import insert, remove
from shoal.kernels.search.tuple_index import join

# The places of Parts.at: the next item, moves made, visits after which to end, the first item of
# the round and its end, its number, and how many classes have changed in it.
NEXT, MOVES, MOST_VISITS, BEGIN, UNTIL, ROUND, CHANGED = range(7)


class Parts(NamedTuple):
    """The classes and the tuples in them; tuple x is class number `len(head) + x` of the index."""

    head: np.ndarray  # int64[classes], the first of its tuples, or -1
    after: np.ndarray  # int64[tuples], the next one of the same class
    before: np.ndarray  # int64[tuples]
    of: np.ndarray  # int64[tuples], its class
    class_people: np.ndarray  # int64[classes]
    people: np.ndarray  # int64[tuples]
    changed: np.ndarray  # int64[classes], the last round in which it changed
    changes: np.ndarray  # int64[classes], the classes that have changed in this round
    at: np.ndarray  # int64[7], see NEXT and the others


@lean_kernel
def room_for(index, q, fan, times):
    """Whether this number of classes fits."""
    nodes, places = times * (q + 2), times * (2 * fan + 4 * q + 8)
    return index.mark[0] > nodes and index.mark[1] + places < len(index.pool)


@lean_kernel
def kept(trees, vector):
    """The cost from a vector to the roots: what each record keeps."""
    total = np.int64(0)
    for j in range(len(vector)):
        total += trees.cost[trees.start[j] + vector[j]]
    return total


@lean_kernel
def kept_by_both(trees, vector, other):
    """The same for the join of two vectors."""
    total = np.int64(0)
    for j in range(len(vector)):
        start = trees.start[j]
        top, value = vector[j], other[j]
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        total += trees.cost[start + top]
    return total


@lean_kernel
def widen(trees, vector, other):
    """Make the vector cover the other one too; returns what each record then keeps less."""
    less = np.int64(0)
    for j in range(len(vector)):
        start = trees.start[j]
        top, value = vector[j], other[j]
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        if top != vector[j]:
            less += trees.cost[start + vector[j]] - trees.cost[start + top]
            vector[j] = top
    return less


@lean_kernel
def assign(vector, other):
    """Copy a vector."""
    for j in range(len(vector)):
        vector[j] = other[j]


@lean_kernel
def unlink(parts, x):
    """Remove a tuple from the list of its class."""
    after, before = parts.after[x], parts.before[x]
    if before >= 0:
        parts.after[before] = after
    else:
        parts.head[parts.of[x]] = after
    if after >= 0:
        parts.before[after] = before


@lean_kernel
def link(parts, x, c):
    """Put a tuple on the list of a class."""
    head = parts.head[c]
    parts.after[x], parts.before[x], parts.of[x] = head, -1, c
    if head >= 0:
        parts.before[head] = x
    parts.head[c] = x


@lean_kernel
def link_all(parts):
    """Put all tuples on the lists of their classes."""
    for x in range(len(parts.of) - 1, -1, -1):
        link(parts, x, parts.of[x])


@lean_kernel
def note_change(parts, c):
    """Remember that a class has changed in this round."""
    if parts.changed[c] != parts.at[ROUND]:
        parts.changed[c] = parts.at[ROUND]
        parts.changes[parts.at[CHANGED]] = c
        parts.at[CHANGED] += 1


@lean_kernel
def empty(classes, parts, c):
    """Remove all tuples from a class."""
    parts.head[c], parts.class_people[c], classes.size[c] = -1, 0, 0
    note_change(parts, c)


@lean_kernel
def add(trees, classes, parts, x, c):
    """Add a tuple to a class that is not in the index; the class covers it afterwards."""
    tuple_ = len(parts.head) + x
    if parts.head[c] < 0:
        assign(classes.vector[c], classes.vector[tuple_])
    else:
        join(trees, classes.vector[c], classes.vector[tuple_])
    classes.size[c] += classes.size[tuple_]
    parts.class_people[c] += parts.people[x]
    link(parts, x, c)


@lean_kernel
def put(index, trees, classes, parts, c):
    """Insert a changed class into the index; a class with equal published values is merged into it.

    Returns whether there was one.
    """
    note_change(parts, c)
    same = insert(index, trees, classes, c)
    if same < 0:
        return False
    remove(index, trees, classes, same, True)
    x = parts.head[same]
    while x >= 0:
        after = parts.after[x]
        link(parts, x, c)
        x = after
    classes.size[c] += classes.size[same]
    classes.first[c] = min(classes.first[c], classes.first[same])
    parts.class_people[c] += parts.class_people[same]
    empty(classes, parts, same)
    insert(index, trees, classes, c)
    return True


@lean_kernel
def fill_index(index, trees, classes, parts, fan, budget):
    """Insert all classes into the index, or pause."""
    while parts.at[NEXT] < len(parts.head):
        if budget <= 0:
            return PAUSED
        budget -= 1
        if not room_for(index, classes.vector.shape[1], fan, 2):
            return NEEDS_ROOM
        if parts.head[parts.at[NEXT]] >= 0:
            put(index, trees, classes, parts, parts.at[NEXT])
        parts.at[NEXT] += 1
    return DONE


@lean_kernel
def list_members(parts, c, members, at):
    """Write the tuples of a class into `members`, from `at` on; returns where they end."""
    x = parts.head[c]
    while x >= 0:
        members[at] = x
        at += 1
        x = parts.after[x]
    return at
