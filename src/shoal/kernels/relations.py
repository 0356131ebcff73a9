"""Which values of one column, or of two, go with which values of others, the leaves.

Rows are in the order of their values, those of value v from start[v] to start[v + 1] - 1. If `sub`
is not empty, it divides them further, into rows with the same `sub`. Row i has the leaf
leaf[place[i], j] of the quasi-identifier j. The leaves of j are numbered from bounds[j] to
bounds[j + 1] - 1, and bounds[-1] is one that is not known. Rows of one place, or of one person, are
adjacent within a value; `person` and `weight` may be empty. `size` has the people of each leaf,
`ranked` the leaves of each quasi-identifier, those of most people first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels import lean_kernel
from shoal.kernels.chance import alone_by_chance, band_of, greatest_surprise, surprise


class Covered(NamedTuple):
    """The leaves of published values."""

    low: Any  # int32[values], the first leaf
    high: Any  # int32[values], after the last leaf
    start: Any  # int64[values], where the leaves begin in `leaf`
    stop: Any  # int64[values], where they end; at the same place: all between low and high
    leaf: Any  # int32[…], rising for each value


@lean_kernel
def find_leaf(leaf, begin, end, low):
    """The place of the first leaf that is not below `low`."""
    while begin < end:
        middle = (begin + end) // 2
        if leaf[middle] < low:
            begin = middle + 1
        else:
            end = middle
    return begin


@lean_kernel
def value_order(codes, start, order):
    """Put rows into the order of their codes (from -1 on); those with equal codes stay in order.

    `start`, int64[values + 2], and `order`, of all rows, are written.
    """
    start[:] = 0
    for i in range(len(codes)):
        start[codes[i] + 2] += 1
    for v in range(1, len(start)):
        start[v] += start[v - 1]
    # Now value v ends where start[v + 1] says; it is moved to its begin while rows are placed.
    for i in range(len(codes)):
        v = codes[i] + 1
        order[start[v]] = i
        start[v] += 1
    for v in range(len(start) - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0


@lean_kernel
def divide(codes, other, rows, place, at, sub_out, place_out):
    """Put rows into the order of their codes; at[code + 1] is the next place of each code.

    `rows` are the rows in the order of another column, with their places. Its values and the places
    are written in the new order.
    """
    for i in range(len(rows)):
        code = codes[rows[i]] + 1
        to = at[code]
        at[code] = to + 1
        sub_out[to], place_out[to] = other[rows[i]], place[i]


@lean_kernel
def end_of_value(sub, i, stop):
    """Where the rows of a value end, which begin with i: up to `stop`, or where `sub` changes."""
    if len(sub) == 0:
        return stop
    one = sub[i]
    i += 1
    while i < stop and sub[i] == one:
        i += 1
    return i


@lean_kernel
def count_once(start, lo, hi, sub, place, values):
    """Count how many values of lo to hi occur at each place; `values`, int64[places].

    Rows of a value and a place are adjacent.
    """
    for v in range(lo, hi):
        i = start[v]
        while i < start[v + 1]:
            stop, last = end_of_value(sub, i, start[v + 1]), -1
            while i < stop:
                if place[i] != last:
                    last = place[i]
                    values[last] += 1
                i += 1


@lean_kernel
def add_at_places(leaf, values, size):
    """Add the number of values at each place to the size of its leaves."""
    for p in range(len(leaf)):
        for j in range(leaf.shape[1]):
            size[leaf[p, j]] += values[p]


@lean_kernel
def list_counted(many, bounds, seen, leaves, people):
    """List the leaves that anybody has, many[leaf], and add these people per quasi-identifier."""
    for j in range(len(leaves)):
        leaves[j] = people[j] = 0
        for x in range(bounds[j], bounds[j + 1]):
            if many[x] > 0:
                seen[bounds[j] + leaves[j]] = x
                leaves[j] += 1
                people[j] += many[x]


@lean_kernel
def count_many(begin, stop, place, once, leaf, bounds, weight, count, seen, leaves, people):
    """The same as `count_rows` for many rows: without a branch that depends on their leaves."""
    for i in range(begin, stop):
        if once and i > begin and place[i] == place[i - 1]:
            continue
        w = weight[i] if len(weight) > 0 else 1
        for j in range(leaf.shape[1]):
            count[leaf[place[i], j]] += w
    count[bounds[-1]] = 0
    list_counted(count, bounds, seen, leaves, people)


@lean_kernel
def count_rows(
    begin, stop, place, once, leaf, bounds, person, weight, count, last, seen, leaves, people
):  # fmt: skip
    """Count the people of one value per leaf of all quasi-identifiers.

    `leaves` and `people`, int64[q], are written; `seen` gets the leaves of each from its bound on.
    Rows of a place are counted once, if `once`; those of a person once per leaf.
    """
    if len(person) == 0 and stop - begin > bounds[-1] // 4:
        count_many(begin, stop, place, once, leaf, bounds, weight, count, seen, leaves, people)
        return
    for j in range(leaf.shape[1]):
        leaves[j] = people[j] = 0
    for i in range(begin, stop):
        p = place[i]
        if once and i > begin and p == place[i - 1]:
            continue
        w = weight[i] if len(weight) > 0 else 1
        for j in range(leaf.shape[1]):
            x = leaf[p, j]
            if x == bounds[-1]:
                continue
            if count[x] == 0:
                seen[bounds[j] + leaves[j]] = x
                leaves[j] += 1
            elif len(person) > 0 and last[x] == person[i]:
                continue
            if len(person) > 0:
                last[x] = person[i]
            count[x] += w
            people[j] += w


@lean_kernel
def add_sizes(
    start, lo, hi, sub, place, once, leaf, bounds, person, weight, count, last, seen, leaves,
    people, size,
):  # fmt: skip
    """Add the people of each leaf to `size`, for values lo to hi; each counts once per value."""
    for v in range(lo, hi):
        i = start[v]
        while i < start[v + 1]:
            stop = end_of_value(sub, i, start[v + 1])
            count_rows(
                i, stop, place, once, leaf, bounds, person, weight, count, last, seen, leaves,
                people,
            )  # fmt: skip
            i = stop
            for j in range(leaf.shape[1]):
                for s in range(bounds[j], bounds[j] + leaves[j]):
                    size[seen[s]] += count[seen[s]]
                    count[seen[s]] = 0


@lean_kernel
def judge(
    people, leaves, count, seen, bounds, size, ranked, total, sizes, often, ends, rare, least,
    many, alone, single, expected, tests,
):  # fmt: skip
    """Add what a value of so many people says about all quasi-identifiers, and clear its counts."""
    for j in range(len(people)):
        n, first = people[j], bounds[j]
        pairs = ends[j, 0] if n >= least else 0  # at the most
        for r in range(first, first + pairs):
            x = ranked[r]
            chance = n * size[x] / total[j]
            if chance < least:
                break
            tests[j, 0] += 1
            if count[x] <= rare * chance + 1e-9:
                tests[j, 1] = max(tests[j, 1], chance)
        known, lone = 0, 0
        for s in range(first, first + leaves[j]):
            x = seen[s]
            known += size[x]
            lone += count[x] == 1
            count[x] = 0
        if n < 2:
            continue
        if lone <= rare * n + 1e-9:  # otherwise there is none
            most = greatest_surprise(n, known, total[j])
            if most > tests[j, 2]:  # hardly ever: the greatest one is soon found
                found = surprise(n, leaves[j], known, lone, ends[j, 0], total[j], rare)
                tests[j, 2] = max(tests[j, 2], found)
        if n < many.shape[1]:  # what is expected of as many is computed once, at the end
            many[j, n] += 1
            alone[j, n] += lone
            continue
        tests[j, 0] += 1
        band = band_of(n)
        single[j, band] += lone
        expected[j, band] += alone_by_chance(n, total[j], sizes, often, first, first + ends[j, 1])


@lean_kernel
def weigh_values(
    start, lo, hi, sub, place, once, leaf, bounds, person, weight, count, last, seen, leaves,
    people, size, ranked, total, sizes, often, ends, rare, least, many, alone, single, expected,
    tests,
):  # fmt: skip
    """How surprising it is which leaves go with values lo to hi, for all quasi-identifiers.

    Adds to single[j, band] the people with a leaf that no other one with their value has, and to
    expected[j, band] how many that would be by chance, for values of two people or more. Adds to
    tests[j, 0] the number of tests of a value, or of a pair of value and leaf that by chance
    `least` people would have. Sets tests[j, 1] to the most people expected of a pair that is rare:
    of which there are only a share `rare`; and tests[j, 2] to the greatest surprise of a value.
    Values of few people, for which many[j] has a place, are added by `weigh_small`.

    `ranked` has the leaves of j from bounds[j] on, ends[j, 0] of them with people, and `sizes`
    their different sizes, ends[j, 1] of them.
    """
    for v in range(lo, hi):
        i = start[v]
        while i < start[v + 1]:
            stop = end_of_value(sub, i, start[v + 1])
            if once and place[stop - 1] == place[i]:  # one unit shows nothing
                i = stop
                continue
            count_rows(
                i, stop, place, once, leaf, bounds, person, weight, count, last, seen, leaves,
                people,
            )  # fmt: skip
            i = stop
            judge(
                people, leaves, count, seen, bounds, size, ranked, total, sizes, often, ends, rare,
                least, many, alone, single, expected, tests,
            )  # fmt: skip


@lean_kernel
def weigh_small(bounds, total, sizes, often, ends, many, alone, single, expected, tests):
    """Add the values of few people: many[j, n] of n people, of whom alone[j, n] are alone."""
    for j in range(len(many)):
        for n in range(2, many.shape[1]):
            if many[j, n] > 0:
                band = band_of(n)
                by_chance = alone_by_chance(
                    n, total[j], sizes, often, bounds[j], bounds[j] + ends[j, 1]
                )
                tests[j, 0] += many[j, n]
                single[j, band] += alone[j, n]
                expected[j, band] += many[j, n] * by_chance


@lean_kernel
def count_pairs(first, second, width, begin, stop, place, leaf, before, table):
    """Count the leaves of each pair of values, once per place; rows are in the order of places.

    A pair is the code of `first` times `width` and that of `second`, each from -1 on. table[pair,
    leaf] is written, and before[pair]: the last place where the pair was seen.
    """
    for i in range(begin, stop):
        p = place[i]
        v = (first[i] + 1) * width + second[i] + 1
        if before[v] == p:
            continue
        before[v] = p
        for j in range(leaf.shape[1]):
            table[v, leaf[p, j]] += 1


@lean_kernel
def weigh_pairs(
    table, count, seen, leaves, people, bounds, size, ranked, total, sizes, often, ends, rare,
    least, many, alone, single, expected, tests,
):  # fmt: skip
    """The same as `weigh_values`, for pairs of values whose leaves are counted in a table."""
    for v in range(len(table)):
        for x in range(bounds[-1]):
            count[x] = table[v, x]
        list_counted(count, bounds, seen, leaves, people)
        judge(
            people, leaves, count, seen, bounds, size, ranked, total, sizes, often, ends, rare,
            least, many, alone, single, expected, tests,
        )  # fmt: skip


@lean_kernel
def list_values(
    start, lo, hi, place, once, leaf, bounds, person, weight, count, last, seen, leaves, people,
    size, ranked, total, rare, least, needed, fewest, trusted, kind, stop, listed, used,
):  # fmt: skip
    """What values lo to hi say about one quasi-identifier; returns how many leaves are listed then.

    kind[v] is 1 if the leaf is one of those listed for v, 2 if it is none of them, 0 if nothing is
    known. Those of v end at stop[v], where those of v + 1 begin. Leaves that nobody with the value
    has are ruled out where its band is `trusted`, bool[bands], or its surprise is as great as
    needed, unless people with the value have all leaves. Pairs that `least` people would have by
    chance are ruled out if they are rare. Values of fewer than `fewest` people say nothing.
    """
    for v in range(lo, hi):
        count_rows(
            start[v], start[v + 1], place, once, leaf, bounds, person, weight, count, last, seen,
            leaves, people,
        )  # fmt: skip
        kind[v] = 0
        if people[0] > 0 and people[0] >= fewest:
            known, single = 0, 0
            for s in range(leaves[0]):
                known += size[seen[s]]
                single += count[seen[s]] == 1
            found = surprise(people[0], leaves[0], known, single, len(ranked), total, rare)
            if (trusted[band_of(people[0])] and known < total) or found >= needed:
                kind[v] = 1
                for s in range(leaves[0]):
                    x = seen[s]
                    chance = people[0] * size[x] / total
                    if chance < least or count[x] > rare * chance + 1e-9:
                        listed[used] = x
                        used += 1
            else:
                for r in range(len(ranked)):
                    x = ranked[r]
                    chance = people[0] * size[x] / total
                    if chance < least:
                        break
                    if count[x] <= rare * chance + 1e-9:
                        kind[v] = 2
                        listed[used] = x
                        used += 1
        stop[v] = used
        for s in range(leaves[0]):
            count[seen[s]] = 0
    return used
