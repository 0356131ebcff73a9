"""How many people of a prefix tree over distinct tuples lie inside boxes, and the walk for that.

A box has one run of values per column. The tree is that of `tuple_index`: the children of a node
are sorted by value, so those inside a box are a run of neighbours, and the tuples below a run of
neighbours are a run too. Behind the last column in which a box leaves something out, a run is
inside as a whole.
"""

from __future__ import annotations

from shoal.kernels import lean_kernel
from shoal.kernels.search.tuple_index import below


@lean_kernel
def begin_runs(tuples, low, high, v, stack):
    """Begin with box v, which has the values low[v, j] to high[v, j] - 1 of column j."""
    stack[0, 0] = below(tuples.value, 0, tuples.top, low[v, 0])
    stack[0, 1] = below(tuples.value, stack[0, 0], tuples.top, high[v, 0])


@lean_kernel
def next_run_inside(tuples, low, high, v, deepest, depth, stack):
    """Continue with the next run of tuples inside box v, which leaves nothing out after `deepest`.

    Returns the depth, to continue with, and where the run begins and ends; a depth of -1: there is
    none. `stack` is int64[q, 2], the nodes that are left at each depth.
    """
    value, kids = tuples.value, tuples.kids
    while True:
        at, end = stack[depth, 0], stack[depth, 1]
        if at == end:
            depth -= 1
            if depth < 0:
                return depth, at, end
            continue
        if depth == deepest:
            stack[depth, 0] = end
            return depth, tuples.low[at], tuples.high[end - 1]
        stack[depth, 0] = at + 1
        depth += 1
        first = below(value, kids[at], kids[at + 1], low[v, depth])
        stack[depth, 0] = first
        stack[depth, 1] = below(value, first, kids[at + 1], high[v, depth])


@lean_kernel
def people_inside(tuples, low, high, depths, upto, begin, stop, out, change, stack):
    """Add up the people inside the boxes from `begin` to `stop`, into int64[boxes] `out`.

    Box v has the values low[v, j] to high[v, j] - 1 of column j, and leaves nothing out from the
    column depths[v] on. upto[i] people have a tuple before i. `change`, int64[tuples + 1], counts
    the boxes that begin at each tuple, less those that end there; it may be empty. `stack` is
    int64[q, 2].
    """
    for v in range(begin, stop):
        out[v] = 0
        deepest, depth = max(depths[v] - 1, 0), 0
        begin_runs(tuples, low, high, v, stack)
        while True:
            depth, one, other = next_run_inside(tuples, low, high, v, deepest, depth, stack)
            if depth < 0:
                break
            out[v] += upto[other] - upto[one]
            if len(change):
                change[one] += 1
                change[other] -= 1
