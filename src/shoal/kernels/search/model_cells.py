"""Cells of which a class can satisfy a model about sensitive values, and its cheapest groups.

The search visits the cells as that for classes of k people does (see `runs`). The units are
records with equal quasi-identifiers and equal sensitive value, so that several may have the same
vector. What a class needs is in `Needs`; `measures.bounds.model_bound` says why that is valid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.cells import DEPTH, LOOKS, STEPS
from shoal.kernels.search.lowest import lowest
from shoal.kernels.search.runs import FOUND, descend, look_at_caps, next_run_until


class Needs(NamedTuple):
    """What a class of a cell needs besides k rows: enough values, or values with limited shares."""

    value: np.ndarray  # int64[units], the sensitive value of each
    distinct: int  # how many values a class has at least; 0: shares are limited instead
    mass: int  # of a row: shares are whole numbers, of k · mass
    base: np.ndarray  # int64[values], what a value may have of that without using up `extra`
    extra: int  # what all values together may have beyond their base


class Scratch(NamedTuple):
    """Space for the units of a cell."""

    heap: np.ndarray  # int64[units], the cheapest first; those that were taken are at the end
    used: np.ndarray  # int64[values], zero between uses
    lowest: np.ndarray  # int64[k + 1, 2]
    run: np.ndarray  # int64[3], of the search


@lean_kernel
def can_satisfy(tuples, begin, to, size, k, needs, used):
    """Whether enough values, or enough rows within the shares, are in a run of units."""
    values, extra, inside = 0, np.int64(0), np.int64(0)
    for i in range(begin, to):
        x = tuples[i]
        v = needs.value[x]
        if used[v] == 0:
            values += 1
        used[v] += size[x]
    for i in range(begin, to):
        v = needs.value[tuples[i]]
        if used[v] == 0:
            continue
        if needs.distinct == 0:
            has = min(used[v], k) * needs.mass
            inside += min(has, needs.base[v])
            extra += max(has - needs.base[v], 0)
        used[v] = 0
    if needs.distinct > 0:
        return values >= needs.distinct
    return inside + min(extra, needs.extra) >= k * needs.mass


@lean_kernel
def sift(heap, at, end, cap):
    """Move the unit at this place of a heap down to where it belongs."""
    x = heap[at]
    while True:
        below = 2 * at + 1
        if below >= end:
            break
        if below + 1 < end and cap[heap[below + 1]] < cap[heap[below]]:
            below += 1
        if cap[heap[below]] >= cap[x]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = x


@lean_kernel
def heapify(tuples, begin, to, cap, heap):
    """Make a heap of a run of units, with the lowest cap on top."""
    many = to - begin
    for i in range(many):
        heap[i] = tuples[begin + i]
    for at in range(many // 2 - 1, -1, -1):
        sift(heap, at, many, cap)


@lean_kernel
def take_lowest(heap, left, cap):
    """Move the unit with the lowest cap behind the `left - 1` others, and return it."""
    x = heap[0]
    heap[0] = heap[left - 1]
    sift(heap, 0, left - 1, cap)
    heap[left - 1] = x
    return x


@lean_kernel
def lowest_within_shares(tuples, begin, to, cap, size, k, needs, scratch):
    """The lowest sum of caps of k rows within the shares, times the mass of a row.

    Rows count in fractions. The units are taken by rising caps, each as far as its value may.
    """
    heap, used = scratch.heap, scratch.used
    heapify(tuples, begin, to, cap, heap)
    left, lacking, extra, total = to - begin, k * needs.mass, needs.extra, np.int64(0)
    while lacking > 0 and left > 0:
        x = take_lowest(heap, left, cap)
        left -= 1
        v = needs.value[x]
        want = min(size[x], k) * needs.mass
        want = min(want, lacking)
        free = min(want, needs.base[v] - used[v])
        more = min(want - free, extra)
        used[v] += free
        extra -= more
        lacking -= free + more
        total += (free + more) * cap[x]
    for i in range(left, to - begin):
        used[needs.value[heap[i]]] = 0
    return total


@lean_kernel
def lowest_with_values(tuples, begin, to, cap, size, k, needs, scratch):
    """The sum of caps and the rows of a group with the lowest mean: k rows or more, enough values.

    Each of the cheapest values gives its cheapest row. The others follow by rising caps: until
    there are k rows, and as long as a row lowers the mean.
    """
    heap, used = scratch.heap, scratch.used
    heapify(tuples, begin, to, cap, heap)
    left, values, rows, total, seen = to - begin, 0, np.int64(0), np.int64(0), np.int64(0)
    while left > 0 and (values < needs.distinct or seen < k):
        x = take_lowest(heap, left, cap)
        left -= 1
        seen += size[x]
        v = needs.value[x]
        if used[v] == 0:
            values += 1
            if values <= needs.distinct:  # used: 2 if a row of the value is counted already
                rows += 1
                total += cap[x]
                used[v] = 2
            else:
                used[v] = 1
    for i in range(to - begin - 1, left - 1, -1):  # in the order in which they were taken
        x = heap[i]
        others = size[x]
        if used[needs.value[x]] == 2:
            used[needs.value[x]] = 1
            others -= 1
        lacking = min(max(k - rows, 0), others)
        rows += lacking
        total += lacking * cap[x]
        if others > lacking and rows * cap[x] < total:
            rows += others - lacking
            total += (others - lacking) * cap[x]
    for i in range(left, to - begin):
        used[needs.value[heap[i]]] = 0
    return total, rows


@lean_kernel
def lowest_mean(tuples, begin, to, cap, size, k, needs, scratch):
    """The lowest mean cap of a group that satisfies the needs, as a sum and a number."""
    if needs.distinct > 0:
        return lowest_with_values(tuples, begin, to, cap, size, k, needs, scratch)
    total = lowest_within_shares(tuples, begin, to, cap, size, k, needs, scratch)
    return total, k * needs.mass


@lean_kernel
def search_model_cells(
    lattice, size, k, needs, best, ceiling, search, scratch, budget, most
):  # fmt: skip
    """Lower best[x] to what the cheapest cell costs of which a class can satisfy the needs.

    Only up to the ceiling; units whose best is lower already search no further. Pauses after
    `budget` visits of units, and stops after `most`.
    """
    own, people_of, tuples, run = lattice.own, lattice.people, search.tuples, scratch.run
    q = lattice.vector.shape[1]
    pause = search.at[LOOKS] + search.at[STEPS] + budget
    while True:
        outcome = next_run_until(lattice, search, run, pause, most)
        if outcome != FOUND:
            return outcome
        depth, begin, to, keeps = search.at[DEPTH], run[0], run[1], run[2]
        people, gains = np.int64(0), False
        for i in range(begin, to):
            x = tuples[i]
            people += people_of[x]
            price = own[x, depth] - keeps
            gains = gains or (price < best[x] and price <= ceiling)
        if people < k or not gains:
            continue
        search.at[LOOKS] += to - begin
        if not can_satisfy(tuples, begin, to, size, k, needs, scratch.used):
            continue
        if depth < q - 1:
            descend(search, run)
            continue
        for i in range(begin, to):
            x = tuples[i]
            price = own[x, depth] - keeps
            if price <= ceiling:
                best[x] = min(best[x], price)


@lean_kernel
def search_model_falls(lattice, size, cap, k, needs, fall, search, scratch, budget, most):
    """Lower fall[x] to the amount by which the caps of unit x may fall, together with all others.

    As `search_falls`, for groups that satisfy the needs.
    """
    tuples, run, q = search.tuples, scratch.run, lattice.vector.shape[1]
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
        # Any k rows have no higher mean than those that satisfy the needs, and are found faster.
        if k * hope <= lowest(tuples, begin, to, cap, size, k, scratch.lowest):
            continue
        search.at[LOOKS] += 2 * (to - begin)
        if not can_satisfy(tuples, begin, to, size, k, needs, scratch.used):
            continue
        total, rows = lowest_mean(tuples, begin, to, cap, size, k, needs, scratch)
        if rows * hope <= total:
            continue
        if depth < q - 1:
            descend(search, run)
            continue
        room = (total - rows * keeps) // rows
        for i in range(begin, to):
            x = tuples[i]
            fall[x] = min(fall[x], room)
