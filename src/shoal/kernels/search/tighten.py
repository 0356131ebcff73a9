"""Upper bounds on what records keep, tightened for all records together.

Every record has a cap: an upper bound on what it keeps. The caps are valid for every release if,
in each cell that covers enough people, the mean of the k lowest caps is at least what the cell
keeps. The search visits the cells as the search for the cheapest one does (see `cells`), and finds
for every tuple by how much its caps may fall at the same time as those of all others.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.cells import (
    DEPTH,
    DONE,
    ENTER,
    LOOKS,
    MANY,
    PAUSED,
    STEPS,
    STOPPED,
    sort_run,
)


@lean_kernel
def next_run(lattice, search, run):
    """Continue with the next run of tuples below one node; returns whether there is one.

    Writes into `run`, int64[3], where it begins and ends, and what its cell keeps so far. A run
    that the level below already had is skipped: there it costs less.
    """
    tuples, stack, at, vector = search.tuples, search.stack, search.at, lattice.vector
    depth = at[DEPTH]
    while True:
        lo, hi, start = stack[depth, 0], stack[depth, 1], lattice.start[depth]
        if at[ENTER] == 1:
            sort_run(lattice, search, lo, hi, depth)
            stack[depth, 2], stack[depth, 3] = 0, lo
            at[ENTER] = 0
            at[LOOKS] += hi - lo
        level, pos = stack[depth, 2], stack[depth, 3]
        while pos < hi:
            value = vector[tuples[pos], depth]
            node = lattice.climb[level, start + value]
            begin = pos
            if lattice.level[start + node] > level:  # an original value above this level
                while pos < hi and vector[tuples[pos], depth] == value:
                    pos += 1
                continue
            stop = lattice.end[start + node]
            while pos < hi and vector[tuples[pos], depth] < stop:
                pos += 1
            at[LOOKS] += pos - begin
            if level > 0:
                first = lattice.climb[level - 1, start + value]
                last = lattice.climb[level - 1, start + vector[tuples[pos - 1], depth]]
                if first == last and lattice.level[start + last] < level:
                    continue
            stack[depth, 3] = pos
            run[0], run[1] = begin, pos
            run[2] = stack[depth, 4] + lattice.cost[start + node]
            return True
        level += 1
        stack[depth, 2], stack[depth, 3] = level, lo
        if level == lattice.height[depth]:
            if depth == 0:
                return False
            depth -= 1
            at[DEPTH] = depth


@lean_kernel
def descend(search, run):
    """Continue with the next attribute of the current run."""
    depth = search.at[DEPTH] + 1
    search.at[DEPTH], search.at[ENTER] = depth, 1
    search.stack[depth, 0], search.stack[depth, 1] = run[0], run[1]
    search.stack[depth, 4] = run[2]


@lean_kernel
def push(heap, used, cap, rows):
    """Push a cap with its number of rows onto a heap with the highest on top."""
    at = used
    while at > 0 and heap[(at - 1) // 2, 0] < cap:
        heap[at, 0], heap[at, 1] = heap[(at - 1) // 2, 0], heap[(at - 1) // 2, 1]
        at = (at - 1) // 2
    heap[at, 0], heap[at, 1] = cap, rows


@lean_kernel
def pop(heap, used):
    """Pop the highest cap from a heap."""
    cap, rows = heap[used - 1, 0], heap[used - 1, 1]
    at, below = 0, 1
    while below < used - 1:
        if below + 1 < used - 1 and heap[below + 1, 0] > heap[below, 0]:
            below += 1
        if heap[below, 0] <= cap:
            break
        heap[at, 0], heap[at, 1] = heap[below, 0], heap[below, 1]
        at, below = below, 2 * below + 1
    heap[at, 0], heap[at, 1] = cap, rows


@lean_kernel
def lowest_rows(tuples, begin, to, cap, size, k, heap):
    """Put the rows with the lowest caps of a run on a heap: k of them, and ties of the highest.

    Returns how many tuples are on the heap, their rows, and the sum of their caps.
    """
    used, rows, total = 0, np.int64(0), np.int64(0)
    for i in range(begin, to):
        x = tuples[i]
        if rows >= k and cap[x] >= heap[0, 0]:
            continue
        many = min(size[x], k)
        push(heap, used, cap[x], many)
        used += 1
        rows += many
        total += many * cap[x]
        while rows - heap[0, 1] >= k:
            rows -= heap[0, 1]
            total -= heap[0, 1] * heap[0, 0]
            pop(heap, used)
            used -= 1
    return used, rows, total


@lean_kernel
def lowest(tuples, begin, to, cap, size, k, heap):
    """The sum of the k lowest caps among the rows of a run, which has at least k."""
    _, rows, total = lowest_rows(tuples, begin, to, cap, size, k, heap)
    return total - (rows - k) * heap[0, 0]


@lean_kernel
def level_of(heap, used, rows, k, keeps):
    """The lowest level to which caps must rise so that the k lowest have the mean `keeps`.

    `heap` is as `lowest_rows` has left it. Up to its highest cap the same rows remain the lowest.
    """
    highest = heap[0, 0]
    if keeps >= highest:
        return keeps
    low, high = np.int64(0), highest
    while low < high:
        level = (low + high) // 2
        total = -(rows - k) * highest
        for i in range(used):
            total += heap[i, 1] * max(heap[i, 0], level)
        if total >= k * keeps:
            high = level
        else:
            low = level + 1
    return low


@lean_kernel
def search_raises(lattice, size, cap, k, level, search, run, heap, budget, most):
    """Raise caps that are too low, cell by cell, to the lowest level that is enough there.

    A cap that rises never makes another cell invalid, so that in the end all cells are valid. The
    levels of the cell are written into level[x] of each tuple x whose cap has risen. Pauses after
    `budget` visits of tuples, and stops after `most`: then some caps may be too low.
    """
    own, people_of, tuples = lattice.own, lattice.people, search.tuples
    q = lattice.vector.shape[1]
    pause = search.at[LOOKS] + search.at[STEPS] + budget
    while search.at[LOOKS] < most:
        if search.at[LOOKS] + search.at[STEPS] >= pause:
            return PAUSED
        if not next_run(lattice, search, run):
            return DONE
        depth, begin, to, keeps = search.at[DEPTH], run[0], run[1], run[2]
        people, least, hope = np.int64(0), MANY, -MANY
        for i in range(begin, to):
            x = tuples[i]
            people += people_of[x]
            least = min(least, cap[x])
            # A cell below keeps at most what x keeps if it loses nothing in later attributes.
            hope = max(hope, keeps + own[x, q - 1] - own[x, depth])
        if people < k or hope <= least:
            continue
        search.at[LOOKS] += to - begin
        used, rows, total = lowest_rows(tuples, begin, to, cap, size, k, heap)
        if k * hope <= total - (rows - k) * heap[0, 0]:
            continue
        if depth < q - 1:
            descend(search, run)
            continue
        enough = level_of(heap, used, rows, k, keeps)
        for i in range(begin, to):
            x = tuples[i]
            if cap[x] < enough:
                cap[x] = enough
                for j in range(q):
                    level[x, j] = search.stack[j, 2]
    return STOPPED


@lean_kernel
def search_falls(lattice, size, cap, k, fall, level, search, run, heap, budget, most):
    """Lower fall[x] to the amount by which the caps of tuple x may fall, together with all others.

    It is the minimum over all its cells, rounded down; below zero if caps of the cell are too low.
    The levels of the cell that decides are written into level[x], unless that is empty. `run` is
    int64[3] and persists between pauses, `heap` is int64[k + 1, 2]. Pauses after `budget` visits of
    tuples, and stops after `most`: then falls may be too high.
    """
    own, people_of, tuples = lattice.own, lattice.people, search.tuples
    q = lattice.vector.shape[1]
    pause = search.at[LOOKS] + search.at[STEPS] + budget
    while search.at[LOOKS] < most:
        if search.at[LOOKS] + search.at[STEPS] >= pause:
            return PAUSED
        if not next_run(lattice, search, run):
            return DONE
        depth, begin, to, keeps = search.at[DEPTH], run[0], run[1], run[2]
        people, least, hope = np.int64(0), MANY, -MANY
        for i in range(begin, to):
            x = tuples[i]
            people += people_of[x]
            least = min(least, cap[x])
            # A cell below keeps at most what x keeps if it loses nothing in later attributes.
            hope = max(hope, keeps + own[x, q - 1] - own[x, depth] + fall[x])
        if people < k or hope <= least:
            continue
        search.at[LOOKS] += to - begin
        total = lowest(tuples, begin, to, cap, size, k, heap)
        if k * hope <= total:
            continue
        if depth < q - 1:
            descend(search, run)
            continue
        room = (total - k * keeps) // k
        for i in range(begin, to):
            x = tuples[i]
            if room < fall[x]:
                fall[x] = room
                if len(level) > 0:
                    for j in range(q):
                        level[x, j] = search.stack[j, 2]
    return STOPPED
