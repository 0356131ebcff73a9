"""The facts of a release: all that its report tells, as plain data without any layout.

Only the published table, numbers, column names and the plan go in. What was measured on the
original are numbers; a word among them is shown only if it is published too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.base.errors import BadFile
from shoal.base.progress import Progress, silent
from shoal.base.wording import Change, number, percent
from shoal.io import frames
from shoal.losses import Loss
from shoal.measures.applied import Applied
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.explanation import ClassReason, Explains, Reason
from shoal.measures.findings import Finding
from shoal.measures.lower_bound import Bound
from shoal.measures.outcome import Outcome
from shoal.measures.record_counts import RowCount
from shoal.measures.tried import Tried
from shoal.measures.utility import Utility
from shoal.report import plan_facts as asked
from shoal.report.attack_facts import AttackFact, attack_facts
from shoal.report.class_sizes import SizeFact, candidate_sizes, sizes
from shoal.report.exposure_facts import count_rows, risk_rows
from shoal.report.promises import bound, promise
from shoal.report.sections.certainty import SureFact, sure_facts
from shoal.report.sensitive_facts import SensitiveFact, sensitive_facts
from shoal.report.width_facts import WidthFact, widths
from shoal.table.roles import columns_with_role

LITTLE = 99.0  # percent of all values held back from which on a release says next to nothing


@dataclass(frozen=True)
class Promise:
    """One promise: in words, what was asked, what was reached, and whether it holds."""

    model: str
    column: str | None
    words: str
    asked: str
    reached: str
    holds: bool


@dataclass(frozen=True)
class Facts:
    """All that a report tells."""

    made: datetime
    version: str
    sha256: str | None  # of the release as a CSV file; None: it cannot be written as text
    original_sha256: str | None  # of the file that was read; None: it was no file
    plan_sha256: str  # of the plan as it is shown
    seed: int | None
    randomized: bool  # whether chance decides what is published, not only in which order
    rows: int
    published: int
    suppressed: int
    people_before: int
    people: int
    has_persons: bool
    persons_published: bool  # whether the release says which rows are one person's
    linked: bool  # measured beside the original: there are no classes
    classes: int
    classes_before: int
    smallest: int  # people who look like the most exposed one, or rows that could be theirs
    average: float
    columns: list[asked.ColumnFact]
    if_known: dict[
        str, ColumnDisclosure
    ]  # what columns that are published as they are would give away
    worrying: list[str]  # those of them that somebody should think about, the worst first
    promises: list[Promise]
    counts: list[Change]
    risks: list[Change]
    find_before: str  # the highest chance to find a person
    find: str | None  # None: not known, as rows that could be a person's need not be equally likely
    sampled: bool  # whether some of these chances were sampled, not counted
    find_mean: str | None  # the same on average over all people; None: nobody weighed these rows
    attacks: list[AttackFact]
    sure: list[SureFact]  # how sure an attacker can become of sensitive values
    findings: list[Finding]  # the attacks that succeed, the most important first
    guide: str  # the loss that guided the algorithm
    objective: str | None  # what guided it instead of the loss
    losses: dict[str, float]  # percent, per metric
    column_losses: dict[str, float]  # percent, per column, by the guiding loss
    loss_words: dict[str, str]  # what each metric counts
    generalized_percent: float
    root_percent: float
    mean_loss: float
    utility: Utility
    sizes: list[SizeFact]
    visits: RowCount | None  # what the number of rows of a person gives away
    widths: list[WidthFact]
    sensitive: list[SensitiveFact]
    missing: str  # "value", "root" or "error"
    missing_words: list[str]  # words for missing values that may be shown
    missing_cells: int  # quasi-identifiers that are missing in the release
    keep_order: bool
    algorithm: str
    algorithm_words: str
    plan: asked.PlanFile
    notes: list[str]
    reasons: list[Reason]  # what each promise did; empty: not found out
    general: list[ClassReason]  # the most general classes, and what made them so
    minutes: float  # that it would take to find that out, by estimate
    applied: Applied | None  # where the recoding of another table was applied
    tried: list[Tried]  # where the plan left something to choose
    bound: Bound | None  # what every such release loses at least

    @property
    def holds(self) -> bool:
        """Whether every promise holds."""
        return all(promise.holds for promise in self.promises)

    @property
    def unprotected(self) -> list[str]:
        """Sensitive columns that no promise is about."""
        about = {promise.column for promise in self.promises}
        return [name for name in self.columns_with_role("sensitive") if name not in about]

    @property
    def says_little(self) -> bool:
        """Whether next to nothing is left of the quasi-identifiers."""
        one = self.classes == 1 and self.classes_before > 1
        return one or self.root_percent >= LITTLE

    def columns_with_role(self, role: str) -> list[str]:
        """The columns with this role."""
        return [column.name for column in self.columns if column.role == role]


def facts(release: Outcome, explain: bool | None = None, progress: Progress = silent) -> Facts:
    """Gather what the report of a release tells.

    `explain` says whether to find out what each promise did; None: where it takes little time.
    """
    explainer = _explaining(release, explain)
    plan, quality, after = release.plan, release.quality, release.after
    frame = frames.open_frame(release.frame)
    seen = release.seen
    shown = asked.plan_file(plan)
    before, chances = release.before.chances(), after.chances()
    return Facts(
        made=release.made,
        version=release.version,
        sha256=sha256(frame),
        original_sha256=release.original_sha256,
        plan_sha256=hashlib.sha256(shown.toml.encode()).hexdigest(),
        seed=release.seed,
        randomized=bool(getattr(plan.algorithm, "randomized", False)),
        rows=release.rows,
        published=release.published,
        suppressed=release.suppressed,
        people_before=release.before.people,
        people=after.people,
        has_persons=bool(columns_with_role(plan.columns, "person")),
        persons_published=bool(columns_with_role(plan.columns, "person"))
        and release.person_of_record is None,
        linked=after.linked,
        classes=release.classes,
        classes_before=release.before.classes,
        smallest=release.smallest_class,
        average=release.average_class_size,
        columns=asked.columns(plan),
        if_known=release.if_known,
        worrying=release.worrying,
        promises=_promises(release),
        counts=[Change(*row) for row in count_rows(release.before, after)],
        risks=[Change(*row) for row in risk_rows(release.before, after)],
        find_before=_chance(before["prosecutor"]) or "–",
        find=_chance(chances["prosecutor"]),
        sampled=bool(after.attacks.get("matching", {}).get("samples", 0)),
        find_mean=_chance(chances["average"]),
        attacks=attack_facts(release, seen),
        sure=sure_facts(release),
        findings=release.findings,
        guide=plan.loss.name,
        objective=_objective(plan.algorithm),
        losses=dict(quality.losses),
        column_losses=dict(quality.columns),
        loss_words=_loss_words(),
        generalized_percent=quality.generalized_percent,
        root_percent=quality.root_percent,
        mean_loss=quality.mean_loss,
        utility=release.utility,
        sizes=candidate_sizes(after.candidates)
        if after.linked
        else sizes(seen.classes.people, seen.classes.size),
        visits=after.row_count,
        widths=widths(plan.columns, seen),
        # A class of a linked release is no crowd: nothing follows from what it holds.
        sensitive=[] if after.linked else sensitive_facts(seen),
        missing=plan.missing,
        missing_words=asked.missing_words(plan.missing_values),
        missing_cells=int((seen.codes < 0).sum()),
        keep_order=release.keep_order,
        algorithm=plan.algorithm.name,
        algorithm_words=type(plan.algorithm).summary(),
        plan=shown,
        notes=list(release.notes),
        reasons=explainer.reasons(progress) if explainer else [],
        general=explainer.classes(progress=progress) if explainer else [],
        minutes=release.explainer.seconds * len(plan.models) / 60 if release.explainer else 0.0,
        applied=release.applied,
        tried=list(release.tried),
        bound=release.find_bound(progress),
    )


def _explaining(release: Outcome, explain: bool | None) -> Explains | None:
    """What tells which promise did what, where that is wanted."""
    explainer = release.explainer
    if explainer is None or explain is False:
        return None
    return explainer if explain or explainer.cheap else None


def sha256(frame: frames.Frame) -> str | None:
    """SHA-256 of all bytes of the CSV file that `release.save("….csv")` writes.

    None when some column is of a type that a text file cannot hold.
    """
    try:
        digest = hashlib.sha256()
        for part in frames.csv_parts(frame):
            digest.update(part)
        return digest.hexdigest()
    except BadFile:
        return None


def _promises(release: Outcome) -> list[Promise]:
    return [
        Promise(
            model=check.model,
            column=check.column,
            words=promise(
                model,
                release.after.linked,
                release.after.beliefs.get(check.column) if check.column else None,
            ),
            asked=bound(model, check.required),
            reached=number(check.reached),
            holds=check.holds,
        )
        for model, check in zip(release.plan.models, release.checks, strict=True)
    ]


def _chance(risk: float | None) -> str | None:
    return None if risk is None else percent(100 * risk)


def _loss_words() -> dict[str, str]:
    """What each metric of the catalog counts."""
    return {
        name: kind.description() for name, kind in catalog.losses.items() if issubclass(kind, Loss)
    }


def _objective(algorithm: Algorithm) -> str | None:
    """What an algorithm was asked to make least, where that is not the loss."""
    asked = algorithm.options().get("objective", "loss")
    return None if asked == "loss" else str(asked)
