"""Writing to a database: a table exists complete and verified under its name, or not at all.

Everything happens in one transaction: the new table is created next to the target, filled, read
back and checked, and then takes the name of the target. Whatever fails, the database undoes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.base.threads import cached_property
from shoal.databases.database import Database, batches_of, counted_of, table_of
from shoal.databases.kind import Allowed, Selected, Session, kind_of, split_name
from shoal.databases.stored_types import Parts, stored_schema, stored_table, stored_types
from shoal.io.frames import Frame, same_rows

Report = Callable[[int], None]  # called with the rows that are done


@dataclass(frozen=True)
class NewTable:
    """A table that is complete and does not have its name yet: only its transaction sees it."""

    session: Session
    relation: str  # in SQL
    height: int
    file: Path | None = None  # it is not to be read by its file

    @cached_property
    def columns(self) -> list[Selected]:
        """The columns, as the database has them."""
        return self.session.columns(self.relation)

    def schema(self) -> pa.Schema:
        """Names and types of the columns, as they are read."""
        return table_of(self.session, self.columns, self.relation, "LIMIT 0").schema

    def rows(self) -> int:
        """The number of rows."""
        return self.height

    def batches(self, allowed: Allowed | None = None) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """All rows part by part, in the order in which they were written."""
        order = self.session.in_order(self.relation)
        return batches_of(self.session, self.columns, self.relation, order)

    def read(self) -> Frame:
        """All rows, in the order in which they were written."""
        order = self.session.in_order(self.relation)
        return Frame(table_of(self.session, self.columns, self.relation, order))

    def count(self, wanted: Sequence[str]) -> Frame:
        """The distinct combinations of values of some columns, each with its number of rows."""
        return counted_of(self.session, self.columns, self.relation, wanted)


def write_to(target: Database, frame: Frame, replace: bool, check: Callable[[Frame], None]) -> None:
    """Write a frame to a table that does not exist yet, or that is replaced.

    `check` verifies what was read back, before the table gets its name.
    """
    table = pa.table({name: frame.column(name) for name in frame.names})

    def verify(made: NewTable, expected: Iterable[pa.Table]) -> None:
        written = made.read()
        _check_rows([written.native], expected)
        check(Frame(_in_zones(written.native, table.schema)))

    _write(target, table.schema, lambda: [table], replace, verify)


def write_parts(
    target: Database,
    schema: pa.Schema,
    parts: Parts,
    replace: bool,
    check: Callable[[NewTable], None],
    written: Report = lambda _: None,
    compared: Report = lambda _: None,
    allowed: Allowed | None = None,
) -> None:
    """The same for a table that comes part by part, and need not fit into memory.

    `parts` returns the same parts at each call. `written` and `compared` report progress.
    """

    def verify(made: NewTable, expected: Iterable[pa.Table]) -> None:
        read = (pa.Table.from_batches([batch]) for batch in made.batches())
        _check_rows(read, expected, compared)
        check(made)

    _write(target, schema, parts, replace, verify, written, allowed)


def _write(
    target: Database,
    schema: pa.Schema,
    parts: Parts,
    replace: bool,
    verify: Callable[[NewTable, Iterable[pa.Table]], None],
    report: Report = lambda _: None,
    allowed: Allowed | None = None,
) -> None:
    """Create, fill, verify and name a table in one transaction."""
    name = _table_name(target)
    with kind_of(target.address).opened(target.address, True, allowed) as session:
        old = _old(session, target, replace)
        for column in schema.names:
            _check_length(column, session.longest)
        types = stored_types(schema, parts, session)
        made = session.create(f"shoal_{secrets.token_hex(8)}", name, stored_schema(types))
        rows = 0
        for part in parts():
            stored = stored_table(part, types)
            session.check_cells(stored)
            session.append(made, stored)
            rows += stored.num_rows
            report(rows)
        verify(NewTable(session, made, rows), (stored_table(part, types) for part in parts()))
        session.rename(made, name, old)
        _commit(session, target)


def _commit(session: Session, target: Database) -> None:
    try:
        session.commit()
    except KeyboardInterrupt as error:
        if not getattr(error, "__notes__", None):
            error.add_note(f"{target} may have been written already: look whether it is there")
        raise


def _check_rows(
    read: Iterable[pa.Table], expected: Iterable[pa.Table], report: Report = lambda _: None
) -> None:
    """Raise an error unless exactly these rows were read, in their order."""
    tables, rows = iter(read), 0
    waiting = next(tables, None)
    for part in expected:
        while waiting is not None and waiting.num_rows < part.num_rows:
            more = next(tables, None)
            waiting = None if more is None else pa.concat_tables([waiting, more])
        if waiting is None or not _same(waiting.slice(0, part.num_rows), part):
            raise _other_rows()
        waiting = waiting.slice(part.num_rows)
        rows += part.num_rows
        report(rows)
    if (waiting is not None and waiting.num_rows) or any(one.num_rows for one in tables):
        raise _other_rows()


def _same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables have the same cells; an empty one and a missing one are different."""
    return same_rows(Frame(one), Frame(other)) and all(
        one[name].is_null().equals(other[name].is_null()) for name in other.column_names
    )


def _in_zones(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same moments in the time zones that they had: a database has them in UTC."""
    for place, (one, now) in enumerate(zip(schema, table.schema, strict=True)):
        if pa.types.is_timestamp(now.type) and pa.types.is_timestamp(one.type):
            kind = pa.timestamp(now.type.unit, one.type.tz)
            table = table.set_column(place, now.name, table[place].cast(kind))
    return table


def _other_rows() -> ShoalError:
    return ShoalError(
        "the table that was written does not contain the rows of the release in their order; this "
        "is a bug in shoal, and nothing is released"
    )


def check_out(target: Database, replace: bool, source: object = None) -> None:
    """Check, before a long run, that a release can be written to a table.

    It must not be the table that is read: replacing it would lose the original.
    """
    name = _table_name(target)
    file = target.file
    if file is not None and not file.exists():
        split_name(name)
        from shoal.io.atomic import check_writable

        check_writable(file)
        return
    with kind_of(target.address).opened(target.address, write=True) as session:
        old = _old(session, target, replace)
        place = None if old is None else session.identity(old)
        session.create(f"shoal_{secrets.token_hex(8)}", name, _NOTHING)
        if old is not None:
            session.check_replaceable(name, old)
    if place is not None and isinstance(source, Database):
        _check_not_read(target, place, source)


_NOTHING = pa.schema([("nothing", pa.string())])


def _table_name(target: Database) -> str:
    """The name of the table to write to."""
    if target.query is not None or target.table is None:
        raise BadTable(f"name the table of {target.address} to write to (--out-table)")
    return target.table


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
    name = _table_name(target)
    for part in split_name(name):
        _check_length(part, session.longest)
    old = session.find(name)
    if old is not None and not replace:
        raise BadFile(
            f"{target.address} has a table {name!r} already; --replace replaces it, and otherwise "
            "choose another name"
        )
    return old


def _check_length(name: str, longest: int | None) -> None:
    if longest is not None and len(name.encode()) > longest:
        raise BadTable(f"the name {name!r} is longer than the {longest} bytes of the database")
