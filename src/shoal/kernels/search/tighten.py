"""Upper bounds on what records keep, tightened for all records together.

Every record has a cap: an upper bound on what it keeps. The caps are valid for every release if,
in each cell that covers enough people, the mean of the k lowest caps is at least what the cell
keeps. The search visits the cells as the search for the cheapest one does (see `cells`), and finds
for every tuple by how much its caps may fall at the same time as those of all others.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.cells import DEPTH, LOOKS, MANY, STEPS
from shoal.kernels.search.lowest import level_of, lowest, lowest_rows
from shoal.kernels.search.runs import FOUND, descend, look_at_caps, next_run_until


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
    while True:
        outcome = next_run_until(lattice, search, run, pause, most)
        if outcome != FOUND:
            return outcome
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


@lean_kernel
def search_falls(lattice, size, cap, k, fall, level, search, run, heap, budget, most):
    """Lower fall[x] to the amount by which the caps of tuple x may fall, together with all others.

    It is the minimum over all its cells, rounded down; below zero if caps of the cell are too low.
    The levels of the cell that decides are written into level[x], unless that is empty. `run` is
    int64[3] and persists between pauses, `heap` is int64[k + 1, 2]. Pauses after `budget` visits of
    tuples, and stops after `most`: then falls may be too high.
    """
    tuples, q = search.tuples, lattice.vector.shape[1]
    pause = search.at[LOOKS] + search.at[STEPS] + budget
    while True:
        outcome = next_run_until(lattice, search, run, pause, most)
        if outcome != FOUND:
            return outcome
        depth, begin, to, keeps = search.at[DEPTH], run[0], run[1], run[2]
        people, least, hope = look_at_caps(lattice, search, run, cap, fall)
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
