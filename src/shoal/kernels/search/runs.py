"""The walk through the cells of a lattice, run by run (see `cells`)."""

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

FOUND = -1  # in addition to DONE, PAUSED and STOPPED


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
def next_run_until(lattice, search, run, pause, most):
    """Continue with the next run, but pause at `pause` visits and steps, and stop at `most` visits.

    Returns FOUND, or how the search ends.
    """
    at = search.at
    if at[LOOKS] >= most:
        return STOPPED
    if at[LOOKS] + at[STEPS] >= pause:
        return PAUSED
    return FOUND if next_run(lattice, search, run) else DONE


@lean_kernel
def descend(search, run):
    """Continue with the next attribute of the current run."""
    depth = search.at[DEPTH] + 1
    search.at[DEPTH], search.at[ENTER] = depth, 1
    search.stack[depth, 0], search.stack[depth, 1] = run[0], run[1]
    search.stack[depth, 4] = run[2]


@lean_kernel
def look_at_caps(lattice, search, run, cap, fall):
    """The people of a run, their lowest cap, and the most that a tuple keeps with its fall.

    What it keeps is what it can keep at most in a cell below. If no sum of that and its fall is
    above the mean of the lowest caps, all falls are small enough.
    """
    own, people_of, tuples = lattice.own, lattice.people, search.tuples
    depth, last, keeps = search.at[DEPTH], lattice.vector.shape[1] - 1, run[2]
    people, least, hope = np.int64(0), MANY, -MANY
    for i in range(run[0], run[1]):
        x = tuples[i]
        people += people_of[x]
        least = min(least, cap[x])
        # A cell below keeps at most what x keeps if it loses nothing in later attributes.
        hope = max(hope, keeps + own[x, last] - own[x, depth] + fall[x])
    return people, least, hope
