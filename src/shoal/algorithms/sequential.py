"""The sequential algorithm."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.algorithms._shared.class_merge import Merging, merged
from shoal.algorithms._shared.clusters import Clustering, ClusteringProblem, closures
from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.settings import AtLeastOne
from shoal.kernels.grouping import sequential as kernels
from shoal.kernels.search import class_index as trie
from shoal.table.equivalence_classes import tally


class Sequential(Clustering):
    """Moves each person in turn to the best cluster (Goldberger, Tassa 2010).

    People start in random clusters of about k. A person moves to the cluster where the total loss
    becomes lowest, if that is better than staying; a person who is alone always moves. Among
    equals, the cluster with the lowest number wins. Passes end when one moves nobody, or after
    `passes` of them; after each, clusters of 2k or more are split in two. Finally clusters of fewer
    than k are merged with the nearest, the smallest first, and large ones are split again.
    """

    name: ClassVar[str] = "sequential"
    random_choices: ClassVar[bool] = True
    pace: ClassVar[float] = 1.5
    passes: AtLeastOne = Field(default=10, description="largest number of passes over all people")

    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit."""
        n = len(problem.units)
        label = np.empty(n, np.int64)
        label[rng.permutation(n)] = np.arange(n) % max(n // problem.k, 1)
        return self.improve(problem, label)

    def improve(self, problem: ClusteringProblem, label: Longs) -> Longs:
        """Improve any clusters; the new ones have k people or more."""
        units = kernels.Units(problem.layout.arranged(problem.units.vector), problem.units.size)
        rank = np.lexsort(units.vector.T[::-1])  # clusters are cut where values change
        for turn in range(self.passes):
            label, moved = self._move(problem, units, label, turn)
            label = _split(problem, units, label, rank)
            if not moved:
                break
        return _split(problem, units, _merge_small(problem, label), rank)

    def _move(
        self, problem: ClusteringProblem, units: kernels.Units, label: Longs, turn: int
    ) -> tuple[Longs, int]:
        """One pass: the new clusters, and how many units moved."""
        n, m = len(label), int(label.max()) + 1
        trees = _with_numbers(problem.trees, m)
        member = np.argsort(label, kind="stable")
        count = np.bincount(label, minlength=m)
        head = member[np.cumsum(count) - count]
        after, ahead = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        inside = np.flatnonzero(label[member[1:]] == label[member[:-1]])
        after[member[inside]], ahead[member[inside + 1]] = member[inside + 1], member[inside]
        moving = kernels.Moving(label.copy(), after, ahead, head, count, np.zeros(3, np.int64))
        whole = problem.layout.arranged(
            closures(problem.table.trees, problem.units.vector, label)[head]
        )
        vector = np.zeros((m + 2, whole.shape[1] + 1), np.int32)
        vector[:m, :-1], vector[:m, -1] = whole, np.arange(1, m + 1)
        size = np.zeros(m + 2, np.int64)
        size[:m] = np.bincount(label, problem.units.size, m)
        classes = trie.IndexedClasses(vector, size, np.arange(m + 2), np.zeros(m + 2, np.bool_))
        work, fan = make_work(trees), fan_of(trees)

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.move_units(
                index, trees, classes, units, moving, work, fan, pieces
            )
            return outcome

        def report() -> None:
            problem.progress("moving records", (turn + int(moving.done[1]) / n) / self.passes)

        run(step, make_index(m, trees), trees, report)
        return moving.label, int(moving.done[2])


def _with_numbers(trees: trie.Trees, clusters: int) -> trie.Trees:
    """The trees with one more attribute: the number of a cluster, at no cost.

    An index cannot contain two clusters with the same values, but two closures may be equal.
    """
    leaves = np.arange(1, clusters + 1)
    step = np.zeros(clusters + 1, np.int64)
    return trie.Trees(
        start=np.append(trees.start, trees.start[-1] + clusters + 1),
        parent=np.append(trees.parent, np.zeros(clusters + 1, np.int32)),
        end=np.concatenate([trees.end, [clusters + 1], leaves + 1]).astype(np.int32),
        cost=np.append(trees.cost, np.zeros(clusters + 1, np.int64)),
        step=np.append(trees.step, step),
        ahead=trees.ahead,
    )


def _split(problem: ClusteringProblem, units: kernels.Units, label: Longs, rank: Longs) -> Longs:
    """Split clusters of 2k or more; the clusters are renumbered without gaps."""
    member = rank[np.argsort(label[rank], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(label))])
    new: Longs = kernels.split_large(problem.trees, units, member, start, problem.k)
    return new


def _merge_small(problem: ClusteringProblem, label: Longs) -> Longs:
    """Merge clusters of fewer than k with the nearest, as GAA does."""
    vector: Ints = closures(problem.table.trees, problem.units.vector, label)
    table = replace(problem.table, codes=vector[problem.units.of_row])
    start = tally(table.codes, table.people)
    layout = Layout.in_order(table, problem.costs, problem.layout.order)
    _, into = merged(table, start, layout, Merging(problem.k), problem.progress)
    return into[start.label[problem.units.first]]
