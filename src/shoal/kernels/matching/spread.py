"""New matches for people of whom an attacker is too certain."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel
from shoal.kernels.matching.conceal import widen
from shoal.kernels.matching.diversify import best_partner


@kernel
def spread(
    index, trees, classes, groups, tuples, original, graph, edges, people, unwanted, many, wanted,
    start, records, fan, stack,
):  # fmt: skip
    """Each of these people becomes a match of so many more records, and these people of theirs.

    Two records that cover both people can be exchanged, so that neither is certain. The cheapest
    ones are chosen among those that are no match yet and do not have the `unwanted` sensitive
    value (-1: any will do). Also returns the number of new matches.
    """
    inside = np.empty(len(tuples.size), np.int64)
    made = 0
    for at in range(len(people)):
        i = people[at]
        row = tuples.vector[original[i]]
        wanted.tally[:] = 0
        if unwanted[at] >= 0:
            wanted.tally[unwanted[at]] = 1
        for _ in range(many[at]):
            j = best_partner(
                trees, classes, groups, tuples, original, graph, i, wanted, True, 0, start,
                records, stack,
            )  # fmt: skip
            if j < 0:
                break  # all records are matches
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
