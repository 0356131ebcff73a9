"""The forest algorithm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.algorithms._shared.clusters import Clustering, ClusteringProblem
from shoal.base.arrays import Longs
from shoal.base.pace import Pace
from shoal.kernels.grouping import forest as kernels
from shoal.kernels.search.tuple_index import Tuples, make_tuples
from shoal.table.equivalence_classes import tally


class Forest(Clustering):
    """Grows a forest of nearest neighbours and cuts its large trees (Aggarwal et al. 2005).

    As long as there is a tree of fewer than k people, the root of the first such tree gets an edge
    to the nearest person outside. The nearest person is the one whose union with it costs least;
    among equals, the one whose values appear first in the table, then the first person. Trees of
    more than max(2k - 1, 3k - 5) people are then cut into parts of at least k, from the deepest
    person to the root.
    """

    name: ClassVar[str] = "forest"
    pace: ClassVar[float] = 0.15

    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:  # noqa: ARG002 (not random)
        """Number the cluster of each unit."""
        n, q, k = len(problem.units), len(problem.costs), problem.k
        tuples, members = _tuples(problem)
        forest = kernels.Forest(
            out=np.full(n, -1, np.int64),
            up=np.arange(n),
            many=np.ones(n, np.int64),
            root=np.arange(n),
        )
        stack, heap = np.empty((q, 8), np.int64), np.empty((k + 2, 3), np.int64)
        done, pace = 0, Pace()
        while done < n:
            stop = min(done + pace.begin(), n)
            kernels.grow(tuples, problem.trees, members, forest, k, done, stop, stack, heap)
            pace.end()
            done = stop
            problem.progress("growing trees", done / n)
        label: Longs = kernels.cut_trees(forest.out, k)[0]
        return label


def _tuples(problem: ClusteringProblem) -> tuple[Tuples, kernels.Members]:
    """The distinct vectors of the units, and the units of each."""
    units = problem.units
    start = tally(units.vector)
    vector = problem.layout.arranged(units.vector[start.first])
    order = np.lexsort(vector.T[::-1])  # tuples are sorted
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    size, first = start.size[order], units.first[start.first[order]]
    tuples: Tuples = make_tuples(np.ascontiguousarray(vector[order]), size, first)
    of_unit = rank[start.label]
    begin = np.concatenate([[0], np.cumsum(size)])
    return tuples, kernels.Members(of_unit, begin, np.argsort(of_unit, kind="stable"))
