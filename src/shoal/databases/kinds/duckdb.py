"""Files of DuckDB, by its own interface to Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

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
from shoal.io.atomic import atomic, private_folder
from shoal.io.sources import check_source

HAS_ZONES = "SELECT 1 FROM duckdb_settings() WHERE name = 'TimeZone'"
BATCH = 1 << 17  # rows that are fetched at once
PLAIN = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS",
    "TIMESTAMP_S", "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip
SPELLED = {"UUID", "HUGEINT", "UHUGEINT", "TIME", "INTERVAL", "JSON", "BIT", "BIGNUM", "VARINT"}
OUTPUT = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
    pa.string(): "VARCHAR",
}

T = TypeVar("T")


class Duckdb(Kind):
    """DuckDB files."""

    name = "duckdb"
    schemes = ("duckdb",)
    endings = (".duckdb", ".ddb")

    @contextmanager
    def opened(self, address: str, write: bool) -> Iterator[Session]:
        """Open a file; one that does not exist is created if it is written."""
        module = load()
        path = file_of(address)
        assert path is not None
        if write and not path.exists():
            with atomic(path) as temporary, private_folder(path.absolute().parent) as folder:
                made = folder / path.name  # DuckDB does not open the empty temporary file
                with _opened(module, made, path, write) as session:
                    yield session
                made.replace(temporary)
            return
        check_source(path, "")
        with _opened(module, path, path, write) as session:
            yield session


@contextmanager
def _opened(module: Any, path: Path, shown: Path, write: bool) -> Iterator[DuckdbSession]:
    settings = {
        "autoinstall_known_extensions": "false",  # nothing is fetched from the network
        "autoload_known_extensions": "false",
    }
    try:
        con = module.connect(str(path), read_only=not write, config=settings)
        try:
            if con.execute(HAS_ZONES).fetchall():
                con.execute("SET TimeZone = 'UTC'")
            con.execute("BEGIN")
            yield DuckdbSession(con, shown)
        finally:
            con.close()
    except (module.Error, RuntimeError) as error:
        raise _explained(module, error, shown) from None


def load() -> Any:
    """The module of DuckDB, or an error that says how to install it."""
    try:
        import duckdb
    except ImportError:
        raise BadFile(
            "reading files of DuckDB needs it, and it is not installed: pip install 'shoal[duckdb]'"
        ) from None
    return duckdb


def _explained(module: Any, error: BaseException, path: Path) -> ShoalError:
    """Errors of DuckDB, which may contain values, as messages without them."""
    said = str(error)
    if "Could not set lock" in said or "different configuration" in said:
        return BadFile(
            f"{path} is locked: another process or connection uses it; nothing is changed. Run "
            "again when it has ended"
        )
    if "No space left" in said:
        return BadFile(f"cannot write {path}: no space left on device")
    if "read-only" in said:
        return BadTable("the query would change the database; a query can only read")
    if isinstance(error, module.IOException | module.SerializationException):
        return BadFile(
            f"cannot open {path}: it is damaged, not a file of DuckDB, or of a newer one"
        )
    if isinstance(error, module.DependencyException):
        return BadFile("other objects depend on the table that would be replaced")
    if isinstance(error, module.ParserException | module.BinderException | module.CatalogException):
        return BadTable(f"DuckDB cannot run the query: {said.splitlines()[0][:200]}")
    return ShoalError(f"DuckDB failed ({type(error).__name__}) on {path}")


class DuckdbSession(Session):
    """An open file of DuckDB."""

    output = OUTPUT

    def __init__(self, con: Any, path: Path) -> None:
        self.con, self.path = con, path

    def tables(self) -> list[str]:
        """The names of the tables and views; those outside of `main` with a schema."""
        found = self._fetched(
            "SELECT CASE WHEN table_schema = 'main' THEN table_name "
            "ELSE table_schema || '.' || table_name END FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY 1"
        )
        return [name for (name,) in found]

    def find(self, name: str) -> str | None:
        """A table in SQL by its name, in any letter case."""
        *schema, table = split_name(name)
        found = self._fetched(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE "
            "table_catalog = current_database() AND lower(table_schema) = lower(?) "
            "AND lower(table_name) = lower(?)",
            schema[0] if schema else "main",
            table,
        )
        return ".".join(map(quoted_name, found[0])) if found else None

    def columns(self, relation: str) -> list[Selected]:
        """The columns, each with the SQL that reads it."""
        query = relation[1:-1] if relation.startswith("(") else f"FROM {relation}"
        # Not within another query: DuckDB would rename the second column of a name.
        found = self._fetched(f"DESCRIBE {query}")
        names = [row[0] for row in found]
        check_column_names(names, "the query" if relation.startswith("(") else f"table {relation}")
        kinds = [row[1] for row in found]
        odd = [
            (name, kind)
            for name, kind in zip(names, kinds, strict=True)
            if kind.endswith("]") or _base(kind) not in PLAIN | SPELLED | {"VARCHAR", "DECIMAL"}
        ]
        refuse_types(odd, str(self.path))
        return [_selected(name, kind) for name, kind in zip(names, kinds, strict=True)]

    def estimate(self, relation: str) -> int:
        """The number of rows of a table, which DuckDB knows."""
        if relation.startswith("("):
            return 0
        return int(self._fetched(f"SELECT count(*) FROM {relation}")[0][0])

    def batches(
        self,
        sql: str,
        columns: Sequence[Selected] = (),  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part."""
        relation = self._wait(lambda: self.con.sql(sql))
        name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
        reader = self._wait(lambda: getattr(relation, name)(BATCH))
        any_rows = False
        while (batch := self._wait(lambda: next(reader, None))) is not None:
            any_rows = True
            yield batch
        if not any_rows:
            yield pa.RecordBatch.from_pylist([], reader.schema)

    def identity(self, table: str) -> tuple[object, ...]:
        """The file and the table."""
        return os.path.realpath(self.path), table.lower()

    def create(self, name: str, like: str, table: pa.Table) -> str:
        """Create and fill a table."""
        schema = (split_name(like)[:-1] or ("main",))[0]
        made = f"{quoted_name(schema)}.{quoted_name(name)}"
        given = ", ".join(f"{quoted_name(one.name)} {OUTPUT[one.type]}" for one in table.schema)
        self._run(f"CREATE TABLE {made} ({given})")
        self.con.register("shoal_given", table)
        self._run(f"INSERT INTO {made} SELECT * FROM shoal_given")
        self.con.unregister("shoal_given")
        return made

    def in_order(self, table: str) -> str:  # noqa: ARG002
        """DuckDB keeps the order in which rows were added."""
        return "ORDER BY rowid"

    def rename(self, table: str, name: str, replace: str | None) -> None:
        """Give a created table its name, and commit."""
        if replace is not None:
            self._run(f"DROP TABLE {replace}")
        self._run(f"ALTER TABLE {table} RENAME TO {quoted_name(split_name(name)[-1])}")
        self._run("COMMIT")

    def _run(self, sql: str) -> None:
        self._fetched(sql)

    def _fetched(self, sql: str, *given: object) -> list[Any]:
        return self._wait(lambda: self.con.execute(sql, given).fetchall())

    def _wait(self, work: Callable[[], T]) -> T:
        return waited(work, self.con.interrupt)


def _base(kind: str) -> str:
    """The type without its settings, such as the digits of a DECIMAL; an ENUM is text."""
    name = kind.partition("(")[0]
    return "VARCHAR" if name == "ENUM" else name


def _selected(name: str, kind: str) -> Selected:
    cell = quoted_name(name)
    if _base(kind) in ("FLOAT", "DOUBLE"):  # 0.0 and -0.0 are equal for DuckDB
        return Selected(name, cell, f"{cell}, signbit({cell})")
    if _base(kind) in PLAIN:
        return Selected(name, cell, cell)
    if kind != "VARCHAR":
        cell = f"CAST({cell} AS VARCHAR)"
    cell = f"{cell} COLLATE C"  # another collation may ignore letter case
    return Selected(name, cell, cell)
