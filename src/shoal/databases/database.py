"""Database: a table or query in a database, as a source or target of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable, did_you_mean, preview
from shoal.databases.kind import Selected, Session, file_of, kind_of
from shoal.io.arrow_tables import takeable
from shoal.io.frames import Counted, Frame
from shoal.io.sources import StoredTable

Progress = Callable[[int, int], None]  # rows read so far, and about how many there are
COUNT = "shoal rows"  # a column of the number of rows that are alike
FIRST, LAST = -719162, 2932896  # days of the years 1 to 9999, from 1970 on


@dataclass(frozen=True)
class Database(StoredTable):
    """A table of a database, or the result of a query.

    `address` is postgresql://user@host/database, sqlite:///people.db, duckdb:///people.duckdb, or
    the path of such a file. It must not contain a password. Give either the name of a table, which
    may have a schema in front of it, or a query, which can only read.

    >>> Database("sqlite:///people.db", table="people")
    Database('sqlite:///people.db', table='people')
    """

    address: str
    table: str | None = None
    query: str | None = None

    def __init__(
        self, address: str | Path, table: str | None = None, *, query: str | None = None
    ) -> None:
        given = {"address": str(address), "table": table, "query": query}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        kind_of(self.address)
        if table is not None and query is not None:
            raise BadTable("give either a table (--table) or a query (--query), not both")
        if query is not None and not query.strip().rstrip(";").strip():
            raise BadTable("the query is empty")

    def __repr__(self) -> str:
        what = f"table={self.table!r}" if self.query is None else "query=…"
        return f"Database({self.address!r}, {what})"

    def __str__(self) -> str:
        """What messages call it."""
        what = f"table {self.table}" if self.query is None else "the query"
        return f"{what} of {self.address}"

    @property
    def file(self) -> Path | None:
        """The file of the database; None for a server."""
        return file_of(self.address)

    def read(self, progress: Progress | None = None) -> pa.Table:
        """Read all rows into an arrow table."""
        with self._opened() as (session, relation, columns):
            return table_of(session, columns, relation, progress=progress)

    def schema(self) -> pa.Schema:
        """Names and types of the columns, as `read` has them."""
        with self._opened() as (session, relation, columns):
            return table_of(session, columns, relation, "LIMIT 0").schema

    def rows(self) -> int:
        """About how many rows there are; 0 if that is not known."""
        with self._opened() as (session, relation, _):
            return session.estimate(relation)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows part by part, in one transaction."""
        with self._opened() as (session, relation, columns):
            names = [one.name for one in columns]
            for batch in session.batches(_select(columns, relation), columns):
                yield from _table([batch], names).to_batches()

    def names(self) -> list[str]:
        """The names of the columns."""
        with self._opened() as (_, _, columns):
            return [one.name for one in columns]

    def count(self, wanted: Sequence[str]) -> Frame:
        """The distinct combinations of values of some columns, each with its number of rows.

        The database groups the rows, so that only combinations are transferred.
        """
        with self._opened() as (session, relation, columns):
            by_name = {one.name: one for one in columns}
            if lacking := [name for name in wanted if name not in by_name]:
                raise BadTable(f"{self} has no columns {preview(lacking)}")
            chosen = [by_name[name] for name in wanted]
            cells = ", ".join(f"{one.sql} AS {_alias(i)}" for i, one in enumerate(chosen))
            keys = ", ".join(one.key for one in chosen)
            sql = f'SELECT {cells}, count(*) AS "{COUNT}" FROM {relation} AS t GROUP BY {keys}'
            found = _table(list(session.batches(sql, chosen)), [*wanted, COUNT])
        weight = found[COUNT].to_numpy().astype("int64")
        return Frame(found.drop_columns([COUNT]), Counted(weight, None))

    @contextmanager
    def _opened(self) -> Iterator[tuple[Session, str, list[Selected]]]:
        """Open the database to read; the table or the query in SQL, and its columns."""
        with kind_of(self.address).opened(self.address, write=False) as session:
            relation = self.relation(session)
            yield session, relation, session.columns(relation)

    def relation(self, session: Session) -> str:
        """The table, or the query in parentheses, in SQL."""
        if self.query is not None:
            # A new line ends a comment at the end of the query.
            return f"({self.query.strip().rstrip(';')}\n)"
        there = session.tables()
        if self.table is None:
            listed = f"there are {preview(there)}" if there else "it has no tables"
            raise BadTable(f"{self.address} is a database; name a table with --table: {listed}")
        found = session.find(self.table)
        if found is None:
            hint = did_you_mean(self.table, there)
            listed = hint or (f"; there are {preview(there)}" if there else "; it has no tables")
            raise BadFile(f"{self.address} has no table {self.table!r}{listed}")
        return found


def table_of(
    session: Session,
    columns: Sequence[Selected],
    relation: str,
    order: str = "",
    progress: Progress | None = None,
) -> pa.Table:
    """All rows of a table or query in SQL."""
    expected = 0 if progress is None else session.estimate(relation)
    batches, done = [], 0
    for batch in session.batches(_select(columns, relation, order), columns):
        batches.append(batch)
        done += batch.num_rows
        if progress is not None and expected:
            progress(min(done, expected), expected)
    return _table(batches, [one.name for one in columns])


def _select(columns: Sequence[Selected], relation: str, order: str = "") -> str:
    listed = ", ".join(f"{one.sql} AS {_alias(i)}" for i, one in enumerate(columns))
    return f"SELECT {listed} FROM {relation} AS t {order}"


def _alias(place: int) -> str:
    """The name of a column in the result of a query: any other could be one of the table's."""
    return f'"shoal {place}"'


def _table(batches: list[pa.RecordBatch], names: Sequence[str]) -> pa.Table:
    """One table of the rows, without what drivers add to its schema."""
    schema = batches[0].schema
    plain = pa.schema(zip(names, schema.types, strict=True))
    table = pa.table(
        [
            pa.chunked_array([batch.column(i) for batch in batches], kind)
            for i, kind in enumerate(plain.types)
        ],
        schema=plain,
    )
    for name in names:
        _check_dates(name, table[name])
    return takeable(table)


def _check_dates(name: str, cells: pa.ChunkedArray) -> None:
    """Raise an error for dates that Python does not have, such as infinity."""
    if pa.types.is_timestamp(cells.type):
        per_day = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit] * 86400
        days = pc.divide(cells.cast(pa.int64()), per_day)
    elif pa.types.is_date32(cells.type):
        days = cells.cast(pa.int32())
    else:
        return
    ends = pc.min_max(days).as_py()
    if ends["min"] is not None and (ends["min"] < FIRST or ends["max"] > LAST):
        raise BadTable(
            f"column {name!r} has dates before year 1 or after year 9999, or infinite ones; "
            "correct them, or cast the column to text with a query (--query)"
        )
