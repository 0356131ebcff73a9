"""Frames: pandas, polars and pyarrow tables alike, in and out; the same kind back."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.errors import BadTable, is_text, some
from shoal.files import (
    DELIMITER_KEY,
    Column,
    Progress,
    atomic,
    check_names,
    check_place,
    check_target,
    holds_types,
    read_table,
    same_cells,
    takeable,
    write_table,
)

__all__ = [
    "Frame",
    "atomic",
    "check_place",
    "check_target",
    "fingerprint",
    "open_frame",
    "read",
    "same_rows",
    "write",
]


class Frame:
    """A table of any kind, as shoal sees it: named columns of equal length.

    >>> frame = Frame(pa.table({"zip": ["47677", None], "age": [29, 31]}))
    >>> frame.kind, frame.names, frame.height
    ('arrow', ['zip', 'age'], 2)
    >>> frame.rebuild(np.array([1]), {"age": pa.array(["30-39"])}, drop={"zip"}).native.to_pydict()
    {'age': ['30-39']}
    """

    def __init__(self, native: Any) -> None:
        self.native = native
        self._frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
        is_pandas = nw.dependencies.is_pandas_dataframe(native)
        is_arrow = isinstance(native, pa.Table)
        self.kind = "arrow" if is_arrow else "pandas" if is_pandas else "polars"
        self.names: list[str] = self._frame.columns
        self.height: int = self._frame.shape[0]

    def __repr__(self) -> str:
        return f"Frame({self.kind}, {self.height} rows, {len(self.names)} columns)"

    def column(self, name: str) -> Column:
        """Give a column as arrow, missing values as null; what arrow has no type for, as text."""
        values = self._exact(name)
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        return self._spelled(name) if isinstance(kind, pa.BaseExtensionType) else values

    def faithful(self, name: str) -> bool:
        """Whether different cells of a column always differ in its arrow form too.

        Objects do not: 1 and "1" may stand side by side, and look alike as text.
        """
        if self.kind == "pandas":
            return str(self.native[name].dtype) not in ("object", "category")
        return not (self.kind == "polars" and self._frame[name].dtype == nw.Object)

    def select(self, names: Sequence[str]) -> Frame:
        """These columns, in this order."""
        return Frame(self._frame.select(list(names)).to_native())

    def rebuild(
        self, rows: np.ndarray[Any, Any], columns: dict[str, Column], drop: Collection[str]
    ) -> Frame:
        """Take these rows by position, put these columns in place of their namesakes, drop some."""
        if any(len(values) != len(rows) for values in columns.values()):
            raise ValueError("every new column must be as long as the rows that are taken")
        names = [name for name in self.names if name not in drop]
        # A frame without any column would forget its height, so one is kept to be replaced.
        taken = [name for name in names if name not in columns] or self.names[:1]
        native = self._frame.select(taken)[np.asarray(rows, dtype=np.int64)].to_native()
        native = self._forget(native)
        new = [self._series(name, columns[name]) for name in names if name in columns]
        frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
        return Frame(frame.with_columns(*new).select(names).to_native())

    def _forget(self, native: Any) -> Any:
        """Drop what a frame remembers besides its rows: labels, notes, categories nobody has."""
        if self.kind == "pandas":
            native = native.reset_index(drop=True)  # labels re-identify people
            native.attrs = {}
            native.columns.name = None
            for name in native.columns:
                if hasattr(native[name], "cat"):
                    native[name] = native[name].cat.remove_unused_categories()
        elif self.kind == "polars":
            library: Any = nw.get_native_namespace(self._frame)
            for name, kind in native.schema.items():
                if isinstance(kind, library.Enum):
                    used = native[name].cast(library.String).unique().drop_nulls()
                    kept = [c for c in kind.categories if c in set(used)]
                    text = native[name].cast(library.String)
                    native = native.with_columns(text.cast(library.Enum(kept)).alias(name))
        else:
            columns = []
            for name in native.column_names:
                values = native[name]
                if pa.types.is_dictionary(values.type):
                    fresh = values.cast(values.type.value_type).dictionary_encode()
                    values = fresh.cast(values.type)
                columns.append(values)
            notes = native.schema.metadata or {}
            delimiter = {key: note for key, note in notes.items() if key == DELIMITER_KEY}
            fields = [field.remove_metadata() for field in native.schema]
            native = pa.table(columns, pa.schema(fields, delimiter))
        return native

    def _exact(self, name: str) -> Column:
        """Give a column in the arrow type nearest to its own."""
        series = self._frame[name]
        if self.kind == "arrow":
            return series.to_native()
        if self.kind == "polars" and series.dtype == nw.Object:
            return self._spelled(name)  # arrow would hold the objects' addresses
        if self.kind == "pandas" and self.native[name].dtype == object:
            # Of a mixture arrow makes what it can: a date of a time, a one of True.
            kinds = {type(value) for value in self.native[name].dropna()}
            if len(kinds) > 1 and not kinds <= {int, float}:
                return self._spelled(name)
        try:
            return series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return self._spelled(name)

    def _spelled(self, name: str) -> pa.Array:
        """Give a column as Python would print it."""
        series = self._frame[name]
        pairs = zip(series.to_list(), series.is_null().to_list(), strict=True)
        cells = [None if null else str(value) for value, null in pairs]
        try:
            return pa.array(cells, pa.string())
        except UnicodeEncodeError:
            rows = [row for row, cell in enumerate(cells, 1) if cell and not is_text(cell)]
            raise BadTable(
                f"column {name!r} holds half a character (a lone surrogate), which no file can "
                f"hold, in the rows {some(rows)}; remove it, for example with "
                ".str.encode('utf-8', 'ignore').str.decode('utf-8')"
            ) from None

    def _series(self, name: str, values: Column) -> nw.Series[Any]:
        """Turn an arrow column into a column of this kind of frame."""
        library: Any = nw.get_native_namespace(self._frame)
        if self.kind == "pandas":
            # Without this pandas turns whole numbers among nulls into floats.
            nullable = {pa.int64(): library.Int64Dtype(), pa.bool_(): library.BooleanDtype()}
            native = values.to_pandas(types_mapper=nullable.get if values.null_count else None)
        elif self.kind == "polars":
            native = library.Series(values)
        else:
            native = pa.table([values], [name])[name]
        series: nw.Series[Any] = nw.from_native(native, series_only=True)
        return series.alias(name)


def open_frame(source: Any, progress: Progress | None = None) -> Frame:
    """Take a pandas or polars DataFrame, a pyarrow Table, or the path of a file.

    `progress` is called with the bytes of a file that were read so far, and with all of them.

    >>> open_frame(pa.table({"age": [29, 31]}))
    Frame(arrow, 2 rows, 1 columns)
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, str | Path):
        return read(source, progress)
    if isinstance(source, pa.Table):
        check_names(source.column_names, "the table")
        return Frame(takeable(source))
    if nw.dependencies.is_pandas_dataframe(source) or nw.dependencies.is_polars_dataframe(source):
        check_names(list(source.columns), "the table")
        return Frame(source)
    if nw.dependencies.is_polars_lazyframe(source):
        raise BadTable("a polars LazyFrame holds no rows yet; call .collect() first")
    wanted = "a pandas or polars DataFrame, a pyarrow Table, or the path of a file"
    found = f"{type(source).__module__}.{type(source).__qualname__}".removeprefix("builtins.")
    raise BadTable(f"a table is {wanted}; got {found}")


def fingerprint(source: Any) -> str | None:
    """SHA-256 of all bytes of a file; None for a table that did not come as the path of one."""
    if not isinstance(source, str | Path):
        return None
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: str | Path, progress: Progress | None = None) -> Frame:
    """Read a text file or a Parquet file into an arrow frame."""
    return Frame(read_table(path, progress))


def write(frame: Frame, path: str | Path) -> None:
    """Write a frame to this very path, in the format that its name says."""
    column = frame._exact if holds_types(path) else frame.column
    table = pa.table([column(name) for name in frame.names], frame.names)
    if frame.kind == "arrow" and not holds_types(path):
        table = table.replace_schema_metadata(frame.native.schema.metadata)
    write_table(table, path)


def same_rows(one: Frame, other: Frame) -> bool:
    """Whether two frames hold the same cells, row by row, whatever the types of their columns.

    >>> same_rows(Frame(pa.table({"age": [29, 31]})), Frame(pa.table({"age": ["29", "31"]})))
    True
    """
    return (
        one.names == other.names
        and one.height == other.height
        and all(same_cells(one.column(name), other.column(name)) for name in one.names)
    )
