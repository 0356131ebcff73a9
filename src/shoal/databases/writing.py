"""Writing to a database: a table exists complete and verified under its name, or not at all.

Everything happens in one transaction: the new table is created next to the target, filled, read
back and checked, and then takes the name of the target. Whatever fails, the database undoes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.databases.database import Database, table_of
from shoal.databases.kind import Session, kind_of, split_name
from shoal.io.frames import Frame, same_rows
from shoal.io.text_writing import as_text

WIDER = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.int16(): pa.int64(),
    pa.int32(): pa.int64(),
    pa.float32(): pa.float64(),
    pa.large_string(): pa.string(),
}


def write_to(target: Database, frame: Frame, replace: bool, check: Callable[[Frame], None]) -> None:
    """Write a frame to a table that does not exist yet, or that is replaced.

    `check` verifies what was read back, before the table gets its name.
    """
    assert target.table is not None, "check_out has been called"
    with kind_of(target.address).opened(target.address, write=True) as session:
        old = _old(session, target, replace)
        table = _storable(frame, session)
        made = session.create(f"shoal_{secrets.token_hex(8)}", target.table, table)
        written = _read_back(session, made)
        if not same_rows(written, Frame(table)) or not _same_nulls(written.native, table):
            raise ShoalError(
                "the table that was written does not contain the rows of the release in their "
                "order; this is a bug in shoal, and nothing is released"
            )
        check(written)
        session.rename(made, target.table, old)


def check_out(target: Database, replace: bool, source: object = None) -> None:
    """Check, before a long run, that a release can be written to a table.

    It must not be the table that is read: replacing it would lose the original.
    """
    if target.query is not None or target.table is None:
        raise BadTable(f"name the table of {target.address} to write to (--out-table)")
    file = target.file
    if file is not None and not file.exists():
        split_name(target.table)
        from shoal.io.atomic import check_writable

        check_writable(file)
        return
    with kind_of(target.address).opened(target.address, write=True) as session:
        old = _old(session, target, replace)
        place = None if old is None else session.identity(old)
        made = session.create(f"shoal_{secrets.token_hex(8)}", target.table, _NOTHING)
        session.identity(made)
    if place is not None and isinstance(source, Database):
        _check_not_read(target, place, source)


_NOTHING = pa.table({"nothing": pa.array([], pa.string())})


def _check_not_read(target: Database, place: tuple[Any, ...], source: Database) -> None:
    """Raise an error if the table that would be replaced is the one that is read."""
    read = source.query is not None and split_name(str(target.table))[-1].lower() in (
        source.query.lower()
    )
    if source.query is None and kind_of(source.address).name == kind_of(target.address).name:
        with kind_of(source.address).opened(source.address, write=False) as session:
            read = session.identity(source.relation(session)) == place
    if read:
        raise BadFile(
            f"cannot replace table {target.table}: this command reads it; write to a table of "
            "another name"
        )


def _old(session: Session, target: Database, replace: bool) -> str | None:
    """The table of the target's name in SQL, which is to be replaced; None: there is none."""
    assert target.table is not None
    if session.longest is not None:
        for part in split_name(target.table):
            _check_length(part, session.longest)
    old = session.find(target.table)
    if old is not None and not replace:
        raise BadFile(
            f"{target.address} has a table {target.table!r} already; --replace replaces it, and "
            "otherwise choose another name"
        )
    return old


def _check_length(name: str, longest: int) -> None:
    if len(name.encode()) > longest:
        raise BadTable(f"the name {name!r} is longer than the {longest} bytes of the database")


def _storable(frame: Frame, session: Session) -> pa.Table:
    """The cells in types of the database; those that it does not have become text."""
    columns = {}
    for name in frame.names:
        if session.longest is not None:
            _check_length(name, session.longest)
        columns[name] = _column(frame.column(name), name, session)
    table = pa.table(columns)
    session.check_cells(table)
    return table


def _column(cells: Any, name: str, session: Session) -> pa.ChunkedArray:
    if isinstance(cells, pa.Array):
        cells = pa.chunked_array([cells])
    kind = cells.type
    if pa.types.is_dictionary(kind):
        cells = cells.cast(kind.value_type)
    kind = cells.type
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        fine = pa.timestamp("us", kind.tz)
        try:
            cells = cells.cast(fine)
        except pa.ArrowInvalid:  # nanoseconds, which only text keeps
            return _text(cells, name)
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        cells = cells.cast(pa.timestamp("us", "UTC"))
    while cells.type not in session.output and cells.type in WIDER:
        cells = cells.cast(WIDER[cells.type])
    if cells.type not in session.output or not session.keeps(cells):
        return _text(cells, name)
    return cells


def _text(cells: Any, name: str) -> pa.ChunkedArray:
    found = as_text(cells, name)
    return found.cast(pa.string())


def _read_back(session: Session, made: str) -> Frame:
    columns = session.columns(made)
    return Frame(table_of(session, columns, made, session.in_order(made)))


def _same_nulls(one: pa.Table, other: pa.Table) -> bool:
    """Whether the same cells are missing: as text, an empty cell and a missing one are alike."""
    return all(pc.is_null(one[name]).equals(pc.is_null(other[name])) for name in other.column_names)
