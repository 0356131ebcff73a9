"""Audit: judges a table that already exists, alone or against its original."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import catalog
from shoal.attacks.matching import Matching
from shoal.base.errors import BadPlan, BadTable, preview
from shoal.base.progress import Progress, silent
from shoal.flow.freeing import freed
from shoal.hierarchies.values import plain, text
from shoal.io.frames import Frame, open_frame
from shoal.measures.column_disclosure import ColumnDisclosure, if_known, worth_warning
from shoal.measures.exposure import Exposure, expose
from shoal.measures.findings import findings
from shoal.measures.information_loss import Quality, measure
from shoal.measures.queries import Queries
from shoal.measures.record_counts import min_class_size_asked
from shoal.measures.risks import Risks, record_risks
from shoal.measures.utility import Utility, utility_of, vulnerable
from shoal.measures.verify import seen
from shoal.models import Check, Model, finite
from shoal.plan import Plan
from shoal.table.coding import merged_note, value_codes
from shoal.table.encode import Table, columns_with_role, encode
from shoal.table.match_graph import Linkage, link
from shoal.table.published_table import Published, read_published


@dataclass(frozen=True, eq=False)
class Audit:
    """What a table promises, and what it gives away."""

    exposure: Exposure
    levels: dict[str, float]
    checks: list[Check]
    quality: Quality | None  # only against an original
    utility: Utility | None  # against an original, or where a model has an enhanced one
    if_known: dict[
        str, ColumnDisclosure
    ]  # what columns that stand there as they are would give away
    worrying: list[str]  # those of them that somebody should think about, the worst first
    loss: str  # the metric that the plan names
    notes: list[str]  # what the reader should know besides
    published: Published
    population: Table | None
    linkage: Linkage | None

    def record_risks(self) -> npt.NDArray[np.float64]:
        """For each row the chance that its person is found, by whoever knows most of them.

        Without classes it is the chance of the person who most likely has the row, sampled.
        """
        if self.linkage is not None and self.population is None:
            return Matching().of_rows(self.linkage)[self.linkage.classes.label]
        return record_risks(self.published, self.population)

    @property
    def rows(self) -> int:
        """Number of records."""
        return self.exposure.rows

    @property
    def people(self) -> int:
        """Number of people."""
        return self.exposure.people

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.exposure.classes

    @property
    def smallest_class(self) -> int:
        """Candidates of the most exposed person: without persons, the smallest class."""
        return self.exposure.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.exposure.average_class_size

    @property
    def risks(self) -> Risks:
        """Chances of re-identification."""
        return self.exposure.risks

    @property
    def attacks(self) -> dict[str, dict[str, Any]]:
        """What each attack finds."""
        return self.exposure.attacks

    @property
    def holds(self) -> bool:
        """Whether every promise of the plan holds."""
        return all(check.holds for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """All numbers of the audit, by the names of the JSON file."""
        numbers: dict[str, Any] = {
            "rows": self.rows,
            "people": self.people,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class_size": self.average_class_size,
            "levels": {key: finite(level) for key, level in self.levels.items()},
            "checks": [check.as_dict() for check in self.checks],
            "holds": self.holds,
            "risks": self.exposure.told(),
            "attacks": self.attacks,
            "findings": [one.as_dict() for one in findings(self.exposure)],
            "beliefs": {name: one.as_dict() for name, one in self.exposure.beliefs.items()},
            "if_known": {name: one.as_dict() for name, one in self.if_known.items()},
            "notes": self.notes,
        }
        if self.quality is not None:
            numbers["losses"] = self.quality.losses
            numbers["mean_loss"] = self.quality.mean_loss
            numbers["generalized_percent"] = self.quality.generalized_percent
            numbers["root_percent"] = self.quality.root_percent
        if self.utility is not None:
            numbers["utility"] = self.utility.as_dict()
        return numbers


def audit(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    original: Any = None,
    population: Any = None,
    queries: Queries | None = None,
    progress: Progress = silent,
) -> Audit:
    """Measure a table as it is, or a release against its original.

    With a table of the whole population the risk from a journalist is measured too, who finds
    somebody in the release without knowing that they are in it. Beside its original a release is
    asked counting queries; `queries` says which.

    >>> import pyarrow as pa
    >>> plan = Plan(columns={"sex": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    >>> audit(pa.table({"sex": ["f", "f", "m"]}), plan).levels
    {'k-anonymity': 1}
    """
    plan = Plan.of(plan)
    frame = open_frame(table, lambda done, size: progress("read", done / size))
    _check_known(frame, plan)
    published = read_published(frame, plan.columns, plan.missing_values)
    quality, before, utility = None, None, _vulnerable(published, plan)
    notes = people_notes(frame, plan) + merged_notes(published) + _still_named(frame, plan)
    if original is not None:
        source = open_frame(original, lambda done, size: progress("read", done / size))
        before = encode(source, plan.columns, plan.missing, plan.missing_values, progress)
        if (as_chosen := _as_chosen(frame, plan, before)) is not plan:
            plan = as_chosen
            before = encode(source, plan.columns, plan.missing, plan.missing_values, progress)
        if published.rows > before.rows:
            raise BadTable(
                f"the release has {published.rows} rows, its original only {before.rows}; "
                "they do not belong together"
            )
        quality = measure(before, published, plan.loss)
        utility = utility_of(
            before, published, quality, plan.models, queries, lambda share: progress("query", share)
        )
        notes += differences(frame, source, plan) + utility.notes(before.rows)
    linkage = _linkage(plan, before, published)
    checks = [model.check(seen(model, published, linkage)) for model in plan.models]
    everybody = _population(population, plan)
    known = if_known(frame, plan.columns, published, plan.missing_values) if not linkage else {}
    return Audit(
        exposure=expose(published, everybody, linkage, progress, min_class_size_asked(plan.models)),
        levels=_levels(plan.models or _standard(), published, linkage),
        checks=checks,
        quality=quality,
        utility=utility,
        if_known=known,
        worrying=worth_warning(known, plan.columns, published.crowd),
        loss=plan.loss.name,
        notes=notes,
        published=published,
        population=everybody,
        linkage=linkage,
    )


def _vulnerable(published: Published, plan: Plan) -> Utility | None:
    """What can be said of a table alone: which classes keep less than they seem to."""
    found = vulnerable(published, plan.models)
    return Utility(None, None, found) if found else None


def _still_named(frame: Frame, plan: Plan) -> list[str]:
    """Say it where a table names people."""
    notes = []
    names = [name for name in columns_with_role(plan.columns, "identifier") if name in frame.names]
    if names:
        notes.append(f"the table holds the identifiers {preview(names)}: as it is, it names people")
    for name in columns_with_role(plan.columns, "person"):
        if name in frame.names and not plan.columns[name].publish:
            notes.append(f"the table holds {name!r}, which the plan leaves out of the release")
    return notes


def _linkage(plan: Plan, original: Table | None, published: Published) -> Linkage | None:
    """The graph of original and release, where the plan promises something about it."""
    if not plan.linked:
        return None
    about_classes = [m.key for m in plan.models if not m.linkage and m.about is None]
    sensitive = [m.key for m in plan.models if m.about is not None]
    if about_classes and sensitive:
        raise BadPlan(
            f"{sensitive[0]} means one thing beside {about_classes[0]}, where it is about classes, "
            "and another beside a linkage model, where it is about the rows that could be a "
            "person's; audit them with two plans"
        )
    if original is None:
        name = next(model.name for model in plan.models if model.linkage)
        raise BadTable(f"{name} can be measured only beside the original; give it (--original)")
    return link(original, published)


def _levels(models: list[Model], published: Published, linkage: Linkage | None) -> dict[str, float]:
    """What each model reaches, by its key; a second one of the same key gets a number."""
    levels: dict[str, float] = {}
    for model in models:
        key, again = model.key, 2
        while key in levels:
            key, again = f"{model.key} #{again}", again + 1
        levels[key] = model.reached(seen(model, published, linkage))
    return levels


def _population(source: Any, plan: Plan) -> Table | None:
    """The whole population, of which a journalist may have a list."""
    if source is None:
        return None
    frame = open_frame(source)
    names = columns_with_role(plan.columns, "quasi")
    lacking = [name for name in names if name not in frame.names]
    if lacking:
        raise BadTable(f"the population lacks the quasi-identifiers {preview(lacking)}")
    names += [name for name in columns_with_role(plan.columns, "person") if name in frame.names]
    known = {name: column for name, column in plan.columns.items() if name in names}
    rest = [name for name in frame.names if name not in known]
    narrow = frame.rebuild(np.arange(frame.height), {}, drop=rest)
    return encode(narrow, known, plan.missing, plan.missing_values)


def people_notes(frame: Frame, plan: Plan) -> list[str]:
    """Say it where rows do not tell whom they belong to."""
    notes = []
    for name in columns_with_role(plan.columns, "person"):
        if name not in frame.names:
            counted = "each row counts as a person of its own, which overstates k if somebody has"
            if plan.columns[name].publish:
                notes.append(f"the table has no column {name!r}: {counted} several")
            else:
                notes.append(
                    f"the table has no column {name!r}, as the plan leaves it out: {counted} "
                    "several; people were counted when the release was made"
                )
        else:
            codes, _ = value_codes(frame.column(name), plan.missing_values)
            nobody = int((codes < 0).sum())
            if nobody:
                rows = "1 row has" if nobody == 1 else f"{nobody:,} rows have"
                notes.append(
                    f"{rows} no {name!r}: each counts as a person of its own, which "
                    "overstates k if several of them are one person's"
                )
    return notes


def merged_notes(published: Published) -> list[str]:
    """Say which sensitive values of a table were counted as one."""
    return [merged_note(one.name, one.spellings) for one in published.sensitive if one.spellings]


def differences(release: Frame, original: Frame, plan: Plan) -> list[str]:
    """Say it where a release does not hold what its original held."""
    missing = original.height - release.height
    if missing:
        return [f"{missing:,} rows of the original are not in the release; they count as lost"]
    notes = []
    for name in [
        *columns_with_role(plan.columns, "sensitive"),
        *columns_with_role(plan.columns, "other"),
    ]:
        if name in release.names and name in original.names:
            held, had = (
                _amounts(table, name, plan.missing_values) for table in (release, original)
            )
            if held != had:
                notes.append(f"column {name!r} holds other values than in the original")
    return notes


def _amounts(frame: Frame, name: str, missing_values: list[str]) -> dict[str, int]:
    """How often each value of a column occurs, whatever its type and the order of rows."""
    codes, values = value_codes(frame.column(name), missing_values)
    counts = np.bincount(codes + 1, minlength=len(values) + 1)
    amounts: dict[str, int] = {}
    for value, count in zip(["", *(plain(text(v)) for v in values)], counts, strict=True):
        amounts[value] = amounts.get(value, 0) + int(count)
    return {value: count for value, count in amounts.items() if count}


def _as_chosen(frame: Frame, plan: Plan, original: Table) -> Plan:
    """The plan with free ranges or sets for the columns that `auto` published so."""
    free = freed(plan, original) if plan.algorithm.is_auto else None
    if free is None:
        return plan
    columns = dict(plan.columns)
    for name, tree in zip(original.names, original.trees, strict=True):
        if free.columns[name] != plan.columns[name]:
            _, values = value_codes(frame.column(name), plan.missing_values)
            known = {plain(str(label)) for label in tree.labels}
            if any(plain(text(value)) not in known for value in values):
                columns[name] = free.columns[name]
    return plan if columns == dict(plan.columns) else plan.changed(columns=columns)


def _standard() -> list[Model]:
    """What is measured when the plan names no model."""
    model = catalog.models.make({"name": "k-anonymity", "k": 2})
    assert isinstance(model, Model)
    return [model]


def _check_known(frame: Frame, plan: Plan) -> None:
    """Complain of columns that the plan does not name: they could be quasi-identifiers."""
    unnamed = [name for name in frame.names if name not in plan.columns]
    if unnamed:
        raise BadTable(
            f"the plan says nothing of the columns {preview(unnamed)}; give each a role: "
            "identifier, person, quasi, sensitive or other"
        )
