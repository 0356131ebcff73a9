"""Anatomize: publish quasi-identifiers and sensitive values in two tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadPlan, BadTable, CannotReach, ShoalError, WayOut, preview
from shoal.base.progress import Progress, silent
from shoal.flow.anatomy.form_groups import form_groups
from shoal.flow.anatomy.measure_two_tables import measure_two_tables
from shoal.flow.anonymize import anonymize
from shoal.flow.opening import open_table
from shoal.io import frames
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.measures.anatomy.anatomy_measures import AnatomyMeasures, Generalized
from shoal.measures.anatomy.two_tables import COUNT, GROUP, TwoTables
from shoal.measures.queries.answers import answer
from shoal.measures.queries.draw import Queries
from shoal.measures.verify import raise_unless_satisfied
from shoal.models import Model
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.p_sensitivity import PSensitivity
from shoal.plan import Plan
from shoal.table.coded_columns import coded, merged_codes
from shoal.table.roles import check_columns, columns_with_role, microaggregated_columns
from shoal.table.written.coded_numbers import check_coded, coded_columns, words_for

SERVED = FrequencyLDiversity, DistinctLDiversity, EntropyLDiversity, PSensitivity
NAMES = "frequency-l-diversity, distinct-l-diversity, entropy-l-diversity and p-sensitivity"


@dataclass(frozen=True, eq=False, kw_only=True)
class Anatomy(AnatomyMeasures):
    """Two tables that may be published together, with what they guarantee and disclose."""

    quasi_identifiers: pa.Table  # one row per record, with the number of its group
    sensitive: pa.Table  # how often each sensitive value occurs in each group

    def save(self, quasi_identifiers: str | Path, sensitive: str | Path) -> None:
        """Write both files, which are read back and verified before they get their names."""
        if Path(quasi_identifiers).resolve() == Path(sensitive).resolve():
            raise BadTable("the two tables need two files; give two different names")
        with ExitStack() as stack:
            read = []
            for path, table in (
                (quasi_identifiers, self.quasi_identifiers),
                (sensitive, self.sensitive),
            ):
                target = stack.enter_context(frames.atomic(path))
                reading = self.plan.read.of_release
                frames.write(Frame(table), target, reading)
                read.append(frames.read_back(target, reading))
                if not frames.same_rows(read[-1], Frame(table)):
                    raise ShoalError(
                        f"{path} does not contain the rows of the release in their order; this is "
                        "a bug in shoal, and nothing is released"
                    )
            words = self.plan.missing_of(self.column)
            seen = TwoTables.of(read[0], read[1], self.column, words)
            models = self.plan.models
            raise_unless_satisfied(models, seen.check(models, self.column))

    def report(self, path: str | Path) -> None:
        """Write a report for the approver: one page as HTML, or as a PDF if its name says so.

        It is for internal use, not for publication.
        """
        from shoal.report.anatomy.anatomy_report import write_anatomy_report  # loaded when needed

        write_anatomy_report(self, path)


def anatomize(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    read: Reading | Mapping[str, Any] | None = None,
    queries: Queries | None = None,
    compare: bool = False,
    progress: Progress = silent,
) -> Anatomy:
    """Publish exact quasi-identifiers in one table and sensitive values in another (anatomy).

    Both have the number of a group. Each group has l different sensitive values or more, each in
    one record, so that nobody's value is known with a probability above 1 / l (Xiao and Tao 2006)
    to an attacker who does not know which values go with which quasi-identifiers.
    Quasi-identifiers are published as they are: an attacker who knows those of a person can find
    out whether that person is in the table.

    Counting queries are answered from both tables and from the original, and compared; `queries`
    sets which ones. With `compare` a release with generalized quasi-identifiers and the same
    requirements answers the same queries, which takes a run of `anonymize`.

    >>> people = pa.table({"age": [31, 38, 52, 57], "disease": ["flu", "cough", "flu", "ulcer"]})
    >>> model = {"name": "frequency-l-diversity", "column": "disease", "l": 2}
    >>> plan = Plan(columns={"age": "quasi", "disease": "sensitive"}, models=[model], seed=1)
    >>> anatomize(people, plan).attacks.surest
    0.5
    """
    plan = Plan.of(plan).with_reading(read)
    column = check_served(plan)
    progress("read", 0.0)
    frame = open_table(table, plan)
    check_columns(plan.columns, frame)
    progress("recode", 0.0)
    secret = merged_codes(frame, column, plan.missing_of(column))
    values = np.unique(secret.codes, return_inverse=True)[1].astype(np.int64)
    size = max(_size(model) for model in plan.models)
    rng = np.random.default_rng(plan.seed)
    group = form_groups(values, size, rng)
    if group is None:
        raise _out_of_reach(plan.models, values)
    first, second = _tables(frame, plan, column, group, rng)
    progress("verify", 0.0)
    for published in (first, second):
        check_coded(Frame(published), plan.columns)
    found = measure_two_tables(Frame(first), Frame(second), plan, frame, queries, progress)
    raise_unless_satisfied(plan.models, found.checks)
    generalized = _generalized(frame, plan, queries, progress) if compare else None
    found = replace(found, generalized=generalized, notes=anatomy_notes(plan))
    return Anatomy(**vars(found), quasi_identifiers=first, sensitive=second)


def _generalized(
    frame: Frame, plan: Plan, queries: Queries | None, progress: Progress
) -> Generalized:
    """A release of the same table with the same requirements, and generalized values."""
    if plan.algorithm.own_command:
        plan = plan.changed(algorithm=Plan(columns=plan.columns, models=plan.models).algorithm)
    release = anonymize(frame, plan, progress=progress)
    assert release.tables is not None
    before, after = release.tables.original, release.tables.published
    name = release.plan.loss.name
    return Generalized(
        release.plan.algorithm.name,
        name,
        release.losses[name],
        1 - after.rows / before.rows,
        answer(before, after, queries or Queries()),
    )


def anatomy_notes(plan: Plan, made: bool = True) -> list[str]:
    """What the reader of the two tables has to know."""
    notes = [
        "quasi-identifiers are published as they are: an attacker who knows those of a person can "
        "find out whether the person is in the table, and which records could be theirs",
        "an attacker who knows which sensitive values go with which quasi-identifiers, or learns "
        "it from the two tables, can be surer of a value than the requirements say",
    ]
    if made and plan.seed is not None:
        notes.append(
            "the groups were drawn with a random seed: an attacker who knows it can find out more; "
            "make the final release without a seed"
        )
    if plan.population or plan.population.data is not None:
        notes.append(
            "[population] has no effect here: quasi-identifiers are published as they are, and "
            "risks in the population are not estimated; shoal audit estimates those of the original"
        )
    return notes + [words_for(name, one) for name, one in coded_columns(plan.columns).items()]


def check_served(plan: Plan) -> str:
    """The sensitive column; raise an error unless anatomy can do what the plan asks."""
    secret = columns_with_role(plan.columns, "sensitive")
    if len(secret) != 1:
        raise BadPlan(
            f"anatomy needs one sensitive column, and the plan has {len(secret)}"
            f"{f' ({preview(secret)})' if secret else ''}; give the role sensitive to one column"
        )
    if not columns_with_role(plan.columns, "quasi"):
        raise BadPlan("the plan has no quasi-identifier; give some column the role quasi")
    if numbers := microaggregated_columns(plan.columns):
        raise BadPlan(
            f"anatomy publishes quasi-identifiers as they are, and column {numbers[0]!r} has "
            "microaggregate; remove it, or use anonymize"
        )
    for name, one in plan.columns.items():
        if one.role not in ("quasi", "sensitive", "identifier", "drop"):
            raise BadPlan(
                f"anatomy does not support the role {one.role} (column {name!r}): give it the role "
                "quasi, so that it is published with the quasi-identifiers, or drop"
            )
    if taken := [name for name in (GROUP, COUNT) if name in plan.columns]:
        raise BadPlan(f"anatomy writes a column {taken[0]!r}; rename that of the table")
    if plan.limits:
        raise BadPlan(
            f"anatomy does not measure limits ({preview(list(plan.limits.stated()))}): remove "
            "[limits] from the plan"
        )
    if plan.attackers:
        raise BadPlan(
            "anatomy does not support several attackers: remove [[attackers]] from the plan"
        )
    if not plan.models:
        raise BadPlan(f"the plan has no requirements; anatomy serves {NAMES}")
    for model in plan.models:
        if not isinstance(model, SERVED):
            raise BadPlan(
                f"anatomy does not support {model.key}, as it publishes exact quasi-identifiers; "
                f"it serves {NAMES}"
            ).offering(WayOut("remove", model.key))
    return secret[0]


def _size(model: Model) -> int:
    """The records with different values that a group needs: so many satisfy the model."""
    return max(2, ceil(model.required - 1e-9))


def _out_of_reach(models: list[Model], values: np.ndarray[Any, Any]) -> CannotReach:
    most = int(np.bincount(values).max())
    best = floor(len(values) / most)
    model = max(models, key=lambda one: one.required)
    return CannotReach(
        model.key,
        best,
        f"{model.key} with {model.required:g} cannot be reached by anatomy: {most:,} of "
        f"{len(values):,} records have the same value, so that l = {best} is the most possible; "
        "ask for less, or choose another algorithm",
    ).offering(WayOut("remove", model.key))


def _tables(
    frame: Frame, plan: Plan, column: str, group: np.ndarray[Any, Any], rng: np.random.Generator
) -> tuple[pa.Table, pa.Table]:
    """Both tables; neither the numbers of groups nor the order of rows says anything."""
    number = 1 + rng.permutation(int(group.max()) + 1)[group]
    rows = rng.permutation(frame.height)
    names = [name for name in frame.names if plan.columns[name].role == "quasi"]
    arrays = [pa.array(number[rows])]
    arrays += [_plain(frame, name).take(pa.array(rows)) for name in names]
    first = pa.Table.from_arrays(arrays, names=[GROUP, *names])
    codes, values = coded(frame, column, ())
    # Sorted by what is published, which says nothing about the original order.
    rank = np.append(np.argsort(np.argsort([str(one) for one in values])), -1)
    base = len(rank)
    pairs, count = np.unique(number * base + rank[codes] + 1, return_counts=True)
    groups, shown = pairs // base, pairs % base - 1
    known, example = np.unique(rank[codes], return_index=True)
    place = pa.array(example[np.searchsorted(known, shown)])
    second = pa.Table.from_arrays(
        [pa.array(groups), _plain(frame, column).take(place), pa.array(count)],
        names=[GROUP, column, COUNT],
    )
    return first, second


def _plain(frame: Frame, name: str) -> pa.Array:
    cells = frame.column(name)
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole
