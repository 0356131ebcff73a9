"""Lattice peeling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from shoal.algorithms import Algorithm
from shoal.algorithms._boxes import Space
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
from shoal.algorithms.mondrian import Cutting
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

# Looks at tuples that all searches for cells may take. They are counted, not timed, so that a table
# gives the same release on every machine.
MOST = 6_000  # for each tuple
LEAST = 100_000_000  # in a table of few tuples
MOST_APART = 10_000  # for each tuple in a piece of the table, after that
PIECE = 10  # people of a piece, at least, as so many times k


class Peel(Algorithm):
    """Publishes the cheapest cells that cover enough people, and goes on with the rest.

    A cell is one node of each hierarchy. Every record that is left looks for the cheapest cell
    that covers k people who are left, at a cost below a ceiling that rises round by round; cells
    are taken in the order of their cost, and a record whose cell has lost too many people looks
    again. Classes are tightened to the least values that cover them; what remains in the end is
    merged with the nearest class.

    In a table with dozens of columns there are too many cells to look at. When a fixed number of
    looks is used up, what is left is cut into pieces as `mondrian` does; each of them is peeled by
    itself, with a number of looks of its own, and what is left of it then is cut again. The release
    says so where that happened.

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
        return replace(merge_rest(task, published), notes=tuple(task.notes))


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be peeled: distinct tuples, and the promises."""

    table: Table
    k: int
    others: Sequence[Model]  # models other than k-anonymity
    costs: Sequence[Longs]  # per column the cost from each node to the root
    progress: Progress
    notes: list[str] = field(default_factory=list)  # what the reader should know

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
    n = len(task.start)
    label = np.full(n, -1, np.int64)
    best = no_cells(task.lattice, task.k)
    in_order = np.lexsort(task.lattice.vector.T[::-1])
    most = max(LEAST, MOST * n)

    def tell(looks: int) -> None:
        # Half of the way at most, as pieces may follow, but never less than what is done.
        task.progress("peeling", max(float((label >= 0).mean()), looks / most / 2))

    if not _peel_among(task, best, in_order, most, lend, label, tell):
        _peel_apart(task, best, in_order, lend, label)
    task.progress("peeling", 1.0)
    return np.where(label < 0, np.arange(n), label)


def _peel_among(
    task: Task,
    best: kernels.Best,
    among: Longs,
    most: int,
    lend: bool,
    label: Longs,
    tell: Callable[[int], None],
) -> bool:
    """Peel these tuples with so many looks at most; whether they were enough."""
    limits, looks = ceilings(task), 0
    ceiling = limits.pop(0)
    while (label[among] < 0).any():
        left = among[(label[among] < 0) | (best.spare[among] >= 0)]
        if task.start.people[left].sum() < task.k:
            break
        tell(looks)
        best.cost[left] = NONE
        looks += cheapest_cells(
            task.lattice, best, left, ceiling, ceiling, most - looks, partial(tell, looks)
        )
        wanted = left[best.cost[left] < NONE]
        wanted = wanted[np.lexsort((task.start.first[wanted], best.cost[wanted]))]
        took = _take(task, best, ceiling, lend, left, wanted, label)
        if task.others:
            _judge(task, best, label, took)
        if looks >= most:
            return bool(task.start.people[among[label[among] < 0]].sum() < task.k)
        if limits:
            ceiling = limits.pop(0)
        elif len(took) == 0:
            break
    return True


def _peel_apart(task: Task, best: kernels.Best, in_order: Longs, lend: bool, label: Longs) -> None:
    """Cut what is left into pieces, peel each of them, and cut what is left of it."""
    left, done = np.flatnonzero(label < 0), float((label >= 0).mean())
    space = Space.by_costs(task.table, task.costs, np.arange(len(task.order)))
    rank = np.argsort(in_order)
    at = max(done, 0.5)

    def tell(share: float) -> Callable[..., None]:
        return lambda *_: task.progress("peeling", share)

    pieces = Cutting(space, task.start, PIECE * task.k, True, None)
    pieces.cut([left], tell(at))
    rests, gone = [], 0
    for piece in pieces.parts():
        gone += len(piece)
        share = at + (1 - at) * gone / len(left)
        among = in_order[np.sort(rank[piece])]
        _peel_among(task, best, among, MOST_APART * len(piece), lend, label, tell(share))
        rests.append(piece[label[piece] < 0])
    task.notes.append(
        f"peel: the columns have too many combinations of values to look at all; after "
        f"{done:.0%} of the distinct rows the others were cut into {len(pieces.parts()):,} pieces, "
        "each of them peeled by itself: fewer or coarser columns may lose less"
    )
    enough = [task.start.people[rest].sum() >= task.k for rest in rests]
    whole = [rest for rest, fine in zip(rests, enough, strict=True) if fine]
    # Pieces that have too few people left are one.
    few = [rest for rest, fine in zip(rests, enough, strict=True) if not fine]
    together = np.concatenate([*few, left[:0]])
    if task.start.people[together].sum() >= task.k:
        whole.append(together)
    if whole:
        last = Cutting(space, task.start, task.k, True, judge_by(task.others, task.start))
        last.cut(whole, task.progress)
        for part in last.parts():
            label[part] = part[0]


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
    better = swap.improve(label, passes, partial(task.progress, "exchanging"))
    if swap.hurried:
        task.notes.append(
            "peel: the exchange between classes ended before it had tried all of them"
        )
    return better


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
