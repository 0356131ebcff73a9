"""Database: a table or query in a database, as a source or target of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable, did_you_mean, preview
from shoal.databases.kind import Allowed, Selected, Session, file_of, kind_of
from shoal.io.arrow_tables import takeable
from shoal.io.format import FirstRows, first_of
from shoal.io.frames import Counted, Frame
from shoal.io.sources import StoredTable

Progress = Callable[[int, int], None]  # rows read so far, and about how many there are
COUNT = "shoal rows"  # a column of the number of rows that are alike
FIRST, LAST = -719162, 2932896  # days of the years 1 to 9999, from 1970 on
CELL = 16  # bytes of a cell in memory, at a rough estimate


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
        with self._opened() as (session, relation):
            return table_of(session, session.columns(relation), relation, progress=progress)

    def schema(self) -> pa.Schema:
        """Names and types of the columns, as `read` has them."""
        with self._opened() as (session, relation):
            return table_of(session, session.columns(relation), relation, "LIMIT 0").schema

    def first_rows(self, most: int) -> FirstRows:
        """The first rows; a query is run for them."""
        with self._opened() as (session, relation):
            columns = session.columns(relation)
            table = table_of(session, columns, relation, f"LIMIT {most:d}")
        names = [one.name for one in columns]
        return first_of(table.combine_chunks().to_batches(), most)._replace(names=names)

    def rows(self) -> int:
        """About how many rows there are; 0 if that is not known."""
        with self._opened() as (session, relation):
            return session.estimate(relation)

    def size(self) -> int:
        """About how many bytes the table takes in memory, by its rows and columns.

        If the database cannot estimate the rows of a query, it counts them.
        """
        with self._opened() as (session, relation):
            rows = session.estimate(relation)
            if not rows and self.query is not None:
                count = f'SELECT count(*) AS "{COUNT}" FROM {relation} AS t'
                rows = sum(one.column(0)[0].as_py() for one in session.batches(count))
            return CELL * rows * len(session.names(relation))

    def batches(self, allowed: Allowed | None = None) -> Iterator[pa.RecordBatch]:
        """All rows part by part, in one transaction."""
        with self._opened(allowed) as (session, relation):
            yield from batches_of(session, session.columns(relation), relation)

    def names(self) -> list[str]:
        """The names of the columns."""
        with self._opened() as (session, relation):
            return session.names(relation)

    def count(self, wanted: Sequence[str], allowed: Allowed | None = None) -> Frame:
        """The distinct combinations of values of some columns, each with its number of rows.

        The database groups the rows, so that only combinations are transferred.
        """
        with self._opened(allowed) as (session, relation):
            columns = session.columns(relation)
            there = {one.name for one in columns}
            if lacking := [name for name in wanted if name not in there]:
                raise BadTable(f"{self} has no columns {preview(lacking)}")
            return counted_of(session, columns, relation, wanted)

    @contextmanager
    def _opened(self, allowed: Allowed | None = None) -> Iterator[tuple[Session, str]]:
        """Open the database to read; the table or the query in SQL."""
        with kind_of(self.address).opened(self.address, False, allowed) as session:
            yield session, self.relation(session)

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


def tables_of(address: str) -> list[str]:
    """The names of the tables and views of a database."""
    with kind_of(address).opened(address, False) as session:
        return session.tables()


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


def batches_of(
    session: Session, columns: Sequence[Selected], relation: str, order: str = ""
) -> Iterator[pa.RecordBatch]:
    """All rows of a table or query in SQL, part by part."""
    names = [one.name for one in columns]
    for batch in session.batches(_select(columns, relation, order), columns):
        yield from _table([batch], names).to_batches()


def counted_of(
    session: Session, columns: Sequence[Selected], relation: str, wanted: Sequence[str]
) -> Frame:
    """The distinct combinations of values of some columns of a table or query in SQL."""
    by_name = {one.name: one for one in columns}
    chosen = [by_name[name] for name in wanted]
    cells = ", ".join(f"{one.sql} AS {_alias(i)}" for i, one in enumerate(chosen))
    keys = ", ".join(one.key for one in chosen)
    sql = f'SELECT {cells}, count(*) AS "{COUNT}" FROM {relation} AS t GROUP BY {keys}'
    found = _table(list(session.batches(sql, chosen, any_order=True)), [*wanted, COUNT])
    weight = found[COUNT].to_numpy().astype("int64")
    return Frame(found.drop_columns([COUNT]), Counted(weight, None))


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
