"""Exact search for the class whose merge costs least, in an index of classes.

The children that meet the sought value x in one ancestor a are a run of neighbours: [a, end[a])
without the run of the ancestor before. The search starts at x and goes upwards, takes those runs
one after the other, and stops when x's own share of the cost exceeds the best cost found. It adds
a lower bound on the cost of the attributes further down: a value that no other class has must be
generalized in every branch.

Costs are integers, so sums are exact in any order and ties are real ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.levels import CLOSENESS, badness_of_both
from shoal.kernels.search.class_index import (
    CHILD,
    FAILS,
    FIRST,
    HOLDS,
    KIDS,
    LEAST,
    NO_COST,
    NOBODY,
    USED,
    VALUE,
    below,
)

FILTER, COST_THEN_BAD, RATIO = 1, 2, 3
FAR_COST = 2.0**61


class Goal(NamedTuple):
    """The objective of a search.

    FILTER: the lowest cost among classes that, merged with c, are no worse than the cap.
    COST_THEN_BAD: among those with the lowest cost, the least bad. RATIO: the lowest cost per
    diversity or per person, or cost times distance. Badness below the cap counts as the cap.
    """

    mode: int
    kind: int  # DIVERSITY, CLOSENESS or SIZE
    cap: float
    skip: int  # a class that is ignored


class Known(NamedTuple):
    """The best candidate so far."""

    best: int
    cost: int
    first: int
    bad: float
    key: float
    limit: int
    capped: bool


class Work(NamedTuple):
    """Scratch space of searches."""

    stack: np.ndarray  # int64[q + 1, 9]
    rest: np.ndarray  # int64[q + 1]
    visits: np.ndarray  # int64[2], nodes visited, and other work in the same unit


@lean_kernel
def spent(work):
    """The work of searches and everything else so far."""
    return work.visits[0] + work.visits[1]


@lean_kernel
def least_cost(index, trees, j, value, size, unit, ignored):
    """A lower bound on the cost of attribute j for a class of this size, for any merge.

    `unit` is the weight of a record of the other side, and `ignored` the value of a class in the
    index that does not count; -1: all classes count.
    """
    start = trees.start[j]
    a = value
    alone = 1 if a <= ignored < trees.end[start + a] else 0
    while index.under[start + a] == alone and a != 0:
        a = trees.parent[start + a]
        alone = 1 if a <= ignored < trees.end[start + a] else 0
    cost = size * (trees.cost[start + value] - trees.cost[start + a])
    if index.equal[start + a] == (1 if a == ignored else 0):
        # No class has a itself: either the other side rises to it, or this one rises further.
        more = unit * trees.step[start + a]
        if a != 0:
            above = trees.cost[start + trees.parent[start + a]]
            more = min(more, size * (trees.cost[start + a] - above))
        cost += more
    return cost


@lean_kernel
def highest_cost(goal, key):
    """The highest cost with which a class at the cap could still have this key or a lower one."""
    cost = (
        -key * goal.cap
        if goal.kind != CLOSENESS
        else (key / goal.cap if goal.cap > 0 else FAR_COST)
    )
    return np.int64(min(cost + 1.0, FAR_COST))


def make_nearest(judged, skipping=False):
    """The search, with or without sensitive values; each version is compiled separately.

    If `skipping`, the goal is the number of a class in the index that is ignored, or -1.
    """

    @lean_kernel
    def nearest(index, trees, classes, lists, c, by_size, unit, only_failing, goal, known, work):
        """The class whose merge with c costs least; among equals, the one with the first record.

        The cost is MC of Sec. 3, Mauger 2020: each side counts `by_size`, or `unit` times (1 is
        Def. 6 of Mauger 2023; with 0 only the first record decides). Class c must not be in the
        index. `goal` may require more than the lowest cost, and `known` is an initial candidate.
        Returns the class (-1: none) and the cost.
        """
        # Unpacked once, as nearly all time is spent in the loop below.
        q = classes.vector.shape[1]
        vector, node, pool = classes.vector, index.node, index.pool
        begin, parent, end, price = trees.start, trees.parent, trees.end, trees.cost
        step, stack, rest, spent = trees.step, work.stack, work.rest, work.visits

        size_x = classes.size[c] if by_size else unit
        if trees.ahead:
            rest[q - 1] = 0
            for j in range(q - 1, 0, -1):
                ignored = vector[goal, j] if skipping and goal >= 0 else np.int32(-1)
                least = least_cost(index, trees, j, vector[c, j], size_x, unit, ignored)
                rest[j - 1] = rest[j] + least
        best, best_cost, best_first = NOBODY, NO_COST, NO_COST
        best_bad, best_key = np.inf, np.inf
        limit = NO_COST  # higher costs cannot be better
        capped = True  # nor can the same cost, unless its record is earlier
        if judged:
            best, best_cost, best_first = known.best, known.cost, known.first
            best_bad, best_key, limit, capped = known.bad, known.key, known.limit, known.capped
        depth = 0
        t = np.int64(0)  # the node
        share = np.int64(0)  # x's part of the cost on the path to t
        rise = np.int64(0)  # the cost for one record of the other side on the path to t
        enter = True
        start = begin[0]
        x = np.int64(0)  # x's value here
        a = np.int64(0)  # its ancestor in which the current children meet x
        meet = np.int64(0)  # the cost from a to the root
        lo, hi = np.int64(0), np.int64(0)  # the run of children below a
        done_lo, done_hi = np.int64(0), np.int64(0)  # the part of it that is already done
        at = np.int64(0)  # the next child
        while True:
            if enter:
                enter = False
                spent[0] += 1
                start = begin[depth]
                x = np.int64(vector[c, depth])
                a = x
                meet = price[start + a]
                lo = below(pool, node[t, KIDS], node[t, USED], a)
                hi = lo
                while hi < node[t, USED] and pool[node[t, KIDS] + hi, VALUE] < end[start + a]:
                    hi += 1  # there are few, and they are visited next anyway
                done_lo, done_hi, at = lo, lo, lo
            if at == done_lo:
                at = done_hi
            if at >= hi:
                # The run is done: continue with the next ancestor, or with the node above.
                up = True
                if a != 0:
                    a = np.int64(parent[start + a])
                    meet = price[start + a]
                    size_y = np.int64(node[t, LEAST]) if by_size else unit
                    own = share + size_x * (price[start + x] - meet)
                    if own + size_y * rise + rest[depth] <= limit:
                        up = False
                        done_lo, done_hi = lo, hi
                        lo = below(pool, node[t, KIDS], lo, a)
                        hi += below(pool, node[t, KIDS] + hi, node[t, USED] - hi, end[start + a])
                        at = lo
                        # Only a itself costs the other side nothing; it would be the first.
                        if own + size_y * (rise + step[start + a]) + rest[depth] > limit:
                            alone = lo < done_lo and pool[node[t, KIDS] + lo, VALUE] == a
                            done_lo, done_hi = lo + (1 if alone else 0), hi
                if up:
                    if depth == 0:
                        break
                    depth -= 1
                    start = begin[depth]
                    x = np.int64(vector[c, depth])
                    t, share, rise = stack[depth, 0], stack[depth, 1], stack[depth, 2]
                    a, lo, hi = stack[depth, 3], stack[depth, 4], stack[depth, 5]
                    done_lo, done_hi, at = stack[depth, 6], stack[depth, 7], stack[depth, 8]
                    meet = price[start + a]
                continue
            place = node[t, KIDS] + at
            at += 1
            kid_share = share + size_x * (price[start + x] - meet)
            kid_rise = rise + price[start + pool[place, VALUE]] - meet
            if kid_share + unit * kid_rise + rest[depth] > limit:
                continue  # too expensive even for a single record, whatever is below
            kid = pool[place, CHILD]
            size_y = np.int64(node[kid, LEAST]) if by_size else unit
            cost = kid_share + size_y * kid_rise
            least = cost + rest[depth]
            if least > limit or (capped and least == limit and node[kid, FIRST] > best_first):
                continue
            if only_failing and node[kid, FAILS] == 0:
                continue
            there = node[kid, HOLDS]
            if there < 0:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = t, share, rise
                stack[depth, 3], stack[depth, 4], stack[depth, 5] = a, lo, hi
                stack[depth, 6], stack[depth, 7], stack[depth, 8] = done_lo, done_hi, at
                depth += 1
                t, share, rise = np.int64(kid), kid_share, kid_rise
                enter = True
                continue
            if judged:  # noqa: SIM102 (the compiler drops the whole branch if there is no goal)
                if there == goal.skip:
                    continue
            if skipping:  # noqa: SIM102
                if there == goal:
                    continue
            # A single class: compare the rest of its vector.
            for j in range(depth + 1, q):
                base = begin[j]
                mine, other = vector[c, j], vector[there, j]
                if mine != other:
                    top = mine
                    while not (top <= other < end[base + top]):
                        top = parent[base + top]
                    both = size_x * price[base + mine] + size_y * price[base + other]
                    cost += both - (size_x + size_y) * price[base + top]
                    if cost > limit:
                        break
            if cost > limit:
                continue
            first = np.int64(node[kid, FIRST])
            earlier = cost < best_cost or (cost == best_cost and first < best_first)
            if not judged:
                if earlier:
                    best, best_cost, best_first, limit = np.int64(there), cost, first, cost
            else:
                if goal.mode == FILTER and not earlier:
                    continue
                both = classes.size[c] + classes.size[there]
                bad = max(badness_of_both(lists, goal.kind, c, there, both), goal.cap)
                key = 0.0
                if goal.mode == FILTER:
                    better = bad == goal.cap
                elif goal.mode == COST_THEN_BAD:
                    same = cost == best_cost
                    less = same and bad == best_bad and first < best_first
                    better = cost < best_cost or (same and bad < best_bad) or less
                else:
                    key = cost * bad if goal.kind == CLOSENESS else -cost / bad
                    better = key < best_key or (key == best_key and earlier)
                if not better:
                    continue
                best, best_cost, best_first = np.int64(there), cost, first
                best_bad, best_key, capped, limit = bad, key, bad == goal.cap, cost
                if goal.mode == FILTER:
                    capped = True
                elif goal.mode == RATIO and not capped:
                    limit = highest_cost(goal, key)
        return best, best_cost

    return nearest


cheapest = make_nearest(False)


cheapest_but = make_nearest(False, skipping=True)


best_by_goal = make_nearest(True)
