"""Opening a table without the rows that are no records, which the plan must state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.base.errors import BadTable, preview
from shoal.base.wording import many
from shoal.flow.extra_rows.find_rows import ExtraRows, find_extra_rows
from shoal.io.files import read_between
from shoal.io.format import Progress
from shoal.io.frames import Frame, open_frame
from shoal.io.reading import Reading
from shoal.io.sources import StoredTable, is_file


def open_records(
    table: Any, reading: Reading, progress: Progress | None = None, sure: bool = True
) -> Frame:
    """Open a table without the rows that are no records, which must be stated.

    If `sure`, rows that are stated must be there. A release of the table has none, and neither has
    a frame that was read without them. A database may return its rows in another order.
    """
    if isinstance(table, Frame):
        return table
    frame = open_frame(table, progress, reading)
    found = find_extra_rows(frame)
    check_stated(frame, found, reading, sure and is_stored(table), order_hint(table))
    return without(table, frame, found, reading, progress)


def without(
    table: Any,
    frame: Frame,
    found: ExtraRows,
    reading: Reading,
    progress: Progress | None = None,
) -> Frame:
    """The same table without these rows, as far as they are stated."""
    top, bottom = found.left_out(reading)
    if not top and not bottom:
        return frame
    height = frame.height - top - bottom
    if is_table_file(table):
        # Numbers below a unit were read as text.
        return Frame(read_between(table, progress, reading, top, height))
    return frame.between(top, height)


def is_table_file(table: Any) -> bool:
    """Whether a table is given by the path of its file."""
    return isinstance(table, str | Path) and is_file(table)


def is_stored(table: Any) -> bool:
    """Whether a table is in a file or a database, and was read just now."""
    return is_table_file(table) or isinstance(table, StoredTable)


def order_hint(table: Any) -> str:
    """Why a row may not be where it is expected."""
    if not isinstance(table, StoredTable):
        return ""
    return ". A database may return rows in any order: leave the row out there with a query"


def check_stated(
    frame: Frame, found: ExtraRows, reading: Reading, sure: bool = True, hint: str = ""
) -> None:
    """Raise an error for rows that are no records, unless the plan says what they are."""
    above = 0 if not reading.header else reading.header_row or 1
    if found.units and reading.units is None:
        raise BadTable(
            f"the first row below the names (row {above + 1}) looks like units, not like a record: "
            f"in {preview(found.units)} it has text, and all rows below it have numbers. As a "
            "record it would be published as a person. State units = true under [read] to leave "
            "it out, or units = false if it is a record"
        )
    if found.totals and reading.totals is None:
        last = found.totals[0]
        rows = many(len(found.totals), "row")
        names = f", if the names are in row {above}" if above else ""
        which = "the last row" if len(found.totals) == 1 else f"the last {rows}"
        raise BadTable(
            f"{which} of the table (row {above + frame.height:,}{names}) "
            f"looks like totals, not like a record: it has {last}. As a record it would be "
            "published as a person. State totals = true under [read] to leave it out, or "
            "totals = false if it is a record"
        )
    for name, there, what in (
        ("units", found.units, "the first row"),
        ("totals", found.totals, "the last row"),
    ):
        if sure and getattr(reading, name) and not there:
            raise BadTable(
                f"{name} = true under [read] says that {what} has {name}, but it does not look "
                "like that: leaving it out could lose a record. Remove the row from the table, or "
                f"remove {name} = true if it is a record{hint}"
            )
