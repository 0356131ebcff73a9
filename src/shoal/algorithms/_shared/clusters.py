"""Algorithms that cluster records first and consider sensitive values afterwards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space, merge_failing
from shoal.algorithms._shared.class_merge import Merging
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.requirements import check_reachable, judge_by, k_and_others
from shoal.algorithms._shared.sensitive_merge import diversify
from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import Share
from shoal.base.threads import cached_property, in_threads
from shoal.hierarchies.tree import Tree
from shoal.kernels.candidates import join_people
from shoal.kernels.search import class_index as trie
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Units:
    """The units to cluster, by first record: the generalized records of a person, or records."""

    vector: Ints  # int32[units, q]
    size: Longs  # int64[units], rows
    first: Longs  # int64[units], first row
    of_row: Longs  # int64[n], the unit of each row

    @staticmethod
    def of(table: Table) -> Units:
        """The units of a table."""
        if table.people is None:
            each = np.arange(table.rows)
            return Units(table.codes, np.ones(table.rows, np.int64), each, each)
        _, first, of_row = np.unique(table.people, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first, of_row = first[order], rank[of_row]
        return Units(table.unified[first], np.bincount(of_row), first, of_row)

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, eq=False)
class ClusteringProblem:
    """The problem: group units into clusters of k or more, at low cost."""

    table: Table
    units: Units
    k: int
    loss: Loss
    costs: Sequence[Longs]  # per column the cost from each node to the root
    progress: Progress

    @cached_property
    def layout(self) -> Layout:
        """The columns in the order of an index."""
        start = tally(self.table.unified, self.table.people)
        return Layout.of(self.table, start, self.costs)

    @property
    def trees(self) -> trie.Trees:
        """The hierarchies in that order."""
        return self.layout.trees


class Clustering(Algorithm):
    """An algorithm that clusters people by their quasi-identifiers.

    Models other than k-anonymity are satisfied by merging clusters afterwards (Algorithm 8, Tassa
    2012), where `w` weighs the loss against the remaining violation of the merged class (eq. 10).
    """

    w: Share = Field(
        default=0.15,  # "found to yield best results" (App. C, Tassa 2012)
        description="weight of the loss against sensitive values when clusters are merged",
    )

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any about classes."""
        return not model.linkage

    @abstractmethod
    def cluster(self, problem: ClusteringProblem, rng: np.random.Generator) -> Longs:
        """Number the cluster of each unit, int64[units]."""

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Cluster, publish the closure of each cluster, merge those that violate a model."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        costs = exact_costs(loss, table.domains, table.rows)
        problem = ClusteringProblem(table, Units.of(table), k, loss, costs, progress)
        label = self.cluster(problem, rng)
        published = closures(table.trees, problem.units.vector, label)[problem.units.of_row]
        start = tally(published, table.people, table.sensitive if others else ())
        vectors, into = published[start.first], np.arange(len(start))
        if others:
            arranged = problem.layout.arranged(vectors)
            arranged, into = diversify(start, arranged, problem.trees, others, self.w, progress)
            vectors = problem.layout.restored(arranged)
        alive, number = np.unique(into, return_inverse=True)
        return Recoding(vectors=vectors[alive], record=number[start.label])


class FreeClustering(Clustering):
    """A clustering algorithm that also supports free ranges and sets.

    With those, clusters that violate a model are merged as in GAA, the smallest first.
    """

    free: ClassVar[bool] = True

    @abstractmethod
    def free_clusters(
        self, space: Space, units: Units, k: int, rng: np.random.Generator, progress: Progress
    ) -> Longs:
        """The closure of the cluster of each unit, as boxes, int64[units, words]."""

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Cluster, publish the closure of each cluster, merge those that violate a model."""
        if not table.free:
            return super().recode(table, models, loss, rng, progress)
        check_reachable(table, models)
        k, others = k_and_others(models)
        space, units = Space.of(table, loss), Units.of(table)
        codes = self.free_clusters(space, units, k, rng, progress)[units.of_row]
        vectors, covers = space.vectors(codes)
        start = tally(vectors, table.people, table.sensitive if others else ())
        boxes = space.found(codes[start.first], start.size, start.first)
        into = np.arange(len(start))
        if others:
            merging = Merging(k, judge=judge_by(others, start))
            into = merge_failing(space, boxes, start.people, merging, progress)
        alive, number = np.unique(into, return_inverse=True)
        vectors, covers = space.vectors(boxes.box[alive])
        return Recoding(vectors, number[start.label], covers)


def closures(trees: Sequence[Tree], vector: Ints, label: Longs) -> Ints:
    """The least vector that covers all rows of a label (Def. 3, Tassa 2012), int32[rows, q]."""
    many, closed = int(label.max()) + 1, np.empty(vector.shape, np.int32)

    def close(j: int) -> None:
        column = np.ascontiguousarray(vector[:, j])
        closed[:, j] = join_people(column, label, many, trees[j].parent, trees[j].end)

    in_threads(close, range(len(trees)))
    return closed
