"""Requirements about the whole table: an algorithm forms classes, and then classes are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.indexed import run_steps
from shoal.algorithms._shared.parts.cuts import WHOLE, Parting
from shoal.algorithms._shared.parts.recode_parts import recode_in_parts
from shoal.algorithms._shared.requirements import check_reachable, mean_risk
from shoal.base.arrays import Longs
from shoal.base.errors import CannotReach
from shoal.base.progress import Progress, silent
from shoal.kernels.grouping import table_merge as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import box_index as nearest
from shoal.losses import Loss
from shoal.losses._alterations import alterations
from shoal.models import Model, TableModel
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.table.weighted import Weighted

AT_ONCE = 0.25  # share of the possible merges that are done per round, the cheapest first
ROUNDED = 9  # digits of a percentage; smaller differences do not count


def recode(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress = silent,
    parting: Parting = WHOLE,
) -> Recoding:
    """Choose what is published of each record, also for models about the whole table.

    Equal records are counted together if the algorithm can do so, and ties are decided by values,
    so that the order of the records does not matter. `parting`: whether the table is cut.
    """
    others = [model for model in models if not isinstance(model, KAnonymity | TableModel)]
    weighted = Weighted(table, bool(others) or algorithm.reads_sensitive)
    together = algorithm.counts_together
    given = weighted.table(together)
    if not algorithm.shares_parts:
        parting = replace(parting, shared=False)
    parting = parting.within(len(given.codes))
    if not algorithm.works_in_parts or table.people is not None:
        parting = WHOLE
    found = _recode(algorithm, given, models, loss, rng, progress, parting)
    return weighted.of_rows(found, together)


def _recode(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    parting: Parting,
) -> Recoding:
    """Choose what is published of each record of such a table.

    The algorithm satisfies the models about classes. Then there are two ways to satisfy the others,
    and the one that loses less is used: classes are merged, the cheapest first; or the algorithm
    runs again with the class size that is sufficient for all of them. Merging violates no model
    that is satisfied: two classes that satisfy a model do so together.
    """

    def run(models: Sequence[Model], rng: np.random.Generator) -> Recoding:
        if parting == WHOLE:
            return algorithm.recode(table, models, loss, rng, progress)
        return recode_in_parts(algorithm, table, models, loss, rng, progress, parting)

    of_table = [model for model in models if isinstance(model, TableModel)]
    if not of_table or algorithm.judges_whole_table:
        return run(models, rng)
    check_reachable(table, models)
    of_classes = [model for model in models if not isinstance(model, TableModel)]
    again = deepcopy(rng)  # both ways begin with the same random numbers
    formed = run(of_classes, rng) if of_classes else unchanged(table)
    if _satisfied(of_table, _people(table, formed)):
        return formed
    found = [merged(table, formed, of_table, loss, progress)]
    k = KAnonymity(k=max(model.sufficient_people for model in of_table))
    if algorithm.serves(k) and k.k <= table.person_count:
        with suppress(CannotReach):  # an algorithm may find no classes of that size
            found.append(run([*of_classes, k], again))
    found = [one for one in found if _satisfied(of_table, _people(table, one))]
    if not found:
        raise _out_of_reach(table, formed, of_table, algorithm.name)
    lost = [round(alterations(table, one, [loss])[0], ROUNDED) for one in found]
    return found[lost.index(min(lost))]


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
    merge = _Merge(space, boxes, _people(table, formed))
    for model in models:
        merge.until_satisfied(model, progress)
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

    def until_satisfied(self, model: TableModel, progress: Progress) -> None:
        """Merge the pairs that cost least per risk they involve, round by round."""
        alive = np.flatnonzero(self.into == np.arange(len(self.into)))
        many = len(alive)
        report = partial(progress, "merging classes")
        while len(alive) > 1 and not _satisfied([model], self.people[alive]):
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
        reached = model.holds_each((total - np.cumsum(gain)) / people)
        stop = int(np.argmax(reached)) + 1 if reached.any() else len(order)
        return risky[order[:stop]], other[order[:stop]]

    def _run(self, step: object, report: Callable[[], None]) -> None:
        self.index = run_steps(
            step,  # type: ignore[arg-type]
            self.index,
            lambda _: self.space.index(self.boxes),
            report,
        )


def _people(table: Table, recoding: Recoding) -> Longs:
    """The people of each published class, int64[classes]."""
    rows = np.flatnonzero(recoding.record != SUPPRESSED)
    used, label = np.unique(recoding.record[rows], return_inverse=True)
    if table.people is None:
        weight = None if table.weight is None else table.weight[rows]
        return np.bincount(label, weight, len(used)).astype(np.int64)
    pairs = np.unique(table.people[rows] * len(used) + label)
    often = None if table.person_weight is None else table.person_weight[pairs // len(used)]
    return np.bincount(pairs % len(used), often, len(used)).astype(np.int64)


def _satisfied(models: Sequence[TableModel], people: Longs) -> bool:
    """Whether classes of so many people satisfy these models."""
    return all(model.holds(mean_risk(model, people)) for model in models)


def _out_of_reach(
    table: Table, formed: Recoding, models: Sequence[TableModel], algorithm: str
) -> CannotReach:
    """The error if the published records as one class are too few, as others are suppressed."""
    people = _people(table, formed).sum(keepdims=True)
    model = next(one for one in models if not one.holds(mean_risk(one, people)))
    best = mean_risk(model, people)
    return CannotReach(
        model.key,
        best,
        f"{model.key} with {model.required:g} cannot be reached by {algorithm}: it publishes "
        f"{int(people[0]):,} people, who as one class reach only {best:g}; ask for less, or choose "
        "another algorithm",
    )
