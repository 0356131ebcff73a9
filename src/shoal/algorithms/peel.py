"""Lattice peeling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from shoal.algorithms import Algorithm
from shoal.algorithms._cells import NONE, cheapest_cells, make_lattice, no_cells
from shoal.algorithms._clusters import closures
from shoal.algorithms._exchange import Exchange
from shoal.algorithms.gaa import (
    _merge,
    check_reachable,
    flat_trees,
    index_order,
    judge_by,
    promised,
)
from shoal.classes import Classes, tally
from shoal.columns import Table
from shoal.exact import exact_costs
from shoal.kernels import cells as kernels
from shoal.kernels import index as trie
from shoal.kernels.tuples import make_tuples
from shoal.losses import Loss
from shoal.models import Model
from shoal.progress import Progress, silent
from shoal.recoding import Recoding

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

MOST = 500_000_000  # looks at tuples that one search for cells may take


class Peel(Algorithm):
    """Publishes the cheapest cells that cover enough people, and goes on with the rest.

    A cell is one node of each hierarchy. Every record that is left looks for the cheapest cell
    that covers k people who are left, at a cost below a ceiling that rises round by round; cells
    are taken in the order of their cost, and a record whose cell has lost too many people looks
    again. Classes are tightened to the least values that cover them; what remains in the end is
    merged with the nearest class.

    Where k-anonymity is all that is promised, up to `passes` passes of exchange between the
    classes follow: single tuples move, classes are dissolved, neighbours are parted anew. With
    `lend` a cell may also borrow tuples that a class of more than k people can spare, which takes
    about twice the time.
    """

    name: ClassVar[str] = "peel"
    pace: ClassVar[float] = 0.4
    passes: int = 1
    lend: bool = False

    @field_validator("passes")
    @classmethod
    def _some(cls, passes: int) -> int:
        if passes < 0:
            raise ValueError(f"needs passes of 0 or more, got passes={passes}")
        return passes

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can keep this promise: any that is about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (nothing is left to chance)
        progress: Progress = silent,
    ) -> Recoding:
        """Peel the table, then merge what is left."""
        check_reachable(table, models)
        k, others = promised(models)
        task = Task(table, k, others, exact_costs(loss, table.domains, table.rows), progress)
        label = peel(task, self.lend and not others)  # int64[tuples], a tuple of its class
        if not others:
            label = exchange(task, label, self.passes)
        published = closures(table.trees, task.start_vector, label)[task.start.label]
        return merge_rest(task, published)


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be peeled: distinct tuples, and the promises."""

    table: Table
    k: int
    others: Sequence[Model]  # models other than k-anonymity
    costs: Sequence[Longs]  # per column the cost from each node to the root
    progress: Progress

    @cached_property
    def start(self) -> Classes:
        """The distinct tuples."""
        table = self.table
        return tally(table.unified, table.people, table.sensitive if self.others else ())

    @cached_property
    def start_vector(self) -> Ints:
        """Their values, int32[tuples, q]."""
        return self.table.unified[self.start.first]

    @cached_property
    def order(self) -> Longs:
        """The attributes in the order in which searches take them."""
        return index_order(self.table, self.start, self.costs)

    @cached_property
    def trees(self) -> trie.Trees:
        """The hierarchies in that order."""
        return flat_trees(self.table, self.costs, self.order)

    @cached_property
    def lattice(self) -> kernels.Lattice:
        """The lattice with the attributes in that order."""
        vector = np.ascontiguousarray(self.start_vector[:, self.order])
        return make_lattice(self.table, self.trees, self.order, vector, self.start.people)

    def passes(self, label: Longs, ids: Longs) -> Bools:
        """Whether the models other than k-anonymity hold for these classes."""
        judge = judge_by(self.others, self.start)
        if judge is None or not len(ids):
            return np.ones(len(ids), np.bool_)
        return judge(np.where(label < 0, np.arange(len(label)), label), ids)


def ceilings(task: Task) -> list[int]:
    """What a cell may cost, round by round: nothing, the cheapest step, a third more each time."""
    steps = [(cost - cost[tree.parent]) for cost, tree in
             zip(task.costs, task.table.trees, strict=True)]  # fmt: skip
    rising = [int(step[step > 0].min()) for step in steps if (step > 0).any()]
    highest = int(task.lattice.own[:, -1].max())
    found, at = [0], min(rising, default=0)
    while found[-1] < highest:
        found.append(min(at, highest))
        at += at // 3 + 1
    return found


def peel(task: Task, lend: bool = False) -> Longs:
    """Number the class of each tuple by one of its tuples; one that is left is alone.

    Other models may break where a class lends what k can spare: then nothing is to be lent.
    """
    n, lattice = len(task.start), task.lattice
    label = np.full(n, -1, np.int64)
    best = no_cells(lattice, task.k)
    in_order = np.lexsort(lattice.vector.T[::-1])
    limits = ceilings(task)
    ceiling = limits.pop(0)
    while (label < 0).any():
        left = in_order[(label[in_order] < 0) | (best.spare[in_order] >= 0)]
        if task.start.people[left].sum() < task.k:
            break
        tell = partial(task.progress, "peeling", float((label >= 0).mean()))
        best.cost[:] = NONE
        cheapest_cells(lattice, best, left, ceiling, ceiling, MOST, tell)
        wanted = left[best.cost[left] < NONE]
        wanted = wanted[np.lexsort((task.start.first[wanted], best.cost[wanted]))]
        took = _take(task, best, ceiling, lend, left, wanted, label)
        if task.others:
            _judge(task, best, label, took)
        if limits:
            ceiling = limits.pop(0)
        elif len(took) == 0:
            break
    task.progress("peeling", 1.0)
    return np.where(label < 0, np.arange(n), label)


def _take(
    task: Task,
    best: kernels.Best,
    ceiling: int,
    lend: bool,
    left: Longs,
    wanted: Longs,
    label: Longs,
) -> Longs:
    """Give those who want it their cell, in this order; the classes that come of it."""
    q = len(task.order)
    vector = np.ascontiguousarray(task.lattice.vector[left])
    tuples = make_tuples(vector, task.start.people[left], task.start.first[left])
    scratch = np.empty((2, len(left)), np.int64)
    kernels.take_cells(
        tuples, task.trees, task.lattice, best, ceiling, lend, wanted, left, label,
        np.empty((q, 2), np.int64), scratch[0], scratch[1], np.empty(q, np.int32),
    )  # fmt: skip
    return np.unique(label[wanted][label[wanted] >= 0])


def _judge(task: Task, best: kernels.Best, label: Longs, took: Longs) -> None:
    """Dissolve the classes that break a promise; whoever wanted them needs more people now."""
    fails = np.zeros(len(label), np.bool_)
    fails[took[~task.passes(label, took)]] = True
    gone = np.flatnonzero((label >= 0) & fails[label])
    people = np.bincount(label[gone], task.start.people[gone], len(label)).astype(np.int64)
    crowd = people[label[gone]]
    alike = (best.level[gone] == best.level[label[gone]]).all(axis=1)
    best.need[gone[alike]] = (2 * crowd)[alike]
    label[gone] = -1


def exchange(task: Task, label: Longs, passes: int) -> Longs:
    """Let classes exchange tuples where that loses less."""
    start, shapes = task.start, [task.table.trees[j] for j in task.order]
    swap = Exchange(
        shapes, task.trees, task.lattice.vector, start.size, start.people, start.first, task.k
    )
    return swap.improve(label, passes, partial(task.progress, "exchanging"))


def merge_rest(task: Task, published: Ints) -> Recoding:
    """Publish these vectors; classes that fail are merged with their nearest ones."""
    table = replace(task.table, codes=published)
    start = tally(published, table.people, table.sensitive if task.others else ())
    if not task.others and start.people.min() >= task.k:
        return Recoding(vectors=published[start.first], record=start.label)
    vector, into = _merge(
        table, start, task.costs, task.order, task.k, True, False, task.progress,
        judge_by(task.others, start),
    )  # fmt: skip
    alive, number = np.unique(into, return_inverse=True)
    return Recoding(vectors=vector[alive], record=number[start.label])
