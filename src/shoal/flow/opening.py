"""Opening tables as a plan states it."""

from __future__ import annotations

from typing import Any

from shoal.io.format import Progress
from shoal.io.frames import Frame, open_frame
from shoal.plan import Plan
from shoal.table.written.spelled_columns import canonical, spelled_columns


def open_table(table: Any, plan: Plan, progress: Progress | None = None) -> Frame:
    """Open a table in any form; its numbers and dates are canonical."""
    return with_canonical_cells(open_frame(table, progress, plan.read), plan)


def with_canonical_cells(frame: Frame, plan: Plan) -> Frame:
    """The same table with numbers and dates in canonical form."""
    return canonical(frame, spelled_columns(plan.columns, plan.missing_values))
