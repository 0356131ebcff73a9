"""The rows of a table in a sheet that has titles above it or notes below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.base.errors import BadTable
from shoal.base.progress import Progress, silent
from shoal.flow.extra_rows.find_rows import find_extra_rows
from shoal.flow.extra_rows.open_records import check_stated, is_stored, order_hint, without
from shoal.io.format import format_of
from shoal.io.frames import Frame, open_frame
from shoal.io.reading import Reading
from shoal.io.sources import is_file


def open_with_rows(
    table: Any, reading: Reading, progress: Progress = silent
) -> tuple[Frame, Reading]:
    """Open a table, and say how; what is around it and no record is left out if it can be found."""

    if isinstance(table, Frame):  # it was opened before
        return table, reading

    def report(done: int, size: int) -> None:
        progress("read", done / size)

    try:
        frame = open_frame(table, report, reading)
    except BadTable:
        found = _found(table, reading)
        if found == reading:
            raise
    else:
        found = _found(table, reading) if _ends_in_note(frame) else reading
    if found != reading:
        frame = open_frame(table, report, found)
    extra = find_extra_rows(frame)
    stated = extra.stated(found)
    check_stated(frame, extra, stated, is_stored(table), order_hint(table))
    return without(table, frame, extra, stated, report), stated


def _found(table: Any, reading: Reading) -> Reading:
    if reading.header_row is not None or not isinstance(table, str | Path) or not is_file(table):
        return reading
    return format_of(Path(table)).with_rows(Path(table), reading)


def _ends_in_note(frame: Frame) -> bool:
    """Whether the last row has only its first cell, as a note below a table has."""
    if frame.kind != "arrow" or frame.height == 0 or len(frame.names) < 2:
        return False
    filled = [frame.native[name][-1].is_valid for name in frame.names]
    return filled[0] and not any(filled[1:])


def row_remarks(reading: Reading) -> list[str]:
    """What a draft says about the rows that are read.

    >>> row_remarks(Reading(header_row=3))
    ['the names of the columns are in row 3 of the sheet: rows above it are not read']
    """
    said = []
    if reading.units:
        said.append(
            "the first row below the names has units, and is not read; state units = false if "
            "it is a record"
        )
    if reading.totals:
        said.append(
            "the last row has totals, and is not read; state totals = false if it is a record"
        )
    if reading.header_row is None:
        return said
    names = f"the names of the columns are in row {reading.header_row} of the sheet: rows above it "
    if reading.last_row is None:
        return [f"{names}are not read", *said]
    below = f"and below row {reading.last_row} are not read; check that no record is lost"
    return [names + below, *said]
