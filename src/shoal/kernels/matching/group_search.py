"""Searches for groups whose published vector covers a row, or almost covers it."""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.class_index import (
    CHILD,
    FIRST,
    HOLDS,
    KIDS,
    NO_COST,
    NOBODY,
    USED,
    VALUE,
    below,
)


@lean_kernel
def reach(index, trees, classes, row, enough, stack):
    """How many published records cover a row, and the nearest group that does not.

    Returns as soon as `enough` records cover it. The distance is the loss of
    generalizing the group's vector to cover the row; among equals, the group with the first record.
    `stack` is int64[q, 9].
    """
    q = len(row)
    vector, node, pool = classes.vector, index.node, index.pool
    begin, parent, end, price, step = (
        trees.start, trees.parent, trees.end, trees.cost, trees.step,
    )  # fmt: skip
    count = np.int64(0)
    best, best_cost, best_first = NOBODY, NO_COST, NO_COST
    depth = 0
    t = np.int64(0)
    rise = np.int64(0)
    out = np.int64(0)  # whether some value so far does not cover the row's
    enter = True
    start = begin[0]
    a = np.int64(0)
    lo, hi, done_lo, done_hi, at = (
        np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0),
    )  # fmt: skip
    while True:
        if enter:
            enter = False
            start = begin[depth]
            a = np.int64(row[depth])
            kids, used = node[t, KIDS], node[t, USED]
            lo = below(pool, kids, used, a)
            hi = lo + below(pool, kids + lo, used - lo, end[start + a])
            done_lo, done_hi, at = lo, lo, lo
            if rise + step[start + a] > best_cost:  # only the value itself can still be better
                alone = lo < hi and pool[kids + lo, VALUE] == a
                done_lo, done_hi = lo + (1 if alone else 0), hi
        if at == done_lo:
            at = done_hi
        if at >= hi:
            if a != 0:
                a = np.int64(parent[start + a])
                done_lo, done_hi = lo, hi
                kids, used = node[t, KIDS], node[t, USED]
                lo = below(pool, kids, lo, a)
                hi += below(pool, kids + hi, used - hi, end[start + a])
                at = lo
                if rise + step[start + a] > best_cost:
                    alone = lo < done_lo and pool[kids + lo, VALUE] == a
                    done_lo, done_hi = lo + (1 if alone else 0), hi
                continue
            if depth == 0:
                return count, best, best_cost
            depth -= 1
            start = begin[depth]
            t, rise, out, a = (
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3],
            )  # fmt: skip
            lo, hi, done_lo, done_hi, at = (
                stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7],
                stack[depth, 8],
            )  # fmt: skip
            continue
        place = node[t, KIDS] + at
        at += 1
        value = pool[place, VALUE]
        kid = pool[place, CHILD]
        cost = rise + price[start + value] - price[start + a]
        beyond = np.int64(1) if out == 1 or value != a else np.int64(0)
        late = cost > best_cost or (cost == best_cost and node[kid, FIRST] > best_first)
        if beyond == 1 and late:
            continue
        there = node[kid, HOLDS]
        if there < 0:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = t, rise, out, a
            stack[depth, 4], stack[depth, 5], stack[depth, 6] = lo, hi, done_lo
            stack[depth, 7], stack[depth, 8] = done_hi, at
            depth += 1
            t, rise, out = np.int64(kid), cost, beyond
            enter = True
            continue
        for j in range(depth + 1, q):
            base = begin[j]
            wide, mine = vector[there, j], row[j]
            top = wide
            while not (top <= mine < end[base + top]):
                top = parent[base + top]
            if top != wide:
                beyond = np.int64(1)
                cost += price[base + wide] - price[base + top]
                if cost > best_cost:
                    break
        if beyond == 0:
            count += classes.size[there]
            if count >= enough:
                return count, NOBODY, NO_COST
            continue
        first = classes.first[there]
        if cost < best_cost or (cost == best_cost and first < best_first):
            best, best_cost, best_first = np.int64(there), cost, first


@lean_kernel
def covering(index, trees, classes, row, stack, found):
    """Write the groups that cover a row into `found`; returns how many."""
    q = len(row)
    node, pool = index.node, index.pool
    count = 0
    depth = 0
    t = np.int64(0)
    a = np.int64(row[0])
    more = True  # whether ancestors remain to be searched among the children of t
    while True:
        if not more:
            if depth == 0:
                return count
            depth -= 1
            t, a = stack[depth, 0], stack[depth, 1]
            more = a >= 0
            continue
        base, used = node[t, KIDS], node[t, USED]
        at = below(pool, base, used, a)
        hit = at < used and pool[base + at, VALUE] == a
        a = np.int64(trees.parent[trees.start[depth] + a]) if a != 0 else np.int64(-1)
        more = a >= 0
        if not hit:
            continue
        kid = pool[base + at, CHILD]
        there = node[kid, HOLDS]
        if there < 0:
            stack[depth, 0], stack[depth, 1] = t, a
            depth += 1
            t, a, more = np.int64(kid), np.int64(row[depth]), True
            continue
        inside = True
        for j in range(depth + 1, q):
            wide = classes.vector[there, j]
            if row[j] < wide or row[j] >= trees.end[trees.start[j] + wide]:
                inside = False
                break
        if inside:
            found[count] = there
            count += 1


@lean_kernel
def widened(trees, vector, row):
    """The loss of generalizing a vector to cover a row."""
    cost = np.int64(0)
    for j in range(len(vector)):
        base = trees.start[j]
        top = vector[j]
        while not (top <= row[j] < trees.end[base + top]):
            top = trees.parent[base + top]
        cost += trees.cost[base + vector[j]] - trees.cost[base + top]
    return cost


@lean_kernel
def covers(trees, wide, row):
    """Whether a vector covers a row."""
    for j in range(len(row)):
        if row[j] < wide[j] or row[j] >= trees.end[trees.start[j] + wide[j]]:
            return False
    return True
