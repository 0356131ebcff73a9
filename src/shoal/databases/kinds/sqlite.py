"""SQLite: a file, which Python itself can read.

A column of SQLite has cells of any type. One whose cells are all integers, or all floating-point
numbers, has that type in memory; every other one is text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.base.waiting import waited
from shoal.databases.kind import (
    Allowed,
    Kind,
    Selected,
    Session,
    check_letter_case,
    file_of,
    not_a_table,
    quoted_name,
    refuse_types,
    split_name,
)
from shoal.databases.kinds._new_file import new_file
from shoal.io.arrow_tables import check_column_names
from shoal.io.sources import check_source

BATCH = 1 << 16  # rows that are fetched at once
PATIENCE = 10  # seconds to wait for another process that writes to the file
HALF_DONE = (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY)
NOT_WRITTEN = (
    sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
)  # fmt: skip
OUTPUT = {pa.int64(): "INTEGER", pa.float64(): "REAL", pa.string(): "TEXT"}


class Sqlite(Kind):
    """SQLite files."""

    name = "sqlite"
    schemes = ("sqlite",)
    endings = (".db", ".sqlite", ".sqlite3")

    @contextmanager
    def opened(
        self,
        address: str,
        write: bool,
        allowed: Allowed | None = None,  # noqa: ARG002 (it uses little memory)
    ) -> Iterator[Session]:
        """Open a file; one that does not exist is created if it is written."""
        path = file_of(address)
        assert path is not None
        if write and not path.exists():
            with new_file(path) as made:
                made.touch()
                with _opened(made, path, write) as session:
                    yield session
            return
        check_source(path, "")
        with _opened(path, path, write) as session:
            yield session


@contextmanager
def _opened(path: Path, shown: Path, write: bool) -> Iterator[SqliteSession]:
    try:
        con = _connected(path, "rw" if write or _is_half_done(path) else "ro")
        try:
            if write:
                con.execute("PRAGMA secure_delete = on")
                # Views refer to a table by its name: they need not be correct while it has none.
                con.execute("PRAGMA legacy_alter_table = on")
            else:
                con.execute("PRAGMA query_only = on")
                con.set_authorizer(_only_this_file)
            con.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield SqliteSession(con, shown)
        finally:
            con.close()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _explained(error, shown) from None


def _only_this_file(action: int, *_: str | None) -> int:
    """Keep a query from opening other files, which ATTACH creates if they do not exist."""
    other = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    return sqlite3.SQLITE_DENY if other else sqlite3.SQLITE_OK


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    name = f"file:{quote(os.fspath(path.absolute()))}?mode={mode}"
    return sqlite3.connect(
        name, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )


def _is_half_done(path: Path) -> bool:
    """Whether a process was killed while it wrote to a file.

    SQLite undoes that when the file is opened next, but not if it is opened to read only.
    """
    with closing(_connected(path, "ro")) as con:
        try:
            con.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            return getattr(error, "sqlite_errorcode", 0) in HALF_DONE
    return False


def _explained(error: sqlite3.Error | sqlite3.Warning, path: Path) -> ShoalError:
    """Errors of SQLite, which may contain values, as messages without them."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code, said = extended & 0xFF, str(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BadFile(
            f"{path} is locked: another process uses it; nothing is changed. Run again when it has "
            "ended"
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return BadFile(f"cannot read {path}: it is damaged, encrypted, or not a file of SQLite")
    if code == sqlite3.SQLITE_AUTH:
        return BadTable("the query would open another file; a query can only read this one")
    if "one statement at a time" in said:
        return BadTable("the query has several statements; give one")
    if code == sqlite3.SQLITE_READONLY:
        return BadFile(f"cannot write {path}: it is read-only, or a query tried to change it")
    if code == sqlite3.SQLITE_FULL or extended in NOT_WRITTEN:
        return BadFile(
            f"cannot write {path}: no space is left on the disk, or it has failed; nothing in the "
            "file was changed"
        )
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
    picky = (pa.float64(),)

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
        table = self._bare(name)
        if table is None:
            return None
        found = self._fetched(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND lower(name) = lower(?)",
            table,
        )
        return quoted_name(found[0][0]) if found else None

    def _bare(self, name: str) -> str | None:
        """The name of a table without its schema; None: there is no such schema."""
        *schema, table = split_name(name)
        return None if schema and schema[0].lower() != "main" else table

    def names(self, relation: str) -> list[str]:
        """The names of the columns."""
        bare = relation[1:-1] if relation.startswith("(") else f"SELECT * FROM {relation}"
        # SQLite would rename the second column of a name in a query around this one.
        cursor = self._run(bare)
        names = [one[0] for one in cursor.description or ()]
        cursor.close()
        check_column_names(names, "the query" if relation.startswith("(") else f"table {relation}")
        check_letter_case(names, "SQLite")
        return names

    def columns(self, relation: str) -> list[Selected]:
        """The columns; their types follow from all of their cells."""
        names = self.names(relation)
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

    def batches(
        self,
        sql: str,
        columns: Sequence[Selected] = (),
        any_order: bool = False,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
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

    def check_replaceable(self, name: str, table: str) -> None:  # noqa: ARG002
        """Raise an error for a view."""
        if not self._fetched(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)",
            self._bare(name),
        ):
            raise not_a_table(name)

    def create(self, name: str, like: str, schema: pa.Schema) -> str:
        """Create a table."""
        if self._bare(like) is None:
            raise BadFile(f"files of SQLite have no schema of the name {split_name(like)[0]!r}")
        check_letter_case(schema.names, "SQLite")
        given = ", ".join(f"{quoted_name(one.name)} {OUTPUT[one.type]}" for one in schema)
        made = quoted_name(name)
        self.run(f"CREATE TABLE {made} ({given})")
        return made

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows."""
        marks = ", ".join("?" * rows.num_columns)
        insert = f"INSERT INTO {table} VALUES ({marks})"
        for batch in rows.to_batches(BATCH):
            cells = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            waited(lambda cells=cells: self.con.executemany(insert, cells), self.con.interrupt)  # type: ignore[misc]

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

    def commit(self) -> None:
        """Commit; this fails if another process reads for too long."""
        waited(lambda: self.con.execute("COMMIT"), lambda: None)

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
        self._run(sql)

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
