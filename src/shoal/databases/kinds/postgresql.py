"""PostgreSQL: a server, by the driver of ADBC, which reads and writes Arrow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable
from shoal.base.waiting import waited
from shoal.databases.kind import (
    Allowed,
    Kind,
    Selected,
    Session,
    not_a_table,
    quoted_name,
    refuse_types,
    split_name,
)
from shoal.databases.kinds._postgresql_messages import LOCKED, explained, is_lost, unknown_outcome
from shoal.io.arrow_tables import check_column_names

PATIENCE = "10s"  # to wait for a lock on the table that is replaced
# Several processes of the server that read one table return its rows in any order.
ONE_PROCESS = "SET LOCAL max_parallel_workers_per_gather = 0"
# Types whose cells are read as they are; those whose cells become text.
PLAIN = {"bool", "int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz"}
TEXTS = {"text", "varchar", "name"}
SPELLED = {
    "numeric", "uuid", "bpchar", "char", "time", "timetz", "interval", "json", "jsonb", "inet",
    "cidr", "macaddr", "macaddr8", "money", "oid", "bit", "varbit", "xml",
}  # fmt: skip
OUTPUT = {
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamp with time zone",
    pa.string(): "text",
}

OID = re.compile(r"oid:(\d+)")  # in the name of a type that is newer than the connection

T = TypeVar("T")


class Postgresql(Kind):
    """PostgreSQL servers."""

    name = "postgresql"
    schemes = ("postgresql", "postgres")

    @contextmanager
    def opened(
        self,
        address: str,
        write: bool,
        allowed: Allowed | None = None,  # noqa: ARG002
    ) -> Iterator[Session]:
        """Connect to a server; libpq finds the password."""
        driver = load()
        made: list[Any] = []  # the connection, also if an interrupt comes while it is made
        session = None
        try:
            waited(lambda: made.append(driver.connect(address)), lambda: None)
            session = PostgresqlSession(made[0], driver)
            # A database or a user may be set to read only, which we respect.
            how = "" if write else ", READ ONLY"
            session.run(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ{how}")
            # Rows come in their order, and numbers with all digits, whatever the settings are.
            session.run("SET LOCAL synchronize_seqscans = off")
            session.run(ONE_PROCESS)
            session.run("SET LOCAL extra_float_digits = 1")
            session.run("SET LOCAL DateStyle = 'ISO'")
            session.run("SET LOCAL IntervalStyle = 'postgres'")
            session.run("SET LOCAL TimeZone = 'UTC'")
            session.run(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            yield session
        except (driver.Error, driver.Warning, OSError, pa.ArrowException) as error:
            if session is not None and session.committing and is_lost(error):
                raise BadFile(
                    "the connection to PostgreSQL was lost at the very end; "
                    + unknown_outcome(session.committing)
                ) from None
            raise explained(error, session is not None, write, PATIENCE) from None
        finally:
            for con in made:
                with suppress(Exception):  # the server may be gone
                    con.rollback()
                with suppress(Exception):
                    con.close()


def load() -> Any:
    """The driver, or an error that says how to install it."""
    try:
        import adbc_driver_postgresql.dbapi
    except ImportError:
        raise BadFile(
            "reading from PostgreSQL needs its driver, which is not installed: "
            "pip install 'shoal[databases]'"
        ) from None
    return adbc_driver_postgresql.dbapi


class PostgresqlSession(Session):
    """A connection to a server."""

    output = OUTPUT
    longest = 63

    def __init__(self, con: Any, driver: Any) -> None:
        self.con, self.driver = con, driver
        self.committing: int | None = None  # the number of the transaction that is being committed
        self._created: dict[str, tuple[str, str]] = {}  # tables in SQL: schema and name

    def tables(self) -> list[str]:
        """The tables and views that the user can read; those outside the path with a schema."""
        found = self._fetched(
            "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname "
            "ELSE n.nspname || '.' || c.relname END FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
            "AND n.nspname NOT LIKE 'pg_toast%' AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
        )
        return [name for (name,) in found]

    def find(self, name: str) -> str | None:
        """A table in SQL by its exact name, or by the name in lower case."""
        parts = split_name(name)
        for tried in (parts, tuple(part.lower() for part in parts)):
            sql = ".".join(map(quoted_name, tried))
            if self._fetched(f"SELECT to_regclass({_text(sql)}) IS NOT NULL")[0][0]:
                return sql
        return None

    def names(self, relation: str) -> list[str]:
        """The names of the columns."""
        return list(self._schema(relation).names)

    def _schema(self, relation: str) -> pa.Schema:
        schema = next(self.batches(f"SELECT * FROM {relation} AS t LIMIT 0")).schema
        what = "the query" if relation.startswith("(") else f"table {relation}"
        check_column_names(schema.names, what)
        return schema

    def columns(self, relation: str) -> list[Selected]:
        """The columns, each with the SQL that reads it."""
        schema = self._schema(relation)
        kinds = [(one.metadata or {}).get(b"POSTGRESQL:type", b"").decode() for one in schema]
        known = PLAIN | TEXTS | SPELLED
        texts = self._texts({kind for kind in kinds if kind not in known})
        odd = [
            (name, kind)
            for name, kind in zip(schema.names, kinds, strict=True)
            if kind not in known | texts
        ]
        refuse_types(odd, "PostgreSQL")
        return [_selected(name, kind) for name, kind in zip(schema.names, kinds, strict=True)]

    def _texts(self, kinds: set[str]) -> set[str]:
        """Which of these types are enums, or texts of an extension: their cells become text."""
        if not kinds:
            return set()
        numbers = {kind: found[1] for kind in kinds if (found := OID.search(kind))}
        of_kind = {
            kind: f"oid = {numbers[kind]}" if kind in numbers else f"typname = {_text(kind)}"
            for kind in kinds
        }
        return {
            kind
            for kind, test in of_kind.items()
            if self._fetched(
                "SELECT coalesce(bool_and(typtype = 'e' OR typcategory = 'S'), false) "
                f"FROM pg_type WHERE {test}"
            )[0][0]
        }

    def estimate(self, relation: str) -> int:
        """The number of rows that the planner expects."""
        with self.con.cursor() as cursor:
            # The driver would wrap it into COPY, which takes queries only.
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            explain = f"EXPLAIN (FORMAT JSON) SELECT * FROM {relation} AS t"
            self._wait(lambda: cursor.execute(explain), cursor)
            plan = json.loads(cursor.fetchall()[0][0])
        return int(plan[0]["Plan"]["Plan Rows"])

    def batches(
        self,
        sql: str,
        columns: Sequence[Selected] = (),  # noqa: ARG002
        any_order: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part."""
        if any_order:
            self.run("SET LOCAL max_parallel_workers_per_gather TO DEFAULT")
        yield from self._batches(sql)
        if any_order:
            self.run(ONE_PROCESS)

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        with self.con.cursor() as cursor:
            self._wait(lambda: cursor.execute(sql), cursor)
            reader = cursor.fetch_record_batch()
            any_rows = False
            while (batch := self._wait(lambda: next(reader, None), cursor)) is not None:
                any_rows = True
                yield batch
            if not any_rows:
                yield pa.RecordBatch.from_pylist([], reader.schema)

    def identity(self, table: str) -> tuple[object, ...]:
        """The server, the database and the table by their numbers."""
        return tuple(
            self._fetched(
                "SELECT pg_postmaster_start_time()::text, d.oid::int8, "
                f"{_oid(table)}::oid::int8 "
                "FROM pg_database d WHERE d.datname = current_database()"
            )[0]
        )

    def check_replaceable(self, name: str, table: str) -> None:
        """Drop the table in this transaction, which is undone, unless somebody uses it now."""
        kind = self._fetched(f"SELECT relkind::text FROM pg_class WHERE oid = {_oid(table)}")
        if kind[0][0] not in ("r", "p"):
            raise not_a_table(name)
        self.run("SET LOCAL lock_timeout = '10ms'")
        try:
            self.run(f"DROP TABLE {table}")
        except self.driver.Error as error:
            if error.sqlstate != LOCKED:  # then it may be free when the release is written
                raise

    def create(self, name: str, like: str, schema: pa.Schema) -> str:
        """Create a table."""
        place = split_name(like)[:-1] or tuple(self._fetched("SELECT current_schema()::text")[0])
        if place[0] is None:
            raise BadFile("the user has no schema to write to; name one, as in SCHEMA.NAME")
        made = f"{quoted_name(place[0])}.{quoted_name(name)}"
        given = ", ".join(f"{quoted_name(one.name)} {OUTPUT[one.type]}" for one in schema)
        self.run(f"CREATE TABLE {made} ({given})")
        self._created[made] = place[0], name
        return made

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows by COPY, which puts them after all others of a table of this transaction."""
        schema, name = self._created[table]
        with self.con.cursor() as cursor:
            self._wait(
                lambda: cursor.adbc_ingest(name, rows, mode="append", db_schema_name=schema), cursor
            )

    def check_cells(self, table: pa.Table) -> None:
        """Raise an error for the character NUL, which texts of PostgreSQL cannot contain."""
        for name in table.column_names:
            if (
                table[name].type == pa.string()
                and pc.any(pc.match_substring(table[name], "\0")).as_py()
            ):
                raise BadTable(
                    f"column {name!r} contains the character NUL, which PostgreSQL cannot store; "
                    "write to a file"
                )

    def in_order(self, table: str) -> str:  # noqa: ARG002
        """By place in the file of a new table, to which rows were only added."""
        return "ORDER BY ctid"

    def commit(self) -> None:
        """Commit; the number of the transaction is known, should there be no answer."""
        number = int(self._fetched("SELECT txid_current()")[0][0])
        self.committing = number
        try:
            waited(self.con.commit, self.con.adbc_cancel)
        except KeyboardInterrupt as error:
            error.add_note(unknown_outcome(number))
            raise
        self.committing = None

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
        with self.con.cursor() as cursor:
            self._wait(lambda: cursor.execute(sql), cursor)

    def _fetched(self, sql: str) -> list[Any]:
        with self.con.cursor() as cursor:
            self._wait(lambda: cursor.execute(sql), cursor)
            found: list[Any] = self._wait(cursor.fetchall, cursor)
        return found

    def _wait(self, work: Callable[[], T], cursor: Any) -> T:
        return waited(work, cursor.adbc_cancel)


def _selected(name: str, kind: str) -> Selected:
    """A column with the SQL that reads it, and the SQL that tells its cells apart."""
    cell = quoted_name(name)
    if kind in PLAIN:
        # 0.0 and -0.0 are equal for PostgreSQL, and different cells.
        return Selected(name, cell, f"{cell}, {cell}::text" if kind.startswith("float") else cell)
    cell = f'{cell}::text COLLATE "C"'  # another collation may ignore letter case
    return Selected(name, cell, cell)


def _oid(table: str) -> str:
    """The number of a table in SQL; null: there is none."""
    return f"to_regclass({_text(table)})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
