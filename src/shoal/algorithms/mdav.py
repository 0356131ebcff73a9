"""MDAV."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.algorithms._shared.boxes import run_boxes
from shoal.algorithms._shared.pool import Pool, Pooled
from shoal.base.arrays import Longs
from shoal.kernels.grouping import pool as kernels
from shoal.kernels.search import box_index as nearest


class MDAV(Pooled):
    """Forms clusters of k around the most distant people (Domingo-Ferrer, Mateo-Sanz 2002).

    While 3k or more people remain, the person farthest from the centre forms a cluster with the
    k - 1 nearest people, and so does the person farthest from that one. With 2k or more people this
    is done once more, and the rest is the last cluster. On trees (as in the generic MDAV of
    Domingo-Ferrer and Torra 2005) the centre has the most frequent value of each column, for free
    ranges the median. The distance of two people is the loss of both when they are merged. Among
    equals, the person with the first record wins.
    """

    name: ClassVar[str] = "mdav"
    pace: ClassVar[float] = 0.4

    def gather(self, pool: Pool, rng: np.random.Generator) -> Longs:  # noqa: ARG002 (not random)
        """Number the cluster of each unit."""
        n, space = len(pool.units), pool.space
        boxes = space.found(pool.own, np.ones(n, np.int64), pool.units.first)
        label = np.full(n, -1)
        state = np.zeros(4, np.int64)
        box = np.zeros(pool.own.shape[1], np.int64)

        def step(index: nearest.Index, pieces: int) -> int:
            count = np.zeros(int(index.start[-1]), np.int64)
            outcome: int = kernels.mdav(
                space.shapes, index, boxes, label, count, box, state, pool.k, pieces
            )
            return outcome

        def report() -> None:
            pool.progress("filling clusters", min(1.0, int(state[0] * pool.k + state[1]) / n))

        run_boxes(space, boxes, np.arange(n), step, report)
        return np.unique(label, return_inverse=True)[1]
