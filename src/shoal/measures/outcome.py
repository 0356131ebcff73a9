"""Outcome: all that a run found out, by the names under which people ask for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from shoal.algorithms._shared.goals import greatest_k
from shoal.base.arrays import Longs
from shoal.base.errors import NotHeld, preview
from shoal.base.progress import Progress, silent
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.explanation import Explains
from shoal.measures.exposure import Exposure
from shoal.measures.findings import Finding, findings
from shoal.measures.information_loss import SUPPRESSED_COUNT_AS, Quality, normalized_class_size
from shoal.measures.lower_bound import IN_PROPORTION, Bound, lower_bound, min_class_size, scoped
from shoal.measures.risks import Risks
from shoal.measures.tried import Tried
from shoal.measures.utility import Utility
from shoal.models import Check
from shoal.plan import Plan
from shoal.table.encode import Table

MUCH = 0.1  # share of left-out rows from which on somebody should think about it
ADVICE = (
    "Apply the recoding to more rows at once, make one with a larger k or of a table more like "
    "this, or make a release of this table by itself"
)


@dataclass(frozen=True)
class Applied:
    """What was left out of a table to which the recoding of another one was applied."""

    rows: int  # of the table to which it was applied
    unknown: dict[str, int]  # rows by column with a value that its hierarchy does not know
    unknown_rows: int  # rows with such a value, and other rows of the same person
    no_class: int  # rows that no published class covers
    broken: dict[str, int]  # rows by promise that the last class that covers them would break
    moved: int  # rows in a wider class than the recoding has for them, for the same reason
    classes: int  # classes that are not published, for the same reason
    dropped: list[str]  # columns that the recoding does not know
    most_left_out: float | None  # share of the rows that may be left out; None: any

    @property
    def left_out(self) -> int:
        """Rows that are not published."""
        return self.unknown_rows + self.no_class + sum(self.broken.values())

    @property
    def much(self) -> bool:
        """Whether so many rows are left out that what is left may say something else."""
        return self.left_out > MUCH * self.rows

    def check(self) -> None:
        """Complain if more is left out than is allowed."""
        most = self.most_left_out
        if most is None or self.left_out <= most * self.rows * (1 + 1e-9):
            return
        raise NotHeld(
            f"{self.left_out:,} of {_rows(self.rows)} ({100 * self.left_out / self.rows:.3g} %) "
            f"would be left out, and no more than {100 * most:.3g} % may be: {self.why()}. {ADVICE}"
        )

    def why(self) -> str:
        """How many rows are not published, and for what reason."""
        why = {"with unknown values": self.unknown_rows, "that no class covers": self.no_class}
        why |= {f"whose class would break {key}": rows for key, rows in self.broken.items()}
        return ", ".join(f"{_rows(rows)} {words}" for words, rows in why.items() if rows)

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return asdict(self) | {"left_out": self.left_out}

    def notes(self) -> list[str]:
        """What was left out, and why."""
        notes = ["what is published of a row was settled by the recoding of another table"]
        if self.dropped:
            notes.append(f"left out: the columns {preview(self.dropped)}, which the recoding lacks")
        if self.unknown:
            where = ", ".join(f"{name!r} in {_rows(n)}" for name, n in self.unknown.items())
            notes.append(
                f"left out: {_rows(self.unknown_rows)} with values that a hierarchy does not know "
                f"({where}); they are in none of the losses"
            )
        if self.no_class:
            notes.append(f"left out: {_rows(self.no_class)} that no class of the recoding covers")
        for model, rows in self.broken.items():
            notes.append(f"left out: {_rows(rows)} whose class would break {model} in this table")
        if self.moved:
            notes.append(
                f"made wider than in the recoding: {_rows(self.moved)} whose class would break a "
                "promise in this table"
            )
        return notes


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A published table with what was promised, what was reached and what was lost."""

    frame: Any  # of the kind that was handed in; an arrow table for a path
    plan: Plan
    checks: list[Check]
    quality: Quality
    utility: Utility
    before: Exposure  # what the original would have given away
    after: Exposure
    rows: int
    published: int
    suppressed: int
    discernibility: int
    seconds: dict[str, float]
    notes: list[str]  # what the reader should know besides
    keep_order: bool  # whether the rows stand in the order of the original
    made: datetime
    original: Table | None  # what a file is checked against; only where a model needs it
    # Whose each row is, int64[published]; only where the release has no person numbers in it.
    person_of_record: Longs | None
    if_known: dict[
        str, ColumnDisclosure
    ]  # what columns that are published as they are would give away
    seed: int | None  # None: chance came from the operating system
    version: str
    applied: Applied | None = None  # where the recoding of another table was applied
    original_sha256: str | None = None  # of the file that was read; None: no file
    explainer: Explains | None = None  # what can say why; only where an algorithm ran
    tried: list[Tried] = field(default_factory=list)  # where the plan left something to choose
    _bounds: list[Bound | None] = field(default_factory=list, init=False)  # once it was asked for

    def __repr__(self) -> str:
        held = ", ".join(f"{c.model} {c.reached:g} (asked {c.required:g})" for c in self.checks)
        classes = "" if self.after.linked else f" in {self.classes:,} classes"
        return f"Release of {self.published:,} rows{classes}: {held}"

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.after.classes

    @property
    def smallest_class(self) -> int:
        """Candidates of the most exposed person: without persons, the smallest class."""
        return self.after.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.after.average_class_size

    @property
    def risks(self) -> Risks:
        """Chances of re-identification in the release."""
        return self.after.risks

    @property
    def attacks(self) -> dict[str, dict[str, Any]]:
        """What each attack finds in the release."""
        return self.after.attacks

    @property
    def findings(self) -> list[Finding]:
        """The attacks that succeed on the release, the most important first."""
        return findings(self.after)

    @property
    def losses(self) -> dict[str, float]:
        """Percent of alteration, per loss metric."""
        return self.quality.losses

    @property
    def objective(self) -> dict[str, Any] | None:
        """What `full-domain` minimized, as measured on the release; None: another algorithm."""
        name = getattr(self.plan.algorithm, "objective", None)
        if name is None or self.applied is not None:
            return None
        value: float = self.losses[self.plan.loss.name]
        if name == "discernibility":
            value = self.discernibility
        elif name == "average-class-size":
            k = greatest_k(self.plan.models)
            value = normalized_class_size(self.published, self.classes, self.suppressed, k)
        return {"name": name, "value": value}

    @property
    def bound(self) -> Bound | None:
        """The lower bound on the loss, with the requirements that it covers; None: no class size.

        It takes some seconds on a large table, so it is found when it is first asked for.
        """
        return self.find_bound()

    @property
    def bound_known(self) -> bool:
        """Whether the bound was asked for already, so that it costs nothing."""
        return bool(self._bounds)

    def find_bound(self, progress: Progress = silent) -> Bound | None:
        """The same, reporting progress."""
        if not self._bounds:
            models = self.plan.models
            k = min_class_size(models)
            linked = [model.name for model in models if model.linkage]
            found = None
            if linked:
                found = Bound(
                    None,
                    f"{linked[0]} needs no classes, and the bound is for releases with classes",
                )
            elif self.explainer is not None and k >= 2:
                table, loss = self.explainer.table, self.plan.loss
                found = lower_bound(table, k, loss, IN_PROPORTION, progress)
            self._bounds.append(None if found is None else scoped(found, models))
        return self._bounds[0]

    def as_dict(self, progress: Progress = silent) -> dict[str, Any]:
        """All numbers of the release, by the names of the JSON file."""
        bound = self.find_bound(progress)
        numbers: dict[str, Any] = {
            "rows": self.rows,
            "published": self.published,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class_size": self.average_class_size,
            "discernibility": self.discernibility,
            "generalized_percent": self.quality.generalized_percent,
            "root_percent": self.quality.root_percent,
            "losses": self.quality.losses,
            "mean_loss": self.quality.mean_loss,
            "column_losses": self.quality.columns,
            "utility": self.utility.as_dict(),
            "checks": [check.as_dict() for check in self.checks],
            "risks": self.after.told(),
            "attacks": self.attacks,
            "findings": [one.as_dict() for one in self.findings],
            "beliefs": {name: one.as_dict() for name, one in self.after.beliefs.items()},
            "before": self.before.as_dict(),
            "if_known": {name: one.as_dict() for name, one in self.if_known.items()},
            "notes": self.notes,
            "seconds": self.seconds,
            "seed": self.seed,
            "keep_order": self.keep_order,
            "original_sha256": self.original_sha256,
            "made": self.made.isoformat(timespec="seconds"),
            "algorithm": self.plan.algorithm.setting() | self.plan.algorithm.options(),
            "loss": self.plan.loss.name,
            "objective": self.objective,
            "suppressed_records_count_as": dict(SUPPRESSED_COUNT_AS),
            "bound": None if bound is None else bound.as_dict(),
            "tried": [one.as_dict() for one in self.tried],
            "version": self.version,
        }
        if self.applied is not None:
            numbers["applied"] = self.applied.as_dict()
            counted = numbers["suppressed_records_count_as"]
            counted["losses of records with unknown values"] = "not counted"
        if self.explainer is not None and self.explainer.known:
            numbers["explained"] = [reason.as_dict() for reason in self.explainer.reasons()]
        return numbers
