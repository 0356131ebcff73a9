"""Rows without classes, each of which covers k people of its own: a k-factor as a flow.

Every record is a member of k rows, and every row has k members, all of them different people whom
its cell covers. Equal records are one tuple, and rows with equal values one cell, so memberships
are counted: a tuple of s records gives s · k of them, and a cell of r rows takes r · k, at most
s · r from that tuple.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel


class Rows(NamedTuple):
    """Cells with their numbers of rows, and the members of the rows."""

    size: np.ndarray  # int64[tuples], records of each
    keeps: np.ndarray  # int64[cells], what a row of the cell keeps
    many: np.ndarray  # int64[cells], its rows
    filled: np.ndarray  # int64[cells], members of all its rows
    start: np.ndarray  # int64[cells + 1], where the pairs of the cell begin
    tuple: np.ndarray  # int32[pairs], tuples that the cell covers
    cell: np.ndarray  # int32[pairs]
    units: np.ndarray  # int64[pairs], memberships
    head: np.ndarray  # int32[tuples], a pair with members; those of a tuple are a chain
    after: np.ndarray  # int32[pairs]
    before: np.ndarray  # int32[pairs]


class Scratch(NamedTuple):
    """Space for the search of one path."""

    cell_seen: np.ndarray  # int64[cells], the number of the search that was here last
    cell_via: np.ndarray  # int64[cells], the pair through which it came
    tuple_seen: np.ndarray  # int64[tuples]
    tuple_via: np.ndarray  # int64[tuples]
    queue: np.ndarray  # int64[cells], cells to go on from
    freed: np.ndarray  # int64[tuples], memberships that lost their row
    log: np.ndarray  # int64[changes, 2], pairs and their changes, to undo them
    mark: np.ndarray  # int64[1], the number of the last search


@lean_kernel
def change_units(rows, p, more):
    """Change the memberships of a pair."""
    old = rows.units[p]
    rows.units[p] = old + more
    rows.filled[rows.cell[p]] += more
    t = rows.tuple[p]
    if old == 0 and more > 0:
        first = rows.head[t]
        rows.after[p], rows.before[p] = first, -1
        if first >= 0:
            rows.before[first] = p
        rows.head[t] = p
    elif rows.units[p] == 0 and more < 0:
        last, next_ = rows.before[p], rows.after[p]
        if last >= 0:
            rows.after[last] = next_
        else:
            rows.head[t] = next_
        if next_ >= 0:
            rows.before[next_] = last


@lean_kernel
def change_all(rows, pairs, more):
    """Change the memberships of several pairs."""
    for i in range(len(pairs)):
        change_units(rows, pairs[i], more[i])


@lean_kernel
def find_path(rows, scratch, k, needy, reach):
    """Search the shortest way to one more member of a cell: returns its end, and visits left.

    The end is a tuple with a free membership, or -2 - a cell with too many members; -1: none.
    """
    scratch.mark[0] += 1
    now = scratch.mark[0]
    at, end = 0, 1
    scratch.queue[0] = needy
    scratch.cell_seen[needy] = now
    while at < end and reach > 0:
        d = scratch.queue[at]
        at += 1
        for p in range(rows.start[d], rows.start[d + 1]):
            reach -= 1
            t = rows.tuple[p]
            if scratch.tuple_seen[t] == now or rows.units[p] >= rows.size[t] * rows.many[d]:
                continue
            scratch.tuple_seen[t] = now
            scratch.tuple_via[t] = p
            if scratch.freed[t] > 0:
                return np.int64(t), reach
            e = rows.head[t]
            while e >= 0:
                reach -= 1
                f = rows.cell[e]
                if scratch.cell_seen[f] != now:
                    scratch.cell_seen[f] = now
                    scratch.cell_via[f] = e
                    if rows.filled[f] > k * rows.many[f]:
                        return np.int64(-2 - f), reach
                    scratch.queue[end] = f
                    end += 1
                e = rows.after[e]
    return np.int64(-1), reach


@lean_kernel
def follow_path(rows, scratch, k, needy, found, logged):
    """Pass memberships along a path as often as possible; returns the end of the log, -1: full."""
    f, t = np.int64(-1), found
    if found >= 0:
        most = min(k * rows.many[needy] - rows.filled[needy], scratch.freed[found])
    else:
        f, t = -2 - found, np.int64(-1)
        most = min(k * rows.many[needy] - rows.filled[needy], rows.filled[f] - k * rows.many[f])
    length = 0
    while True:  # the least room on the way
        if t < 0:
            e = scratch.cell_via[f]
            most = min(most, rows.units[e])
            t = np.int64(rows.tuple[e])
        p = scratch.tuple_via[t]
        f = np.int64(rows.cell[p])
        most = min(most, rows.size[t] * rows.many[f] - rows.units[p])
        length += 2
        if f == needy:
            break
        t = np.int64(-1)
    if logged + length > len(scratch.log):
        return -1
    f, t = np.int64(-1), found
    if found >= 0:
        scratch.freed[found] -= most
    else:
        f, t = -2 - found, np.int64(-1)
    while True:
        if t < 0:
            e = scratch.cell_via[f]
            t = np.int64(rows.tuple[e])
            change_units(rows, e, -most)
            scratch.log[logged, 0], scratch.log[logged, 1] = e, -most
            logged += 1
        p = scratch.tuple_via[t]
        f = np.int64(rows.cell[p])
        change_units(rows, p, most)
        scratch.log[logged, 0], scratch.log[logged, 1] = p, most
        logged += 1
        if f == needy:
            return logged
        t = np.int64(-1)


@lean_kernel
def move_row(rows, scratch, k, old, new, reach):
    """Publish a row as another cell, if all rows can still have k members each.

    Gives up after `reach` visits, and then nothing has changed. Returns whether it moved.
    """
    rows.many[old] -= 1
    rows.many[new] += 1
    logged = 0
    for p in range(rows.start[old], rows.start[old + 1]):
        over = rows.units[p] - rows.size[rows.tuple[p]] * rows.many[old]
        if over > 0:  # fewer rows than these people would be members of
            change_units(rows, p, -over)
            scratch.freed[rows.tuple[p]] += over
            scratch.log[logged, 0], scratch.log[logged, 1] = p, -over
            logged += 1
    moved = True
    for turn in range(2):
        needy = new if turn == 0 else old
        while moved and rows.filled[needy] < k * rows.many[needy]:
            found, reach = find_path(rows, scratch, k, needy, reach)
            to = -1
            if found != -1:
                to = follow_path(rows, scratch, k, needy, found, logged)
            moved = to >= 0
            logged = max(to, logged)
    if not moved:
        for p in range(rows.start[old], rows.start[old + 1]):
            scratch.freed[rows.tuple[p]] = 0
        for i in range(logged - 1, -1, -1):
            change_units(rows, scratch.log[i, 0], -scratch.log[i, 1])
        rows.many[old] += 1
        rows.many[new] -= 1
    return moved


@lean_kernel
def add_rows(rows, scratch, k, cell, more, reach):
    """Publish more rows as a cell, if free memberships can fill all of them, and others stay full.

    Gives up after `reach` visits, and then nothing has changed. Returns whether they were added.
    """
    rows.many[cell] += more
    logged = 0
    while rows.filled[cell] < k * rows.many[cell]:
        found, reach = find_path(rows, scratch, k, cell, reach)
        to = -1
        if found != -1:
            to = follow_path(rows, scratch, k, cell, found, logged)
        if to < 0:
            for i in range(logged - 1, -1, -1):
                p, change = scratch.log[i, 0], scratch.log[i, 1]
                change_units(rows, p, -change)
                scratch.freed[rows.tuple[p]] += change
            rows.many[cell] -= more
            return False
        logged = to
    return True


@kernel
def anneal_rows(
    rows, scratch, k, cell_of, near_start, near, hot, cold, total, reach, rng, at, steps
):  # fmt: skip
    """Move random rows to random cells near them, more often where that keeps more.

    Simulated annealing: a move that keeps less by d is tried with the probability exp(-d / heat),
    and the heat falls from `hot` to `cold` in `total` steps. cell_of[r] is the cell of row r; the
    cells that cover tuple t are in `near` from near_start[t] on. at[0] is the next step, at[1] what
    all rows have gained. Does so many steps; returns whether that was all.
    """
    many = len(cell_of)
    for _ in range(steps):
        if at[0] >= total:
            return True
        heat = hot * (cold / hot) ** (at[0] / total)
        at[0] += 1
        r = int(rng.random() * many)
        old = cell_of[r]
        first, last = rows.start[old], rows.start[old + 1]
        t = rows.tuple[first + int(rng.random() * (last - first))]
        new = near[near_start[t] + int(rng.random() * (near_start[t + 1] - near_start[t]))]
        gain = rows.keeps[new] - rows.keeps[old]
        if new == old or (gain < 0 and rng.random() >= np.exp(gain / heat)):
            continue
        if move_row(rows, scratch, k, old, new, reach):
            cell_of[r] = new
            at[1] += gain
    return at[0] >= total


@lean_kernel
def deal_members(size, before, start, tuple_, units, k, left, taken, members, first, last):
    """Choose the k members of each row of the cells from `first` to `last` - 1.

    From start[c] on, `tuple_` has the tuples with memberships in a cell, those that shall be
    together in a row next to each other, and `units` how many. A row takes first what the rows
    after it could not take any more, then the earliest tuples. members[r] has the tuples of row r,
    each at most as often as it has records; before[c] rows are those of earlier cells. `left` and
    `taken` are int64[pairs].
    """
    for c in range(first, last):
        r = before[c]
        for p in range(start[c], start[c + 1]):
            left[p] = units[p]
        while r < before[c + 1]:
            rest, used = before[c + 1] - r - 1, 0
            for p in range(start[c], start[c + 1]):
                taken[p] = max(np.int64(0), left[p] - size[tuple_[p]] * rest)
                used += taken[p]
            at = 0
            for p in range(start[c], start[c + 1]):
                more = min(k - used, min(size[tuple_[p]], left[p]) - taken[p])
                used += more
                left[p] -= taken[p] + more
                for _ in range(taken[p] + more):
                    members[r, at] = tuple_[p]
                    at += 1
            r += 1
