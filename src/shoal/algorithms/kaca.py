"""KACA."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.algorithms._shared.boxes import run_boxes
from shoal.algorithms._shared.clusters import ClusteringProblem, Units
from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.pool import Pool, Pooled
from shoal.base.arrays import Longs
from shoal.base.progress import Progress
from shoal.kernels.grouping import pool as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import box_index as nearest
from shoal.kernels.search import class_index as trie
from shoal.table.equivalence_classes import tally


class KACA(Pooled):
    """Repeatedly merges a random class of fewer than k with the nearest (Li et al. 2006).

    The distance of two classes is the loss of all their records when they are merged; among equals,
    the class with the first record wins. `gaa` does the same, but merges the smallest class first.
    """

    name: ClassVar[str] = "kaca"
    random_choices: ClassVar[bool] = True
    pace: ClassVar[float] = 0.3

    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit; uses the index of classes if all columns have trees."""
        run_of = _Run(problem.units, problem.k, rng, problem.progress)
        start, n = run_of.start, len(run_of.start)
        classes = trie.IndexedClasses(
            problem.layout.arranged(problem.units.vector[start.first]),
            run_of.rows,
            run_of.first,
            np.zeros(n, np.bool_),
        )
        work, fan = make_work(problem.trees), fan_of(problem.trees)

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.merge_any_of_trees(
                index, problem.trees, classes, *run_of.state, work, problem.k, fan, pieces
            )
            return outcome

        def fill(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.fill_trees(
                index, problem.trees, classes, run_of.mark, fan, pieces
            )
            return outcome

        # Separately: filling is so much faster than merging that its pace would be far too high.
        index = run(fill, make_index(n, problem.trees), problem.trees, run_of.report)
        run(step, index, problem.trees, run_of.report)
        return run_of.label()

    def gather(self, pool: Pool, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit."""
        run_of = _Run(pool.units, pool.k, rng, pool.progress)
        space, start = pool.space, run_of.start
        boxes = space.found(pool.own[start.first], run_of.rows, run_of.first)

        def step(index: nearest.Index, pieces: int) -> int:
            outcome: int = kernels.merge_any(
                space.shapes, index, boxes, *run_of.state, pool.k, pieces
            )
            return outcome

        run_boxes(space, boxes, np.arange(len(start)), step, run_of.report)
        return run_of.label()


class _Run:
    """The state of a run: which classes are too small, and into which each one was merged."""

    def __init__(self, units: Units, k: int, rng: np.random.Generator, progress: Progress) -> None:
        self.start = start = tally(units.vector)  # sizes are units here
        n = len(start)
        self.rows = np.bincount(start.label, units.size, n).astype(np.int64)
        self.first = units.first[start.first]
        self.into = np.arange(n)
        few = np.flatnonzero(start.size < k)
        small, place = np.zeros(n, np.int64), np.full(n, -1)
        small[: len(few)], place[few] = few, np.arange(len(few))
        self.mark = np.array([len(few), 0, n, 0])
        self.state = (start.size.copy(), self.into, small, place, self.mark, rng.random(n))
        self.few, self.progress = max(len(few), 1), progress

    def report(self) -> None:
        """Report how many of the small classes are gone."""
        self.progress("merging", 1.0 - int(self.mark[0]) / self.few)

    def label(self) -> Longs:
        """The cluster of each unit."""
        return np.unique(survivors(self.into)[self.start.label], return_inverse=True)[1]
