"""Sequential clustering: every unit in turn moves to the cluster with the lowest loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.class_index import has_room, insert, remove
from shoal.kernels.search.class_search import cheapest, spent
from shoal.kernels.search.tuple_index import join


class Units(NamedTuple):
    """The units to cluster: all records of a person, or one record."""

    vector: np.ndarray  # int32[units, q]
    size: np.ndarray  # int64[units], records


class Moving(NamedTuple):
    """The state of a pass, so that it can pause and continue."""

    label: np.ndarray  # int64[units], the cluster of each unit
    after: np.ndarray  # int64[units], the next unit of the same cluster; -1: none
    ahead: np.ndarray  # int64[units], the previous one
    head: np.ndarray  # int64[clusters], the first unit
    many: np.ndarray  # int64[clusters], units
    done: np.ndarray  # int64[3]: clusters in the index, units visited, units that moved


@lean_kernel
def enter(moving, c, x):
    """Make unit x the first of cluster c."""
    old = moving.head[c]
    moving.after[x], moving.ahead[x] = old, -1
    if old >= 0:
        moving.ahead[old] = x
    moving.head[c] = x
    moving.label[x] = c
    moving.many[c] += 1


@lean_kernel
def leave(moving, c, x):
    """Remove unit x from cluster c."""
    a, b = moving.ahead[x], moving.after[x]
    if a >= 0:
        moving.after[a] = b
    else:
        moving.head[c] = b
    if b >= 0:
        moving.ahead[b] = a
    moving.many[c] -= 1


@lean_kernel
def closure_without(trees, units, moving, vector, c, x, into):
    """Write the closure of cluster c without unit x into the row `into`; `vector` has all rows.

    Stops as soon as it is the closure with x: most clusters do not shrink.
    """
    q = units.vector.shape[1]
    member = moving.head[c]
    if member == x:
        member = moving.after[x]
    for j in range(q):
        vector[into, j] = units.vector[member, j]
    vector[into, q] = vector[c, q]
    member = moving.after[member]
    while member >= 0:
        if member != x:
            join(trees, vector[into, :q], units.vector[member])
            same = True
            for j in range(q):
                if vector[into, j] != vector[c, j]:
                    same = False
                    break
            if same:
                return
        member = moving.after[member]


@lean_kernel
def own_cost(trees, classes, units, x, c, without):
    """The cost of the union of unit x with the rest of its cluster c."""
    cost = np.int64(0)
    rest = classes.size[c] - units.size[x]
    for j in range(units.vector.shape[1]):
        start = trees.start[j]
        top = trees.cost[start + classes.vector[c, j]]
        cost += units.size[x] * (trees.cost[start + units.vector[x, j]] - top)
        cost += rest * (trees.cost[start + classes.vector[without, j]] - top)
    return cost


@lean_kernel
def move_units(index, trees, classes, units, moving, work, fan, budget):
    """Visit the units in turn, or pause.

    Vectors have one more attribute, which is different for every cluster and costs nothing, as two
    clusters may have the same closure. The last two rows of `classes` are scratch: the current
    unit, and its cluster without it. Among equals, the cluster with the lowest number; a unit moves
    only if that is better than staying, or if it is alone.
    """
    q = units.vector.shape[1]
    clusters = len(moving.head)
    one, without = clusters, clusters + 1
    pause = spent(work) + budget
    while moving.done[1] < len(units.size):
        if spent(work) >= pause:
            return PAUSED
        if not has_room(index, 2 * q + 2, 2 * fan):
            return NEEDS_ROOM
        work.visits[1] += 1
        if moving.done[0] < clusters:
            insert(index, trees, classes, moving.done[0])
            moving.done[0] += 1
            continue
        x = moving.done[1]
        moving.done[1] += 1
        c = moving.label[x]
        for j in range(q):
            classes.vector[one, j] = units.vector[x, j]
        classes.size[one] = units.size[x]
        alone = moving.many[c] == 1
        remove(index, trees, classes, c, True)
        b, cost = cheapest(index, trees, classes, 0, one, True, np.int64(1), False, 0, 0, work)
        if not alone and b >= 0:
            closure_without(trees, units, moving, classes.vector, c, x, without)
            work.visits[1] += moving.many[c]
            if cost >= own_cost(trees, classes, units, x, c, without):
                b = np.int64(-1)
        if b < 0:
            insert(index, trees, classes, c)
            continue
        leave(moving, c, x)
        classes.size[c] -= units.size[x]
        if not alone:
            for j in range(q):
                classes.vector[c, j] = classes.vector[without, j]
            insert(index, trees, classes, c)
        remove(index, trees, classes, b, True)
        join(trees, classes.vector[b, :q], units.vector[x])
        classes.size[b] += units.size[x]
        enter(moving, b, x)
        insert(index, trees, classes, b)
        moving.done[2] += 1
    return DONE


@kernel
def split_large(trees, units, member, start, k):
    """Repeatedly split clusters of 2 k units or more in two.

    `member` lists the units cluster by cluster, each in the order in which it may be cut; a cluster
    is cut where the loss becomes lowest (the first such place) with k units on either side. Returns
    the cluster of each unit, numbered in the order of `member`.
    """
    q = units.vector.shape[1]
    label = np.empty(len(member), np.int64)
    kept = np.empty(len(member) + 1, np.int64)  # what all units from here on keep
    vector = np.empty(q, np.int32)
    stack = np.empty((len(member) + 1, 2), np.int64)
    number = 0
    for c in range(len(start) - 1):
        if start[c] == start[c + 1]:
            continue
        used = 1
        stack[0, 0], stack[0, 1] = start[c], start[c + 1]
        while used > 0:
            used -= 1
            lo, hi = stack[used, 0], stack[used, 1]
            if hi - lo < 2 * k:
                for i in range(lo, hi):
                    label[member[i]] = number
                number += 1
                continue
            rows = np.int64(0)
            for i in range(hi - 1, lo - 1, -1):
                rows += units.size[member[i]]
                kept[i] = widen(trees, vector, units.vector[member[i]], i == hi - 1) * rows
            cut, best, rows = lo, np.int64(-1), np.int64(0)
            for i in range(lo, hi - k):
                rows += units.size[member[i]]
                mine = widen(trees, vector, units.vector[member[i]], i == lo) * rows
                if i + 1 - lo >= k and mine + kept[i + 1] > best:
                    cut, best = i + 1, mine + kept[i + 1]
            stack[used, 0], stack[used, 1] = cut, hi
            stack[used + 1, 0], stack[used + 1, 1] = lo, cut
            used += 2
    return label


@lean_kernel
def widen(trees, vector, other, fresh):
    """Make the vector cover the other one, or copy it if `fresh`; returns its cost to the root."""
    q = len(vector)
    if fresh:
        for j in range(q):
            vector[j] = other[j]
    else:
        join(trees, vector, other)
    cost = np.int64(0)
    for j in range(q):
        cost += trees.cost[trees.start[j] + vector[j]]
    return cost
