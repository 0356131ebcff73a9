"""Groups of k records of a cell, and the first-order method that weighs them.

The linear program over all groups of k records (see algorithms/_shared/relaxation): a group keeps
what its cell keeps, and each record is in groups of a total weight of at most one. Its dual has a
price for each record, such that no group keeps more than its members' prices together.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.lowest import pop, push
from shoal.kernels.search.tuple_index import covered, join

NOTHING = 1e-9  # of a row
FEWER = 8  # times that fewer rows are tried, if not enough tuples have room


@lean_kernel
def choose_lowest(found, many, cap, size, k, heap):
    """Put the tuples with the lowest caps, of k rows together, on a heap; returns how many.

    heap[0] is the one with the highest cap, of which not all rows may be needed.
    """
    used, rows = 0, np.int64(0)
    for f in range(many):
        x = found[f]
        if rows >= k and cap[x] >= heap[0, 0]:
            continue
        push(heap, used, cap[x], x)
        used += 1
        rows += min(size[x], k)
        while rows - min(size[heap[0, 1]], k) >= k:
            rows -= min(size[heap[0, 1]], k)
            pop(heap, used)
            used -= 1
    return used


@lean_kernel
def list_groups(
    tuples, trees, lattice, cells, cap, size, k, slack, stack, found, heap, start, member, times,
    keeps, at, budget,
):  # fmt: skip
    """List the k rows with the lowest caps in each of some cells.

    Only groups whose mean cap is at most `slack` above what the cell keeps. `cells` is int32[…, q].
    Group g has the members from start[g] to start[g + 1] - 1, each `times` rows, and keeps[g] per
    row. at[0] is the next cell, at[1] the number of groups, at[2] that of visits of tuples. `stack`
    is int64[q, 2], `heap` int64[k + 1, 2]. Pauses after `budget` visits of tuples; returns whether
    all cells are done.
    """
    q = cells.shape[1]
    while at[0] < len(cells):
        if budget <= 0:
            return False
        cell, g = cells[at[0]], at[1]
        at[0] += 1
        keeps[g] = 0
        for j in range(q):
            keeps[g] += lattice.cost[lattice.start[j] + cell[j]]
        many = covered(tuples, trees, cell, stack, found)
        budget -= 4 * q + many
        at[2] += 4 * q + many
        used = choose_lowest(found, many, cap, size, k, heap)
        rows, total, to = np.int64(0), np.int64(0), start[g]
        for i in range(used - 1, -1, -1):  # the top of the heap last: the rest of its rows
            y = heap[i, 1]
            member[to] = y
            times[to] = min(size[y], k - rows)
            rows += times[to]
            total += times[to] * cap[y]
            to += 1
        if rows == k and total <= k * (keeps[g] + slack):
            start[g + 1] = to
            at[1] = g + 1
    return True


@lean_kernel
def use_room(start, member, share, order, weight, most, room):
    """Add to the weight of each group in turn as much as its members have room for.

    It adds most[g] at the most. `room` float64[tuples] has the rows of each tuple that are in no
    group yet, and falls.
    """
    for g in order:
        more = most[g]
        for e in range(start[g], start[g + 1]):
            more = min(more, room[member[e]] / share[e])
        weight[g] += more
        for e in range(start[g], start[g + 1]):
            room[member[e]] = max(0.0, room[member[e]] - share[e] * more)


@lean_kernel
def use_others(tuples, trees, start, member, order, lacking, size, k, room, stack, found, cell):
    """For groups that lack rows, use other tuples of their cells that have room, group by group.

    lacking[g] falls by the rows that are found, in other groups of the same cell: in k such rows a
    tuple of s rows can be at most s times. `order` has the groups in turn, `room` is as in
    `use_room`. `stack` is int64[q, 2], `found` int64[tuples], `cell` int32[q].
    """
    for g in order:
        if lacking[g] <= NOTHING:
            continue
        for j in range(len(cell)):
            cell[j] = tuples.vector[member[start[g]], j]
        for e in range(start[g] + 1, start[g + 1]):
            join(trees, cell, tuples.vector[member[e]])
        many = covered(tuples, trees, cell, stack, found)
        more, free, enough = lacking[g], 0.0, False
        for _ in range(FEWER):
            free = 0.0
            for f in range(many):
                free += min(room[found[f]], more * min(size[found[f]], k) / k)
            enough = free >= more
            if enough:
                break
            more = free
        if more <= NOTHING or not enough:
            continue
        for f in range(many):
            x = found[f]
            part = min(room[x], more * min(size[x], k) / k) * (more / free)
            room[x] = max(0.0, room[x] - part)
        lacking[g] -= more


@lean_kernel
def weigh_groups(
    start, member, share, begin, group, part, keeps, size, low, high, price, weight, rounds, prices,
    weights, ahead,
):  # fmt: skip
    """Rounds of the primal-dual hybrid gradient method (Chambolle and Pock 2011).

    Minimizes the sum of size · price, with prices from `low` to `high`, such that in each group,
    from start[g] on, the sum of share · price is at least what it keeps; the multipliers are the
    weights of the groups. The same matrix by tuples: from begin[x] on, `group` and `part`. Steps
    are diagonal (Pock and Chambolle 2011). Adds the prices and weights of all rounds to `prices`
    and `weights`. `ahead` is float64[tuples].
    """
    for _ in range(rounds):
        for x in range(len(size)):
            slope, whole = size[x], 0.0
            for e in range(begin[x], begin[x + 1]):
                slope -= part[e] * weight[group[e]]
                whole += part[e]
            # What is in no group yet has no use for a price.
            new = low[x] if whole == 0 else price[x] - slope / whole
            new = min(max(new, low[x]), high[x])
            ahead[x] = 2 * new - price[x]
            price[x] = new
            prices[x] += new
        for g in range(len(keeps)):
            lacking = keeps[g]
            for e in range(start[g], start[g + 1]):
                lacking -= share[e] * ahead[member[e]]
            weight[g] = max(0.0, weight[g] + lacking)
            weights[g] += weight[g]
