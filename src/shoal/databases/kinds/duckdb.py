"""Files of DuckDB, by its own interface to Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any, TypeVar

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
from shoal.io.atomic import private_folder
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
    def opened(
        self, address: str, write: bool, allowed: Allowed | None = None
    ) -> Iterator[Session]:
        """Open a file; one that does not exist is created if it is written."""
        module = load()
        path = file_of(address)
        assert path is not None
        if write and not path.exists():
            with new_file(path) as made, _opened(module, made, path, write, allowed) as session:
                yield session
            return
        check_source(path, "")
        with _opened(module, path, path, write, allowed) as session:
            yield session


@contextmanager
def _opened(
    module: Any, path: Path, shown: Path, write: bool, allowed: Allowed | None
) -> Iterator[DuckdbSession]:
    """Open a file; what does not fit into memory goes to a folder that nobody else can enter."""
    settings = {
        "autoinstall_known_extensions": "false",  # nothing is fetched from the network
        "autoload_known_extensions": "false",
        "temp_directory": "",  # not next to the file, where others might read it
    }
    if allowed is None:
        with _connected(module, path, shown, write, settings) as session:
            yield session
        return
    with private_folder(allowed.folder or Path(gettempdir())) as folder:
        settings |= {"temp_directory": str(folder), "memory_limit": f"{allowed.memory}B"}
        with _connected(module, path, shown, write, settings) as session:
            yield session


@contextmanager
def _connected(
    module: Any, path: Path, shown: Path, write: bool, settings: dict[str, str]
) -> Iterator[DuckdbSession]:
    try:
        con = module.connect(str(path), read_only=not write, config=settings)
        try:
            if con.execute(HAS_ZONES).fetchall():
                con.execute("SET TimeZone = 'UTC'")
            con.execute("SET preserve_insertion_order = true")
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
    if "No space left" in said or "File too large" in said:
        return BadFile(
            f"cannot write {path}: no space is left on the disk; nothing in the file was changed"
        )
    if "Permission denied" in said or "Read-only file system" in said:
        return BadFile(f"cannot open {path}: no permission; ask for it")
    if "read-only" in said:
        return BadTable("the query would change the database; a query can only read")
    if isinstance(error, module.OutOfMemoryException):
        return BadFile(
            f"there is too little memory to read or write {path}; nothing in the file was changed. "
            "Raise the limit (--memory-limit, or memory in the plan)"
        )
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
        found = self._found(name)
        return ".".join(map(quoted_name, found[:2])) if found else None

    def _found(self, name: str) -> tuple[str, ...]:
        """The schema, the name and the type of a table; (): there is none."""
        *schema, table = split_name(name)
        found = self._fetched(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE "
            "table_catalog = current_database() AND lower(table_schema) = lower(?) "
            "AND lower(table_name) = lower(?)",
            schema[0] if schema else "main",
            table,
        )
        return found[0] if found else ()

    def names(self, relation: str) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self._described(relation)]

    def _described(self, relation: str) -> list[tuple[str, str]]:
        """Names and types of the columns."""
        query = relation[1:-1] if relation.startswith("(") else f"FROM {relation}"
        # Not within another query: DuckDB would rename the second column of a name.
        found = [(row[0], row[1]) for row in self._fetched(f"DESCRIBE {query}")]
        names = [name for name, _ in found]
        check_column_names(names, "the query" if relation.startswith("(") else f"table {relation}")
        check_letter_case(names, "DuckDB")
        return found

    def columns(self, relation: str) -> list[Selected]:
        """The columns, each with the SQL that reads it."""
        found = self._described(relation)
        odd = [
            (name, kind)
            for name, kind in found
            if kind.endswith("]") or _base(kind) not in PLAIN | SPELLED | {"VARCHAR", "DECIMAL"}
        ]
        refuse_types(odd, str(self.path))
        return [_selected(name, kind) for name, kind in found]

    def estimate(self, relation: str) -> int:
        """The number of rows of a table, which DuckDB knows."""
        if relation.startswith("("):
            return 0
        return int(self._fetched(f"SELECT count(*) FROM {relation}")[0][0])

    def batches(
        self,
        sql: str,
        columns: Sequence[Selected] = (),  # noqa: ARG002
        any_order: bool = False,  # noqa: ARG002
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

    def check_replaceable(self, name: str, table: str) -> None:  # noqa: ARG002
        """Raise an error for a view."""
        if self._found(name)[2] != "BASE TABLE":
            raise not_a_table(name)

    def create(self, name: str, like: str, schema: pa.Schema) -> str:
        """Create a table."""
        check_letter_case(schema.names, "DuckDB")
        place = (split_name(like)[:-1] or ("main",))[0]
        made = f"{quoted_name(place)}.{quoted_name(name)}"
        given = ", ".join(f"{quoted_name(one.name)} {OUTPUT[one.type]}" for one in schema)
        self.run(f"CREATE TABLE {made} ({given})")
        return made

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows."""
        # DuckDB keeps what was registered until the transaction ends: a reader that has been read.
        batches = iter(rows.to_batches())
        self.con.register("shoal_given", pa.RecordBatchReader.from_batches(rows.schema, batches))
        self.run(f"INSERT INTO {table} SELECT * FROM shoal_given")
        self.con.unregister("shoal_given")

    def in_order(self, table: str) -> str:  # noqa: ARG002
        """DuckDB keeps the order in which rows were added, without sorting them."""
        return ""

    def commit(self) -> None:
        """Commit; it is quick, and not interrupted."""
        waited(lambda: self.con.execute("COMMIT").fetchall(), lambda: None)

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
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
