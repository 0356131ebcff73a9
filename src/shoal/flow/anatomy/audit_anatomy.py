"""Audit an anatomy: measure its two tables, from nothing but what they contain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.base.errors import BadTable, preview
from shoal.base.progress import Progress, silent
from shoal.flow.anatomy.anatomize import anatomy_notes, check_served
from shoal.flow.anatomy.measure_two_tables import measure_two_tables
from shoal.flow.opening import open_table, with_canonical_cells
from shoal.hierarchies.values import text
from shoal.io.frames import Frame, open_frame
from shoal.io.reading import Reading
from shoal.kernels.group import group_rows
from shoal.measures.anatomy.anatomy_measures import AnatomyMeasures
from shoal.measures.anatomy.two_tables import COUNT, GROUP, whole_numbers
from shoal.measures.queries.draw import Queries
from shoal.plan import Plan
from shoal.table.alike import places_alike
from shoal.table.coded_columns import coded_as_text, merged_codes
from shoal.table.published_table import places
from shoal.table.roles import check_columns, columns_with_role


@dataclass(frozen=True, eq=False, kw_only=True)
class AnatomyAudit(AnatomyMeasures):
    """What was measured of two tables that are or would be published."""

    def report(self, path: str | Path) -> None:
        """Write a report for the approver: one page as HTML, or as a PDF if its name says so."""
        from shoal.report.anatomy.anatomy_report import write_anatomy_report  # loaded when needed

        write_anatomy_report(self, path)


def audit_anatomy(
    quasi_identifiers: Any,
    sensitive: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    original: Any = None,
    queries: Queries | None = None,
    read: Reading | Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> AnatomyAudit:
    """Measure the two tables of an anatomy, from nothing but what they contain.

    They are frames or files: the quasi-identifiers with a column `group`, and the sensitive values
    with the columns `group` and `count`. With the original, counting queries are compared too, and
    both tables must contain its records.

    >>> import pyarrow as pa
    >>> first = pa.table({"group": [1, 2, 1, 2], "age": [31, 38, 52, 57]})
    >>> disease = ["cough", "flu", "flu", "ulcer"]
    >>> second = pa.table({"group": [1, 1, 2, 2], "disease": disease, "count": [1, 1, 1, 1]})
    >>> model = {"name": "frequency-l-diversity", "column": "disease", "l": 2}
    >>> plan = Plan(columns={"age": "quasi", "disease": "sensitive"}, models=[model])
    >>> audit_anatomy(first, second, plan).holds
    True
    """
    plan = Plan.of(plan).with_reading(read)
    column = check_served(plan)
    progress("read", 0.0)
    names = columns_with_role(plan.columns, "quasi")
    # Both are releases: titles above the names and units are those of the original alone.
    reading = plan.read.of_release
    first, second = (
        with_canonical_cells(open_frame(one, None, reading), plan)
        for one in (quasi_identifiers, sensitive)
    )
    _check_names(first, "quasi-identifiers", [GROUP, *names], plan)
    _check_names(second, "sensitive values", [GROUP, column, COUNT], plan)
    given = None
    if original is not None:
        given = open_table(original, plan)
        check_columns(plan.columns, given)
    progress("verify", 0.0)
    if given is not None:
        _check_quasi(first, given, names)
        _check_values(second, given, column, plan)
    found = measure_two_tables(first, second, plan, given, queries, progress)
    return AnatomyAudit(**vars(replace(found, notes=anatomy_notes(plan, made=False))))


def _check_names(frame: Frame, what: str, expected: list[str], plan: Plan) -> None:
    """Raise an error if a table lacks a column, or has one that must not be there."""
    lacking = [name for name in expected if name not in frame.names]
    if lacking:
        raise BadTable(
            f"the table of {what} lacks the columns {preview(lacking)}; give the two files that "
            "shoal anatomy wrote, the one with the quasi-identifiers first, and their plan"
        )
    more = [name for name in frame.names if name not in expected]
    if more:
        role = plan.columns[more[0]].role if more[0] in plan.columns else None
        why = "the plan does not have" if role is None else f"has the role {role} in the plan"
        raise BadTable(
            f"the table of {what} has the column {more[0]!r}, which {why}: only "
            f"{preview(expected)} belong there, and any other column can disclose more"
        )


def _check_quasi(first: Frame, original: Frame, names: list[str]) -> None:
    """Raise an error unless the table has exactly the quasi-identifiers of the original."""
    both = []
    for name in names:
        codes, values = coded_as_text(first, name, ())
        others, known = coded_as_text(original, name, ())
        place = np.array([*places(values, {text(v): i for i, v in enumerate(known)}, -1), -1])
        both.append(np.concatenate([np.where(codes < 0, -1, place[codes]), others]))
        if ((codes >= 0) & (place[codes] < 0)).any():
            raise BadTable(
                f"column {name!r} of the table of quasi-identifiers has values that the original "
                "lacks; give the original that the two tables were made from"
            )
    label, first_row, _ = group_rows(np.stack(both, axis=1).astype(np.int32))
    many = [np.bincount(part, minlength=len(first_row)) for part in np.split(label, [first.height])]
    if (many[0] != many[1]).any():
        raise BadTable(
            f"the table of quasi-identifiers has {first.height:,} records and the original "
            f"{original.height:,}, and they are not the same ones; give the original that the two "
            "tables were made from"
        )


def _check_values(second: Frame, original: Frame, column: str, plan: Plan) -> None:
    """Raise an error unless sensitive values are as frequent as in the original."""
    words = plan.missing_of(column)
    shown, given = merged_codes(second, column, words), merged_codes(original, column, words)
    place = np.array([*places_alike(shown.values, given.values), len(given.values)])
    counted = whole_numbers(second, COUNT, "sensitive values")
    if (place[:-1] < 0).any():
        raise _other_values(column)
    size = len(given.values) + 1
    after = np.bincount(place[shown.codes], counted, size)
    before = np.bincount(np.where(given.codes < 0, size - 1, given.codes), minlength=size)
    if (after != before).any():
        raise _other_values(column)


def _other_values(column: str) -> BadTable:
    return BadTable(
        f"the sensitive values of column {column!r} are not those of the original, or not as "
        "frequent; give the original that the two tables were made from"
    )
