"""The k-member algorithm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.algorithms._shared.boxes import run_boxes
from shoal.algorithms._shared.pool import Pool, Pooled
from shoal.base.arrays import Longs
from shoal.kernels.grouping import pool as kernels
from shoal.kernels.search import box_index as nearest


class KMember(Pooled):
    """Fills one cluster of k people after the other (Byun et al. 2007).

    A cluster begins with the person farthest from the one added last (for the first cluster, from
    a random person). It adds the person who increases its loss least, until it has k. The remaining
    people join the cluster whose loss increases least. The loss of a cluster is that of all its
    records; the distance of two people is the loss of both when they are merged. Among equals, the
    person with the first record wins. Clusters with the same closure are merged before the
    remaining people are assigned.
    """

    name: ClassVar[str] = "k-member"
    random_choices: ClassVar[bool] = True
    pace: ClassVar[float] = 0.4

    def gather(self, pool: Pool, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit."""
        n, space = len(pool.units), pool.space
        boxes = space.found(pool.own, pool.units.size, pool.units.first)
        label = np.full(n, -1)
        state = np.array([int(rng.integers(n)), 0, 0, 0])
        box = np.zeros(pool.own.shape[1], np.int64)

        def step(index: nearest.Index, pieces: int) -> int:
            outcome: int = kernels.k_member(
                space.shapes, index, boxes, label, box, state, pool.k, pieces
            )
            return outcome

        def report() -> None:
            pool.progress("filling clusters", min(1.0, int(state[1] * pool.k + state[2]) / n))

        run_boxes(space, boxes, np.arange(n), step, report)
        return pool.with_the_rest(label)
