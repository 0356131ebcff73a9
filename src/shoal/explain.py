"""Explain: which promise made a row as general as it is, and what it would be without it.

Nothing in a run says "this promise did it": classes merge until all promises hold together. So the
table is recoded once more for each promise, without it: the same algorithm, loss and seed. A
promise forced a row if the row loses less without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.columns import Table
from shoal.errors import BadTable, ShoalError
from shoal.free import Covers
from shoal.linkage import Linkage, link
from shoal.models import Model, finite
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.published import Published, foresee
from shoal.quality import kept
from shoal.recoding import SUPPRESSED, Recoding
from shoal.values import shown
from shoal.verify import of_rows, seen

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

FEW = 200_000  # rows times promises up to which a report explains without being asked
ROUNDING = 1e-9  # what loses less by no more than this loses the same
AS_IT_IS = "(as it is)"  # stands for an original value, which is never shown


@dataclass(frozen=True)
class Reason:
    """What one promise did to a whole table."""

    model: str
    column: str | None
    rows: int | None  # rows that it forced; None: not known
    percent: float | None  # the same in percent of all rows
    loss: float  # percent lost with all promises
    loss_without: float | None  # and without this one

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return asdict(self)


@dataclass(frozen=True)
class Judged:
    """What one promise did to one row."""

    model: str
    column: str | None
    required: float
    reached: float  # by the row's class, or by what could be the row's person's
    margin: float  # by how much more than required; never below 0, but for rounding
    forced: bool | None  # None: the algorithm cannot do without this promise
    without: dict[str, str | None] | None  # what would be published; None: suppressed or not known
    loss_without: float | None  # percent


@dataclass(frozen=True)
class Explanation:
    """Why a row is published as it is; for the data manager, not for publication."""

    row: int
    published: dict[str, str | None]  # None is a missing value
    loss: float  # percent of what the row could lose
    models: list[Judged]

    @property
    def forced_by(self) -> list[str]:
        """The promises without which the row would have lost less."""
        return [one.model for one in self.models if one.forced]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can write it."""
        found = asdict(self)
        for one in found["models"]:
            one |= {key: finite(one[key]) for key in ("reached", "margin")}
        return found

    def __str__(self) -> str:
        lines = [f"Row {self.row} loses {self.loss:.1f} %: {_vector(self.published)}"]
        for one in self.models:
            name = one.model if one.column is None else f"{one.model}[{one.column}]"
            lines.append(f"  {name} asks {one.required:g}, its class reaches {one.reached:g}")
            if one.forced is None:
                lines.append("    the algorithm cannot do without it")
            elif one.without is None:
                lines.append("    without it the row would be suppressed")
            else:
                word = "forced it" if one.forced else "did not force it"
                lines.append(
                    f"    {word}: {one.loss_without:.1f} % without it: {_vector(one.without)}"
                )
        return "\n".join(lines)


def _vector(values: dict[str, str | None]) -> str:
    return ", ".join(f"{name} = {'missing' if v is None else v}" for name, v in values.items())


def _wide(covers: Covers, place: int) -> str:
    """How wide a free value is, as its ends or members are original values; else nothing."""
    if place < 0:
        return ""
    cover = covers.covers[place]
    if covers.free.kind == "sets":
        return f"(a set of {len(cover)})"
    low, high = (covers.free.numbers[leaf - 1] for leaf in cover)
    return f"(a range of {shown(high - low)})"


class Explainer:
    """Answers why, from what a release was made of; stays in memory, and runs when it is asked."""

    def __init__(self, plan: Plan, table: Table, recoding: Recoding) -> None:
        self.plan = plan
        self.table = table
        self.recoding = recoding
        self._without: dict[int, Recoding | None] = {}

    @property
    def known(self) -> bool:
        """Whether everything was recoded already, so that it costs nothing to ask."""
        return len(self._without) == len(self.plan.models)

    @property
    def cheap(self) -> bool:
        """Whether the table is so small that a report explains it without being asked."""
        return self.known or self.table.rows * len(self.plan.models) <= FEW

    def row(self, row: int, progress: Progress = silent) -> Explanation:
        """Explain a row of the original table; the first is 0."""
        rows = self.table.rows
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < rows:
            raise BadTable(
                f"there is no row {row!r}: the rows of the original are 0 to {rows - 1}, in the "
                "order in which they stand there"
            )
        if self.recoding.record[row] == SUPPRESSED:
            raise BadTable(f"row {row} was suppressed: nothing of it is published")
        published = self._published
        place = int((self.recoding.record[:row] != SUPPRESSED).sum())
        judged = []
        for i, model in enumerate(self.plan.models):
            level = float(self._levels[i][place])
            sign = 1.0 if model.higher_is_safer else -1.0
            other = self._recoded(i, progress)
            judged.append(
                Judged(
                    model=model.name,
                    column=model.about,
                    required=model.required,
                    reached=level,
                    margin=sign * (level - model.required),
                    forced=None if other is None else bool(self._forced(other)[row]),
                    without=None if other is None else self._labels(other, row),
                    loss_without=None if other is None else float(self._percent(other)[row]),
                )
            )
        vector = {
            name: None if code < 0 else values[code]
            for name, values, code in zip(
                published.names, published.values, published.codes[place], strict=True
            )
        }
        return Explanation(int(row), vector, float(self._percent(self.recoding)[row]), judged)

    def reasons(self, progress: Progress = silent) -> list[Reason]:
        """What each promise did to the table."""
        found = []
        with_all = self._all(self.recoding)
        for i, model in enumerate(self.plan.models):
            other = self._recoded(i, progress)
            rows = None if other is None else int(self._forced(other).sum())
            found.append(
                Reason(
                    model=model.name,
                    column=model.about,
                    rows=rows,
                    percent=None if rows is None else 100.0 * rows / self.table.rows,
                    loss=with_all,
                    loss_without=None if other is None else self._all(other),
                )
            )
        return found

    def _recoded(self, i: int, progress: Progress) -> Recoding | None:
        """The table without promise i; None where the algorithm cannot do without it."""
        if i not in self._without:
            self._without[i] = self._recode_without(i, progress)
        return self._without[i]

    def _recode_without(self, i: int, progress: Progress) -> Recoding | None:
        plan = self.plan
        rest = [model for j, model in enumerate(plan.models) if j != i]
        if not rest:  # nothing is promised any more: everything is published as it is
            return Recoding(self.table.codes, np.arange(self.table.rows))
        count = len(plan.models)

        def tell(stage: str, share: float) -> None:  # noqa: ARG001
            progress("explain", (i + share) / count)

        progress("explain", i / count)
        rng = np.random.default_rng(plan.seed)
        try:
            return plan.algorithm.recode(self.table, rest, plan.loss, rng, tell)
        except ShoalError:  # an algorithm may be made for one model, and need it
            return None

    # What is lost

    @cached_property
    def _possible(self) -> Floats:
        """What each row could lose, float64[n]."""
        return self._sum(kept(self.table, self.plan.loss), self.table.codes)

    def _kept(self, recoding: Recoding) -> Floats:
        """What is kept of each row, float64[n]."""
        return self._sum(kept(self.table, self.plan.loss, recoding.covers), recoding.codes())

    def _sum(self, worth: Sequence[Floats], codes: Ints) -> Floats:
        total = np.zeros(len(codes))
        for j, one in enumerate(worth):
            total += one[codes[:, j]]
        return total

    def _percent(self, recoding: Recoding) -> Floats:
        """What each row lost, in percent of what it could lose, float64[n]."""
        possible = np.where(self._possible > 0, self._possible, 1.0)
        return np.maximum(100.0 * (self._possible - self._kept(recoding)) / possible, 0.0)

    def _all(self, recoding: Recoding) -> float:
        """What the table lost, in percent (Def. 7, Mauger 2023)."""
        possible = float(self._possible.sum())
        if possible <= 0:
            return 0.0
        return max(0.0, 100.0 * (1.0 - float(self._kept(recoding).sum()) / possible))

    def _forced(self, without: Recoding) -> npt.NDArray[np.bool_]:
        """Rows that lose less without a promise, bool[n]."""
        gain = self._kept(without) - self._kept(self.recoding)
        return np.asarray(gain > ROUNDING * np.maximum(self._possible, 1e-300))

    def _labels(self, without: Recoding, row: int) -> dict[str, str | None] | None:
        """What would be published of a row, without any original value that is not published."""
        if without.record[row] == SUPPRESSED:
            return None
        vector, mine = without.vectors[without.record[row]], self.table.codes[row]
        now = self._published.codes[int((self.recoding.record[:row] != SUPPRESSED).sum())]
        labels: dict[str, str | None] = {}
        for j, name in enumerate(self.table.names):
            code = int(vector[j])
            covers = without.covers[j] if without.covers else Covers(self.table.trees[j])
            label = covers.labels()[code]
            if now[j] >= 0 and label == self._published.values[j][now[j]]:
                labels[name] = label  # it is published
            elif code == mine[j]:
                labels[name] = AS_IT_IS
            else:
                labels[name] = _wide(covers, code - covers.tree.size) or label
        return labels

    # What was reached

    @cached_property
    def _view(self) -> tuple[Published, Linkage | None]:
        published, part = foresee(self.table, self.recoding)
        return published, link(part, published) if self.plan.linked else None

    @property
    def _published(self) -> Published:
        return self._view[0]

    @cached_property
    def _levels(self) -> list[Floats]:
        """The level of each published row, for every promise."""
        published, linkage = self._view

        def levels(model: Model) -> Floats:
            told = model.levels(seen(model, published, linkage))
            return of_rows(model, told, published, linkage).astype(np.float64)

        return [levels(model) for model in self.plan.models]
