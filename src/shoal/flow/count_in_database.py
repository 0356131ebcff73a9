"""Count in the database: an audit needs combinations of values, and no single records.

The database groups the rows by all columns that an audit looks at, so that each combination is
transferred once, with the number of its rows. Identifiers stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.base.progress import Progress
from shoal.databases.database import Database
from shoal.flow.extra_rows.open_records import open_records
from shoal.flow.opening import reading_of
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.table.roles import columns_with_role, linking_columns

COUNTED = ("quasi", "sensitive", "other")  # roles of columns that an audit looks at


def is_counted(tables: Sequence[Any], plan: Plan, population: Any) -> bool:
    """Whether one of the tables is in a database, and can be counted there for this plan.

    Records of the same person, and matches of single records, are looked at one by one.
    """
    return (
        any(isinstance(table, Database) for table in tables)
        and not plan.linked
        and population is None
        # Cells are read one by one: different texts may be the same number.
        and not any(column.spelling for column in plan.columns.values())
        and plan.write.ranges != "bounds"  # the columns of bounds are not in the plan
        and not plan.write.names  # neither are new names
        # Totals are the last row, and a count has no last row.
        and not plan.read.units
        and not plan.read.totals
        and not linking_columns(plan.columns)
        and not columns_with_role(plan.columns, "household")  # each in how many classes
        and not columns_with_role(plan.columns, "weight")  # weights are summed over records
        and not plan.population
        and bool(columns_with_role(plan.columns, "quasi"))
    )


def of_counted_columns(plan: Plan) -> Plan:
    """The plan without the columns that an audit does not look at."""
    columns = {name: one for name, one in plan.columns.items() if one.role in COUNTED}
    return plan.changed(columns=columns)


def open_counted(
    table: Any, plan: Plan, progress: Progress, population: Any = None
) -> tuple[Frame, list[str]]:
    """A table, counted by its database if possible, and the names of all of its columns."""
    if isinstance(table, Database) and is_counted([table], plan, population):
        names = table.names()
        wanted = [name for name in names if name in of_counted_columns(plan).columns]
        if wanted:
            progress("read", 0.0)
            return table.count(wanted), names
    reading = reading_of(table, plan)
    frame = open_records(
        table, reading, lambda done, size: progress("read", done / size), sure=False
    )
    return frame, frame.names
