"""The choice of a class to merge with: the strategies of Def. 17, Mauger 2023, by index.

After merging c with y, the badness of the table is max(cap, badness of both), where the cap is the
badness of the worst other class. The cap is the same for every y except the worst class itself; for
that it is the badness of the second worst. So that candidate is checked first, and the rest share
one cap.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.levels import (
    CLOSENESS,
    DIVERSITY,
    SIZE,
    badness_of_both,
    pop_worst,
    push_worst,
    worst_but,
)
from shoal.kernels.search.class_index import NO_COST, NOBODY
from shoal.kernels.search.class_search import (
    COST_THEN_BAD,
    FILTER,
    RATIO,
    Goal,
    Known,
    best_by_goal,
    highest_cost,
)

FIRST_COST, FIRST_BADNESS, RATIO_OF_BOTH, ONLY_BADNESS = 1, 2, 3, 4
NO_CLASS = -(2.0**53)


@lean_kernel
def cost_of_both(trees, classes, c, y, by_size, unit):
    """MC of Sec. 3, Mauger 2020."""
    size_x = classes.size[c] if by_size else unit
    size_y = classes.size[y] if by_size else unit
    cost = np.int64(0)
    for j in range(classes.vector.shape[1]):
        start = trees.start[j]
        a, b = classes.vector[c, j], classes.vector[y, j]
        top = a
        while not (top <= b < trees.end[start + top]):
            top = trees.parent[start + top]
        up = trees.cost[start + top]
        cost += size_x * (trees.cost[start + a] - up) + size_y * (trees.cost[start + b] - up)
    return cost


@lean_kernel
def choose(index, trees, classes, lists, into, work, c, by_size, only_failing, rule, kind, table):
    """The class to merge c with, by a rule other than cost alone; c is not in the index."""
    unit = np.int64(0) if rule == ONLY_BADNESS else np.int64(1)
    by_size = by_size and rule != ONLY_BADNESS
    nobody = Known(NOBODY, NO_COST, NO_COST, np.inf, np.inf, NO_COST, False)
    worst, second = np.int64(-1), np.int64(-1)
    # A class alone is judged: nothing is better than -(number of values), or a distance of 0.
    cap = -float(len(lists.overall)) - 1.0 if kind == DIVERSITY else -1.0
    if kind == SIZE:
        cap = NO_CLASS  # nor than the number of all people
    if table:
        worst = worst_but(lists, into, c, c)
        cap = lists.badness[worst]
        pop_worst(lists)
        second = worst_but(lists, into, c, worst)  # it may be there twice, from before a merge
        push_worst(lists, cap, worst)
        unlike = second < 0 or lists.badness[second] < cap
        if not unlike or (only_failing and not classes.fails[worst]):
            worst = np.int64(-1)  # it shares the cap, or is not a candidate
    known = nobody
    if worst >= 0:
        both = classes.size[c] + classes.size[worst]
        bad = badness_of_both(lists, kind, c, worst, both)
        if second >= 0:
            bad = max(bad, lists.badness[second])
        cost = cost_of_both(trees, classes, c, worst, by_size, unit)
        key = cost * bad if kind == CLOSENESS else -cost / bad
        first = classes.first[worst]
        if rule == FIRST_COST:
            # Below the cap, nothing of the same cost is better, not even with an earlier record.
            first = np.int64(-1) if bad < cap else first
            known = Known(worst, cost, first, bad, key, cost, bad <= cap)
        elif rule == RATIO_OF_BOTH:
            goal = Goal(RATIO, kind, cap, np.int64(-1))
            known = Known(worst, cost, first, bad, key, highest_cost(goal, key), False)
        elif bad < cap:
            return worst
        elif bad == cap:
            known = Known(worst, cost, first, bad, key, cost, True)
    if rule == FIRST_COST:
        goal = Goal(COST_THEN_BAD, kind, cap, worst)
    elif rule == RATIO_OF_BOTH:
        goal = Goal(RATIO, kind, cap, worst)
    else:
        goal = Goal(FILTER, kind, cap, worst)
    best, _ = best_by_goal(
        index, trees, classes, lists, c, by_size, unit, only_failing, goal, known, work
    )
    if best >= 0:
        return best
    # No class reaches the cap: find the least bad of all by checking each.
    work.visits[1] += 4 * len(into)
    best_bad, best_cost, best_first = np.inf, NO_COST, NO_COST
    for y in range(len(into)):
        if into[y] != y or y == c or (only_failing and not classes.fails[y]):
            continue
        bad = badness_of_both(lists, kind, c, y, classes.size[c] + classes.size[y])
        if y == worst:
            if second >= 0:
                bad = max(bad, lists.badness[second])
        else:
            bad = max(bad, cap)
        if bad > best_bad:
            continue
        cost = cost_of_both(trees, classes, c, y, by_size, unit)
        first = classes.first[y]
        less = cost < best_cost or (cost == best_cost and first < best_first)
        if bad < best_bad or less:
            best, best_bad, best_cost, best_first = np.int64(y), bad, cost, first
    return best
