"""The facts of a release: everything that its report shows, as plain data without any layout.

Only the published table, numbers, column names and the plan go in. What was measured on the
original are numbers; a value among them is shown only if it is published too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from shoal.algorithms import Algorithm
from shoal.base.progress import Progress, silent
from shoal.base.wording import Change, number, percent, short
from shoal.measures.analyses.analyses import Analyses
from shoal.measures.analyses.learning import Learning
from shoal.measures.applied import Applied
from shoal.measures.beliefs import Certainty, certainties
from shoal.measures.bounds.lower_bound import Bound
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.measures.breakdowns.class_sizes import SizeFact, candidate_sizes, sizes
from shoal.measures.breakdowns.crowds import CrowdFact, crowd_facts, middle
from shoal.measures.breakdowns.dependencies import Dependencies
from shoal.measures.breakdowns.linked_members import LinkedMembers
from shoal.measures.breakdowns.sensitive_classes import (
    SensitiveFact,
    sensitive_facts,
    shown_attacks,
)
from shoal.measures.breakdowns.singling_out import SinglingOut, singling_out
from shoal.measures.breakdowns.value_widths import WidthFact, widths
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.explanation import ClassReason, Explains, Reason
from shoal.measures.findings import Finding
from shoal.measures.outcome import Outcome
from shoal.measures.record_counts import RowCount
from shoal.measures.samples.sample_risks import SampleRisks
from shoal.measures.samples.uniques_before_after import UniquesBeforeAfter
from shoal.measures.tried import Tried
from shoal.measures.utility import Utility
from shoal.measures.verdicts.safe_harbor import Identifier, safe_harbor
from shoal.models import Check, TableModel, min_class_size
from shoal.plan import Plan
from shoal.plan.about import About
from shoal.plan.less_lost import less_lost
from shoal.report import plan_facts as asked
from shoal.report.attack_facts import AttackFact, attack_facts
from shoal.report.exposure_facts import count_rows, risk_rows
from shoal.report.guarantees import bound, guarantee
from shoal.report.limit_facts import LimitFact, limit_facts, preset_words
from shoal.table.recoding import MAY_DIFFER
from shoal.table.roles import columns_with_role, household_apart, linking_columns

LITTLE = 99.0  # percent of suppressed values from which on a release is of little use


@dataclass(frozen=True)
class Requirement:
    """One requirement: in words, what is required, what is reached, whether it is satisfied."""

    model: str
    column: str | None
    words: str
    brief: str  # the same in one sentence, for the summary
    asked: str
    reached: str
    holds: bool
    doubt: str = ""  # why it may not hold in spite of that


@dataclass(frozen=True)
class AttackerFact:
    """One of several attackers: what is known, and how well people are hidden."""

    name: str
    knows: list[str]
    classes: int
    smallest: int
    highest_risk: str
    average_risk: str  # over people, as limits judge it
    shown: bool  # whether the report shows the classes and attacks of this one


@dataclass(frozen=True)
class TableLevel:
    """The level of a requirement about the whole table: a share, its label, and a sentence."""

    share: str
    words: str
    meaning: str


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    refused: str  # why it is not published; empty: it may be
    about: About  # who publishes it, for what and for whom
    limits: list[LimitFact]
    preset: str  # what the preset of the limits is, in a sentence; empty: none
    made: datetime
    version: str
    # Of the release: of the file that it was written to, otherwise as a CSV file. None: no file was
    # written, and it has a column that a text file cannot represent.
    sha256: str | None
    written: str | None  # the name of that file; None: no file was written
    original_sha256: str | None  # of the file that was read; None: no file
    plan_sha256: str  # of the plan file that was read, otherwise of the file that `save` writes
    plan_name: str | None  # of the file that was read; None: the plan was made by a program
    plan_changed: list[str]  # settings that are not as in that file
    seed: int | None
    randomized: bool  # whether random choices of values hide people
    random_choices: bool  # whether random choices affect the values, not only the order
    may_differ: bool  # whether another run may find other classes even with the same seed
    whole_table: list[TableLevel]  # of requirements about all classes together
    measured_with: list[str]  # what else than the release the requirements were measured with
    min_people: int  # people that the requirements guarantee in every class; 1: no guarantee
    rows: int
    published: int
    suppressed: int
    people_before: int
    people: int
    has_persons: bool
    linked_as: str  # what records with the same number are: people, or households
    size_covered: bool  # whether the number of linked records is a quasi-identifier
    members_apart: bool  # whether members of a household are generalized each by itself
    persons_published: bool  # whether records of a person can be linked
    weights_published: bool  # whether the release has the weight of each record
    linked: bool  # measured together with the original: there are no classes
    classes: int
    classes_before: int
    smallest: int  # people in the smallest class, or possible records of a person
    average: float
    columns: list[asked.ColumnFact]
    if_known: dict[str, ColumnDisclosure]  # what unchanged columns would disclose
    worrying: list[str]  # those of them that are worth a warning, the worst first
    dependency: Dependencies  # what they reveal of quasi-identifiers
    linked_members: LinkedMembers | None  # None: no members are hidden each by itself
    requirements: list[Requirement]
    counts: list[Change]
    risks: list[Change]
    highest_risk_before: str
    highest_risk: str | None  # None: not known, as possible records need not be equally likely
    sampled: bool  # whether some of these risks were sampled, not counted
    mean_risk: str | None  # on average over all people; None: not known
    attacks: list[AttackFact]
    sure: list[Certainty]  # how sure an attacker can become of sensitive values
    surest: float | None  # the highest of these beliefs over all attackers; None: not measured
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
    crowds: list[CrowdFact]  # people by how many look like them, before and after
    typical: int  # half of the people of the release look like at least so many
    singling_out: SinglingOut | None  # None: the original is not at hand
    analyses: Analyses
    views: dict[str, AttackerView]  # of an attacker on some classes
    learned: list[Learning]  # models that were trained before
    sizes: list[SizeFact]
    record_count: RowCount | None  # what the number of records per person discloses
    widths: list[WidthFact]
    sensitive: list[SensitiveFact]
    class_attacks: dict[str, str]  # attacks whose classes are shown, and what is true of them
    missing: str  # "value", "empty", "root" or "error"
    missing_words: list[str]  # words for missing values that may be shown
    missing_cells: int  # quasi-identifiers that are missing in the release
    keep_order: bool
    algorithm: str
    algorithm_words: str
    safe_harbor: list[Identifier]  # of HIPAA
    plan: asked.PlanFile
    notes: list[str]
    reasons: list[Reason]  # the effect of each requirement; empty: not computed
    general: list[ClassReason]  # the most general classes, and what forced them
    minutes: float  # that computing them would take, by estimate
    less_lost: str  # what to change if the release contains almost no information
    applied: Applied | None  # where the recoding of another table was applied
    tried: list[Tried]  # where the plan left something to choose
    bound: Bound | None  # the lower bound on the loss
    attackers: list[AttackerFact]  # if they know different columns
    sample: SampleRisks | None  # risks in the population; None: the plan is about none
    sample_before: SampleRisks | None  # those of the original; None: not measured
    uniques: UniquesBeforeAfter | None  # on few columns; None: as above, or without the original
    weighted_loss: float | None  # percent, by the guiding loss and the weights of the records

    @property
    def linked_as_one(self) -> str:
        """Whose records have the same number."""
        return "household" if self.linked_as == "households" else "person"

    @property
    def holds(self) -> bool:
        """Whether every requirement is satisfied."""
        return all(one.holds for one in self.requirements)

    @property
    def unprotected(self) -> list[str]:
        """Sensitive columns that no requirement is about."""
        about = {one.column for one in self.requirements}
        return [name for name in self.columns_with_role("sensitive") if name not in about]

    @property
    def says_little(self) -> bool:
        """Whether the quasi-identifiers contain almost no information."""
        one = self.classes == 1 and self.classes_before > 1
        return one or self.root_percent >= LITTLE

    @property
    def unchanged(self) -> list[str]:
        """Columns that are published unchanged, without the sensitive ones."""
        weights = self.columns_with_role("weight") if self.weights_published else []
        return [*self.columns_with_role("other"), *weights]

    def columns_with_role(self, role: str) -> list[str]:
        """The columns with this role."""
        return [column.name for column in self.columns if column.role == role]


def facts(release: Outcome, explain: bool | None = None, progress: Progress = silent) -> Facts:
    """Gather what the report of a release shows.

    `explain` says whether to compute the effect of each requirement; None: if that is fast.
    """
    release.check_unchanged()
    explainer = _explaining(release, explain)
    plan, quality, after = release.plan, release.quality, release.after
    seen = release.seen
    shown = asked.plan_file(plan)
    before, risks = release.before.risks_by_name(), after.risks_by_name()
    written = release.written
    return Facts(
        refused=release.refused,
        about=plan.about,
        limits=limit_facts(release.limits, plan.loss.name, after.linked),
        preset=preset_words(plan.limits),
        made=release.made,
        version=release.version,
        sha256=release.csv_sha256() if written is None else written.sha256,
        written=None if written is None else written.name,
        original_sha256=release.original_sha256,
        plan_sha256=plan.source.sha256 or hashlib.sha256(plan.file_content(Path())).hexdigest(),
        plan_name=plan.source.name,
        plan_changed=list(plan.source.changed) if plan.source.name else [],
        seed=release.seed,
        randomized=plan.algorithm.has_random_values,
        random_choices=plan.algorithm.has_random_choices,
        may_differ=any(MAY_DIFFER in note for note in release.notes),
        whole_table=[
            TableLevel(
                percent(100 * check.reached), model.level_words, model.meaning(check.reached)
            )
            for model, check in zip(plan.models, release.checks, strict=True)
            if isinstance(model, TableModel)
        ],
        measured_with=_measured_with(plan),
        min_people=min_class_size(plan.models),
        rows=release.rows,
        published=release.published,
        suppressed=release.suppressed,
        people_before=release.before.people,
        people=after.people,
        has_persons=bool(linking_columns(plan.columns)),
        linked_as="households"
        if any(plan.columns[name].role == "household" for name in linking_columns(plan.columns))
        else "people",
        size_covered=_covers_size(plan),
        members_apart=household_apart(plan.columns) is not None,
        persons_published=bool(linking_columns(plan.columns)) and release.person_of_record is None,
        weights_published=any(
            plan.columns[n].publish for n in columns_with_role(plan.columns, "weight")
        ),
        linked=after.linked,
        classes=release.classes,
        classes_before=release.before.classes,
        smallest=release.smallest_class,
        average=release.average_class_size,
        columns=asked.columns(plan, release.frame),
        if_known=release.if_known,
        worrying=release.worrying,
        dependency=release.dependency,
        linked_members=release.linked_members,
        requirements=_requirements(release),
        counts=[Change(*row) for row in count_rows(release.before, after)],
        risks=[Change(*row) for row in risk_rows(release.before, after)],
        highest_risk_before=_percent(before["prosecutor"]) or "–",
        highest_risk=_percent(risks["prosecutor"]),
        sampled=bool(after.attacks.get("matching", {}).get("samples", 0)),
        mean_risk=_percent(risks.get("average_over_people", risks["average"])),
        attacks=attack_facts(release),
        sure=certainties(after.beliefs, plan.models),
        surest=max(
            (
                belief.surest.highest
                for one in (after, *release.attackers.values())
                for belief in one.beliefs.values()
            ),
            default=None,
        ),
        findings=release.findings,
        guide=plan.loss.name,
        objective=_objective(plan.algorithm),
        losses=dict(quality.losses),
        column_losses=dict(quality.columns),
        loss_words=asked.loss_words(),
        generalized_percent=quality.generalized_percent,
        root_percent=quality.root_percent,
        mean_loss=quality.mean_loss,
        utility=release.utility,
        crowds=crowd_facts(release.before.crowds, after.crowds, min_class_size(plan.models)),
        typical=middle(after.crowds),
        singling_out=singling_out(release.explainer.table, progress) if release.explainer else None,
        analyses=release.find_analyses(progress),
        views=release.attacker_examples(),
        learned=list(release.learned.values()),
        sizes=candidate_sizes(after.candidates)
        if after.linked
        else sizes(release.seen_by.classes.people, release.seen_by.classes.size),
        record_count=after.row_count,
        widths=widths(plan.columns, seen, plan.missing_values),
        # In a linked release the class of a record does not protect its person.
        sensitive=[] if after.linked else sensitive_facts(release.seen_by),
        class_attacks={name: attack.class_words for name, attack in shown_attacks().items()},
        missing=plan.missing,
        missing_words=asked.missing_words(plan.missing_values),
        missing_cells=seen.missing_cells,
        keep_order=release.keep_order,
        algorithm=plan.algorithm.name,
        algorithm_words=type(plan.algorithm).summary(),
        safe_harbor=safe_harbor(plan.columns, seen, release.if_known, release.made.year),
        plan=shown,
        notes=list(release.notes),
        reasons=explainer.reasons(progress) if explainer else [],
        general=explainer.classes(progress=progress) if explainer else [],
        minutes=release.explainer.seconds * len(plan.models) / 60 if release.explainer else 0.0,
        less_lost=less_lost(plan),
        applied=release.applied,
        tried=list(release.tried),
        bound=release.find_bound(progress),
        sample=release.sample,
        sample_before=release.sample_before,
        uniques=release.find_uniques(progress),
        weighted_loss=(release.weighted_losses or {}).get(plan.loss.name),
        attackers=_attackers(release),
    )


def _measured_with(plan: Plan) -> list[str]:
    """What else than the release the requirements were measured with, in words."""
    found = []
    if any(model.needs_population for model in plan.models):
        found.append("the table of the population")
    unpublished = [
        (name, role)
        for role in ("household", "person")
        for name in columns_with_role(plan.columns, role)
        if not plan.columns[name].publish
    ]
    return found + [f"the {role} numbers of {name!r}" for name, role in unpublished]


def _attackers(release: Outcome) -> list[AttackerFact]:
    knows = {one.title: one.knows for one in release.plan.attackers}
    return [
        AttackerFact(
            name,
            knows[name],
            one.classes,
            one.smallest_class,
            percent(100 * one.risks.prosecutor),
            percent(100 * one.risks.mean),
            one is release.after,
        )
        for name, one in release.attackers.items()
    ]


def _explaining(release: Outcome, explain: bool | None) -> Explains | None:
    """The explainer, if the effect of each requirement is wanted."""
    explainer = release.explainer
    if explainer is None or explain is False:
        return None
    return explainer if explain or explainer.cheap else None


def _covers_size(plan: Plan) -> bool:
    """Whether the size of households is a quasi-identifier, and each member has one record.

    How many records somebody has is no part of it.
    """
    columns = plan.columns
    linked_by_home = any(columns[name].role == "household" for name in linking_columns(columns))
    derived = any(one.derive and one.role == "quasi" for one in columns.values())
    return linked_by_home and derived and not columns_with_role(columns, "person")


def _requirements(release: Outcome) -> list[Requirement]:
    """Those of the models, then how general the values of limited columns may be."""
    contradicted = release.sample.contradicted if release.sample else {}
    asked = [
        Requirement(
            model=check.model,
            column=check.column,
            words=guarantee(
                model,
                release.after.linked,
                release.after.beliefs.get(check.column) if check.column else None,
            ),
            brief=model.in_short(release.after.linked),
            asked=bound(model, check.required),
            reached=number(check.reached),
            holds=check.holds,
            doubt=contradicted.get(model.key, ""),
        )
        for model, check in zip(release.plan.models, release.checks, strict=True)
    ]
    return [*asked, *(_at_most(check, release.plan) for check in release.at_most)]


def _at_most(check: Check, plan: Plan) -> Requirement:
    assert check.column is not None
    column = plan.columns[check.column]
    assert column.at_most is not None
    exact = column.at_most.level == 0
    most = "the original ones" if exact else f"at most {column.at_most.words(column.hierarchy)}"
    words = f"The published values of {short(check.column)} are {most}."
    asked, reached = check.asked, number(check.reached)
    return Requirement(check.model, check.column, words, words, asked, reached, check.holds)


def _percent(risk: float | None) -> str | None:
    return None if risk is None else percent(100 * risk)


def _objective(algorithm: Algorithm) -> str | None:
    """What the algorithm minimizes, if not the loss."""
    name = algorithm.objective_name
    return None if name == "loss" else name
