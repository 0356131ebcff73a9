"""The agglomerative algorithm."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms._shared.boxes import Space, run_boxes
from shoal.algorithms._shared.clusters import ClusteringProblem, FreeClustering, Units, closures
from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.pool import join_rest
from shoal.base.arrays import Bools, Longs
from shoal.base.progress import Progress
from shoal.kernels.grouping import box_merge
from shoal.kernels.grouping import clusters as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import box_index as nearest
from shoal.kernels.search import class_index as trie
from shoal.table.equivalence_classes import Classes, tally


class Agglomerative(FreeClustering):
    """Repeatedly merges the two closest clusters (Gionis, Mazza, Tassa 2008).

    Equal records start in one cluster. A cluster with k people is set aside. The people of the
    clusters that remain at the end go, one by one, to the nearest cluster that was set aside. The
    distance of two clusters is the loss that merging them adds, where each side counts `size`
    times or once (`unit`). Among equally close pairs, the pair with the earliest record wins, then
    the pair whose other cluster starts earlier. Clusters with the same closure become one.
    """

    name: ClassVar[str] = "agglomerative"
    pace: ClassVar[float] = 0.2
    free_pace: ClassVar[float] = 20.0
    weight: Literal["size", "unit"] = Field(
        default="size",
        description="whether the cost of a cluster is multiplied by its size, or counts once",
    )

    def free_clusters(
        self,
        space: Space,
        units: Units,
        k: int,
        rng: np.random.Generator,  # noqa: ARG002 (not random)
        progress: Progress,
    ) -> Longs:
        """The closure of the cluster of each unit, as boxes, int64[units, words]."""
        by_size = self.weight == "size"
        start = tally(units.vector)
        n = len(start)
        own = space.boxes(units.vector, space.table.covers)
        rows = np.bincount(start.label, units.size, n).astype(np.int64)
        boxes = space.found(
            np.concatenate([own[start.first], np.zeros((n, own.shape[1]), np.int64)]),
            _twice(rows if by_size else np.ones(n, np.int64)),
            _twice(units.first[start.first]),
        )
        small = np.concatenate([start.size < k, np.zeros(n, np.bool_)])
        state = kernels.Agglomeration(
            into=np.arange(2 * n),
            people=_twice(start.size),
            near=np.full(2 * n, -1, np.int64),
            heap=np.empty((2 * n + 1, 4), np.int64),
            counts=np.array([0, n, int(small.sum()), 0], np.int64),
        )

        def step(index: nearest.Index, pieces: int) -> int:
            outcome: int = box_merge.agglomerate(
                space.shapes, index, boxes, state, small, k, by_size, pieces
            )
            return outcome

        def report() -> None:
            left = int(state.counts[2]) / n if state.counts[3] == n else 1.0
            begun = int(state.counts[3]) / n
            progress("joining clusters", min(1.0, 0.5 * begun + 0.5 * (1 - left)))

        run_boxes(space, boxes, np.flatnonzero(small), step, report)
        label = survivors(state.into)[:n][start.label]
        if not small[label].any():
            return np.asarray(boxes.box[label])
        # The remaining units join the clusters that were set aside, one by one.
        left = np.flatnonzero(small[label])
        aside, number = np.unique(label[~small[label]], return_inverse=True)
        into, closed = join_rest(
            space, boxes.box[aside], boxes.size[aside], boxes.first[aside], own[left],
            units.size[left], units.first[left], by_size, progress,
        )  # fmt: skip
        whole = np.empty(len(label), np.int64)
        whole[~small[label]], whole[left] = into[: len(aside)][number], into[len(aside) :]
        return closed[whole]

    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:  # noqa: ARG002 (not random)
        """Number the cluster of each unit."""
        start = tally(problem.units.vector)  # sizes are units here
        rows = np.bincount(start.label, problem.units.size, len(start)).astype(np.int64)
        first = problem.units.first[start.first]
        into, aside = self._agglomerate(problem, start, rows, first)
        label = into[start.label]
        if not aside[label].all():
            label = self._spread(problem, label, aside)
        return label

    def _agglomerate(
        self, problem: ClusteringProblem, start: Classes, rows: Longs, first: Longs
    ) -> tuple[Longs, Bools]:
        """The final cluster of each initial cluster, and which clusters were set aside."""
        n, q = len(start), len(problem.costs)
        vector = np.empty((2 * n, q), np.int32)
        vector[:n] = problem.layout.arranged(problem.units.vector[start.first])
        classes = trie.IndexedClasses(
            vector, _twice(rows), _twice(first), np.zeros(2 * n, np.bool_)
        )
        state = kernels.Agglomeration(
            into=np.arange(2 * n),
            people=_twice(start.size),
            near=np.full(2 * n, -1, np.int64),
            heap=np.empty((2 * n + 1, 4), np.int64),
            counts=np.array([0, n, 0, 0], np.int64),
        )
        work, fan = make_work(problem.trees), fan_of(problem.trees)

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.agglomerate(
                index,
                problem.trees,
                classes,
                state,
                work,
                problem.k,
                self.weight == "size",
                fan,
                pieces,
            )
            return outcome

        def report() -> None:
            begun = int(state.counts[3]) / (2 * n)  # the first half of the work is the start
            left = int(state.counts[2]) / n if begun == 1 else 1.0
            problem.progress("joining clusters", min(1.0, 0.5 * begun + 0.5 * (1 - left)))

        run(step, make_index(2 * n, problem.trees), problem.trees, report)
        used = int(state.counts[1])
        return survivors(state.into)[:n], ~classes.fails[:used]

    def _spread(self, problem: ClusteringProblem, label: Longs, aside: Bools) -> Longs:
        """Move the units of the remaining cluster to those that were set aside."""
        units = problem.units
        fine = aside[label]
        left = np.flatnonzero(~fine)  # in the order of first records, as all units are
        _, one, number = np.unique(label[fine], return_index=True, return_inverse=True)
        m = len(one)
        whole = closures(problem.table.trees, units.vector[fine], number)[one]
        size = np.bincount(number, units.size[fine], m).astype(np.int64)
        lines = m + len(left)
        classes = trie.IndexedClasses(
            problem.layout.arranged(np.concatenate([whole, units.vector[left]])),
            np.concatenate([size, units.size[left]]),
            np.concatenate([units.first[fine][one], units.first[left]]),
            np.zeros(lines, np.bool_),
        )
        into, done = np.arange(lines), np.zeros(1, np.int64)
        work, fan = make_work(problem.trees), fan_of(problem.trees)

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.spread(
                index,
                problem.trees,
                classes,
                into,
                m,
                work,
                self.weight == "size",
                fan,
                done,
                pieces,
            )
            return outcome

        def report() -> None:
            problem.progress("joining the rest", int(done[0]) / lines)

        run(step, make_index(lines, problem.trees), problem.trees, report)
        survivors(into)
        new = np.empty(len(units), np.int64)
        new[fine], new[left] = into[number], into[m:]
        return new


def _twice(start: Longs) -> Longs:
    """The same numbers, followed by room for as many more."""
    return np.concatenate([start, np.zeros_like(start)])
