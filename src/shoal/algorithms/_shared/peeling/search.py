"""The search for classes of k people, before other models are satisfied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.cells import NONE, cheapest_cells, no_cells, part_of
from shoal.algorithms._shared.class_merge import Merging, merge_classes
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.cutting import Cutting
from shoal.algorithms._shared.exchange import Exchange
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.base.arrays import Longs
from shoal.base.pace import Pace
from shoal.kernels.search import cells as kernels
from shoal.kernels.search.tuple_index import make_tuples
from shoal.kernels.sorting import sort_rows
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import Recoding

# How many tuples all searches for cells may look at. They are counted, not timed, so that a table
# gives the same release on every machine.
LOOKS = 6_000  # for each tuple
LOOKS_AT_LEAST = 100_000_000  # in a table of few tuples
LOOKS_APART = 10_000  # for each tuple of a piece of the table, afterwards
PIECE = 10  # minimum people of a piece, as a multiple of k


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
