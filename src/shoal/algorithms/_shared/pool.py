"""Algorithms that take people from a pool into clusters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.boxes import Space, different_rows, run_boxes
from shoal.algorithms._shared.clusters import ClusteringProblem, FreeClustering, Units
from shoal.base.arrays import Longs
from shoal.base.progress import Progress
from shoal.base.threads import cached_property
from shoal.kernels.grouping import box_merge
from shoal.kernels.grouping import pool as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import box_index as nearest


@dataclass(frozen=True, eq=False)
class Pool:
    """The people to cluster, as boxes."""

    space: Space
    units: Units
    k: int
    progress: Progress

    @cached_property
    def own(self) -> Longs:
        """The box of each unit, int64[units, words]."""
        return self.space.boxes(self.units.vector, self.space.table.covers)

    def closures(self, label: Longs) -> Longs:
        """The least box that covers each cluster, int64[clusters, words]."""
        whole: Longs = kernels.closures(self.space.shapes, self.own, label, int(label.max()) + 1)
        return whole

    def with_the_rest(self, label: Longs) -> Longs:
        """The same clusters, where each unit without a cluster (-1) joins the nearest."""
        left = np.flatnonzero(label < 0)
        if not len(left):
            return label
        fine = label >= 0
        m = int(label.max()) + 1
        whole = kernels.closures(self.space.shapes, self.own[fine], label[fine], m)
        size = np.bincount(label[fine], self.units.size[fine], m).astype(np.int64)
        first = np.full(m, np.iinfo(np.int64).max)
        np.minimum.at(first, label[fine], self.units.first[fine])
        into, _ = join_rest(
            self.space, whole, size, first, self.own[left], self.units.size[left],
            self.units.first[left], True, self.progress,
        )  # fmt: skip
        new = np.empty_like(label)
        new[fine], new[left] = into[label[fine]], into[m:]
        return np.unique(new, return_inverse=True)[1]


def join_rest(
    space: Space,
    whole: Longs,
    size: Longs,
    first: Longs,
    rest: Longs,
    rest_size: Longs,
    rest_first: Longs,
    by_size: bool,
    progress: Progress,
) -> tuple[Longs, Longs]:
    """Add single boxes to the nearest cluster, one by one.

    Clusters with the same closure become one. Returns the final cluster of all clusters, followed
    by those of the single boxes, and the closures of the clusters.
    """
    boxes, which = different_rows(whole)
    m = len(boxes)
    sizes = np.bincount(which, size, m).astype(np.int64) if by_size else np.ones(m, np.int64)
    firsts = np.full(m, np.iinfo(np.int64).max)
    np.minimum.at(firsts, which, first)
    joined = space.found(
        np.concatenate([boxes, rest]),
        np.concatenate([sizes, rest_size if by_size else np.ones_like(rest_size)]),
        np.concatenate([firsts, rest_first]),
    )
    into, done = np.arange(m + len(rest)), np.array([m])

    def step(index: nearest.Index, pieces: int) -> int:
        outcome: int = box_merge.spread(space.shapes, index, joined, into, done, by_size, pieces)
        return outcome

    run_boxes(
        space, joined, np.arange(m), step,
        lambda: progress("joining the rest", (int(done[0]) - m) / len(rest)),
    )  # fmt: skip
    survivors(into)
    return np.concatenate([into[:m][which], into[m:]]), np.asarray(joined.box)


class Pooled(FreeClustering):
    """A clustering algorithm that searches for people one by one: the nearest or the farthest."""

    @abstractmethod
    def gather(self, pool: Pool, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit, int64[units]."""

    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit."""
        space = Space.of(problem.table, problem.loss)
        return self.gather(Pool(space, problem.units, problem.k, problem.progress), rng)

    def free_clusters(
        self, space: Space, units: Units, k: int, rng: np.random.Generator, progress: Progress
    ) -> Longs:
        """The closure of the cluster of each unit, as boxes."""
        pool = Pool(space, units, k, progress)
        label = self.gather(pool, rng)
        return pool.closures(label)[label]
