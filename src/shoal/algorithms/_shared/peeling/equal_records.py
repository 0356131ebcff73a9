"""What classes lose because equal records stay together: a remark for the reader of a release."""

from __future__ import annotations

import numpy as np

from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.base.arrays import Longs

MUCH = 0.1  # of the loss
DIVIDING = "k-member, mdav and sequential"  # they may publish equal records differently


def note_equal_records(problem: PeelingProblem, label: Longs) -> None:
    """Add a note if much is lost by equal records in a class with fewer than k others.

    The class needs only so many of the equal records that it has k people, and the rest could be a
    class of their own. But equal records are counted, so that a table of any size can be grouped
    first, and then they are published alike. Nothing is said of people with several records.
    """
    start, k = problem.start, problem.k
    if not np.array_equal(start.size, start.people):
        return
    wide = closures(problem.table.trees, problem.start_vector, label)
    loses = np.sum(
        [
            cost[own] - cost[published]
            for cost, own, published in zip(
                problem.costs, problem.start_vector.T, wide.T, strict=True
            )
        ],
        axis=0,
    )
    rows = np.bincount(label, start.size, len(label))[label].astype(np.int64)
    free = start.size - np.maximum(k - (rows - start.size), 0)
    free[free < k] = 0
    best = np.lexsort((free * loses, label))  # of each class the last one: that which gains most
    best = best[np.append(label[best][1:] != label[best][:-1], True)]
    best = best[free[best] * loses[best] > 0]
    gain, lost = int((free * loses)[best].sum()), int((loses * start.size).sum())
    if gain > MUCH * lost:
        problem.notes.append(
            f"peel: {int(free[best].sum()):,} records are generalized although as many others are "
            f"equal to them, because equal records are published alike and a few others need their "
            f"class; that is {gain / lost:.0%} of the loss. {DIVIDING} may publish equal records "
            "differently, and auto tries them"
        )
