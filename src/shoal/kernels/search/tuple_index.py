"""A fixed prefix tree over distinct tuples: which ones a vector covers, which are nearest.

The tree has one attribute per level. The children of a node are in a row, sorted by value. Values
are numbered in preorder of their hierarchy, so the children that a value covers are a run of
neighbours, and so are those that meet it in one of its ancestors. A search goes from the value
upwards and stops when the cost of climbing exceeds the best cost found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

NO_COST = np.int64(1) << 61


class Tuples(NamedTuple):
    """The distinct tuples, sorted, and the prefix tree over them."""

    vector: np.ndarray  # int32[tuples, q]
    size: np.ndarray  # int64[tuples], records that have it
    first: np.ndarray  # int64[tuples], the first of them
    value: np.ndarray  # int32[nodes], level by level
    kids: np.ndarray  # int64[nodes + 1], where the children of a node begin
    low: np.ndarray  # int64[nodes], the first tuple below
    high: np.ndarray  # int64[nodes], the tuple after the last one below
    early: np.ndarray  # int64[nodes], the first record below
    top: int  # number of nodes of the first level


@kernel
def make_tuples(vector, size, first):
    """Build the tree over tuples that are sorted and distinct."""
    m, q = vector.shape
    starts = np.zeros((q, m), np.bool_)  # where a node of a level begins
    total = 0
    for i in range(m):
        new = i == 0
        for j in range(q):
            new = new or vector[i, j] != vector[i - 1, j]
            starts[j, i] = new
            total += 1 if new else 0
    value = np.empty(total, np.int32)
    kids = np.zeros(total + 1, np.int64)
    low = np.empty(total, np.int64)
    high = np.empty(total, np.int64)
    early = np.empty(total, np.int64)
    at = 0
    top = 0
    for j in range(q):
        for i in range(m):
            if starts[j, i]:
                value[at] = vector[i, j]
                low[at] = i
                early[at] = first[i]
                at += 1
                high[at - 1] = i + 1
            else:
                high[at - 1] = i + 1
                early[at - 1] = min(early[at - 1], first[i])
        if j == 0:
            top = at
    # The children of a level's nodes are the next level's, in the same order.
    at, below = 0, top
    for j in range(q):
        for i in range(m):
            if starts[j, i]:
                kids[at] = below
                at += 1
            if j + 1 < q and starts[j + 1, i]:
                below += 1
    kids[total] = total
    return Tuples(vector, size, first, value, kids, low, high, early, top)


@lean_kernel
def below(value, lo, hi, bound):
    """The first place from lo to hi whose value is not smaller than the bound."""
    while lo < hi:
        mid = (lo + hi) // 2
        if value[mid] < bound:
            lo = mid + 1
        else:
            hi = mid
    return lo


@lean_kernel
def covered(tuples, trees, vector, stack, found):
    """Write the tuples that a vector covers into `found`; returns how many.

    `stack` is int64[q, 2].
    """
    q = len(vector)
    value, kids, low, high = tuples.value, tuples.kids, tuples.low, tuples.high
    count = 0
    depth = 0
    start = trees.start[0]
    at = below(value, 0, tuples.top, vector[0])
    stop = below(value, at, tuples.top, trees.end[start + vector[0]])
    while True:
        if at == stop:
            if depth == 0:
                return count
            depth -= 1
            at, stop = stack[depth, 0], stack[depth, 1]
            continue
        node = at
        at += 1
        if depth < q - 1 and high[node] - low[node] > 1:
            stack[depth, 0], stack[depth, 1] = at, stop
            depth += 1
            start = trees.start[depth]
            at = below(value, kids[node], kids[node + 1], vector[depth])
            stop = below(value, at, kids[node + 1], trees.end[start + vector[depth]])
            continue
        one = low[node]
        inside = True
        for j in range(depth + 1, q):
            v = tuples.vector[one, j]
            if v < vector[j] or v >= trees.end[trees.start[j] + vector[j]]:
                inside = False
                break
        if inside:
            found[count] = one
            count += 1


@lean_kernel
def join(trees, vector, other):
    """Make the vector cover the other one too."""
    for j in range(len(vector)):
        start = trees.start[j]
        top, value = vector[j], other[j]
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        vector[j] = top


@lean_kernel
def nearest_outside(tuples, trees, vector, enough, stack):
    """The tuple outside a vector that it can cover at the lowest cost; among equals, the first.

    Returns it, or -1 as soon as tuples inside have `enough` records. `stack` is int64[q, 8].
    """
    q = len(vector)
    value, kids, low, high, early = (
        tuples.value, tuples.kids, tuples.low, tuples.high, tuples.early,
    )  # fmt: skip
    price, parent, end = trees.cost, trees.parent, trees.end
    inside = np.int64(0)
    best, best_cost, best_first = np.int64(-1), NO_COST, NO_COST
    depth = 0
    share = np.int64(0)  # the cost of the path to here
    out = np.int64(0)  # whether some value on the path is outside
    lo, hi = np.int64(0), np.int64(tuples.top)  # the current children
    start = trees.start[0]
    a = np.int64(vector[0])  # the ancestor in which the current run meets the vector
    run_lo = below(value, lo, hi, a)
    run_hi = below(value, run_lo, hi, end[start + a])
    skip_lo, skip_hi, at = run_lo, run_lo, run_lo  # the part of the run that is already done
    while True:
        if at == skip_lo:
            at = skip_hi
        if at >= run_hi:
            up = True
            if a != 0:
                a = np.int64(parent[start + a])
                if share + price[start + vector[depth]] - price[start + a] <= best_cost:
                    up = False
                    skip_lo, skip_hi = run_lo, run_hi
                    run_lo = below(value, lo, run_lo, a)
                    run_hi = below(value, run_hi, hi, end[start + a])
                    at = run_lo
            if up:
                if depth == 0:
                    return best
                depth -= 1
                start = trees.start[depth]
                share, out, lo, hi = (
                    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3],
                )  # fmt: skip
                a, at, skip_lo, skip_hi = (
                    stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7],
                )  # fmt: skip
                run_lo = below(value, lo, hi, a)
                run_hi = below(value, run_lo, hi, end[start + a])
            continue
        node = at
        at += 1
        cost = share + price[start + vector[depth]] - price[start + a]
        if cost > best_cost or (cost == best_cost and early[node] > best_first):
            if out == 0 and a == vector[depth]:
                pass  # tuples inside must be counted
            else:
                continue
        beyond = np.int64(1) if out == 1 or a != vector[depth] else np.int64(0)
        if depth < q - 1 and high[node] - low[node] > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = share, out, lo, hi
            stack[depth, 4], stack[depth, 5] = a, at
            stack[depth, 6], stack[depth, 7] = skip_lo, skip_hi
            depth += 1
            share, out = cost, beyond
            start = trees.start[depth]
            lo, hi = kids[node], kids[node + 1]
            a = np.int64(vector[depth])
            run_lo = below(value, lo, hi, a)
            run_hi = below(value, run_lo, hi, end[start + a])
            skip_lo, skip_hi, at = run_lo, run_lo, run_lo
            continue
        one = low[node]
        for j in range(depth + 1, q):
            base = trees.start[j]
            mine, other = vector[j], tuples.vector[one, j]
            top = mine
            while not (top <= other < end[base + top]):
                top = parent[base + top]
            if top != mine:
                beyond = np.int64(1)
                cost += price[base + mine] - price[base + top]
                if cost > best_cost:
                    break
        if beyond == 0:
            inside += tuples.size[one]
            if inside >= enough:
                return np.int64(-1)
            continue
        first = tuples.first[one]
        if cost < best_cost or (cost == best_cost and first < best_first):
            best, best_cost, best_first = np.int64(one), cost, first


@lean_kernel
def expand(tuples, trees, begin, stop, k, stack, vectors):
    """Algorithm 2 of Tassa 2012 for the tuples from `begin` to `stop`, written into `vectors`."""
    q = tuples.vector.shape[1]
    for i in range(begin, stop):
        for j in range(q):
            vectors[i, j] = tuples.vector[i, j]
        while True:
            near = nearest_outside(tuples, trees, vectors[i], k, stack)
            if near < 0:
                break
            join(trees, vectors[i], tuples.vector[near])


@lean_kernel
def later(heap, i, j):
    """Whether entry i of the heap is farther than entry j: a higher cost, or a later record."""
    return heap[i, 0] > heap[j, 0] or (heap[i, 0] == heap[j, 0] and heap[i, 1] > heap[j, 1])


@lean_kernel
def swap(heap, i, j):
    """Exchange two entries."""
    for part in range(3):
        heap[i, part], heap[j, part] = heap[j, part], heap[i, part]


@lean_kernel
def sift_down(heap, i, used):
    """Move an entry down to its place."""
    while True:
        kid = 2 * i + 1
        if kid >= used:
            return
        if kid + 1 < used and later(heap, kid + 1, kid):
            kid += 1
        if not later(heap, kid, i):
            return
        swap(heap, kid, i)
        i = kid


@lean_kernel
def nearest_many(tuples, trees, vector, records, stack, heap):
    """The nearest tuples that together have `records` records, nearest first.

    The distance is the cost of making the vector cover the tuple; among equals, the one
    with the first record comes first. Written into `heap`, int64[records + 1, 3]: cost, first
    record, tuple. Returns how many tuples; all others are no nearer than the last one.
    """
    q = len(vector)
    value, kids, low, high, early = (
        tuples.value, tuples.kids, tuples.low, tuples.high, tuples.early,
    )  # fmt: skip
    price, parent, end = trees.cost, trees.parent, trees.end
    used, held = 0, np.int64(0)
    limit, limit_first = NO_COST, NO_COST
    depth = 0
    share = np.int64(0)
    lo, hi = np.int64(0), np.int64(tuples.top)
    start = trees.start[0]
    a = np.int64(vector[0])
    run_lo = below(value, lo, hi, a)
    run_hi = below(value, run_lo, hi, end[start + a])
    skip_lo, skip_hi, at = run_lo, run_lo, run_lo
    while True:
        if at == skip_lo:
            at = skip_hi
        if at >= run_hi:
            up = True
            if a != 0:
                a = np.int64(parent[start + a])
                if share + price[start + vector[depth]] - price[start + a] <= limit:
                    up = False
                    skip_lo, skip_hi = run_lo, run_hi
                    run_lo = below(value, lo, run_lo, a)
                    run_hi = below(value, run_hi, hi, end[start + a])
                    at = run_lo
            if up:
                if depth == 0:
                    break
                depth -= 1
                start = trees.start[depth]
                share, lo, hi = stack[depth, 0], stack[depth, 2], stack[depth, 3]
                a, at, skip_lo, skip_hi = (
                    stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7],
                )  # fmt: skip
                run_lo = below(value, lo, hi, a)
                run_hi = below(value, run_lo, hi, end[start + a])
            continue
        node = at
        at += 1
        cost = share + price[start + vector[depth]] - price[start + a]
        if cost > limit or (cost == limit and early[node] > limit_first):
            continue
        if depth < q - 1 and high[node] - low[node] > 1:
            stack[depth, 0], stack[depth, 2], stack[depth, 3] = share, lo, hi
            stack[depth, 4], stack[depth, 5] = a, at
            stack[depth, 6], stack[depth, 7] = skip_lo, skip_hi
            depth += 1
            share = cost
            start = trees.start[depth]
            lo, hi = kids[node], kids[node + 1]
            a = np.int64(vector[depth])
            run_lo = below(value, lo, hi, a)
            run_hi = below(value, run_lo, hi, end[start + a])
            skip_lo, skip_hi, at = run_lo, run_lo, run_lo
            continue
        one = low[node]
        for j in range(depth + 1, q):
            base = trees.start[j]
            mine, other = vector[j], tuples.vector[one, j]
            top = mine
            while not (top <= other < end[base + top]):
                top = parent[base + top]
            cost += price[base + mine] - price[base + top]
        first = tuples.first[one]
        if cost > limit or (cost == limit and first > limit_first):
            continue
        i = used
        heap[i, 0], heap[i, 1], heap[i, 2] = cost, first, one
        used += 1
        held += tuples.size[one]
        while i > 0 and later(heap, i, (i - 1) // 2):
            swap(heap, i, (i - 1) // 2)
            i = (i - 1) // 2
        while used > 1 and held - tuples.size[heap[0, 2]] >= records:
            held -= tuples.size[heap[0, 2]]  # the farthest is no longer needed
            used -= 1
            swap(heap, 0, used)
            sift_down(heap, 0, used)
        if held >= records:
            limit, limit_first = heap[0, 0], heap[0, 1]
    for left in range(used - 1, 0, -1):
        swap(heap, 0, left)
        sift_down(heap, 0, left)
    return used


@lean_kernel
def count_covered(tuples, trees, vectors, begin, stop, count, stack, found):
    """Count the tuples that each vector from `begin` to `stop` covers, into int64[vectors]."""
    for v in range(begin, stop):
        count[v] = covered(tuples, trees, vectors[v], stack, found)


@lean_kernel
def list_covered(tuples, trees, vectors, begin, stop, start, out, stack, found):
    """Write the tuples that each vector covers: those of v are out[start[v] : start[v + 1]]."""
    for v in range(begin, stop):
        count = covered(tuples, trees, vectors[v], stack, found)
        for f in range(count):
            out[start[v] + f] = found[f]
