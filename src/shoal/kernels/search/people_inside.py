"""How many people of a prefix tree over distinct tuples lie inside boxes.

A box has one run of values per column. The tree is that of `tuple_index`: the children of a node
are sorted by value, so those inside a box are a run of neighbours, and the tuples below a run of
neighbours are a run too. Behind the last column in which a box leaves something out, a run is
added as a whole.
"""

from __future__ import annotations

from shoal.kernels import lean_kernel
from shoal.kernels.search.tuple_index import below


@lean_kernel
def people_inside(tuples, low, high, depths, upto, begin, stop, out, change, stack):
    """Add up the people inside the boxes from `begin` to `stop`, into int64[boxes] `out`.

    Box v has the values low[v, j] to high[v, j] - 1 of column j, and leaves nothing out from the
    column depths[v] on. upto[i] people have a tuple before i. `change`, int64[tuples + 1], counts
    the boxes that begin at each tuple, less those that end there; it may be empty. `stack` is
    int64[q, 2].
    """
    value, kids, first, last = tuples.value, tuples.kids, tuples.low, tuples.high
    for v in range(begin, stop):
        out[v] = 0
        deepest = max(depths[v] - 1, 0)
        depth = 0
        at = below(value, 0, tuples.top, low[v, 0])
        end = below(value, at, tuples.top, high[v, 0])
        while True:
            if at < end and depth == deepest:
                one, other = first[at], last[end - 1]
                out[v] += upto[other] - upto[one]
                if len(change):
                    change[one] += 1
                    change[other] -= 1
                at = end
            if at == end:
                if depth == 0:
                    break
                depth -= 1
                at, end = stack[depth, 0], stack[depth, 1]
                continue
            node = at
            stack[depth, 0], stack[depth, 1] = at + 1, end
            depth += 1
            at = below(value, kids[node], kids[node + 1], low[v, depth])
            end = below(value, at, kids[node + 1], high[v, depth])
