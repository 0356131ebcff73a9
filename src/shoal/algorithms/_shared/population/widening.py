"""Widening: generalize vectors until each covers enough people of a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.table.encode import Table
from shoal.table.population.reader import Reader


@dataclass(frozen=True, eq=False)
class Steps:
    """How the values of each column are generalized, one step at a time.

    A step leads to the parent of a node. A free range or set, and a leaf of its column, becomes
    the root.
    """

    table: Table
    covers: Sequence[Covers]
    keeps: Sequence[Longs]  # what a value preserves, int64[nodes and free values], per column

    @staticmethod
    def of(table: Table, covers: Sequence[Covers], loss: Loss) -> Steps:
        """The steps of a table; free values preserve as much as leaves, which only breaks ties."""
        costs = exact_costs(loss, table.domains, table.rows)
        keeps = [
            np.append(cost, np.full(len(one), cost.max(initial=0)))
            for cost, one in zip(costs, covers, strict=True)
        ]
        return Steps(table, covers, keeps)

    def up(self, j: int, codes: Ints) -> Ints:
        """The value one step above each."""
        tree = self.table.trees[j]
        if isinstance(tree, FreeTree):
            return np.zeros_like(codes)
        return tree.parent[codes]

    def down(self, j: int, codes: Ints, original: Ints) -> Ints:
        """The value one step below each on the way to its original; itself, if there is none."""
        tree = self.table.trees[j]
        if isinstance(tree, FreeTree):
            return original
        here = original.copy()
        while (rest := (here != codes) & (tree.parent[here] != codes)).any():
            here[rest] = tree.parent[here[rest]]
        return here

    def allowed(self, j: int, codes: Ints) -> Bools:
        """Whether `at_most` lets each value be published."""
        tops = self.table.tops[j] if self.table.tops else None
        if tops is None:
            return np.ones(len(codes), np.bool_)
        return np.where(
            codes < len(tops.allowed), tops.allowed[np.minimum(codes, len(tops.allowed) - 1)], False
        )


def widened(
    steps: Steps, reader: Reader, vectors: Ints, need: Longs, progress: Progress = silent
) -> tuple[Ints, Longs]:
    """The vectors, each generalized until it covers as many people as it needs.

    Returns them, and the people whom they cover: fewer than needed if no step is left that may be
    taken. Each step is the cheapest one that is enough, or else the one that gains most for what it
    costs. What was not necessary after all is taken back: of a vector that covers enough, no value
    can be one step less general.
    """
    wide, people = vectors.copy(), reader.people(vectors)
    lacking = left = np.flatnonzero(people < need)
    many = max(len(lacking), 1)
    while len(left):
        progress("looking at the population", 1 - len(left) / many)
        moved = _step_up(steps, reader, wide, people, need, left)
        left = left[moved]
        left = left[people[left] < need[left]]
    _take_back(
        steps, reader, wide, vectors, people, need, lacking[people[lacking] >= need[lacking]]
    )
    return wide, people


def _step_up(
    steps: Steps, reader: Reader, wide: Ints, people: Longs, need: Longs, rows: Longs
) -> Bools:
    """Generalize one value of each of these vectors; returns which of them could be."""
    best = np.full(len(rows), -1)
    rank = np.full((len(rows), 2), -np.inf)  # enough, then the worth of the step
    found = people[rows].copy()
    for j in range(wide.shape[1]):
        old = wide[rows, j]
        new = steps.up(j, old)
        can = (new != old) & steps.allowed(j, new)
        if not can.any():
            continue
        more = np.zeros(len(rows), np.int64)
        more[can] = reader.people(_with(wide[rows[can]], j, new[can]))
        cost = np.maximum(steps.keeps[j][old] - steps.keeps[j][new], 0) + 1.0
        gain = np.log1p(more) - np.log1p(people[rows]) + 1e-9
        enough = more >= need[rows]
        worth = np.where(enough, 1 / cost, gain / cost)
        better = can & ((enough > rank[:, 0]) | ((enough == rank[:, 0]) & (worth > rank[:, 1])))
        best[better], found[better] = j, more[better]
        rank[better, 0], rank[better, 1] = enough[better], worth[better]
    for j in range(wide.shape[1]):
        mine = rows[best == j]
        wide[mine, j] = steps.up(j, wide[mine, j])
    people[rows] = found
    return best >= 0


def _take_back(
    steps: Steps,
    reader: Reader,
    wide: Ints,
    vectors: Ints,
    people: Longs,
    need: Longs,
    rows: Longs,
) -> None:
    """Take steps back while the vectors still cover enough, those that cost most first."""
    while len(rows):
        best = np.full(len(rows), -1)
        worth = np.full(len(rows), -1.0)
        found = people[rows].copy()
        for j in range(wide.shape[1]):
            old = wide[rows, j]
            new = steps.down(j, old, vectors[rows, j])
            can = new != old
            if not can.any():
                continue
            fewer = np.zeros(len(rows), np.int64)
            fewer[can] = reader.people(_with(wide[rows[can]], j, new[can]))
            gain = (steps.keeps[j][new] - steps.keeps[j][old]).astype(np.float64)
            better = can & (fewer >= need[rows]) & (gain > worth)
            best[better], worth[better], found[better] = j, gain[better], fewer[better]
        for j in range(wide.shape[1]):
            mine = rows[best == j]
            wide[mine, j] = steps.down(j, wide[mine, j], vectors[mine, j])
        people[rows] = found
        rows = rows[best >= 0]


def _with(vectors: Ints, j: int, values: Ints) -> Ints:
    """The vectors with other values of a column."""
    changed: Ints = vectors.copy()
    changed[:, j] = values
    return changed
