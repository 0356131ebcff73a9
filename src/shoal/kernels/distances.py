"""Earth Mover's Distances between the values of a class and those of the table."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel


@kernel
def emd_line(start, place, count, below):
    """Work to turn each class into the table, with values one unit apart; float64[classes].

    The pairs of class c are start[c] … start[c + 1] - 1, their places (0 and up) ascending;
    below[i] is the number of rows of the table up to place i. The work is the sum over all places
    of the gap between the two cumulated shares. Between two values of the class its own cumulated
    share is constant and the table's only rises, so they cross at most once, and sums of `below`
    give the gaps on either side: the time depends on the values in a class, not on those in the
    table.
    """
    last = len(below) - 1
    rows = below[last]
    sums = np.zeros(last + 2, np.int64)
    for i in range(last + 1):
        sums[i + 1] = sums[i] + below[i]
    work = np.zeros(len(start) - 1)
    for c in range(len(start) - 1):
        size = 0
        for k in range(start[c], start[c + 1]):
            size += count[k]
        held = 0  # rows of the class up to here
        lo = 0
        for k in range(start[c], start[c + 1] + 1):
            hi = place[k] if k < start[c + 1] else last + 1
            # Places lo … hi - 1 have the share held / size in the class.
            left, right = lo, hi
            while left < right:  # the first place at which the table is ahead of the class
                middle = (left + right) // 2
                if below[middle] * size > held * rows:
                    right = middle
                else:
                    left = middle + 1
            share = held / size
            work[c] += share * (left - lo) - (sums[left] - sums[lo]) / rows
            work[c] += (sums[hi] - sums[left]) / rows - share * (hi - left)
            lo = hi
            if k < start[c + 1]:
                held += count[k]
    return work


@kernel
def emd_tree(start, node, count, total, parent, length):
    """Work to turn each class into the table, with values on nodes of a tree; float64[classes].

    `node` is the node of each pair, `total` int64[nodes] the rows of the table at each node. The
    surplus or deficit of the class below a node is moved along the edge above it. `parent` comes
    before its children, the root is 0 and has no edge. Nodes with nothing of a class below them are
    computed once for all classes.
    """
    nodes = len(parent)
    under = total.copy()  # rows of the table at or below each node
    for v in range(nodes - 1, 0, -1):
        under[parent[v]] += under[v]
    rows = under[0]
    all_alone = 0.0
    for v in range(1, nodes):
        all_alone += length[v] * under[v] / rows
    own = np.zeros(nodes, np.int64)  # rows of the class at or below each node
    work = np.zeros(len(start) - 1)
    for c in range(len(start) - 1):
        size = 0
        for k in range(start[c], start[c + 1]):
            size += count[k]
            v = node[k]
            while v > 0:
                own[v] += count[k]
                v = parent[v]
        change = 0.0
        for k in range(start[c], start[c + 1]):
            v = node[k]
            while v > 0 and own[v] > 0:
                share = under[v] / rows
                change += length[v] * (abs(own[v] / size - share) - share)
                own[v] = 0
                v = parent[v]
        work[c] = max(0.0, all_alone + change)
    return work
