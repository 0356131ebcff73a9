"""Outcome: all results of a run as data.

The `Release` of `shoal.flow` is an Outcome that can also save, report and explain itself.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile, ShoalError, preview
from shoal.base.notebook import html_block
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.base.wording import many, percent
from shoal.io.frames import Frame, content_digest, csv_parts, open_frame
from shoal.measures.applied import Applied
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.explanation import Explains
from shoal.measures.exposure import Exposure
from shoal.measures.findings import Finding, findings
from shoal.measures.information_loss import SUPPRESSED_COUNT_AS, Quality, normalized_class_size
from shoal.measures.lower_bound import IN_PROPORTION, Bound, lower_bound, scoped
from shoal.measures.risks import Risks
from shoal.measures.tried import Tried
from shoal.measures.utility import Utility
from shoal.models import Check, min_class_size, requirement_rows
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.published_table import Published
from shoal.table.roles import not_published
from shoal.table.written.form import written_form


@dataclass(frozen=True, eq=False)
class Outcome:
    """A published table with its requirements, the levels reached and the information lost."""

    # Of the same kind as the input; an arrow table for a path; None: it is larger than memory.
    frame: Any
    plan: Plan
    seen: Published  # the frame as a reader sees it
    checks: list[Check]
    quality: Quality
    utility: Utility
    before: Exposure  # what the original would have disclosed
    after: Exposure
    rows: int
    published: int
    suppressed: int
    discernibility: int
    seconds: dict[str, float]
    notes: list[str]  # further remarks for the reader
    keep_order: bool  # whether records are in the order of the original
    made: datetime
    original: Table | None  # to verify a file against; None: no model needs it
    # The person of each record, int64[published]; None: the release has person numbers or none.
    person_of_record: Longs | None
    if_known: dict[str, ColumnDisclosure]  # disclosure by columns published unchanged, if known
    worrying: list[str]  # those columns that deserve a warning, the worst first
    seed: int | None  # None: randomness came from the operating system
    version: str
    digest: str | None = None  # of the frame when it was measured; None: it cannot be edited
    applied: Applied | None = None  # if the recoding of another table was applied
    original_sha256: str | None = None  # of the input file; None: the input was no file
    explainer: Explains | None = None  # None: no algorithm ran
    tried: list[Tried] = field(default_factory=list)  # if the plan left a choice open
    engine: str = "memory"  # that grouped and wrote the records
    parts: int = 1  # into which the table was cut, each recoded by itself
    _bounds: list[Bound | None] = field(default_factory=list, init=False)  # once it is computed

    def __repr__(self) -> str:
        levels = ", ".join(
            f"{c.model} {c.reached:g} (required {c.required:g})" for c in self.checks
        )
        classes = "" if self.after.linked else f" in {self.classes:,} classes"
        return f"Release of {self.published:,} records{classes}: {levels}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the requirements, and the most important numbers."""
        classes = "" if self.after.linked else f" in {many(self.classes, 'class', 'classes')}"
        facts = [
            ("suppressed", many(self.suppressed, "record")),
            (
                f"information loss ({self.plan.loss.name})",
                percent(self.losses[self.plan.loss.name]),
            ),
            ("highest re-identification risk", percent(100 * self.risks.prosecutor)),
            ("average re-identification risk", percent(100 * self.risks.average)),
        ]
        title = f"Release of {many(self.published, 'record')}{classes}"
        return html_block(title, facts, [requirement_rows(self.checks)])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.after.classes

    @property
    def smallest_class(self) -> int:
        """Candidates of the most exposed person; without a person column, the smallest class."""
        return self.after.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.after.average_class_size

    @property
    def risks(self) -> Risks:
        """Re-identification risks of the release."""
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
        """The objective that the algorithm minimized, measured on the release; None: no option."""
        name = self.plan.algorithm.objective_name
        if name is None or self.applied is not None:
            return None
        value: float = self.losses[self.plan.loss.name]
        if name == "discernibility":
            value = self.discernibility
        elif name == "average-class-size":
            k = min_class_size(self.plan.models)
            value = normalized_class_size(self.published, self.classes, self.suppressed, k)
        return {"name": name, "value": value}

    @property
    def bound(self) -> Bound | None:
        """The lower bound on the loss, with the requirements that it covers; None: no class size.

        It takes some seconds on a large table, so it is computed on first use.
        """
        return self.find_bound()

    @property
    def bound_known(self) -> bool:
        """Whether the bound was computed already."""
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
                with limited(self.plan.threads):
                    found = lower_bound(table, k, loss, IN_PROPORTION, progress)
            self._bounds.append(None if found is None else scoped(found, models))
        return self._bounds[0]

    def check_unchanged(self, frame: Frame | None = None) -> None:
        """Raise an error if the frame was edited after it was verified and measured."""
        frame = open_frame(self.frame) if frame is None else frame
        dropped = not_published(self.plan.columns)
        names = {name for name in self.plan.columns if name not in dropped}
        other = sorted(names ^ set(frame.names))
        what = ""
        if other:
            what = f"columns {preview(other)}"
        elif frame.height != self.published:
            what = "number of records"
        elif content_digest(frame) != self.digest:
            what = "values, types or order"
        if what:
            raise ShoalError(
                f"the frame of the release was changed after it was verified ({what}), so that "
                "the measurements no longer describe it. Change the original and "
                "anonymize it again, or edit a copy of the frame and audit that"
            )

    def csv_sha256(self) -> str | None:
        """SHA-256 of the bytes of the CSV file that `release.save("….csv")` writes.

        None if a column has a type that a text file cannot represent.
        """
        try:
            digest = hashlib.sha256()
            plan = self.plan
            frame = written_form(
                open_frame(self.frame), plan.columns, plan.missing_values, plan.write, "release.csv"
            )
            for part in csv_parts(frame, plan.read):
                digest.update(part)
        except BadFile:
            return None
        return digest.hexdigest()

    def as_dict(self, progress: Progress = silent) -> dict[str, Any]:
        """All numbers of the release, by the names of the JSON file."""
        self.check_unchanged()
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
            "risks": self.after.all_risks(),
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
            "engine": self.engine,
            "parts": self.parts,
            "version": self.version,
        }
        if self.applied is not None:
            numbers["applied"] = self.applied.as_dict()
            counted = numbers["suppressed_records_count_as"]
            counted["losses of records with unknown values"] = "not counted"
        if self.explainer is not None and self.explainer.known:
            numbers["explained"] = [reason.as_dict() for reason in self.explainer.reasons()]
        return numbers
