"""Models about the whole table: classes that an algorithm formed are merged until they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite

import numpy as np

from shoal.algorithms import DEFAULT
from shoal.algorithms._shared.blocks.recode_blocks import BlockRecoding, one_class
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.indexed import run_steps
from shoal.algorithms._shared.requirements import mean_risk
from shoal.base.arrays import Longs
from shoal.base.errors import CannotReach, WayOut
from shoal.base.progress import Progress
from shoal.kernels.grouping import table_merge as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import box_index as nearest
from shoal.losses import Loss
from shoal.models import TableModel
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

SMALLEST = 1e-300  # a divisor that is not zero
AT_ONCE = 0.25  # share of the possible merges that are done per round, the cheapest first


def merged_in_blocks(
    formed: BlockRecoding, models: Sequence[TableModel], loss: Loss, progress: Progress
) -> BlockRecoding:
    """Merge classes of the same block until the table satisfies these models.

    The blocks that exceed them most come first, each until it satisfies them by itself or is one
    class; then whole blocks become one class. When all of them are, the table satisfies the models.
    """
    found = list(formed.found)
    people = people_in_blocks(formed)

    def merge(table: Table, one: Recoding) -> Recoding:
        return merged(table, one, models, loss, progress)

    def unite(table: Table, _: Recoding) -> Recoding:
        return one_class(table)

    everybody = sum(int(one.sum()) for one in people)
    for step in (merge, unite):
        for model in models:
            above = [_excess(model, one) for one in people]
            total = sum(float(model.total(one).sum()) for one in people)
            for block in sorted(range(len(found)), key=lambda i: (-above[i], i)):
                if model.holds(total / everybody):
                    break
                if len(people[block]) < 2 or (step is merge and above[block] <= 0):
                    continue
                table = formed.tables.table(block)
                found[block], before = step(table, found[block]), people[block]
                people[block] = people_of(table, found[block])
                total += float(model.total(people[block]).sum() - model.total(before).sum())
                everybody += int(people[block].sum() - before.sum())
    return replace(formed, found=found)


def people_in_blocks(formed: BlockRecoding) -> list[Longs]:
    """The people of the published classes of each block."""
    return [people_of(formed.tables.table(i), one) for i, one in enumerate(formed.found)]


def _excess(model: TableModel, people: Longs) -> float:
    """By how much classes of so many people exceed what a model allows them on average."""
    return float(model.total(people).sum() - model.required * people.sum())


def unchanged(table: Table) -> Recoding:
    """Every person's values as they are; the records of a person are one class."""
    start = table.tally()
    return Recoding(table.unified[start.first], start.label, table.covers)


def merged(
    table: Table, formed: Recoding, models: Sequence[TableModel], loss: Loss, progress: Progress
) -> Recoding:
    """Merge classes until the table satisfies these models, or one class is left."""
    space = Space.of(table, loss)
    rows = np.flatnonzero(formed.record != SUPPRESSED)
    used, label = np.unique(formed.record[rows], return_inverse=True)
    weight = None if table.weight is None else table.weight[rows]
    size = np.bincount(label, weight).astype(np.int64)
    first = np.full(len(used), len(table.codes))
    np.minimum.at(first, label, rows)
    covers = formed.covers or table.covers
    boxes = space.found(space.boxes(formed.vectors[used], covers), size, first)
    merge = _Merge(space, boxes, people_of(table, formed))
    for model in models:
        merge.untilsatisfied(model, progress)
    into = survivors(merge.into)
    alive, number = np.unique(into, return_inverse=True)
    vectors, covers = space.vectors(boxes.box[alive])
    record = np.full(len(table.codes), SUPPRESSED)
    record[rows] = number[label]
    return replace(formed, vectors=vectors, record=record, covers=covers, levels=())


class _Merge:
    """Classes that are merged, and an index of them."""

    def __init__(self, space: Space, boxes: nearest.Boxes, people: Longs) -> None:
        n = len(people)
        self.space, self.boxes, self.people = space, boxes, people
        self.into = np.arange(n)
        self.index = space.index(boxes, np.arange(n))
        self.near = np.full(n, -1)  # the nearest class, where it is known
        self.cost = np.zeros(n, np.int64)
        self.stale = np.ones(n, np.bool_)

    def untilsatisfied(self, model: TableModel, progress: Progress) -> None:
        """Merge the pairs that cost least per risk they involve, round by round."""
        alive = np.flatnonzero(self.into == np.arange(len(self.into)))
        many = len(alive)
        report = partial(progress, "merging classes")
        while len(alive) > 1 and not satisfied([model], self.people[alive]):
            # The first search, for the nearest class of every class, is about half of the work.
            done = 0.0 if len(alive) == many else 1 - 0.5 * len(alive) / many
            risky = alive[model.total(self.people[alive]) > 0]
            self._find(risky[self.stale[risky]], report, done)
            first, second = self._chosen(model, risky, alive)
            changed = np.zeros(len(self.into), np.bool_)
            at = np.zeros(1, np.int64)

            def step(index: nearest.Index, pieces: int) -> int:
                outcome: int = kernels.merge_pairs(
                    self.space.shapes, index, self.boxes, self.into, self.people,
                    changed, first, second, at, pieces,  # noqa: B023 (called in this round only)
                )  # fmt: skip
                return outcome

            self._run(step, partial(report, max(done, 0.5)))
            self.stale |= changed | changed[self.near]
            alive = np.flatnonzero(self.into == np.arange(len(self.into)))
        report(1.0)

    def _find(self, ids: Longs, report: Callable[[float], None], done: float) -> None:
        """Find the nearest class of each of these; `done` is the share of the work before."""
        at = np.zeros(1, np.int64)

        def step(index: nearest.Index, pieces: int) -> int:
            outcome: int = kernels.find_nearest(
                self.space.shapes, index, self.boxes, ids, self.near, self.cost, at, pieces
            )
            return outcome

        self._run(step, lambda: report(max(done, int(at[0]) / max(2 * len(ids), 1))))
        self.stale[ids] = False

    def _chosen(self, model: TableModel, risky: Longs, alive: Longs) -> tuple[Longs, Longs]:
        """Pairs to merge in this round, cheapest first, and no more than are needed."""
        other = self.near[risky]
        mine, others = self.people[risky], self.people[other]
        involved = model.total(mine) + model.total(others)
        early = self.boxes.first[risky]
        order = np.lexsort((early, self.cost[risky] / involved))
        pairs = np.sort(np.stack([risky, other], axis=1), axis=1)[order]
        # No class twice: of several pairs only the first.
        once = np.unique(pairs.ravel(), return_index=True)[1]
        fresh = np.zeros(2 * len(pairs), np.bool_)
        fresh[once] = True
        fine = fresh.reshape(-1, 2).all(axis=1)
        order = order[fine][: max(1, int(len(order) * AT_ONCE))]
        gain = (involved - model.total(mine + others))[order]
        total, people = float(model.total(self.people[alive]).sum()), self.people[alive].sum()
        # If the mean risk is only an upper bound on the level, they are expected to fall alike.
        above = total / people / max(mean_risk(model, self.people[alive]), SMALLEST)
        above = 1.0 if model.falls_by_merging else max(above, 1.0)
        reached = model.holds_each((total - np.cumsum(gain)) / people / above)
        stop = int(np.argmax(reached)) + 1 if reached.any() else len(order)
        return risky[order[:stop]], other[order[:stop]]

    def _run(self, step: object, report: Callable[[], None]) -> None:
        self.index = run_steps(
            step,  # type: ignore[arg-type]
            self.index,
            lambda _: self.space.index(self.boxes),
            report,
        )


def people_of(table: Table, recoding: Recoding) -> Longs:
    """The people of each published class, int64[classes]."""
    rows = np.flatnonzero(recoding.record != SUPPRESSED)
    used, label = np.unique(recoding.record[rows], return_inverse=True)
    if table.people is None:
        weight = None if table.weight is None else table.weight[rows]
        return np.bincount(label, weight, len(used)).astype(np.int64)
    pairs = np.unique(table.people[rows] * len(used) + label)
    often = None if table.person_weight is None else table.person_weight[pairs // len(used)]
    return np.bincount(pairs % len(used), often, len(used)).astype(np.int64)


def satisfied(models: Sequence[TableModel], people: Longs) -> bool:
    """Whether classes of so many people satisfy these models."""
    return all(model.holds(mean_risk(model, people)) for model in models)


def out_of_reach(
    table: Table, formed: Recoding, models: Sequence[TableModel], algorithm: str
) -> CannotReach:
    """The error if the published records as one class are too few, as others are suppressed."""
    people = people_of(table, formed).sum(keepdims=True)
    model = next(one for one in models if not one.holds(mean_risk(one, people)))
    best = mean_risk(model, people)
    below = f"do not get below {best:g}" if isfinite(best) else "do not get there"
    return CannotReach(
        model.key,
        best,
        f"{model.key} with {model.required:g} cannot be reached by {algorithm}: it publishes "
        f"{int(people[0]):,} people, who as one class {below}; ask for less, or choose another "
        "algorithm",
    ).offering(WayOut("algorithm", DEFAULT), WayOut("remove", model.key))
