"""Lattice peeling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.cells import NONE, cheapest_cells, make_lattice, no_cells, part_of
from shoal.algorithms._shared.class_merge import Merging, merge_classes
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.cutting import Cutting, cut_further
from shoal.algorithms._shared.exchange import Exchange
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.repair import Repair
from shoal.algorithms._shared.requirements import check_reachable, k_and_others
from shoal.algorithms._shared.sensitive_merge import diversify
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import Pace
from shoal.base.progress import Progress, silent
from shoal.base.settings import NotNegative
from shoal.base.threads import cached_property
from shoal.kernels.search import cells as kernels
from shoal.kernels.search.tuple_index import make_tuples
from shoal.kernels.sorting import sort_rows
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import Recoding

# How many tuples all searches for cells may look at. They are counted, not timed, so that a table
# gives the same release on every machine.
LOOKS = 6_000  # for each tuple
LOOKS_AT_LEAST = 100_000_000  # in a table of few tuples
LOOKS_APART = 10_000  # for each tuple of a piece of the table, afterwards
PIECE = 10  # minimum people of a piece, as a multiple of k
MERGED = 5_000  # the merge of Tassa 2012 is tried up to this many failing classes …
COUNTED = 40_000  # … and up to this product of failing classes and sensitive values
WEIGHT = 0.15  # its w: "found to yield best results" (App. C, Tassa 2012)


class Peel(Algorithm):
    """Publishes the cheapest cells that cover enough people, and continues with the rest.

    A cell is one node of each hierarchy. For every remaining record, the search looks for the
    cheapest cell that covers k remaining people, with a limit on the cost that rises round by
    round. Cells are taken in the order of their cost, and a record whose cell has lost too many
    people searches again. Classes are tightened to the least general values that cover them.
    Records that remain at the end are merged with the nearest class.

    A table with dozens of columns has too many cells to search. When a fixed budget is used up, the
    remaining records are cut into pieces as `mondrian` does. Each piece is peeled separately, with
    its own budget, and what remains of it is cut again. The release notes that this happened.

    Up to `passes` passes of exchange between the classes follow: single tuples move, classes are
    dissolved, neighbours are partitioned again. With `lend` a cell may also borrow tuples that a
    class of more than k people can spare, which takes about twice the time.

    Other models are satisfied after that. Classes that violate one take tuples that they lack from
    nearby classes, or are merged, the cheapest repair per unit of violation first. The merge of
    Tassa 2012 is tried as well, and the result that loses less is used. It is then cut as
    `mondrian` does, as long as all parts satisfy the models.
    """

    name: ClassVar[str] = "peel"
    counts_together: ClassVar[bool] = True
    shares_parts: ClassVar[bool] = True
    pace: ClassVar[float] = 0.4
    passes: NotNegative = Field(
        default=1, description="passes that exchange records between classes after the search"
    )
    lend: bool = Field(
        default=False,
        description="let a new class take records that a larger class can spare (slower)",
    )

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any model about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (not random)
        progress: Progress = silent,
    ) -> Recoding:
        """Peel the table, then merge the rest."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        problem = PeelingProblem(table, k, exact_costs(loss, table.domains, table.rows), progress)
        label = peel(problem, self.lend)  # int64[tuples], a tuple of its class
        recoding = improved(problem, label, self.passes)
        if others:
            start = table.tally(True)
            label = satisfy_models(problem, start, others, recoding.record[start.first])
            recoding = cut_further(table, start, models, loss, label, progress)
        return replace(recoding, notes=tuple(problem.notes))


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

    def lost(self, label: Longs) -> int:
        """The loss of these classes, up to a constant."""
        wide = closures(self.table.trees, self.start_vector, label)
        kept = sum(cost[wide[:, j]] for j, cost in enumerate(self.costs))
        return -int((kept * self.start.size).sum())


def ceilings(problem: PeelingProblem) -> list[int]:
    """The limit on a cell's cost per round: 0, the cheapest step, then a third more each time."""
    steps = [(cost - cost[tree.parent]) for cost, tree in
             zip(problem.costs, problem.table.trees, strict=True)]  # fmt: skip
    rising = [int(step[step > 0].min()) for step in steps if (step > 0).any()]
    highest = int(problem.lattice.own[:, -1].max())
    found, at = [0], min(rising, default=0)
    while found[-1] < highest:
        found.append(min(at, highest))
        at += at // 3 + 1
    return found


def peel(problem: PeelingProblem, lend: bool = False) -> Longs:
    """Number the class of each tuple by one of its tuples; a remaining tuple is alone."""
    n = len(problem.start)
    label = np.full(n, -1, np.int64)
    best = no_cells(problem.lattice, problem.k)
    in_order = sort_rows(problem.lattice.vector.T)
    most = max(LOOKS_AT_LEAST, LOOKS * n)

    def report(looks: int) -> None:
        # At most half, as pieces may follow, but never less than the share that is done.
        problem.progress("peeling", max(float((label >= 0).mean()), looks / most / 2))

    if not _peel_among(problem, best, in_order, most, lend, label, report):
        _peel_apart(problem, best, in_order, lend, label)
    problem.progress("peeling", 1.0)
    return np.where(label < 0, np.arange(n), label)


def _peel_among(
    problem: PeelingProblem,
    best: kernels.Best,
    among: Longs,
    most: int,
    lend: bool,
    label: Longs,
    report: Callable[[int], None],
) -> bool:
    """Peel these tuples within a budget; returns whether it was enough."""
    limits, looks = ceilings(problem), 0
    ceiling = limits.pop(0)
    # Tuples that are visited together are close in memory, as `among` is sorted.
    left, lattice = among, part_of(problem.lattice, among)
    while (label[left] < 0).any():
        keep = (label[left] < 0) | (best.spare[left] >= 0)
        if not keep.all():
            left, lattice = left[keep], part_of(lattice, keep)
        if lattice.people.sum() < problem.k:
            break
        report(looks)
        found = no_cells(lattice, problem.k, best.spare[left])
        looks += cheapest_cells(
            lattice, found, ceiling, ceiling, most - looks, partial(report, looks)
        )
        some = found.cost < NONE
        wanted = left[some]
        best.cost[wanted], best.level[wanted] = found.cost[some], found.level[some]
        # Of equally cheap cells the one of the most specific tuple: others may cover it.
        general, first = problem.generality[wanted], problem.start.first[wanted]
        wanted = wanted[np.lexsort((first, general, best.cost[wanted]))]
        took = len(wanted) > 0
        if took:
            took = _take(problem, best, ceiling, lend, left, lattice, wanted, label)
        if looks >= most:
            return bool(problem.start.people[among[label[among] < 0]].sum() < problem.k)
        if limits:
            ceiling = limits.pop(0)
        elif not took:
            break
    return True


def _peel_apart(
    problem: PeelingProblem, best: kernels.Best, in_order: Longs, lend: bool, label: Longs
) -> None:
    """Cut the remaining tuples into pieces, peel each of them, and cut the rest again."""
    left, done = np.flatnonzero(label < 0), float((label >= 0).mean())
    space = Space.by_costs(problem.table, problem.costs, np.arange(len(problem.costs)))
    rank = np.argsort(in_order)
    at = max(done, 0.5)

    def report(share: float) -> Callable[..., None]:
        return lambda *_: problem.progress("peeling", share)

    pieces = Cutting(space, problem.start, PIECE * problem.k, True, None)
    pieces.cut([left], report(at))
    rests, gone = [], 0
    for piece in pieces.parts():
        gone += len(piece)
        share = at + (1 - at) * gone / len(left)
        among = in_order[np.sort(rank[piece])]
        _peel_among(problem, best, among, LOOKS_APART * len(piece), lend, label, report(share))
        rests.append(piece[label[piece] < 0])
    problem.notes.append(
        "peel: the columns have too many combinations of values to search all of them; after "
        f"{done:.0%} of the distinct rows the others were cut into {len(pieces.parts()):,} pieces, "
        "each of which was searched separately; fewer quasi-identifiers or hierarchies with fewer "
        "levels may lose less"
    )
    enough = [problem.start.people[rest].sum() >= problem.k for rest in rests]
    whole = [rest for rest, fine in zip(rests, enough, strict=True) if fine]
    # Pieces with too few remaining people are united.
    few = [rest for rest, fine in zip(rests, enough, strict=True) if not fine]
    together = np.concatenate([*few, left[:0]])
    if problem.start.people[together].sum() >= problem.k:
        whole.append(together)
    if whole:
        last = Cutting(space, problem.start, problem.k, True, None)
        last.cut(whole, problem.progress)
        for part in last.parts():
            label[part] = part[0]


def _take(
    problem: PeelingProblem,
    best: kernels.Best,
    ceiling: int,
    lend: bool,
    left: Longs,
    lattice: kernels.Lattice,
    wanted: Longs,
    label: Longs,
) -> bool:
    """Assign cells to the tuples that want them, in this order; returns whether any was assigned.

    `lattice` is that of the tuples that are left.
    """
    q = len(problem.costs)
    tuples = make_tuples(lattice.vector, lattice.people, problem.start.first[left])
    scratch = np.empty((2, len(left)), np.int64)
    args = (
        tuples, problem.layout.trees, problem.lattice, best, ceiling, lend, wanted, left, label,
        np.empty((q, 2), np.int64), scratch[0], scratch[1], np.empty(q, np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip
    pace = Pace(100_000)
    while kernels.take_cells(*args, pace.begin()) == kernels.PAUSED:
        pace.end()
    return bool((label[wanted] >= 0).any())


def improved(problem: PeelingProblem, label: Longs, passes: int) -> Recoding:
    """The recoding after exchange; by the guiding costs it never loses more than without it.

    Exchange puts single tuples into classes at any cost. If merging them with each other loses
    less, exchange starts from that.
    """
    found = merge_rest(problem, exchange(problem, label, passes))
    if np.bincount(label, problem.start.people)[label].min() >= problem.k:
        return found  # no tuple is alone, and then exchange never loses more
    merged = merge_rest(problem, label).record[problem.start.first]
    if problem.lost(found.record[problem.start.first]) <= problem.lost(merged):
        return found
    return merge_rest(problem, exchange(problem, merged, passes))


def exchange(problem: PeelingProblem, label: Longs, passes: int) -> Longs:
    """Let classes exchange tuples where that loses less."""
    swap = Exchange(problem.layout, problem.lattice.vector, problem.start, problem.k)
    better = swap.improve(label, passes, partial(problem.progress, "exchanging"))
    if swap.hurried:
        problem.notes.append(
            "peel: the exchange between classes ended before all of them were tried"
        )
    return better


def merge_rest(problem: PeelingProblem, label: Longs) -> Recoding:
    """Publish these classes; those with too few people are merged with the nearest ones."""
    published = closures(problem.table.trees, problem.start_vector, label)[problem.start.label]
    table = replace(problem.table, codes=published)
    start = tally(published, table.people, (), table.weight)
    if start.people.min() >= problem.k:
        return Recoding(vectors=published[start.first], record=start.label)
    layout = Layout.in_order(table, problem.costs, problem.layout.order)
    return merge_classes(table, start, layout, Merging(problem.k), problem.progress)


def satisfy_models(
    problem: PeelingProblem, start: Classes, models: Sequence[Model], label: Longs
) -> Longs:
    """Renumber the classes of tuples so that none violates a model.

    There are two ways, and the one that loses less is used. Failing classes take the values they
    lack from nearby ones or are merged, the cheapest repair first. Or they are merged as in
    Algorithm 8 of Tassa 2012, which searches farther, but is skipped if too many classes fail.
    """
    repair = Repair(problem.layout, problem.lattice.vector, start, models, problem.k, label)
    fails = int(repair.fails.sum())
    if fails == 0:
        return label
    ways = [repair.run(problem.progress)]
    values = sum(len(histogram.total) for histogram in start.histograms.values())
    if fails <= MERGED and fails * values <= COUNTED:
        ways.append(_merged(problem, start, models, label))
    return min(ways, key=lambda way: problem.lost(way))


def _merged(
    problem: PeelingProblem, start: Classes, models: Sequence[Model], label: Longs
) -> Longs:
    """Number the classes of tuples after those that fail were merged."""
    wide = closures(problem.table.trees, problem.start_vector, label)
    table = problem.table
    classes = tally(wide[start.label], table.people, table.sensitive, table.weight)
    vectors = problem.layout.arranged(wide[start.label][classes.first])
    _, into = diversify(classes, vectors, problem.layout.trees, models, WEIGHT, problem.progress)
    return into[classes.label[start.first]]
