"""How often each value occurs in each class."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel


@kernel
def count_values(label, code, weight, groups, values):
    """Count the values (int32[n], 0 and up) of each group, values in ascending order.

    Record i counts `weight[i]` times; without weights (length 0) once. Returns
    start int64[groups + 1], value int32[pairs], count int64[pairs]: the values of group g are
    value[start[g]:start[g + 1]].
    """
    n, weighted = len(label), len(weight) > 0
    # Two counting sorts, by value and then by group, leave the rows of a group sorted by value.
    place = np.zeros(values + 1, np.int64)
    for i in range(n):
        place[code[i] + 1] += 1
    for v in range(values):
        place[v + 1] += place[v]
    by_value = np.empty(n, np.int64)
    for i in range(n):
        by_value[place[code[i]]] = i
        place[code[i]] += 1
    start = np.zeros(groups + 1, np.int64)
    for i in range(n):
        start[label[i] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    at = start[:groups].copy()
    rows = np.empty(n, np.int64)
    for i in by_value:
        rows[at[label[i]]] = i
        at[label[i]] += 1
    value = np.empty(n, np.int32)
    count = np.empty(n, np.int64)
    first = np.zeros(groups + 1, np.int64)
    used = 0
    for g in range(groups):
        first[g] = used
        for k in range(start[g], start[g + 1]):
            v = code[rows[k]]
            if used == first[g] or value[used - 1] != v:
                value[used] = v
                count[used] = 0
                used += 1
            count[used - 1] += weight[rows[k]] if weighted else 1
    first[groups] = used
    return first, value[:used].copy(), count[:used].copy()


@kernel
def sum_groups(start, group, first, value, count, values):
    """Sum the histograms of groups: owner o has the groups group[start[o]:start[o + 1]].

    Group g has value[first[g]:first[g + 1]] with their counts. Returns the same three arrays for
    the owners, as `count_values` does.
    """
    owners = len(start) - 1
    begin = np.zeros(owners + 1, np.int64)
    total = np.zeros(values, np.int64)
    seen = np.empty(values, np.int64)
    room = 1024
    out_value, out_count = np.empty(room, np.int32), np.empty(room, np.int64)
    used = 0
    for o in range(owners):
        many = 0
        for e in range(start[o], start[o + 1]):
            g = group[e]
            for i in range(first[g], first[g + 1]):
                v = value[i]
                if total[v] == 0:
                    seen[many] = v
                    many += 1
                total[v] += count[i]
        if used + many > room:
            room = 2 * (used + many)
            wider, longer = np.empty(room, np.int32), np.empty(room, np.int64)
            for i in range(used):
                wider[i], longer[i] = out_value[i], out_count[i]
            out_value, out_count = wider, longer
        for v in np.sort(seen[:many]):
            out_value[used], out_count[used] = v, total[v]
            total[v] = 0
            used += 1
        begin[o + 1] = used
    return begin, out_value[:used].copy(), out_count[:used].copy()


@kernel
def sum_trials(a, b, minus, plus, of_group, of_tuple, values):
    """Sum the histograms of group a and group b, without one tuple and with another one.

    Each is -1 if there is none; `of_group` and `of_tuple` have three arrays each, as `sum_groups`
    returns them. Returns the same for the trials.
    """
    trials = len(a)
    begin = np.zeros(trials + 1, np.int64)
    total = np.zeros(values, np.int64)
    last = np.full(values, -1, np.int64)  # the last trial that a value occurred in
    every = np.arange(values)
    seen = np.empty(values, np.int64)
    room = 1024
    out_value, out_count = np.empty(room, np.int32), np.empty(room, np.int64)
    used = 0
    for t in range(trials):
        many = 0
        for which in range(4):
            known = of_group if which < 2 else of_tuple
            g = (a[t], b[t], plus[t], minus[t])[which]
            if g < 0:
                continue
            sign = -1 if which == 3 else 1
            for i in range(known[0][g], known[0][g + 1]):
                v = known[1][i]
                if last[v] != t:
                    last[v] = t
                    total[v] = 0
                    seen[many] = v
                    many += 1
                total[v] += sign * known[2][i]
        if used + many > room:
            room = 2 * (used + many)
            wider, longer = np.empty(room, np.int32), np.empty(room, np.int64)
            for i in range(used):
                wider[i], longer[i] = out_value[i], out_count[i]
            out_value, out_count = wider, longer
        # If most values occur, going through all of them is faster than sorting those that do.
        for v in np.sort(seen[:many]) if 8 * many < values else every:
            if last[v] == t and total[v] > 0:
                out_value[used], out_count[used] = v, total[v]
                used += 1
        begin[t + 1] = used
    return begin, out_value[:used].copy(), out_count[:used].copy()
