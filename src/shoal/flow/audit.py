"""Audit: measure an existing table, alone or against its original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal import catalog
from shoal.attacks._unchanged import Elsewhere
from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadPlan, BadTable, ShoalError, preview
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.databases.database import Database
from shoal.flow import notes
from shoal.flow.audited import Audit
from shoal.flow.count_in_database import is_counted, of_counted_columns, open_counted
from shoal.flow.freeing import freed
from shoal.flow.opening import with_canonical_cells
from shoal.flow.population import household_notes
from shoal.flow.population.open_population import (
    PopulationFrame,
    open_population,
)
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.kernels.group import group_rows
from shoal.measures.analyses.analyses import analyze
from shoal.measures.analyses.learning import check_installed, check_role, learn
from shoal.measures.analyses.variables import Tables, unchanged_columns
from shoal.measures.breakdowns.linked_members import linked_members
from shoal.measures.breakdowns.telling_apart import Shown
from shoal.measures.breakdowns.view_source import ViewSource
from shoal.measures.information_loss import check_compatible
from shoal.measures.key_sets import View
from shoal.measures.measured import Measured, Source, measure_published
from shoal.measures.queries.draw import Queries
from shoal.measures.record_counts import required_class_size
from shoal.measures.samples.sample_risks import check_sample
from shoal.measures.samples.special_uniques import DIS_FRACTION
from shoal.measures.samples.special_uniques import special_uniques as find_uniques
from shoal.measures.verdicts.verdict import verdicts
from shoal.measures.verdicts.within_at_most import unchecked
from shoal.measures.verify import check_all
from shoal.models import Model
from shoal.plan import Plan
from shoal.plan.sampling_fractions import check_fractions
from shoal.table.coded_columns import coded
from shoal.table.encode import Table, encode
from shoal.table.match_graph import MatchGraph, link
from shoal.table.matching.original_rows import OriginalRows, original_rows
from shoal.table.population.population import Population
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import Recoding, check_covers
from shoal.table.roles import ROLES, microaggregated_columns
from shoal.table.samples.survey import survey_of
from shoal.table.samples.weights import sampling_weights
from shoal.table.written.coded_numbers import with_uncoded
from shoal.table.written.form import read_form

__all__ = ["Audit", "audit", "audit_groups", "check_known"]


def audit(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    original: Any = None,
    population: Any = None,
    queries: Queries | None = None,
    read: Reading | Mapping[str, Any] | None = None,
    original_read: Reading | Mapping[str, Any] | None = None,
    population_read: Reading | Mapping[str, Any] | None = None,
    target: str | None = None,
    special_uniques: int | None = None,
    progress: Progress = silent,
) -> Audit:
    """Measure a table as it is, or a release against its original.

    With a table of the whole population the journalist's risk is measured too: an attacker who
    does not know whether a person is in the table. With an original, counting queries are
    answered from both tables and compared; `queries` sets which ones. Statistics of both are
    compared too, and with a `target`, models that predict this column. With `special_uniques` the
    records are found that are unique on so many quasi-identifiers or fewer (SUDA). `read`,
    `original_read` and `population_read` say how their files are read where that differs from the
    plan, as in `{"sheet": "People"}`.

    >>> import pyarrow as pa
    >>> plan = Plan(columns={"sex": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    >>> audit(pa.table({"sex": ["f", "f", "m"]}), plan).levels
    {'k-anonymity': 1}
    """
    plan = Plan.of(plan)
    with limited(plan.threads):
        plans = Plans(*map(plan.with_reading, (read, original_read, population_read)))
        found = _audit(table, plan, plans, original, population, queries, target, progress)
        return found if special_uniques is None else _with_uniques(found, special_uniques, progress)


def _with_uniques(found: Audit, most: int, progress: Progress) -> Audit:
    """The audit with the minimal sample uniques of its records, up to so many columns."""
    published = found.published
    if published.weight is not None and published.unit is None:
        raise BadTable(
            "the records are not in memory, so that their minimal uniques cannot be found; read "
            "the table from a file, or leave out special_uniques"
        )
    codes = published.codes if published.unit is None else published.codes[published.unit]
    sample = found.sample
    fraction = DIS_FRACTION if sample is None else sample.fraction
    progress("attack", 0.0)
    uniques = find_uniques(
        published.names, codes, most, fraction, lambda share: progress("attack", share)
    )
    said = notes.fewer_columns(most, len(published.names))
    return replace(found, uniques=uniques, notes=[*found.notes, *said])


def audit_groups(
    groups: Frame,
    plan: Plan,
    names: Sequence[str],
    elsewhere: Elsewhere,
    *,
    original: Frame | None = None,
    target: str | None = None,
    progress: Progress = silent,
) -> Audit:
    """Measure a table with these columns by its groups; its other columns are `elsewhere`."""
    columns = {name: plan.columns[name] for name in plan.columns if name in groups.names}
    narrow = plan.changed(columns=columns)
    beyond = Beyond(plan, names, elsewhere)
    with limited(plan.threads):
        plans = Plans(narrow, narrow, narrow)
        return _audit(groups, narrow, plans, original, None, None, target, progress, beyond)


class Beyond(NamedTuple):
    """The columns of a table that are not in memory."""

    plan: Plan  # of all columns
    names: Sequence[str]  # of all columns
    elsewhere: Elsewhere


class Plans(NamedTuple):
    """The plan, with how the file of each table is read."""

    table: Plan
    original: Plan
    population: Plan


def _audit(
    table: Any,
    plan: Plan,
    plans: Plans,
    original: Any,
    population: Any,
    queries: Queries | None,
    target: str | None,
    progress: Progress,
    beyond: Beyond | None = None,
) -> Audit:
    """The same, with the threads of the plan."""
    _check_target(target, original, plan)
    check_fractions(plan)
    asked = plan
    if is_counted([table, original], plan, population):
        plan = of_counted_columns(plan)
    frame, names = open_counted(table, plans.table, progress, population)
    if frame.counted is None:  # otherwise the database has no bounds of ranges
        frame = read_form(frame, asked.columns, asked.write, _file_of(table))
        names = frame.names
    frame = with_canonical_cells(frame, asked)
    whole = asked if beyond is None else beyond.plan
    names = names if beyond is None else list(beyond.names)
    check_known(names, whole)
    plan, not_measured = household_notes.without_households(frame, plan, asked)
    published = read_published(frame, plan.columns, plan.missing_values)
    said = [
        *notes.encodings(frame.schema),
        *not_measured,
        *notes.without_person(frame, plan),
        *household_notes.households_counted(frame, plan),
        *notes.without_weights(names, asked),
        *notes.merged_values(published),
        *notes.unpublished_columns(names, whole),
    ]
    before = given = None
    if original is not None:
        _check_comparable(plan)
        given, _ = open_counted(original, plans.original, progress, population)
        given = with_canonical_cells(given, asked)
        said += [note for note in notes.encodings(given.schema) if note not in said]
        ignored = asked.columns.keys() - plan.columns.keys()  # if a database counts the other table
        kept = [name for name in given.names if name not in ignored]
        given = with_uncoded(given.select(kept), given)
        plan, before = _encoded(given, frame, plan, progress)
        _check_rows(published, before)
        said += notes.differences(frame, given, plan)
    sampled = None if given is None else survey_of(given, plan.columns, plan.missing_values)
    _check_no_numbers(population, plan)
    check_sample(frame if given is None else given, plan)
    known = _population(population, plan.with_reading(plans.population.read))
    everybody = None if known is None else known.table
    if known is not None and (plan.against_population or known.incomplete):
        published = replace(published, population=known)
    tables = matched = in_order = None
    numbers = microaggregated_columns(plan.columns)
    ranges = published.without_numbers(numbers) if numbers and before is not None else None
    if before is not None:
        assert given is not None
        tables = Tables(
            plan.columns,
            plan.missing_values,
            before,
            published if ranges is None else ranges,
            given,
            frame,
            weights=_both_weights(given, frame, plan),
        )
        if numbers:  # rows that differ in them only cannot be told apart by what they cover
            in_order = _in_order(tables)
            tables = replace(tables, taken=in_order)
        elif not plan.linked and beyond is None:
            matched = _whose(tables, progress)
        if matched is not None and not matched.unsure:
            tables = replace(tables, taken=matched.rows)
    measured = measure_published(
        frame,
        plan if beyond is None else plan.changed(columns={**whole.columns, **plan.columns}),
        published,
        _linkage(plan, before, published),
        None
        if before is None
        else Source(
            before,
            rows=in_order if matched is None else matched.rows,
            queries=queries,
            survey=sampled,
            ranges=ranges,
            before=given,
            sure=matched is None or not matched.unsure,
        ),
        population=everybody,
        elsewhere=None if beyond is None else beyond.elsewhere,
        progress=progress,
    )
    members = linked_members(frame, plan)
    said += unchecked(plan, measured.at_most)
    said += [] if members is None else members.notes()
    said += measured.dependency.notes(0 if matched is None else matched.unsure)
    said += [] if measured.sample is None else measured.sample.notes
    said += notes.population_not_estimated(plan, measured.sample)
    if known is None:
        said += notes.population_not_read(plan)
    else:
        said += notes.population_incomplete(plan)
        said += notes.populations_differ(known.persons, measured.sample)
    lost = None if before is None else (before.rows - published.rows) / before.rows
    analyses = learning = None
    if before is not None:
        assert tables is not None
        assert measured.utility is not None
        said += notes.numbers_not_covering(plan)
        said += [*notes.weighted_losses(plan), *measured.utility.notes(before.rows)]
        analyses = analyze(tables, progress)
        learning = None if target is None else learn(tables, target, progress)
    return Audit(
        exposure=measured.after,
        levels=_levels(plan.models, measured),
        checks=measured.checks,
        at_most=measured.at_most,
        quality=measured.quality,
        utility=measured.utility,
        if_known=measured.if_known,
        worrying=measured.worrying,
        dependency=measured.dependency,
        linked_members=members,
        loss=plan.loss.name,
        notes=said,
        published=measured.seen_by,
        population=everybody,
        linkage=measured.linkage,
        limits=verdicts(plan, measured, lost),
        attackers=measured.attackers,
        sample=measured.sample,
        weighted_losses=measured.weighted_losses,
        analyses=analyses,
        learning=learning,
        views=ViewSource(
            measured.seen_by,
            required_class_size(plan.models),
            tables,
            Shown(plan.columns, plan.missing_values, frame),
            next((n for n, one in measured.attackers.items() if one is measured.after), None),
            {one.title: published.known_to(one.knows) for one in plan.attackers},
        ),
    )


def _both_weights(given: Frame, frame: Frame, plan: Plan) -> tuple[Floats, Floats] | None:
    """The weights of the original's records and of the release's, if both have them."""
    before, after = (
        sampling_weights(one, plan.columns, plan.missing_values) for one in (given, frame)
    )
    return None if before is None or after is None else (before, after)


def _whose(tables: Tables, progress: Progress) -> OriginalRows | None:
    """Which record of the original each record of the release was; None: it cannot be told."""
    unchanged = unchanged_columns(tables)
    if not unchanged:
        return None  # nothing could be read back
    progress("matching", 0.0)
    both = [np.concatenate([one.before, one.after]) for one in unchanged]
    key: Longs = group_rows(np.stack(both, axis=1))[0]  # equal where all unchanged values are
    rows = len(unchanged[0].before)
    return original_rows(tables.original, tables.published, key[:rows], key[rows:])


def _in_order(tables: Tables) -> Longs | None:
    """The rows of the original, if those of the release are in their order; None: they are not.

    That is known by the columns that are not microaggregated: all of them have to fit, row by row.
    """
    if tables.original.weight is not None:
        return None
    general, unchanged = tables.published, unchanged_columns(tables)
    rows = np.arange(len(general.codes))
    if len(rows) != tables.original.rows or general.unit is not None:
        return None
    if not all(np.array_equal(one.before, one.after) for one in unchanged):
        return None
    vectors, covers = general.vectors(tables.original, "original")
    try:
        check_covers(tables.original, Recoding(vectors, general.classes.label, covers))
    except ShoalError:
        return None
    told = [*(one.before for one in unchanged), *general.codes.T]
    return rows if any(len(np.unique(one)) > 1 for one in told) else None


def _check_target(target: str | None, original: Any, plan: Plan) -> None:
    """Raise an error before the work if models cannot be trained for this column."""
    if target is None:
        return
    if original is None:
        raise BadPlan(
            "models are compared with those trained on the original; give it (--original), or "
            "leave out --target"
        )
    check_role(plan.columns, target)
    check_installed()


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


def _check_no_numbers(population: Any, plan: Plan) -> None:
    """Raise an error if people of a population are looked for by numbers of classes."""
    names = microaggregated_columns(plan.columns)
    if names and (population is not None or plan.against_population):
        raise BadPlan(
            f"column {names[0]!r} has microaggregate, and its numbers do not state which people of "
            "a population they cover; audit the release without the population"
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
        checks = check_all([View(None, measured.seen_by)], models, measured.linkage)
    levels: dict[str, float] = {}
    for model, check in zip(models, checks, strict=True):
        key, again = model.key, 2
        while key in levels:
            key, again = f"{model.key} #{again}", again + 1
        levels[key] = check.reached
    return levels


def _population(source: Any, plan: Plan) -> Population | None:
    """The table of the population, encoded with the hierarchies of the plan."""
    if source is None and plan.against_population:
        source = plan.population.data
    if source is None:
        return None
    return PopulationFrame(open_population(source, plan), plan.population.incomplete).coded(plan)


def _as_chosen(frame: Frame, plan: Plan, original: Table) -> Plan:
    """The plan with free ranges or sets for the columns that `auto` published as such."""
    free = freed(plan, original) if plan.algorithm.is_auto else None
    if free is None:
        return plan
    columns = dict(plan.columns)
    for name, tree in zip(original.names, original.trees, strict=True):
        if free.columns[name] != plan.columns[name]:
            _, values = coded(frame, name, plan.missing_of(name))
            if any(tree.find(text(value)) < 0 for value in values):
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
