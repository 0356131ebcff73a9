"""Outcome: all results of a run as data.

The `Release` of `shoal.flow` is an Outcome that can also save, report and explain itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile, ShoalError, preview
from shoal.base.notebook import html_block
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.base.wording import many, percent
from shoal.io.digests import content_digest
from shoal.io.frames import Frame, csv_parts, open_frame
from shoal.measures.analyses.analyses import Analyses, analyze
from shoal.measures.analyses.learning import Learning, check_learnable, learn, learned_as_dict
from shoal.measures.analyses.variables import Tables
from shoal.measures.applied import Applied
from shoal.measures.bounds.key_set_bound import lower_bound_for
from shoal.measures.bounds.lower_bound import IN_PROPORTION, Bound, scoped, without_classes
from shoal.measures.bounds.model_bound import covered_by_bound
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.measures.breakdowns.dependencies import Dependencies
from shoal.measures.breakdowns.linked_members import LinkedMembers
from shoal.measures.breakdowns.view_source import ViewSource
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.explanation import Explains
from shoal.measures.exposure import Exposure
from shoal.measures.findings import Finding, findings
from shoal.measures.information_loss import SUPPRESSED_COUNT_AS, Quality, normalized_class_size
from shoal.measures.record_counts import required_class_size
from shoal.measures.risks import Risks
from shoal.measures.samples.sample_risks import SampleRisks, sample_numbers
from shoal.measures.samples.uniques_before_after import UniquesBeforeAfter, uniques_before_after
from shoal.measures.tried import Tried
from shoal.measures.utility import Utility
from shoal.measures.verdicts.verdict import Verdict
from shoal.models import Check, Model, min_class_size, min_factor, requirement_rows
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.published_table import Published
from shoal.table.roles import columns_with_role, not_published
from shoal.table.written.form import written_form


@dataclass(frozen=True)
class WrittenFile:
    """A file that the release was written to: its name without folders, and its checksum."""

    name: str
    sha256: str


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
    dependency: Dependencies  # what those columns reveal of quasi-identifiers
    # Households whose members columns link; None: the release has no members hidden by themselves.
    linked_members: LinkedMembers | None
    seed: int | None  # None: randomness came from the operating system
    version: str
    seen_by: Published  # the frame as the attacker sees it who learns most, of several
    attackers: dict[str, Exposure] = field(default_factory=dict)  # what each of several learns
    digest: str | None = None  # of the frame when it was measured; None: it cannot be edited
    applied: Applied | None = None  # if the recoding of another table was applied
    original_sha256: str | None = None  # of the input file; None: the input was no file
    explainer: Explains | None = None  # None: no algorithm ran
    tried: list[Tried] = field(default_factory=list)  # if the plan left a choice open
    limits: list[Verdict] = field(default_factory=list)  # of the plan, and what is reached
    at_most: list[Check] = field(default_factory=list)  # how general limited columns are
    sample: SampleRisks | None = None  # risks in the population; None: the plan is about none
    sample_before: SampleRisks | None = None  # those of the original; None: not measured
    weighted_losses: dict[str, float] | None = None  # None: there are no weights
    engine: str = "memory"  # that grouped and wrote the records
    parts: int = 1  # into which the table was cut, each recoded by itself
    # The household of each record, int64[published], if members are generalized each by itself.
    household_of_record: Longs | None = None
    tables: Tables | None = None  # the release and its original, for analyses
    refused: str = ""  # why it is not published; empty: it may be
    # Once they are computed:
    _bounds: list[Bound | None] = field(default_factory=list, init=False)
    _analyses: list[Analyses] = field(default_factory=list, init=False)
    _uniques: list[UniquesBeforeAfter | None] = field(default_factory=list, init=False)
    _learned: dict[str, Learning] = field(default_factory=dict, init=False)
    _written: list[WrittenFile] = field(default_factory=list, init=False)  # the last file

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
        return html_block(title, facts, [requirement_rows([*self.checks, *self.at_most])])

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
        return findings(self.after, self.attackers)

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
            factor, found = min_factor(models), None
            if factor > 1:
                plain = self.bound_of(factor, progress)
                found = None if plain is None else without_classes(plain)
            elif linked:
                found = Bound(
                    None,
                    f"{linked[0]} needs no classes, and the bound is for releases with classes",
                )
            elif k >= 2 or self._bounded_by(models):
                found = self.bound_of(k, progress, models)
            self._bounds.append(None if found is None else scoped(found, models))
        return self._bounds[0]

    def _bounded_by(self, models: Sequence[Model]) -> bool:
        """Whether models about sensitive values give a bound without a class size."""
        table = None if self.explainer is None else self.explainer.table
        return table is not None and any(covered_by_bound(table, model) for model in models)

    def skip_bound(self) -> None:
        """Do without the bound, as it takes a while; it is not computed afterwards either."""
        if not self._bounds:
            self._bounds.append(Bound(None, "it was skipped on request"))

    def bound_of(
        self, k: int, progress: Progress = silent, models: Sequence[Model] = ()
    ) -> Bound | None:
        """The lower bound on the loss with k people in every class, by models; None: no run."""
        if self.explainer is None:
            return None
        table, loss = self.explainer.table, self.plan.loss
        known, effort = self.plan.known, self.plan.algorithm.bound_effort
        with limited(self.plan.threads):
            return lower_bound_for(table, k, loss, IN_PROPORTION, progress, known, models, effort)

    @property
    def analyses(self) -> Analyses:
        """Means, variances, correlations, associations, from the original and from the release.

        It takes some seconds on a large table, so they are computed on first use.
        """
        return self.find_analyses()

    def find_analyses(self, progress: Progress = silent) -> Analyses:
        """The same, reporting progress."""
        if not self._analyses:
            with limited(self.plan.threads):
                self._analyses.append(analyze(self._tables, progress))
        return self._analyses[0]

    def find_uniques(self, progress: Progress = silent) -> UniquesBeforeAfter | None:
        """Records of a sample that are unique on few columns; None: no sample, or no run.

        It takes some seconds on a large table, so they are looked for on first use.
        """
        if self.sample is None or self.explainer is None:
            return None
        if not self._uniques:
            table, fraction = self.explainer.table, self.sample.fraction
            with limited(self.plan.threads):
                self._uniques.append(uniques_before_after(table, self.seen, fraction, progress))
        return self._uniques[0]

    @property
    def learned(self) -> dict[str, Learning]:
        """What models have learned so far from the release, by the column that they predict."""
        return self._learned

    def learn(self, target: str, *, progress: Progress = silent) -> Learning:
        """Train models to predict a column, on the release and on the original, and compare them.

        They are tested on records of the original that were held back. Needs scikit-learn
        (`shoal[learning]`); takes some seconds for a table of any size. Reports and JSON files
        include what was learned before.
        """
        if target not in self._learned:
            with limited(self.plan.threads):
                self._learned[target] = learn(self._tables, target, progress)
        return self._learned[target]

    def check_learnable(self, target: str) -> None:
        """Raise an error if models cannot predict a column, before anything is written."""
        check_learnable(self._tables, target)

    def attacker_view(
        self, *, row: int | None = None, class_: int | None = None, attacker: str | None = None
    ) -> AttackerView:
        """What an attacker sees of a class, who it could be, and what would tell them apart.

        The class is that of a `row` of the original (the first is 0), or one by its size (0 is the
        smallest). Of several attackers of the plan it is the one with the highest risk, or the
        `attacker` of that name. It has published values, numbers and names of columns: no other
        value. For the approver, not for publication.
        """
        return self._views.of_attacker(attacker).asked(row, class_, self.after.linked)

    def attacker_examples(self) -> dict[str, AttackerView]:
        """The views on the smallest class and on the most surprising one; none without classes."""
        return {} if self.after.linked else self._views.examples()

    @property
    def _views(self) -> ViewSource:
        required = required_class_size(self.plan.models)
        others = {one.title: self.seen.known_to(one.knows) for one in self.plan.attackers}
        return ViewSource(
            self.seen_by, required, self._tables, attacker=self._attacker, others=others
        )

    @property
    def _attacker(self) -> str | None:
        """Whose view `seen_by` is, if the plan names several attackers."""
        named = [name for name, one in self.attackers.items() if one is self.after]
        return named[0] if named else None

    @property
    def _tables(self) -> Tables:
        self.check_unchanged()
        assert self.tables is not None
        return self.tables

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

    @property
    def written(self) -> WrittenFile | None:
        """The file that the release was written to last; None: it went to no single file."""
        return self._written[-1] if self._written else None

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
            "importance": {
                name: self.plan.columns[name].importance
                for name in columns_with_role(self.plan.columns, "quasi")
            },
            "utility": self.utility.as_dict()
            | self.find_analyses(progress).as_dict()
            | learned_as_dict(self._learned.values()),
            "checks": [check.as_dict() for check in self.checks],
            "limits": [one.as_dict() for one in self.limits],
            "at_most": [check.as_dict() for check in self.at_most],
            "risks": self.after.all_risks(),
            "attacks": self.attacks,
            "findings": [one.as_dict() for one in self.findings],
            "beliefs": {name: one.as_dict() for name, one in self.after.beliefs.items()},
            "attackers": {name: one.as_dict() for name, one in self.attackers.items()},
            "before": self.before.as_dict(),
            "if_known": {name: one.as_dict() for name, one in self.if_known.items()},
            "dependency": self.dependency.as_dict(),
            "accepted": list(self.dependency.accepted),
            "linked_members": None
            if self.linked_members is None
            else self.linked_members.as_dict(),
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
            **sample_numbers(self.sample, self.weighted_losses),
            "sample_before": None if self.sample_before is None else self.sample_before.as_dict(),
        }
        if (uniques := self.find_uniques(progress)) is not None:
            numbers["special_uniques"] = uniques.as_dict()
        if self.applied is not None:
            numbers["applied"] = self.applied.as_dict()
            counted = numbers["suppressed_records_count_as"]
            counted["losses of records with unknown values"] = "not counted"
        if self.explainer is not None and self.explainer.known:
            numbers["explained"] = [reason.as_dict() for reason in self.explainer.reasons()]
        return numbers
