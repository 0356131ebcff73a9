"""Opening tables as a plan states it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.flow.extra_rows.open_records import open_records
from shoal.io.format import Progress, format_of
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.io.sources import is_file
from shoal.plan import Plan
from shoal.table.roles import columns_with_role
from shoal.table.samples.derived import with_derived
from shoal.table.written.coded_numbers import with_coded_numbers
from shoal.table.written.ranges import bound_names
from shoal.table.written.spelled_columns import canonical, spelled_columns


def open_table(
    table: Any, plan: Plan, progress: Progress | None = None, sure: bool = True
) -> Frame:
    """Open a table in any form; its numbers and dates are canonical.

    If `sure`, units and totals that the plan states must be there.
    """
    read = open_records(table, reading_of(table, plan), progress, sure)
    return with_canonical_cells(read, plan, again=isinstance(table, Frame))  # or a part of one


def reading_of(table: Any, plan: Plan) -> Reading:
    """How a file is read: as the plan states it, without titles and notes if it is a release.

    A sheet whose first row has the names of a release is one.
    """
    asked = plan.read
    if asked.header_row is None or not isinstance(table, str | Path) or not is_file(table):
        return asked
    first = format_of(Path(table)).first_names(Path(table), asked)
    return asked.of_release if first and _are_released(first, plan) else asked


def _are_released(names: list[str], plan: Plan) -> bool:
    """Whether these are names of columns of a release: all quasi-identifiers are among them."""
    known = {name: name for name in plan.columns} | {f"'{name}": name for name in plan.columns}
    known |= {new: name for name, new in plan.write.names.items()}
    if plan.write.ranges == "bounds":
        known |= {bound: name for one, name in list(known.items()) for bound in bound_names(one)}
    found = {known.get(name) for name in names}
    return None not in found and found >= set(columns_with_role(plan.columns, "quasi"))


def with_canonical_cells(frame: Frame, plan: Plan, again: bool = False) -> Frame:
    """The same table with numbers and dates in canonical form, and coded as the plan states.

    Columns that the plan derives are added, or computed `again`.
    """
    read = canonical(frame, spelled_columns(plan.columns, plan.missing_values))
    read = with_derived(read, plan.columns, plan.missing_values, again)
    return with_coded_numbers(read, plan.columns, plan.missing_values)
