"""Cuts of parts of a table, along the branches of a tree or a line of values.

A part is a run of `member`, which contains places of tuples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.boxes import RANGE, SET, TREE, bits
from shoal.kernels.search.spans import copy, keeps_all, lowest_bit, top_of, widen

NO_CUT, BRANCHES, LINE = 0, 1, 2
REST = -1  # records in no branch of their own


class Tuples(NamedTuple):
    """The distinct tuples."""

    span: np.ndarray  # int64[tuples, words]
    size: np.ndarray  # int64[tuples], rows
    people: np.ndarray  # int64[tuples]
    last: np.ndarray  # int64[q], the last value of a column of ranges that is a number


class Parts(NamedTuple):
    """The parts that may be cut, and how."""

    begin: np.ndarray  # int64[parts], where a part begins in `member`
    stop: np.ndarray  # int64[parts]
    refused: np.ndarray  # bool[parts, q], columns along which it cannot be cut
    column: np.ndarray  # int64[parts], the column of the cut
    groups: np.ndarray  # int64[parts], the number of groups; 0: no cut
    kind: np.ndarray  # int64[parts], NO_CUT, BRANCHES or LINE


@lean_kernel
def branches(shapes, tuples, j, whole, member, group, seen, number, stamp):
    """Number the branch of each member in a column; returns how many there are.

    The branches are the children of the node that covers all. A column of ranges or sets with other
    values has the branches missing and not missing. Records at the node itself are the rest.
    """
    at, start = shapes.at[j], shapes.start[j]
    kind = shapes.kind[j]
    top = top_of(shapes, j, whole[at], whole[at + 1]) if kind == TREE else np.int64(0)
    count = 0
    for i in range(len(member)):
        span = tuples.span[member[i]]
        v = span[at]
        if kind == TREE:
            while v != top and shapes.parent[start + v] != top:
                v = np.int64(shapes.parent[start + v])
        elif kind == RANGE:
            v = np.int64(0) if v == 0 else np.int64(2 if v > tuples.last[j] else 1)
        else:
            v = np.int64(0 if v & 1 else 1)
        if v == top:
            group[i] = REST
            continue
        if seen[start + v] != stamp:
            seen[start + v], number[start + v] = stamp, count
            count += 1
        group[i] = number[start + v]
    return count


@kernel
def merge_small_branches(shapes, tuples, member, group, count, k, relaxed):
    """Merge branches of fewer than k people with the rest; returns the number of parts.

    If the rest still has too few people, it takes the smallest branch; with relaxed cuts it first
    takes single tuples that other branches can spare, the nearest first.
    """
    people = np.zeros(count, np.int64)
    rest = np.int64(0)
    for i in range(len(member)):
        if group[i] >= 0:
            people[group[i]] += tuples.people[member[i]]
        else:
            rest += tuples.people[member[i]]
    left = 0
    for g in range(count):
        if people[g] < k:
            rest += people[g]
            people[g] = 0
        else:
            left += 1
    for i in range(len(member)):
        if group[i] >= 0 and people[group[i]] == 0:
            group[i] = REST
    if 0 < rest < k and relaxed and left > 0:
        rest = borrow(shapes, tuples, member, group, people, rest, k)
    while 0 < rest < k:
        small = np.int64(-1)
        for g in range(count):
            if people[g] > 0 and (small < 0 or people[g] < people[small]):
                small = np.int64(g)
        rest += people[small]
        people[small] = 0
        left -= 1
        for i in range(len(member)):
            if group[i] == small:
                group[i] = REST
    return renumber(member, group, people, rest)


@kernel
def renumber(member, group, people, rest):
    """Renumber the branches with people, and the rest after them, without gaps."""
    new = np.empty(len(people), np.int64)
    used = 0
    for g in range(len(people)):
        new[g] = used
        if people[g] > 0:
            used += 1
    for i in range(len(member)):
        group[i] = used if group[i] < 0 else new[group[i]]
    return used + (1 if rest > 0 else 0)


@kernel
def borrow(shapes, tuples, member, group, people, rest, k):
    """Move single tuples to the rest, nearest first, until it has k people; returns its people."""
    words = tuples.span.shape[1]
    whole, both = np.empty(words, np.int64), np.empty(words, np.int64)
    rows = np.int64(0)
    for i in range(len(member)):
        if group[i] == REST:
            if rows == 0:
                copy(tuples.span[member[i]], whole)
            widen(shapes, whole, tuples.span[member[i]])
            rows += tuples.size[member[i]]
    own = keeps_all(shapes, whole)
    cost = np.empty(len(member), np.int64)
    for i in range(len(member)):
        cost[i] = 0
        if group[i] != REST:
            t = member[i]
            copy(whole, both)
            widen(shapes, both, tuples.span[t])
            kept = keeps_all(shapes, both)
            cost[i] = rows * (own - kept) + tuples.size[t] * (
                keeps_all(shapes, tuples.span[t]) - kept
            )
    for i in np.argsort(cost, kind="mergesort"):
        if rest >= k:
            break
        g, many = group[i], tuples.people[member[i]]
        if g != REST and people[g] - many >= k:
            people[g] -= many
            rest += many
            group[i] = REST
    return rest


@kernel
def line(shapes, tuples, j, member, group, k, relaxed, seen, number, stamp):
    """Cut a line of values where the smaller side has most people; returns the number of parts.

    Numbers are in their order, values of a set by their number of people, most first. Equal values
    stay together, unless the cut is relaxed.
    """
    at, start = shapes.at[j], shapes.start[j]
    m = len(member)
    value = np.empty(m, np.int64)
    for i in range(m):
        span = tuples.span[member[i]]
        value[i] = span[at] if shapes.kind[j] == RANGE else lowest_bit(span, at, shapes.at[j + 1])
    if shapes.kind[j] == SET:
        for i in range(m):
            if seen[start + value[i]] != stamp:
                seen[start + value[i]], number[start + value[i]] = stamp, 0
            number[start + value[i]] += tuples.people[member[i]]
        size = shapes.start[j + 1] - start
        for i in range(m):  # more people first, then the lower value
            value[i] += size * (-number[start + value[i]])
    order = np.argsort(value, kind="mergesort")
    total = np.int64(0)
    for i in range(m):
        total += tuples.people[member[i]]
    cut, best, before = 0, np.int64(0), np.int64(0)
    for place in range(1, m):
        before += tuples.people[member[order[place - 1]]]
        if relaxed or value[order[place]] != value[order[place - 1]]:
            fewer = min(before, total - before)
            if fewer > best:
                cut, best = place, fewer
    if best < k:
        return 0
    for place in range(m):
        group[order[place]] = 0 if place < cut else 1
    return 2


@kernel
def gain_of(shapes, tuples, member, group, count, whole_keeps):
    """How much less is lost if every part gets the least span that covers it."""
    words = tuples.span.shape[1]
    spans = np.empty((count, words), np.int64)
    rows = np.zeros(count, np.int64)
    for i in range(len(member)):
        g, t = group[i], member[i]
        if rows[g] == 0:
            copy(tuples.span[t], spans[g])
        else:
            widen(shapes, spans[g], tuples.span[t])
        rows[g] += tuples.size[t]
    gain = np.int64(0)
    for g in range(count):
        gain += rows[g] * (keeps_all(shapes, spans[g]) - whole_keeps)
    return gain


@kernel
def propose(shapes, tuples, member, parts, group, k, relaxed, seen, number, stamp, first, stop):
    """Find the cut with the lowest loss for each part from `first` to `stop`.

    Every part of a cut has k people. `group` is int64[tuples], by places in `member`. `seen` and
    `number` are scratch space, int64[nodes], `stamp` int64[1].
    """
    q, words = len(shapes.kind), tuples.span.shape[1]
    whole = np.empty(words, np.int64)
    for p in range(first, stop):
        lo, hi = parts.begin[p], parts.stop[p]
        inside, best_group = member[lo:hi], group[lo:hi]
        parts.groups[p], parts.kind[p], parts.column[p] = 0, NO_CUT, -1
        copy(tuples.span[inside[0]], whole)
        people = np.int64(0)
        for i in range(hi - lo):
            widen(shapes, whole, tuples.span[inside[i]])
            people += tuples.people[inside[i]]
        if people < 2 * k:
            continue
        kept = keeps_all(shapes, whole)
        best = np.int64(-1)
        trial = np.empty(hi - lo, np.int64)
        for j in range(q):
            if parts.refused[p, j]:
                continue
            at = shapes.at[j]
            if shapes.kind[j] == SET:
                special = (whole[at] & 1) == 1
                count = np.int64(0)
                for w in range(at, shapes.at[j + 1]):
                    count += bits(whole[w])
                several = count > 1
            else:
                several = whole[at] != whole[at + 1]
                special = whole[at] == 0 or whole[at + 1] > tuples.last[j]
            if not several:
                continue
            along = shapes.kind[j] == TREE or special
            # With relaxed cuts, a cut between different values is tried too: a cut through equal
            # values leaves them on both sides, and often loses more.
            for loose in range(1 + (relaxed and not along)):
                stamp[0] += 1
                if along:
                    count = branches(
                        shapes, tuples, j, whole, inside, trial, seen, number, stamp[0]
                    )
                    count = merge_small_branches(shapes, tuples, inside, trial, count, k, relaxed)
                else:
                    count = line(
                        shapes, tuples, j, inside, trial, k, loose == 1, seen, number, stamp[0]
                    )
                if count < 2:
                    continue
                gain = gain_of(shapes, tuples, inside, trial, count, kept)
                if gain > best:
                    best = gain
                    copy(trial, best_group)
                    parts.groups[p], parts.column[p] = count, j
                    parts.kind[p] = BRANCHES if along else LINE


@kernel
def regroup(tuples, member, parts, group, p, passes):
    """Merge the groups of a cut that fail, or a single one with the smallest that passes.

    `passes` is bool[groups]. Returns the number of groups.
    """
    lo, hi, count = parts.begin[p], parts.stop[p], parts.groups[p]
    people = np.zeros(count, np.int64)
    for i in range(lo, hi):
        people[group[i]] += tuples.people[member[i]]
    fails = 0
    for g in range(count):
        fails += 0 if passes[g] else 1
    small = np.int64(-1)
    if fails == 1:
        for g in range(count):
            if passes[g] and (small < 0 or people[g] < people[small]):
                small = np.int64(g)
    rest = np.int64(0)
    for g in range(count):
        if g == small or not passes[g]:
            rest += people[g]
            people[g] = 0
    for i in range(lo, hi):
        if people[group[i]] == 0:
            group[i] = REST
    parts.groups[p] = renumber(member[lo:hi], group[lo:hi], people, rest)
    return parts.groups[p]


@kernel
def sort_by_group(member, begin, stop, group, groups):
    """Sort the members of a part by group, stable; returns where the groups begin."""
    at = np.zeros(groups + 1, np.int64)
    for i in range(begin, stop):
        at[group[i] + 1] += 1
    for g in range(groups):
        at[g + 1] += at[g]
    first = at.copy()
    sorted_members = np.empty(stop - begin, np.int64)
    for i in range(begin, stop):
        sorted_members[at[group[i]]] = member[i]
        at[group[i]] += 1
    copy(sorted_members, member[begin:stop])
    return begin + first


@kernel
def apply_cuts(member, parts, group, chosen, total):
    """Cut the chosen parts; returns where the new ones begin and stop, int64[total] each."""
    begin, stop = np.empty(total, np.int64), np.empty(total, np.int64)
    used = 0
    for p in chosen:
        first = sort_by_group(member, parts.begin[p], parts.stop[p], group, parts.groups[p])
        for g in range(parts.groups[p]):
            begin[used], stop[used] = first[g], first[g + 1]
            used += 1
    return begin, stop


@kernel
def closures(shapes, tuples, member, begin, stop):
    """The least span that covers each part, int64[parts, words]."""
    spans = np.empty((len(begin), tuples.span.shape[1]), np.int64)
    for p in range(len(begin)):
        copy(tuples.span[member[begin[p]]], spans[p])
        for i in range(begin[p] + 1, stop[p]):
            widen(shapes, spans[p], tuples.span[member[i]])
    return spans
