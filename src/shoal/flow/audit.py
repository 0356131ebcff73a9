"""Audit: measure an existing table, alone or against its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import catalog
from shoal.attacks.matching import Matching
from shoal.base.errors import BadPlan, BadTable, preview
from shoal.base.notebook import html_block
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.base.wording import many, number, percent
from shoal.databases.database import Database
from shoal.flow import notes
from shoal.flow.count_in_database import is_counted, of_counted_columns, open_counted
from shoal.flow.freeing import freed
from shoal.flow.opening import open_table, with_canonical_cells
from shoal.hierarchies.values import plain, text
from shoal.io.frames import Frame
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.exposure import Exposure
from shoal.measures.findings import findings
from shoal.measures.information_loss import Quality, check_compatible
from shoal.measures.measured import Measured, Source, measure_published
from shoal.measures.queries import Queries
from shoal.measures.risks import Risks, record_risks
from shoal.measures.utility import Utility
from shoal.measures.verify import check_all
from shoal.models import Check, Model, finite, requirement_rows
from shoal.plan import Plan
from shoal.table.coded_columns import coded
from shoal.table.encode import Table, encode
from shoal.table.match_graph import MatchGraph, link
from shoal.table.published_table import Published, read_published
from shoal.table.roles import ROLES, columns_with_role
from shoal.table.written.form import read_form


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What a table guarantees and what it discloses."""

    exposure: Exposure
    levels: dict[str, float]
    checks: list[Check]
    quality: Quality | None  # None: no original
    utility: Utility | None  # None: no original, and no model with an enhanced version
    if_known: dict[str, ColumnDisclosure]  # disclosure by columns published unchanged, if known
    worrying: list[str]  # those columns that deserve a warning, the worst first
    loss: str  # the metric of the plan
    notes: list[str]  # further remarks for the reader
    published: Published
    population: Table | None
    linkage: MatchGraph | None

    def __repr__(self) -> str:
        levels = ", ".join(f"{name} {number(level)}" for name, level in self.levels.items())
        return f"Audit of {many(self.rows, 'record')}: {levels}"

    def _repr_html_(self) -> str:
        """What a notebook shows: levels, requirements and risks."""
        facts = [
            ("people", f"{self.people:,}"),
            ("highest re-identification risk", percent(100 * self.risks.prosecutor)),
            ("average re-identification risk", percent(100 * self.risks.average)),
        ]
        if self.quality is not None:
            facts.append(
                (f"information loss ({self.loss})", percent(self.quality.losses[self.loss]))
            )
        levels = ["model", "reached"], [[name, number(x)] for name, x in self.levels.items()]
        table = requirement_rows(self.checks) if self.checks else levels
        return html_block(f"Audit of {many(self.rows, 'record')}", facts, [table])

    def record_risks(self) -> npt.NDArray[np.float64]:
        """The re-identification risk of each record, for the attacker who knows most.

        With linkage models it is the sampled probability of the most likely person.
        """
        if self.published.weight is not None:
            raise BadTable(
                "the records are not in memory, so that none of them has a risk of its own here; "
                "`risks` has the average and the highest one"
            )
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
        """Candidates of the most exposed person; without a person column, the smallest class."""
        return self.exposure.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.exposure.average_class_size

    @property
    def risks(self) -> Risks:
        """Re-identification risks."""
        return self.exposure.risks

    @property
    def attacks(self) -> dict[str, dict[str, Any]]:
        """What each attack finds."""
        return self.exposure.attacks

    @property
    def holds(self) -> bool:
        """Whether every requirement of the plan is satisfied."""
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
            "risks": self.exposure.all_risks(),
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

    With a table of the whole population the journalist's risk is measured too: an attacker who
    does not know whether a person is in the table. With an original, counting queries are
    answered from both tables and compared; `queries` sets which ones.

    >>> import pyarrow as pa
    >>> plan = Plan(columns={"sex": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    >>> audit(pa.table({"sex": ["f", "f", "m"]}), plan).levels
    {'k-anonymity': 1}
    """
    plan = Plan.of(plan)
    with limited(plan.threads):
        return _audit(table, plan, original, population, queries, progress)


def _audit(
    table: Any,
    plan: Plan,
    original: Any,
    population: Any,
    queries: Queries | None,
    progress: Progress,
) -> Audit:
    """The same, with the threads of the plan."""
    asked = plan
    if is_counted([table, original], plan, population):
        plan = of_counted_columns(plan)
    frame, names = open_counted(table, asked, progress, population)
    if frame.counted is None:  # otherwise the database has no bounds of ranges
        frame = read_form(frame, asked.columns, asked.write, _file_of(table))
        names = frame.names
    frame = with_canonical_cells(frame, asked)
    check_known(names, asked)
    published = read_published(frame, plan.columns, plan.missing_values)
    said = [
        *notes.encodings(frame.schema),
        *notes.without_person(frame, plan),
        *notes.merged_values(published),
        *notes.unpublished_columns(names, asked),
    ]
    before = None
    if original is not None:
        _check_comparable(plan)
        given, _ = open_counted(original, asked, progress, population)
        given = with_canonical_cells(given, asked)
        said += [note for note in notes.encodings(given.schema) if note not in said]
        ignored = asked.columns.keys() - plan.columns.keys()  # if a database counts the other table
        given = given.select([name for name in given.names if name not in ignored])
        plan, before = _encoded(given, frame, plan, progress)
        _check_rows(published, before)
        said += notes.differences(frame, given, plan)
    everybody = _population(population, plan)
    measured = measure_published(
        frame,
        plan,
        published,
        _linkage(plan, before, published),
        None if before is None else Source(before, queries=queries),
        population=everybody,
        progress=progress,
    )
    if before is not None and measured.utility is not None:
        said += measured.utility.notes(before.rows)
    return Audit(
        exposure=measured.after,
        levels=_levels(plan.models, measured),
        checks=measured.checks,
        quality=measured.quality,
        utility=measured.utility,
        if_known=measured.if_known,
        worrying=measured.worrying,
        loss=plan.loss.name,
        notes=said,
        published=published,
        population=everybody,
        linkage=measured.linkage,
    )


def _encoded(given: Frame, frame: Frame, plan: Plan, progress: Progress) -> tuple[Plan, Table]:
    """The original, encoded by the plan that the release was made with."""
    table = encode(given, plan.columns, plan.missing, plan.missing_values, progress)
    as_chosen = _as_chosen(frame, plan, table)
    if as_chosen is not plan:
        plan = as_chosen
        table = encode(given, plan.columns, plan.missing, plan.missing_values, progress)
    return plan, table


def _file_of(table: Any) -> str | Path | None:
    """The file that a table was read from; None: a database. A frame may come from a text file."""
    if isinstance(table, str | Path):
        return table
    return None if isinstance(table, Database) else "frame.csv"


def _check_comparable(plan: Plan) -> None:
    """Raise an error if a release by this plan cannot be compared with its original."""
    if plan.write.ranges == "midpoint":
        raise BadPlan(
            "a release with midpoints cannot be compared with its original: a midpoint does not "
            "state which values it stands for; audit it without the original, or write the release "
            "with ranges = 'label' or 'bounds' under [write]"
        )


def _check_rows(published: Published, original: Table) -> None:
    """Raise an error if the release has more rows than its original."""
    if published.rows > original.rows:
        raise BadTable(
            f"the release has {published.rows} rows, its original only {original.rows}; "
            "they do not belong together"
        )


def _linkage(plan: Plan, original: Table | None, published: Published) -> MatchGraph | None:
    """The graph of original and release, if the plan has a linkage model."""
    if not plan.linked:
        return None
    about_classes = [m.key for m in plan.models if not m.linkage and m.about is None]
    sensitive = [m.key for m in plan.models if m.about is not None]
    if about_classes and sensitive:
        raise BadPlan(
            f"{sensitive[0]} is measured on classes together with {about_classes[0]}, and on the "
            "records that could be a person's together with a linkage model; audit them with two "
            "plans"
        )
    if original is None:
        name = next(model.name for model in plan.models if model.linkage)
        raise BadTable(f"{name} can be measured only against the original; give it (--original)")
    check_compatible(original, published)  # its message is clearer than "no perfect matching"
    return link(original, published)


def _levels(models: list[Model], measured: Measured) -> dict[str, float]:
    """The level that each model reaches, by key; a second model of the same key gets a number.

    For a plan without models the level of k-anonymity is measured.
    """
    checks = measured.checks
    if not models:
        models = _standard()
        checks = check_all(measured.published, models, measured.linkage)
    levels: dict[str, float] = {}
    for model, check in zip(models, checks, strict=True):
        key, again = model.key, 2
        while key in levels:
            key, again = f"{model.key} #{again}", again + 1
        levels[key] = check.reached
    return levels


def _population(source: Any, plan: Plan) -> Table | None:
    """The table of the population, encoded with the hierarchies of the plan."""
    if source is None:
        return None
    frame = open_table(source, plan)
    names = columns_with_role(plan.columns, "quasi")
    lacking = [name for name in names if name not in frame.names]
    if lacking:
        raise BadTable(f"the population lacks the quasi-identifiers {preview(lacking)}")
    names += [name for name in columns_with_role(plan.columns, "person") if name in frame.names]
    known = {name: column for name, column in plan.columns.items() if name in names}
    rest = [name for name in frame.names if name not in known]
    narrow = frame.rebuild(np.arange(frame.height), {}, drop=rest)
    return encode(narrow, known, plan.missing, plan.missing_values)


def _as_chosen(frame: Frame, plan: Plan, original: Table) -> Plan:
    """The plan with free ranges or sets for the columns that `auto` published as such."""
    free = freed(plan, original) if plan.algorithm.is_auto else None
    if free is None:
        return plan
    columns = dict(plan.columns)
    for name, tree in zip(original.names, original.trees, strict=True):
        if free.columns[name] != plan.columns[name]:
            _, values = coded(frame, name, plan.missing_of(name))
            known = {plain(str(label)) for label in tree.labels}
            if any(plain(text(value)) not in known for value in values):
                columns[name] = free.columns[name]
    return plan if columns == dict(plan.columns) else plan.changed(columns=columns)


def _standard() -> list[Model]:
    """The model that is measured if the plan has none."""
    model = catalog.models.make({"name": "k-anonymity", "k": 2})
    assert isinstance(model, Model)
    return [model]


def check_known(names: Sequence[str], plan: Plan) -> None:
    """Raise an error for columns that the plan does not name: they could be quasi-identifiers."""
    unnamed = [name for name in names if name not in plan.columns]
    if unnamed:
        raise BadTable(
            f"the plan does not mention the columns {preview(unnamed)}; give each a role: {ROLES}"
        )
