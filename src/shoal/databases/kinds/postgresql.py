"""PostgreSQL: a server, by the driver of ADBC, which reads and writes Arrow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.base.waiting import waited
from shoal.databases.kind import (
    Kind,
    Selected,
    Session,
    quoted_name,
    refuse_types,
    split_name,
)
from shoal.io.arrow_tables import check_column_names

PATIENCE = "10s"  # to wait for a lock on the table that is replaced
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
    def opened(self, address: str, write: bool) -> Iterator[Session]:
        """Connect to a server; libpq finds the password."""
        driver = load()
        con = None
        try:
            con = waited(lambda: driver.connect(address), lambda: None)
            session = PostgresqlSession(con, driver)
            how = "READ WRITE" if write else "READ ONLY"
            session.run(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, {how}")
            # Rows come in their order, and numbers with all digits, whatever the settings are.
            session.run("SET LOCAL synchronize_seqscans = off")
            session.run("SET LOCAL extra_float_digits = 1")
            session.run("SET LOCAL DateStyle = 'ISO'")
            session.run("SET LOCAL IntervalStyle = 'postgres'")
            session.run("SET LOCAL TimeZone = 'UTC'")
            session.run(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            yield session
        except (driver.Error, driver.Warning, OSError, pa.ArrowException) as error:
            raise _explained(error, con is not None) from None
        finally:
            if con is not None:
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


def _explained(error: BaseException, connected: bool) -> ShoalError:
    """Errors of the driver, which may contain values and addresses, as messages without them."""
    said = str(error)
    state = getattr(error, "sqlstate", None) or ""
    if not connected:
        return BadFile(f"cannot connect to PostgreSQL: {_connecting(said)}")
    if state.startswith(("08", "57P")) or _is_lost(said):
        return BadFile(
            "the connection to PostgreSQL was lost: the server ended or the network failed; "
            "nothing in the database was changed, and nothing is released"
        )
    if state == "42501":
        return BadFile(f"PostgreSQL: {_first_line(said)}; ask for the permission")
    if state == "55P03":
        return BadFile(
            f"somebody else uses the table that would be replaced, for {PATIENCE} and longer; "
            "nothing in the database was changed. Run again when they have finished"
        )
    if state == "2BP01":
        return BadFile(
            "other objects, such as a view, depend on the table that would be replaced; nothing in "
            "the database was changed. Drop them first, or write to a table of another name"
        )
    if state in ("53100", "53200", "53300"):
        lacking = {"53100": "disk space", "53200": "memory", "53300": "free connections"}[state]
        return BadFile(f"PostgreSQL has no {lacking} left; nothing in the database was changed")
    if state == "25006" or "in a read-only transaction" in said:
        return BadTable("the query would change the database; a query can only read")
    if state.startswith("42"):  # about names and syntax, not about cells
        return BadTable(f"PostgreSQL cannot run the query: {_first_line(said)}")
    number = f"SQLSTATE {state}" if state else type(error).__name__
    return BadFile(
        f"PostgreSQL could not read or write the rows ({number}); nothing in the database was "
        "changed. Its log has the reason, perhaps with values of the table"
    )


def _connecting(said: str) -> str:
    """Why there is no connection, without anything from the address."""
    reasons = {
        "password authentication failed": "the user or the password is wrong",
        "no password supplied": "it asks for a password; set PGPASSWORD, or use ~/.pgpass",
        "no pg_hba.conf entry": "the server does not let this user in from here (pg_hba.conf)",
        "Peer authentication failed": "the server does not let this user in (pg_hba.conf)",
        "does not exist": "the server has no database or user of this name",
        "Connection refused": "no server answers at this address",
        "No such file or directory": "no server answers at this address",
        "could not translate host name": "there is no host of this name",
        "timeout expired": "the server did not answer in time",
        "too many clients": "the server has no free connections",
        "SSL": "the encryption that was asked for is not possible",
        "invalid URI": "the address is not a valid one, as in postgresql://user@host:5432/database",
        "missing \"=\"": "the address is not a valid one, as in postgresql://user@host:5432/database",
    }  # fmt: skip
    for words, reason in reasons.items():
        if words in said:
            return reason
    return "the server does not accept the connection"


def _is_lost(said: str) -> bool:
    lost = ("server closed the connection", "no connection to the server", "terminating connection",
            "could not receive data", "could not send data", "connection not open")  # fmt: skip
    return any(words in said for words in lost)


def _first_line(said: str) -> str:
    """The message of the server itself, which is between words of the driver."""
    found = re.search(r"ERROR:\s*([^\n]*)", said)
    return found[1].strip()[:200] if found else "it is not valid"


class PostgresqlSession(Session):
    """A connection to a server."""

    output = OUTPUT
    longest = 63

    def __init__(self, con: Any, driver: Any) -> None:
        self.con, self.driver = con, driver

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

    def columns(self, relation: str) -> list[Selected]:
        """The columns, each with the SQL that reads it."""
        schema = next(self.batches(f"SELECT * FROM {relation} AS t LIMIT 0")).schema
        what = "the query" if relation.startswith("(") else f"table {relation}"
        check_column_names(schema.names, what)
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
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part."""
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
                f"to_regclass({_text(table)})::oid::int8 "
                "FROM pg_database d WHERE d.datname = current_database()"
            )[0]
        )

    def create(self, name: str, like: str, table: pa.Table) -> str:
        """Create and fill a table."""
        schema = split_name(like)[:-1] or tuple(self._fetched("SELECT current_schema()::text")[0])
        if schema[0] is None:
            raise BadFile("the user has no schema to write to; name one, as in SCHEMA.NAME")
        made = f"{quoted_name(schema[0])}.{quoted_name(name)}"
        given = ", ".join(f"{quoted_name(one.name)} {OUTPUT[one.type]}" for one in table.schema)
        self.run(f"CREATE TABLE {made} ({given})")
        with self.con.cursor() as cursor:
            self._wait(
                lambda: cursor.adbc_ingest(name, table, mode="append", db_schema_name=schema[0]),
                cursor,
            )
        return made

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

    def rename(self, table: str, name: str, replace: str | None) -> None:
        """Give a created table its name, and commit."""
        if replace is not None:
            self.run(f"DROP TABLE {replace}")
        self.run(f"ALTER TABLE {table} RENAME TO {quoted_name(split_name(name)[-1])}")
        self.con.commit()

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


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
