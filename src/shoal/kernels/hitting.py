"""Smallest hitting sets: the fewest values such that every person has one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels import lean_kernel

UNKNOWN, PAUSES = np.int64(-1), np.int64(-2)  # returned instead of a size
AT_A_TIME = 20_000_000  # values visited between two pauses for Ctrl-C


@lean_kernel
def disjoint(first, value, lo, hi, chosen, banned, used, mark):
    """A lower bound: unhit people, chosen greedily, who share no value that may be chosen.

    `used` marks values with `mark`. Returns -1 if a person has no value left.
    """
    count = 0
    for e in range(lo, hi):
        free, hit, left = True, False, 0
        for i in range(first[e], first[e + 1]):
            v = value[i]
            if chosen[v]:
                hit = True
                break
            if not banned[v]:
                left += 1
                free = free and used[v] != mark
        if hit:
            continue
        if left == 0:
            return -1
        if free:
            count += 1
            for i in range(first[e], first[e + 1]):
                used[value[i]] = mark
    return count


@lean_kernel
def fewest_left(first, value, lo, hi, chosen, banned):
    """The unhit person with the fewest values that may be chosen; -1 if all people are hit."""
    best, best_left = np.int64(-1), np.int64(1) << 40
    for e in range(lo, hi):
        hit, left = False, 0
        for i in range(first[e], first[e + 1]):
            v = value[i]
            if chosen[v]:
                hit = True
                break
            left += 0 if banned[v] else 1
        if not hit and left < best_left:
            best, best_left = np.int64(e), np.int64(left)
    return best


@lean_kernel
def smallest_hitting_set(
    first, value, lo, hi, limit, chosen, banned, used, mark, person, at, found_set, budget, state
):
    """The size of the smallest hitting set of the people from lo to hi, or limit + 1 if larger.

    Person e has the values value[first[e]:first[e + 1]]. Every unhit person must be hit, so the
    search tries the values of the person with the fewest; a value that was tried is excluded in the
    branches that follow. Scratch: `chosen` and `banned` are all False before and after, `used`
    int64[values], `mark` int64[1], `person` and `at` int64[limit + 2]. The values of the set go
    into `found_set`, int64[limit + 1], if there is one. `budget`, int64[1], is how many people may
    be visited; when it is used up, the answer is UNKNOWN. `state` is int64[4]: how many values may
    be visited until it PAUSES, to continue when it is called again with the same people; depth + 1
    (0: not started), the best size so far, whether a node is entered.
    """
    depth = 0
    found = np.int64(limit + 1)
    fresh = True  # whether this node is entered for the first time
    if state[1] > 0:
        depth, found, fresh = state[1] - 1, state[2], state[3] == 1
    else:
        person[0] = -1
    while True:
        if fresh:
            if state[0] <= 0:
                state[1], state[2], state[3] = depth + 1, found, 1
                return PAUSES
            state[0] -= first[hi] - first[lo] + 1
            fresh = False
            mark[0] += 1
            budget[0] -= hi - lo
            if budget[0] < 0:
                for i in range(first[lo], first[hi]):
                    chosen[value[i]] = False
                    banned[value[i]] = False
                state[1] = 0
                return UNKNOWN
            least = disjoint(first, value, lo, hi, chosen, banned, used, mark[0])
            e = np.int64(-1)
            if least == 0:
                found = min(found, np.int64(depth))
                for d in range(depth):
                    found_set[d] = value[at[d]]
            elif least > 0 and depth + least < found:
                e = fewest_left(first, value, lo, hi, chosen, banned)
            person[depth] = e
            at[depth] = first[e] if e >= 0 else 0
        e = person[depth]
        down = False
        # A hitting set as large as the best one is of no use.
        if e >= 0 and depth + 1 < found:
            while at[depth] < first[e + 1]:
                v = value[at[depth]]
                if not banned[v]:
                    chosen[v] = True
                    down = True
                    break
                at[depth] += 1
        if down:
            depth += 1
            fresh = True
            continue
        if e >= 0:  # values tried here may be chosen again elsewhere
            for i in range(first[e], at[depth]):
                if banned[value[i]] and used_here(value, first, person, at, depth, value[i]):
                    banned[value[i]] = False
        if depth == 0:
            state[1] = 0
            return found
        depth -= 1
        v = value[at[depth]]
        chosen[v] = False
        banned[v] = True
        at[depth] += 1


@lean_kernel
def used_here(value, first, person, at, depth, v):
    """Whether a value was banned at this depth and not further up."""
    for d in range(depth):
        for i in range(first[person[d]], at[d]):
            if value[i] == v:
                return False
    return True


def hitting_sizes(start: Any, first: Any, value: Any, limits: Any, values: int, budget: Any) -> Any:
    """The size of the smallest hitting set of each class, or limit + 1 if it is larger.

    Class c has the people start[c] … start[c + 1] - 1. -1: unknown, the budget was used up.
    Compiled code returns regularly, so that Ctrl-C works.
    """
    size = np.empty(len(start) - 1, np.int64)
    most = int(limits.max()) if len(limits) else 0
    scratch = (
        np.zeros(values, np.bool_), np.zeros(values, np.bool_), np.zeros(values, np.int64),
        np.zeros(1, np.int64), *(np.empty(most + 3, np.int64) for _ in range(3)),
    )  # fmt: skip
    at, state = 0, np.zeros(4, np.int64)
    while at < len(size):
        state[0] = AT_A_TIME
        at = some_sizes(start, first, value, limits, *scratch, budget, state, size, at)
    return size


@lean_kernel
def some_sizes(
    start, first, value, limits, chosen, banned, used, mark, person, at, found, budget, state,
    size, c,
):  # fmt: skip
    """The same from class c on, until it pauses; returns the next class."""
    while c < len(size):
        size[c] = smallest_hitting_set(
            first, value, start[c], start[c + 1], limits[c], chosen, banned, used, mark, person,
            at, found, budget, state,
        )  # fmt: skip
        if size[c] == PAUSES:
            break
        c += 1
    return c
