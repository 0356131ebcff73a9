"""The search for the farthest box, in an index of boxes.

A column adds at most the distance of its farthest value. In real tables most boxes have the
maximum distance in most columns, so a search ends soon, with the first record.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.box_index import begin_search, head, joined_with
from shoal.kernels.search.boxes import NO_COST


@lean_kernel
def apart(shapes, index, j, value, box):
    """The loss in column j of joining the box with a value, each side counted once."""
    keep = joined_with(shapes, index, j, value, box)
    return index.own[j] + index.keeps[index.start[j] + value] - 2 * keep


@lean_kernel
def farthest(shapes, index, boxes, box):
    """The box in the tree whose join with this one loses most, each side counted once; -1: none.

    Among equals, the box with the first record. The list of the index must be empty.
    """
    q = len(shapes.kind)
    if index.mark[0] == 0:
        return np.int64(-1)
    begin_search(shapes, index, box)
    looks = index.start[q]
    index.rest[q] = 0
    for j in range(q - 1, -1, -1):
        most = np.int64(0)
        for value in range(index.start[j + 1] - index.start[j]):
            most = max(most, apart(shapes, index, j, value, box))
        index.rest[j] = index.rest[j + 1] + most
    best, best_far, best_first = np.int64(-1), np.int64(-1), NO_COST
    # First directly to a far box; then all that could be farther.
    for straight in range(2):
        depth = 0
        at, stop = np.int64(0), np.int64(index.top)
        far = np.int64(0)
        while True:
            if at == stop:
                if depth == 0 or straight == 0:
                    break
                depth -= 1
                at, stop, far = (
                    index.stack[depth, 0], index.stack[depth, 1], index.stack[depth, 2],
                )  # fmt: skip
                continue
            node = at
            at += 1
            looks += 1
            if straight == 0:
                looks += stop - at
                widest = np.int64(-1)
                for kid in range(node, stop):
                    if index.least[kid] != NO_COST:
                        more = apart(shapes, index, depth, index.value[kid], box)
                        if more > widest:
                            node, widest = np.int64(kid), more
                at = stop
            if index.least[node] == NO_COST:
                continue
            to = far + apart(shapes, index, depth, index.value[node], box)
            bound = to + index.rest[depth + 1]
            if bound < best_far or (bound == best_far and index.early[node] >= best_first):
                continue
            if depth < q - 1 and index.high[node] - index.low[node] > 1:
                index.stack[depth, 0], index.stack[depth, 1] = at, stop
                index.stack[depth, 2] = far
                depth += 1
                at, stop, far = index.kids[node], index.kids[node + 1], to
                continue
            one = index.low[node]
            for j in range(depth + 1, q):
                to += apart(shapes, index, j, index.vector[one, j], box)
            b = head(index, boxes, one, False, -1)
            if b >= 0 and (to > best_far or (to == best_far and boxes.first[b] < best_first)):
                best, best_far, best_first = b, to, boxes.first[b]
    index.looks[0] += looks
    return best
