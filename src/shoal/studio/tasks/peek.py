"""Peek: the first rows of a table, before all of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.base.errors import BadInput
from shoal.base.progress import Progress
from shoal.databases.database import Database
from shoal.io.files import read_first
from shoal.io.format import FirstRows
from shoal.io.raw_text.spelling import Form, Spelling
from shoal.io.reading import Reading
from shoal.studio.tasks import tables
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import source_of

ROWS = 12


@dataclass(frozen=True)
class Cell:
    """A cell as it is written, and what is read."""

    text: str  # "" if nothing is there
    read: str = ""  # if that is something else
    is_missing: bool = False
    is_bad: bool = False  # whether it cannot be read as it is stated


@dataclass(frozen=True)
class Peek:
    """The first rows of a table."""

    names: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    faults: tuple[str, ...] = ()  # why it cannot be read like this
    lines: tuple[str, ...] = ()  # as they are in the file
    sheets: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    encoding: str = ""
    delimiter: str = ""


def run(
    held: Held,
    progress: Progress,
    source: dict[str, Any],
    reading: dict[str, Any],
    spellings: dict[str, Spelling],
    missing: list[str],
) -> Peek:
    """The first rows of a file or of a table of a database, read as stated."""
    listed: list[str] = []
    try:
        listed = tables.run(held, progress, source)
        if len(listed) > 1 and not _is_chosen(source, reading):
            first = FirstRows([], [])  # somebody has to choose first
        else:
            first = _first(source, reading)
    except BadInput as error:
        first = FirstRows([], [], (str(error),))
    words = frozenset(missing)
    columns = [spellings.get(name) for name in first.names]
    is_base = source["kind"] == "database"
    return Peek(
        tuple(first.names),
        tuple(
            tuple(_cell(cell, how, words) for cell, how in zip(row, columns, strict=True))
            for row in first.rows
        ),
        first.faults,
        first.lines,
        () if is_base else tuple(listed),
        tuple(listed) if is_base else (),
        first.encoding,
        first.delimiter,
    )


def _is_chosen(source: dict[str, Any], reading: dict[str, Any]) -> bool:
    return bool(source.get("table") or source.get("query") or reading.get("sheet"))


def _first(source: dict[str, Any], reading: dict[str, Any]) -> FirstRows:
    table = source_of(source)
    if isinstance(table, Database):
        return table.first_rows(ROWS)
    return read_first(table, ROWS, Reading(**reading))


def _cell(text: str | None, spelling: Spelling | None, missing: frozenset[str]) -> Cell:
    if text is None or text in missing or text.strip() in missing:
        return Cell(text or "", is_missing=True)
    if spelling is None:
        return Cell(text)
    read = spelling.read(text)
    return Cell(text, read.text if read.text != text else "", is_bad=read.form == Form.BAD)
