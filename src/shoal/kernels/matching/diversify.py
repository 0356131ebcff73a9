"""Diversity of the sensitive values among a person's matches (Algorithm 7, Tassa 2012)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.matching.components import component
from shoal.kernels.matching.conceal import widen
from shoal.kernels.matching.group_search import covering, covers, widened
from shoal.kernels.search.class_index import NO_COST
from shoal.kernels.search.tuple_index import nearest_many


class Wanted(NamedTuple):
    """The requirements on the sensitive values of a person's matches."""

    secret: np.ndarray  # int32[n], the value of each record
    distinct: int  # minimum number of distinct values (p-sensitivity); 0: any
    diversity: float  # the most frequent value has at most the share 1 / diversity; 0: any
    tally: np.ndarray  # int64[values], scratch


@lean_kernel
def values_of_matches(classes, groups, original, graph, u, found, many, wanted):
    """Values of the matches of original u: distinct ones, the highest count, the total."""
    wanted.tally[:] = 0
    mine = component(graph, u)
    distinct, top, total = 0, np.int64(0), np.int64(0)
    for f in range(many):
        r = groups.head[found[f]]
        if component(graph, original[r]) != mine:
            continue
        total += classes.size[found[f]]
        while r >= 0:
            value = wanted.secret[r]
            if wanted.tally[value] == 0:
                distinct += 1
            wanted.tally[value] += 1
            top = max(top, wanted.tally[value])
            r = groups.next[r]
    return distinct, top, total


@kernel
def best_partner(
    trees, classes, groups, tuples, original, graph, i, wanted, few, top, start, records, stack
):  # fmt: skip
    """The cheapest record to turn into a match of record i that improves its diversity.

    Step 5 of Algorithm 7. If there are too `few` distinct values, a new value helps; otherwise one
    that is less frequent than the most frequent. Records are visited by the cost of covering them,
    which is a part of the total cost and so a lower bound.
    """
    u = original[i]
    row, mine = tuples.vector[u], classes.vector[groups.of[i]]
    home = component(graph, u)
    n, size = len(original), np.int64(64)
    while True:
        heap = np.empty((min(size, n) + 1, 3), np.int64)
        many = nearest_many(tuples, trees, mine, min(size, n), stack, heap)
        best, best_cost = np.int64(-1), NO_COST
        complete = size >= n
        for h in range(many):
            if heap[h, 0] > best_cost:
                complete = True
                break
            v = heap[h, 2]
            for place in range(start[v], start[v + 1]):
                r = records[place]
                held = wanted.tally[wanted.secret[r]]
                if held > 0 if few else held >= top:
                    continue
                vector = classes.vector[groups.of[r]]
                if component(graph, v) == home and covers(trees, vector, row):
                    continue  # already a match
                cost = heap[h, 0] + widened(trees, vector, row)
                if cost < best_cost or (cost == best_cost and r < best):
                    best, best_cost = r, cost
        if complete:
            return best
        size *= 4


@kernel
def diversify(
    index, trees, classes, groups, tuples, original, graph, edges, order, wanted,
    start, records, fan, stack,
):  # fmt: skip
    """Algorithm 7, for p-sensitivity and for l-diversity, for the records in `order`.

    Also returns the number of new matches.
    """
    near = np.empty(len(classes.size), np.int64)
    inside = np.empty(len(tuples.size), np.int64)
    made = 0
    for i in order:
        u = original[i]  # even if an equal original was checked: later changes may matter
        row = tuples.vector[u]
        while True:
            many = covering(index, trees, classes, row, stack, near)
            distinct, top, total = values_of_matches(
                classes, groups, original, graph, u, near, many, wanted
            )
            few = distinct < wanted.distinct
            if not few and total * (1 + 1e-9) >= wanted.diversity * top:
                break
            j = best_partner(
                trees, classes, groups, tuples, original, graph, i, wanted, few, top, start,
                records, stack,
            )  # fmt: skip
            if j < 0:
                break  # all records that could help are matches
            made += 1
            index, edges = widen(
                index, trees, classes, groups, tuples, original, graph, edges, j, row, fan,
                stack, inside,
            )  # fmt: skip
            index, edges = widen(
                index, trees, classes, groups, tuples, original, graph, edges, i,
                tuples.vector[original[j]], fan, stack, inside,
            )  # fmt: skip
    return index, edges, made
