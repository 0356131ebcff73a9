"""Stored types: in which type of a database each column of a table is stored.

Types that a database does not have become text. Cells decide it, too: a database may be able to
store most cells of a type, but not all. A table that comes part by part is then looked at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from shoal.databases.kind import Session
from shoal.io.text_writing import as_text, is_lossless

Parts: TypeAlias = Callable[[], Iterable[pa.Table]]  # the same rows at each call

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


class StoredType(NamedTuple):
    """How a column is stored."""

    kind: pa.DataType  # the type in the database
    cast: pa.DataType | None = None  # to which cells are cast before they become text, if any


def stored_types(schema: pa.Schema, parts: Parts, session: Session) -> dict[str, StoredType]:
    """The type of each column; the rows are looked at if they matter."""
    columns = [_Column(one.name, one.type, session) for one in schema]
    open_ones = [one for one in columns if one.tests]
    if open_ones:
        for part in parts():
            for one in open_ones:
                one.look(_plain(part[one.name]))
    return {one.name: one.stored() for one in columns}


def stored_table(part: pa.Table, types: dict[str, StoredType]) -> pa.Table:
    """Rows in the types of the database."""
    return pa.table({name: _stored(part[name], name, kind) for name, kind in types.items()})


class _Column:
    """A column whose type is to be found."""

    def __init__(self, name: str, kind: pa.DataType, session: Session) -> None:
        self.name, self.session = name, session
        self.kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        self.tests: list[pa.DataType] = []  # types to which cells may be cast without loss
        self.keeps = True
        if pa.types.is_timestamp(self.kind):
            zone = None if self.kind.tz is None else "UTC"
            self.tests = [pa.timestamp("us", zone), pa.timestamp("s", self.kind.tz)]
        elif self._wide() in session.picky:
            self.tests = [self._wide()]

    def look(self, cells: pa.ChunkedArray) -> None:
        """Forget the types that cannot store these cells."""
        self.tests = [kind for kind in self.tests if is_lossless(cells, kind)]
        if self.keeps and self._wide() in self.session.picky:
            self.keeps = self.session.keeps(cells.cast(self._wide()))

    def stored(self) -> StoredType:
        """The type, after all cells were looked at."""
        if not pa.types.is_timestamp(self.kind):
            known = self._wide() in self.session.output and self.keeps
            return StoredType(self._wide() if known else pa.string())
        if self.tests and self.tests[0] in self.session.output:
            return StoredType(self.tests[0])
        # As in a text file: without fractions if no cell has any.
        whole = [kind for kind in self.tests if kind.unit == "s"]
        return StoredType(pa.string(), whole[0] if whole else self.kind)

    def _wide(self) -> pa.DataType:
        """The narrowest type of the database that has all values of this one, if there is one."""
        kind = self.kind
        while kind not in self.session.output and kind in WIDER:
            kind = WIDER[kind]
        return kind


def _stored(cells: Any, name: str, stored: StoredType) -> pa.ChunkedArray:
    cells = _plain(cells)
    if stored.cast is not None:
        return cells.cast(stored.cast).cast(pa.string())
    if stored.kind == pa.string():
        return as_text(cells, name).cast(pa.string())
    return cells.cast(stored.kind)


def _plain(cells: Any) -> pa.ChunkedArray:
    """Cells without a dictionary."""
    if isinstance(cells, pa.Array):
        cells = pa.chunked_array([cells])
    kind = cells.type
    return cells.cast(kind.value_type) if pa.types.is_dictionary(kind) else cells


def stored_schema(types: dict[str, StoredType]) -> pa.Schema:
    """Names and types of the columns in the database."""
    return pa.schema([(name, stored.kind) for name, stored in types.items()])
