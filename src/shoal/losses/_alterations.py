"""Alterations: the loss of a recoding by several metrics, before it is decoded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.base.arrays import Floats
from shoal.hierarchies.free_values import Covers
from shoal.losses import Loss, alteration, costs_of
from shoal.table.encode import Table
from shoal.table.published_table import ValueCounts
from shoal.table.recoding import Recoding

ROUNDED = 9  # digits of a percentage; smaller differences do not count


def alterations(table: Table, recoding: Recoding, losses: Sequence[Loss]) -> list[float]:
    """The loss in percent by each metric (Def. 7, Mauger 2023)."""
    codes = recoding.codes()  # int32[n, q]; suppressed records are all roots
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    after: list[Floats] = []
    for j, tree in enumerate(table.trees):
        covers = recoding.covers[j] if recoding.covers else Covers(tree)
        count = np.bincount(codes[:, j], table.weight, tree.size + len(covers)).astype(np.float64)
        after.append(ValueCounts(count[: tree.size], count[tree.size :], covers).spread())
    return [alteration(costs_of(loss, table.domains), before, after) for loss in losses]


def least_altered(table: Table, found: Sequence[Recoding], loss: Loss) -> Recoding:
    """The recoding that loses least, of several; the first of equal ones.

    Compared by the loss itself: the integer costs that guide algorithms may be rounded.
    """
    if len(found) == 1:
        return found[0]
    lost = [round(alterations(table, one, [loss])[0], ROUNDED) for one in found]
    return found[lost.index(min(lost))]
