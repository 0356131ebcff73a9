"""What is to be peeled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.algorithms._shared.cells import make_lattice
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress
from shoal.base.threads import cached_property
from shoal.kernels.search import cells as kernels
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class PeelingProblem:
    """What is to be peeled: distinct tuples, and how many people a class needs."""

    table: Table
    k: int
    costs: Sequence[Longs]  # per column the cost from each node to the root
    progress: Progress
    notes: list[str] = field(default_factory=list)  # remarks for the reader of the release

    @cached_property
    def start(self) -> Classes:
        """The distinct tuples."""
        return self.table.tally()

    @cached_property
    def start_vector(self) -> Ints:
        """Their values, int32[tuples, q]."""
        return self.table.unified[self.start.first]

    @cached_property
    def generality(self) -> Longs:
        """The levels of their values, added up, int64[tuples]; 0 if all of them are leaves."""
        levels = [tree.level[self.start_vector[:, j]] for j, tree in enumerate(self.table.trees)]
        total: Longs = np.sum(levels, axis=0, dtype=np.int64)
        return total

    @cached_property
    def layout(self) -> Layout:
        """The columns in the order in which searches use them."""
        return Layout.of(self.table, self.start, self.costs)

    @cached_property
    def lattice(self) -> kernels.Lattice:
        """The lattice with the columns in that order."""
        return make_lattice(self.layout, self.layout.arranged(self.start_vector), self.start.people)

    def lost_by(self, recoding: Recoding) -> int:
        """The loss of a recoding, up to a constant."""
        vectors = recoding.vectors[recoding.record]
        kept = np.sum([cost[vectors[:, j]] for j, cost in enumerate(self.costs)], axis=0)
        return -int(kept.sum() if self.table.weight is None else kept @ self.table.weight)

    def percent(self, recoding: Recoding) -> float:
        """The same, in percent of all that can be lost."""
        possible = int((self.lattice.own[:, -1] * self.start.size).sum())
        return 100.0 * (1 + self.lost_by(recoding) / possible) if possible else 0.0

    def lost(self, label: Longs) -> int:
        """The loss of these classes, up to a constant."""
        wide = closures(self.table.trees, self.start_vector, label)
        kept = sum(cost[wide[:, j]] for j, cost in enumerate(self.costs))
        return -int((kept * self.start.size).sum())
