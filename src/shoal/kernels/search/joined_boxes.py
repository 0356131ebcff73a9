"""Which boxes share tuples of a prefix tree, directly or through others, without comparing boxes.

A forest has one node per tuple, and one per box behind them. A box is joined with the tuples
inside it. These are runs of neighbours, and a run that is joined once is passed over by later
boxes: all boxes together join no more neighbours than there are tuples.
"""

from __future__ import annotations

from shoal.kernels import lean_kernel
from shoal.kernels.search.people_inside import begin_runs, next_run_inside


@lean_kernel
def head(into, node):
    """The node that stands for the group of a node; into[node] is another node of its group."""
    while into[node] != node:
        into[node] = into[into[node]]
        node = into[node]
    return node


@lean_kernel
def join_nodes(into, one, other):
    """Make two groups one."""
    one, other = head(into, one), head(into, other)
    if one < other:
        into[other] = one
    else:
        into[one] = other


@lean_kernel
def join_pairs(into, ones, others):
    """Join each node of `ones` with that of `others` in the same place."""
    for i in range(len(ones)):
        join_nodes(into, ones[i], others[i])


@lean_kernel
def join_boxes(tuples, low, high, depths, begin, stop, count, into, further, stack):
    """Join the boxes from `begin` to `stop`, as `people_inside` has them, with their tuples.

    `into` is int64[tuples + boxes], the forest; box v is node count + v. `further` is
    int64[tuples]: all tuples from i to the end of the chain i, further[i], … are joined.
    `stack` is int64[q, 2].
    """
    for v in range(begin, stop):
        deepest, depth = max(depths[v] - 1, 0), 0
        begin_runs(tuples, low, high, v, stack)
        while True:
            depth, one, other = next_run_inside(tuples, low, high, v, deepest, depth, stack)
            if depth < 0:
                break
            join_nodes(into, count + v, one)
            _join_run(into, further, one, other)


@lean_kernel
def _join_run(into, further, one, other):
    """Join the tuples from `one` to `other` - 1."""
    i = head(further, one)
    while i < other - 1:
        join_nodes(into, i, i + 1)
        further[i] = i + 1
        i = head(further, i)
