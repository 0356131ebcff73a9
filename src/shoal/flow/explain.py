"""Explain: which requirement forced the generalization of a record.

A run does not show which requirement had which effect: classes merge until all requirements are
satisfied together. So the table is recoded once without each requirement, by the same algorithm,
loss and seed. A requirement forced the generalization of a record that loses less without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.algorithms._shared.blocks.blocks import NOWHERE, Blocks
from shoal.algorithms._shared.key_sets import recode_for
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.errors import BadTable, ShoalError
from shoal.base.progress import Progress, silent
from shoal.base.threads import cached_property
from shoal.flow.choose_parts import parting_of
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.values import shown
from shoal.kernels.lattice import lifted
from shoal.measures.explanation import (
    ROUNDING,
    ClassReason,
    Explanation,
    Judged,
    Reason,
    Without,
    worse,
)
from shoal.measures.information_loss import kept
from shoal.measures.key_sets import views
from shoal.measures.verify import of_rows, seen_in_all_ways
from shoal.models import Model, TableModel
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.match_graph import MatchGraph, link
from shoal.table.published_table import Published, preview_release
from shoal.table.recoding import SUPPRESSED, Recoding

SOON = 2.0  # seconds, by estimate, up to which a report explains by default
MOST_CLASSES = 10  # classes that a report explains
AS_IT_IS = "(as it is)"  # stands for an original value, which is never shown

Seed = int | Sequence[int] | None


def seed_of(rng: np.random.Generator) -> Seed:
    """The seed of a generator: the given one, or the one that was drawn."""
    sequence: Any = rng.bit_generator.seed_seq
    entropy: Seed = sequence.entropy
    return entropy


def _wide(covers: Covers, place: int) -> str:
    """The width of a free value, as its ends or members are original values; "" for a node."""
    if place < 0:
        return ""
    cover = covers.covers[place]
    if covers.free.kind == "sets":
        return f"(a set of {len(cover)})"
    low, high = (covers.free.numbers[leaf - 1] for leaf in cover)
    return f"(a range of {shown(high - low)})"


@dataclass(frozen=True, eq=False)
class _Made:
    """A recoding of the table and its loss."""

    recoding: Recoding
    keeps: Floats  # what is preserved of each record, float64[n]
    percent: Floats  # loss of each record, in percent of its largest loss, float64[n]
    loss: float  # loss of the table in percent (Def. 7, Mauger 2023)
    forced: Bools | None = None  # records that lose less than in the release, bool[n]


class Explainer:
    """Explains a release from the table and recoding it was made of; runs when it is asked."""

    def __init__(
        self, plan: Plan, table: Table, recoding: Recoding, seed: Seed = None, seconds: float = 0.0
    ) -> None:
        self.plan = plan
        self.table = table
        self.recoding = recoding
        self.seed = plan.seed if seed is None else seed  # a drawn one if the plan has none
        self.seconds = seconds  # duration of the recoding
        self._without: dict[int, _Made | None] = {}

    @property
    def known(self) -> bool:
        """Whether the table was recoded without each requirement already."""
        return len(self._without) == len(self.plan.models)

    @property
    def cheap(self) -> bool:
        """Whether it is fast enough for a report to explain by default.

        It takes one run per requirement; without a single requirement no run is needed.
        """
        runs = len(self.plan.models) if len(self.plan.models) > 1 else 0
        return self.known or self.seconds * runs <= SOON

    def row(self, row: int, progress: Progress = silent) -> Explanation:
        """Explain a row of the original table; the first is 0."""
        rows = self.table.rows
        if self.table.weight is not None:
            raise BadTable(
                "the rows of the original are not in memory, so none of them can be explained; "
                "`release.reasons()` explains the table, or run a part of it in memory"
            )
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < rows:
            raise BadTable(
                f"there is no row {row!r}: the rows of the original are 0 to {rows - 1}, in their "
                "order there"
            )
        row = int(row)
        loss = float(self._now.percent[row])
        if self.recoding.record[row] == SUPPRESSED:
            levels, people = self._suppressed(row)
            judged = self._judged(row, levels, progress)
            both = zip(self.plan.models, levels, strict=True)
            failed = [m.key for m, level in both if level is not None and not m.holds(level)]
            return Explanation(row, {}, loss, judged, True, tuple(dict.fromkeys(failed)), people)
        place = self._place(row)
        levels = [float(level[place]) for level in self._levels]
        return Explanation(row, self._labels_at(place), loss, self._judged(row, levels, progress))

    def reasons(self, progress: Progress = silent) -> list[Reason]:
        """The effect of each requirement on the table."""
        found = []
        for i, model in enumerate(self.plan.models):
            other = self._other(i, progress)
            rows = None if other is None else int(self._records[_forced(other)].sum())
            found.append(
                Reason(
                    model=model.name,
                    column=model.about,
                    rows=rows,
                    percent=None if rows is None else 100.0 * rows / self.table.rows,
                    loss=self._now.loss,
                    loss_without=None if other is None else other.loss,
                )
            )
        return found

    def classes(self, most: int = MOST_CLASSES, progress: Progress = silent) -> list[ClassReason]:
        """The classes that lose most, and which requirements forced that; no original values."""
        published = self._published
        label, size = published.classes.label, published.classes.size
        rows = np.flatnonzero(self.recoding.record != SUPPRESSED)

        def mean(percent: Floats) -> Floats:
            counted = percent[rows] * self._records[rows]
            return np.asarray(np.bincount(label, counted, minlength=len(size)) / size)

        lost = mean(self._now.percent)
        others = [self._other(i, progress) for i in range(len(self.plan.models))]
        found = []
        for one in np.lexsort((-size, -np.round(lost, 9)))[:most].tolist():
            if lost[one] <= ROUNDING:
                break
            mine = rows[label == one]
            forced = [
                Without(
                    model.key,
                    int(self._records[mine][wider].sum()),
                    float(np.average(other.percent[mine][wider], None, self._records[mine][wider])),
                )
                for model, other in zip(self.plan.models, others, strict=True)
                if other is not None and (wider := _forced(other)[mine]).any()
            ]
            found.append(
                ClassReason(
                    published=self._labels_at(int(published.classes.first[one])),
                    rows=int(size[one]),
                    loss=float(lost[one]),
                    forced=tuple(forced),
                    complete=None not in others,
                )
            )
        return found

    def _judged(self, row: int, levels: Sequence[float | None], progress: Progress) -> list[Judged]:
        """The effect of each requirement on a row whose class reaches these levels."""
        judged = []
        for i, (model, level) in enumerate(zip(self.plan.models, levels, strict=True)):
            sign = 1.0 if model.higher_is_safer else -1.0
            other = self._other(i, progress)
            judged.append(
                Judged(
                    model=model.name,
                    column=model.about,
                    required=model.required,
                    reached=level,
                    margin=None if level is None else sign * (level - model.required),
                    forced=None if other is None else bool(_forced(other)[row]),
                    without=None if other is None else self._labels(other.recoding, row),
                    loss_without=None if other is None else float(other.percent[row]),
                    by_search=other is not None and worse(other.loss, self._now.loss),
                    of_table=isinstance(model, TableModel),
                    bound=model.bound,
                )
            )
        return judged

    def _other(self, i: int, progress: Progress) -> _Made | None:
        """The table without requirement i; None if the algorithm needs it."""
        if i not in self._without:
            recoding = self._recode_without(i, progress)
            self._without[i] = None if recoding is None else self._made(recoding, self._now.keeps)
        return self._without[i]

    def _recode_without(self, i: int, progress: Progress) -> Recoding | None:
        plan = self.plan
        rest = [model for j, model in enumerate(plan.models) if j != i]
        if not rest:  # nothing is required any more: everything is published unchanged
            return Recoding(self.table.codes, np.arange(len(self.table.codes)))
        count = len(plan.models)

        def report(stage: str, share: float) -> None:  # noqa: ARG001
            progress("explain", (i + share) / count)

        progress("explain", i / count)
        rng = np.random.default_rng(self.seed)
        try:
            return recode_for(
                plan.algorithm, self.table, rest, plan.loss, rng, report, parting_of(plan),
                plan.known, plan.suppression,
            )  # fmt: skip
        except ShoalError:  # some algorithms need a certain model
            return None

    # Loss

    @cached_property
    def _possible(self) -> Floats:
        """The largest possible loss of each record, float64[n]."""
        return self._sum(kept(self.table, self.plan.loss), self.table.codes)

    @cached_property
    def _now(self) -> _Made:
        """The release."""
        return self._made(self.recoding)

    def _made(self, recoding: Recoding, now: Floats | None = None) -> _Made:
        """The loss of a recoding; `now` is what the release preserves of each record."""
        keeps = self._sum(kept(self.table, self.plan.loss, recoding.covers), recoding.codes())
        could = np.where(self._possible > 0, self._possible, 1.0)
        percent = np.maximum(100.0 * (self._possible - keeps) / could, 0.0)
        possible = float(self._possible @ self._records)
        lost = 100.0 * (1.0 - float(keeps @ self._records) / possible) if possible > 0 else 0.0
        forced = None
        if now is not None:
            forced = np.asarray(keeps - now > ROUNDING * np.maximum(self._possible, 1e-300))
        return _Made(recoding, keeps, percent, max(0.0, lost), forced)

    @cached_property
    def _records(self) -> Longs:
        """How many records each row of the table stands for, int64[n]."""
        weight = self.table.weight
        return np.ones(len(self.table.codes), np.int64) if weight is None else weight

    def _sum(self, worth: Sequence[Floats], codes: Ints) -> Floats:
        total = np.zeros(len(codes))
        for j, one in enumerate(worth):
            total += one[codes[:, j]]
        return total

    # Published values

    def _place(self, row: int) -> int:
        """The position of a row of the original among the published ones."""
        return int((self.recoding.record[:row] != SUPPRESSED).sum())

    def _labels_at(self, place: int) -> dict[str, str | None]:
        """The published values of a row."""
        published = self._published
        return {
            name: None if code < 0 else values[code]
            for name, values, code in zip(
                published.names, published.values, published.codes[place], strict=True
            )
        }

    def _labels(self, without: Recoding, row: int) -> dict[str, str | None] | None:
        """What would be published of a row; unpublished original values are not shown."""
        if without.record[row] == SUPPRESSED:
            return None
        vector, mine = without.vectors[without.record[row]], self.table.codes[row]
        there = self.recoding.record[row] != SUPPRESSED
        now = self._labels_at(self._place(row)) if there else {}
        labels: dict[str, str | None] = {}
        for j, name in enumerate(self.table.names):
            code = int(vector[j])
            covers = without.covers[j] if without.covers else Covers(self.table.trees[j])
            label = covers.labels()[code]
            if label is not None and label == now.get(name):
                labels[name] = label  # it is published
            elif code == mine[j]:
                labels[name] = AS_IT_IS
            else:
                labels[name] = _wide(covers, code - covers.tree.size) or label
        return labels

    # Levels

    @cached_property
    def _view(self) -> tuple[Published, MatchGraph | None]:
        published, part = preview_release(self.table, self.recoding)
        return published, link(part, published) if self.plan.linked else None

    @property
    def _published(self) -> Published:
        return self._view[0]

    @cached_property
    def _levels(self) -> list[Floats]:
        """The level of each published record, per requirement; of several attackers, the worst."""
        published, linkage = self._view
        seen_by = [view.published for view in views(published, self.plan.attackers)]

        def levels(model: Model) -> Floats:
            worse_of = np.minimum if model.higher_is_safer else np.maximum
            each = [
                of_rows(model, model.levels(classes), one, linkage)
                for one in seen_by
                for classes in seen_in_all_ways(model, one, linkage)
            ]
            return np.asarray(worse_of.reduce(each), np.float64)

        return [levels(model) for model in self.plan.models]

    # Suppressed rows

    def _suppressed(self, row: int) -> tuple[list[float | None], int | None]:
        """The level that its class would reach, per requirement, and the people in it.

        Some classes fail only after other classes have been suppressed; so both are tried. There
        are no people if its own values are beyond `at_most`.
        """
        models = self.plan.models
        at = self._in_blocks if self._has_blocks else self._at_levels
        if at is None or (self._has_blocks and at[row] == NOWHERE):
            return [None] * len(models), None if at is None else 0
        alike = (at == at[row]).all(axis=1)
        for rows in (np.ones(len(at), np.bool_), alike | (self.recoding.record != SUPPRESSED)):
            part = self.table.take(np.flatnonzero(rows))
            classes: Classes = tally(at[rows], part.people, part.sensitive)
            mine = int(classes.label[np.flatnonzero(alike[rows])[0]])
            if not all(model.satisfied(classes)[mine] for model in models):
                break
        levels: list[float | None] = [float(model.levels(classes)[mine]) for model in models]
        return levels, int(classes.people[mine])

    @property
    def _has_blocks(self) -> bool:
        return bool(self.table.tops) and not self.plan.algorithm.keeps_at_most

    @cached_property
    def _in_blocks(self) -> Ints:
        """The block of every row: with whom `at_most` lets it be published; int32[n, 1]."""
        return Blocks.of(self.table).label.astype(np.int32)[:, None]

    @cached_property
    def _at_levels(self) -> Ints | None:
        """Every row at the levels of the release, int32[n, q]; None: no single level per column.

        Full-domain reports its levels. Otherwise they are the lowest that give the published
        values.
        """
        if self.recoding.covers or self.table.free or self.plan.linked:
            return None
        there = self.recoding.record != SUPPRESSED
        published = self.recoding.codes()[there]
        own = self.table.unified
        columns = []
        for j, tree in enumerate(self.table.trees):
            known = self.recoding.levels[j : j + 1]
            for at, values in enumerate(lifted(tree.parent, tree.level, tree.height)):
                if known and at != known[0]:
                    continue
                if np.array_equal(values[own[there, j]], published[:, j]):
                    columns.append(values[own[:, j]])
                    break
            else:
                return None
        return np.stack(columns, axis=1).astype(np.int32)


def _forced(other: _Made) -> Bools:
    assert other.forced is not None
    return other.forced
