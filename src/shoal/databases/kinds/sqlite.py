"""SQLite: a file, which Python itself can read.

A column of SQLite has cells of any type. One whose cells are all integers, or all floating-point
numbers, has that type in memory; every other one is text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.base.waiting import waited
from shoal.databases.kind import (
    Kind,
    Selected,
    Session,
    file_of,
    quoted_name,
    refuse_types,
    split_name,
)
from shoal.io.arrow_tables import check_column_names
from shoal.io.atomic import atomic
from shoal.io.sources import check_source

BATCH = 1 << 16  # rows that are fetched at once
PATIENCE = 10  # seconds to wait for another process that writes to the file
OUTPUT = {pa.int64(): "INTEGER", pa.float64(): "REAL", pa.string(): "TEXT"}


class Sqlite(Kind):
    """SQLite files."""

    name = "sqlite"
    schemes = ("sqlite",)
    endings = (".db", ".sqlite", ".sqlite3")

    @contextmanager
    def opened(self, address: str, write: bool) -> Iterator[Session]:
        """Open a file; one that does not exist is created if it is written."""
        path = file_of(address)
        assert path is not None
        if write and not path.exists():
            with atomic(path) as temporary, _opened(temporary, path, write) as session:
                yield session
            return
        check_source(path, "")
        with _opened(path, path, write) as session:
            yield session


@contextmanager
def _opened(path: Path, shown: Path, write: bool) -> Iterator[SqliteSession]:
    mode = "rw" if write else "ro"
    name = f"file:{quote(os.fspath(path.absolute()))}?mode={mode}"
    try:
        con = sqlite3.connect(
            name, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            con.execute("PRAGMA query_only = on" if not write else "PRAGMA secure_delete = on")
            con.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield SqliteSession(con, shown)
        finally:
            con.close()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _explained(error, shown) from None


def _explained(error: sqlite3.Error | sqlite3.Warning, path: Path) -> ShoalError:
    """Errors of SQLite, which may contain values, as messages without them."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    said = str(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BadFile(
            f"{path} is locked: another process uses it; nothing is changed. Run again when it has "
            "ended"
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return BadFile(f"cannot read {path}: it is damaged, encrypted, or not a file of SQLite")
    if code == sqlite3.SQLITE_READONLY:
        return BadFile(f"cannot write {path}: it is read-only, or a query tried to change it")
    if code == sqlite3.SQLITE_FULL:
        return BadFile(f"cannot write {path}: no space left on device")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM):
        return BadFile(f"cannot open {path}: no permission, or the disk has failed")
    if "decode to UTF-8" in said:
        return BadTable(f"a column of {path} contains text that is not UTF-8; leave it out")
    if code == sqlite3.SQLITE_ERROR and not said.startswith("malformed"):
        return BadTable(f"SQLite cannot run the query: {said[:200]}")
    return ShoalError(f"SQLite failed ({type(error).__name__}, code {code}) on {path}")


class SqliteSession(Session):
    """An open file of SQLite."""

    output = OUTPUT

    def __init__(self, con: sqlite3.Connection, path: Path) -> None:
        self.con, self.path = con, path

    def tables(self) -> list[str]:
        """The names of the tables and views."""
        found = self._fetched(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
        return [name for (name,) in found]

    def find(self, name: str) -> str | None:
        """A table in SQL by its name, in any letter case."""
        *schema, table = split_name(name)
        if schema and schema[0].lower() != "main":
            return None
        found = self._fetched(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND lower(name) = lower(?)",
            table,
        )
        return quoted_name(found[0][0]) if found else None

    def columns(self, relation: str) -> list[Selected]:
        """The columns; their types follow from all of their cells."""
        bare = relation[1:-1] if relation.startswith("(") else f"SELECT * FROM {relation}"
        # SQLite would rename the second column of a name in a query around this one.
        cursor = self._run(bare)
        names = [one[0] for one in cursor.description or ()]
        cursor.close()
        check_column_names(names, "the query" if relation.startswith("(") else f"table {relation}")
        kinds = ("integer", "real", "text", "blob")
        tests = [f"max(typeof({quoted_name(name)}) = '{kind}')" for name in names for kind in kinds]
        found: list[Any] = []
        for start in range(0, len(tests), 1000):  # SQLite returns at most 2000 columns
            found += self._fetched(
                f"SELECT {', '.join(tests[start : start + 1000])} FROM {relation}"
            )[0]
        has = {
            name: {kind for kind, is_there in zip(kinds, found[4 * i :], strict=False) if is_there}
            for i, name in enumerate(names)
        }
        refuse_types([(name, "blob") for name in names if "blob" in has[name]], str(self.path))
        only: dict[frozenset[str], pa.DataType] = {
            frozenset({"integer"}): pa.int64(),
            frozenset({"real"}): pa.float64(),
        }
        return [
            Selected(
                name,
                quoted_name(name),
                f"{quoted_name(name)} COLLATE BINARY",  # another one may ignore letter case
                only.get(frozenset(has[name]), pa.string()),
            )
            for name in names
        ]

    def estimate(self, relation: str) -> int:
        """The number of rows; counting takes little compared with reading them."""
        if relation.startswith("("):
            return 0
        return int(self._fetched(f"SELECT count(*) FROM {relation}")[0][0])

    def batches(self, sql: str, columns: Sequence[Selected] = ()) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part; columns that are not given are integers."""
        cursor = self._run(sql)
        names = [one[0] for one in cursor.description]
        kinds = [one.kind for one in columns] + [pa.int64()] * (len(names) - len(columns))
        schema = pa.schema(zip(names, kinds, strict=True))
        any_rows = False
        while rows := waited(lambda: cursor.fetchmany(BATCH), self.con.interrupt):
            any_rows = True
            cells = zip(*rows, strict=True)
            yield pa.record_batch(
                [_array(one, kind) for one, kind in zip(cells, kinds, strict=True)], schema
            )
        if not any_rows:
            yield pa.RecordBatch.from_pylist([], schema)

    def identity(self, table: str) -> tuple[object, ...]:
        """The file and the table."""
        return os.path.realpath(self.path), table.lower()

    def create(self, name: str, like: str, table: pa.Table) -> str:  # noqa: ARG002
        """Create and fill a table."""
        kinds = [OUTPUT[one.type] for one in table.schema]
        given = ", ".join(
            f"{quoted_name(column)} {kind}"
            for column, kind in zip(table.column_names, kinds, strict=True)
        )
        made = quoted_name(name)
        self._run(f"CREATE TABLE {made} ({given})")
        marks = ", ".join("?" * table.num_columns)
        insert = f"INSERT INTO {made} VALUES ({marks})"
        for batch in table.to_batches(BATCH):
            rows = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            waited(lambda rows=rows: self.con.executemany(insert, rows), self.con.interrupt)  # type: ignore[misc]
        return made

    def keeps(self, cells: pa.ChunkedArray) -> bool:
        """SQLite stores NaN as missing, and -0.0 as 0.0: then the column becomes text."""
        if cells.type != pa.float64():
            return True
        numbers = cells.drop_null().to_numpy()
        return not (np.isnan(numbers) | ((numbers == 0) & np.signbit(numbers))).any()

    def in_order(self, table: str) -> str:
        """By the number that SQLite gives to each row, unless columns have all of its names."""
        used = {one.name.lower() for one in self.columns(table)}
        free = [name for name in ("rowid", "_rowid_", "oid") if name not in used]
        return f"ORDER BY {free[0]}" if free else ""

    def rename(self, table: str, name: str, replace: str | None) -> None:
        """Give a created table its name, and commit."""
        if replace is not None:
            self._run(f"DROP TABLE {replace}")
        self._run(f"ALTER TABLE {table} RENAME TO {quoted_name(split_name(name)[-1])}")
        self.con.execute("COMMIT")

    def _run(self, sql: str, *given: object) -> sqlite3.Cursor:
        return waited(lambda: self.con.execute(sql, given), self.con.interrupt)

    def _fetched(self, sql: str, *given: object) -> list[Any]:
        return waited(lambda: self.con.execute(sql, given).fetchall(), self.con.interrupt)


def _array(cells: tuple[Any, ...], kind: pa.DataType) -> pa.Array:
    if kind != pa.string():
        return pa.array(cells, kind)
    return pa.array(
        [cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells], kind
    )
