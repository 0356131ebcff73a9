"""Frames: one interface to pandas, polars and pyarrow tables; results are of the same kind."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable, is_text, preview
from shoal.io.arrow_tables import check_column_names, check_takeable, takeable
from shoal.io.atomic import atomic, check_place, check_writable
from shoal.io.compact import ArrowColumn, compact, plain_field
from shoal.io.files import check_bytes, check_target, keeps_types, read_table, write_table
from shoal.io.format import Progress
from shoal.io.labels import labelled, published, table_labels
from shoal.io.native.column_types import as_type, like_pandas, like_polars
from shoal.io.native.own_cells import has_arrow_buffers, own_pandas_cells, own_polars_cells
from shoal.io.native.packed_texts import TEXTS, is_packed, packed, unpacked
from shoal.io.reading import Reading
from shoal.io.sources import StoredTable
from shoal.io.text_layout import DELIMITER_KEY, DELIMITERS, TextLayout
from shoal.io.text_writing import same_cells, text_parts

__all__ = [
    "Counted",
    "Frame",
    "atomic",
    "check_place",
    "check_target",
    "check_writable",
    "csv_parts",
    "open_frame",
    "read",
    "read_back",
    "same_rows",
    "write",
]


class Counted(NamedTuple):
    """How often each row of a frame occurs in a table that is not in memory, and where first."""

    weight: Longs  # int64[n]
    # int64[n], rising; the first row of the table is 0. None: the rows of the table have no order.
    first: Longs | None

    def take(self, rows: np.ndarray[Any, Any]) -> Counted:
        """These rows."""
        return Counted(self.weight[rows], None if self.first is None else self.first[rows])


class Frame:
    """A table of any kind: named columns of equal length.

    >>> frame = Frame(pa.table({"zip": ["47677", None], "age": [29, 31]}))
    >>> frame.kind, frame.names, frame.height
    ('arrow', ['zip', 'age'], 2)
    >>> frame.rebuild(np.array([1]), {"age": pa.array(["30-39"])}, drop={"zip"}).native.to_pydict()
    {'age': ['30-39']}
    """

    def __init__(self, native: Any, counted: Counted | None = None) -> None:
        self.native = native
        self.counted = counted  # None: each row occurs once, and the frame is the table
        self._frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
        is_pandas = nw.dependencies.is_pandas_dataframe(native)
        is_arrow = isinstance(native, pa.Table)
        self.kind = "arrow" if is_arrow else "pandas" if is_pandas else "polars"
        self.names: list[str] = self._frame.columns
        self.height: int = self._frame.shape[0]
        # Columns of text that are stored as dictionaries.
        self._packed = {one.name for one in native.schema if is_packed(one)} if is_arrow else set()
        # Results that callers keep with the frame, so that each is computed once.
        self.memo: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"Frame({self.kind}, {self.height} rows, {len(self.names)} columns)"

    def column(self, name: str) -> ArrowColumn:
        """Return a column as arrow, missing values as null; types that arrow lacks become text."""
        values = self.exact(name)
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        return self._spelled(name) if isinstance(kind, pa.BaseExtensionType) else values

    def stored(self, name: str) -> ArrowColumn:
        """The same, but texts may be a dictionary: for code that numbers the distinct values."""
        return self.native[name] if name in self._packed else self.column(name)

    @property
    def packed(self) -> Collection[str]:
        """Columns of text that are stored as dictionaries: coding them again takes little time."""
        return self._packed

    def faithful(self, name: str) -> bool:
        """Whether different cells of a column always differ in its arrow form too.

        Object columns do not: 1 and "1" may both occur, and are equal as text.
        """
        if self.kind == "pandas":
            return str(self.native[name].dtype) not in ("object", "category")
        return not (self.kind == "polars" and self._frame[name].dtype == nw.Object)

    @property
    def schema(self) -> pa.Schema | None:
        """The arrow schema, with its metadata; None: it is no arrow table."""
        return self.native.schema if self.kind == "arrow" else None

    @property
    def weight(self) -> Longs | None:
        """How often each row occurs, int64[n]; None: once."""
        return None if self.counted is None else self.counted.weight

    @property
    def numbered(self) -> bool:
        """Whether the rows of its table have an order, and so a number."""
        return self.counted is None or self.counted.first is not None

    def row_number(self, place: int | np.intp) -> int:
        """The number of a row in its table, for messages; the first one is 1."""
        if self.counted is None:
            return 1 + int(place)
        assert self.counted.first is not None
        return 1 + int(self.counted.first[place])

    def row(self, place: int) -> list[Any]:
        """The cells of a row as objects of Python; None if they are missing."""
        one = self.between(place, 1)
        return [one.column(name)[0].as_py() for name in self.names]

    def between(self, top: int, height: int) -> Frame:
        """So many rows after the first `top` ones."""
        return Frame(self._frame[top : top + height].to_native())

    def select(self, names: Sequence[str]) -> Frame:
        """These columns, in this order."""
        return Frame(self._frame.select(list(names)).to_native(), self.counted)

    def replaced(self, columns: Mapping[str, ArrowColumn]) -> Frame:
        """The same rows, with these columns in place of those of the same names, or added."""
        if self.kind != "arrow":
            new = [self._series(name, values) for name, values in columns.items()]
            return Frame(self._frame.with_columns(*new).to_native(), self.counted)
        native = self.native
        for name, values in columns.items():
            place = native.schema.get_field_index(name)
            if place < 0:
                native = native.append_column(name, values)
                continue
            about = None if name in self._packed else native.schema.field(place).metadata
            native = native.set_column(place, pa.field(name, values.type, metadata=about), values)
        return Frame(native, self.counted)

    def rebuild(
        self, rows: np.ndarray[Any, Any], columns: dict[str, ArrowColumn], drop: Collection[str]
    ) -> Frame:
        """Take these rows by position, replace these columns, and drop others.

        Texts of rows that occur several times stay packed: nobody but us reads such a frame. A new
        column of them may be a dictionary.
        """
        if any(len(values) != len(rows) for values in columns.values()):
            raise ValueError("every new column must be as long as the rows that are taken")
        names = [name for name in self.names if name not in drop]
        taken = [name for name in names if name not in columns]
        # A frame without columns would lose its height, so there is one, which is replaced below.
        if taken or self.kind != "arrow":
            some = self._frame.select(taken or self.names[:1])
            native = some[np.asarray(rows, dtype=np.int64)].to_native()
        else:
            native = pa.table({"": pa.nulls(len(rows))})
            native = native.replace_schema_metadata(self.native.schema.metadata)
        native = self._forget(native)
        new = [self._series(name, columns[name]) for name in names if name in columns]
        frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
        native = frame.with_columns(*new).select(names).to_native()
        if self.counted is None:
            return Frame(self._relabelled(native))
        texts = [name for name in taken if name in self._packed]
        # Categories of the original stay categories.
        texts += [
            name
            for name in columns
            if native.schema.field(name).type == TEXTS and not self._has_categories(name)
        ]
        return Frame(packed(native, texts), self.counted.take(rows))

    def _has_categories(self, name: str) -> bool:
        return name not in self._packed and pa.types.is_dictionary(self.exact(name).type)

    def _relabelled(self, native: Any) -> Any:
        """Give the columns their labels back, as far as their values are published."""
        labels = table_labels(self.native.schema) if self.kind == "arrow" else {}
        if not labels:
            return native
        kept = [name for name in native.column_names if name in labels]
        return labelled(native, {name: published(labels[name], native[name]) for name in kept})

    def _forget(self, native: Any) -> Any:
        """Drop everything but the cells: row labels, metadata, unused categories."""
        if self.kind == "pandas":
            return own_pandas_cells(native, nw.get_native_namespace(self._frame))
        if self.kind == "polars":
            library: Any = nw.get_native_namespace(self._frame)
            return native.with_columns(
                own_polars_cells(native[name], library) for name in native.columns
            )
        notes = native.schema.metadata or {}
        unpack = self._packed if self.counted is None else set()
        known = {
            key: note
            for key, note in notes.items()
            if key == DELIMITER_KEY and note.decode(errors="replace") in DELIMITERS
        }
        columns = [
            unpacked(native[name]) if name in unpack else compact(native[name])
            for name in native.column_names
        ]
        fields = [
            pa.field(field.name, pa.string(), field.nullable)
            if field.name in unpack
            else plain_field(field)
            for field in native.schema
        ]
        return pa.table(columns, pa.schema(fields, known))

    def exact(self, name: str) -> ArrowColumn:
        """Return a column in the closest arrow type."""
        series = self._frame[name]
        if name in self._packed:
            return unpacked(self.native[name])
        if self.kind == "arrow":
            return series.to_native()
        if self.kind == "polars" and series.dtype == nw.Object:
            return self._spelled(name)  # arrow would store the addresses of the objects
        if self.kind == "pandas" and self.native[name].dtype == object:
            # Arrow converts mixed values: a time to a date, True to 1.
            kinds = {type(value) for value in self.native[name].dropna()}
            if len(kinds) > 1 and not kinds <= {int, float}:
                return self._spelled(name)
        try:
            return series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return self._spelled(name)

    def _spelled(self, name: str) -> pa.Array:
        """Return a column as text, as Python prints it."""
        series = self._frame[name]
        pairs = zip(series.to_list(), series.is_null().to_list(), strict=True)
        cells = [None if null else str(value) for value, null in pairs]
        try:
            return pa.array(cells, pa.string())
        except UnicodeEncodeError:
            rows = [row for row, cell in enumerate(cells, 1) if cell and not is_text(cell)]
            raise BadTable(
                f"column {name!r} contains half a character (a lone surrogate), which no file can "
                f"store, in the rows {preview(rows)}; remove it, for example with "
                ".str.encode('utf-8', 'ignore').str.decode('utf-8')"
            ) from None

    def cells(self, name: str) -> list[Any]:
        """The cells of a column as objects of Python."""
        return list(self._frame[name].to_list())

    @property
    def index_names(self) -> list[str]:
        """The names of the row labels of a pandas frame, which are no columns."""
        if self.kind != "pandas":
            return []
        return [name for name in self.native.index.names if isinstance(name, str)]

    def _series(self, name: str, values: ArrowColumn) -> nw.Series[Any]:
        """Turn an arrow column into a column of this kind of frame.

        Texts get the type that the column has, if all of them can have it.
        """
        library: Any = nw.get_native_namespace(self._frame)
        native: Any = None
        if pa.types.is_string(values.type) or values.type == TEXTS:
            native = self._alike(name, values, library)
        if native is not None:
            pass
        elif self.kind == "pandas":
            # Otherwise pandas converts integers with nulls to floats.
            nullable = {pa.int64(): library.Int64Dtype(), pa.bool_(): library.BooleanDtype()}
            native = values.to_pandas(types_mapper=nullable.get if values.null_count else None)
        elif self.kind == "polars":
            native = library.Series(values)
        else:
            native = pa.table([values], [name])[name]
        series: nw.Series[Any] = nw.from_native(native, series_only=True)
        return series.alias(name)

    def _alike(self, name: str, texts: ArrowColumn, library: Any) -> Any:
        """Texts as a column of the type that it has; None: they cannot have it."""
        kind = self.column(name).type
        if self.kind == "arrow":
            found = as_type(texts, kind)
            return None if found is None else pa.table([found], [name])[name]
        like = like_pandas if self.kind == "pandas" else like_polars
        return like(texts, kind, self.native[name], library)


def open_frame(
    source: Any, progress: Progress | None = None, reading: Reading | None = None
) -> Frame:
    """Open a pandas or polars DataFrame, a pyarrow Table, a `Database`, or the path of a file.

    `progress` is called with the bytes read so far and the size of the file; `reading` is what a
    plan states about its files.

    >>> open_frame(pa.table({"age": [29, 31]}))
    Frame(arrow, 2 rows, 1 columns)
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, str | Path):
        return read(source, progress, reading)
    if isinstance(source, StoredTable):
        return Frame(source.read(progress))
    if isinstance(source, pa.Table):
        check_column_names(source.column_names, "the table")
        return Frame(takeable(source))
    if nw.dependencies.is_pandas_dataframe(source) or nw.dependencies.is_polars_dataframe(source):
        check_column_names(list(source.columns), "the table")
        if nw.dependencies.is_pandas_dataframe(source):
            for name in source.columns:
                if has_arrow_buffers(source[name]):
                    check_takeable(name, source[name].array.__arrow_array__())
        return Frame(source)
    if nw.dependencies.is_polars_lazyframe(source):
        raise BadTable("a polars LazyFrame has no rows yet; call .collect() first")
    wanted = "a pandas or polars DataFrame, a pyarrow Table, or the path of a file"
    found = f"{type(source).__module__}.{type(source).__qualname__}".removeprefix("builtins.")
    raise BadTable(f"a table is {wanted}; got {found}")


def read(
    path: str | Path, progress: Progress | None = None, reading: Reading | None = None
) -> Frame:
    """Read a file of any known format into an arrow frame."""
    return Frame(read_table(path, progress, reading, pack=True))


def read_back(path: str | Path, reading: Reading | None = None) -> Frame:
    """Read a written file; raise an error if it contains more than the cells of its table."""
    frame = read(path, None, reading)
    check_bytes(Path(path), frame.native, reading)
    return frame


def write(frame: Frame, path: str | Path, reading: Reading | None = None) -> None:
    """Write a frame to exactly this path, in the format of its name.

    `reading` is how the file will be read again.
    """
    if keeps_types(path):
        table = pa.table([frame.exact(name) for name in frame.names], frame.names)
        if frame.kind == "arrow":
            table = labelled(table, table_labels(frame.native.schema))
        write_table(table, path, reading)
    else:
        write_table(_for_text(frame), path, reading)


def csv_parts(frame: Frame, reading: Reading | None = None) -> Iterator[Any]:
    """The bytes of the CSV file that `write` would write."""
    return text_parts(_for_text(frame), TextLayout.of(reading, "", ""))


def _for_text(frame: Frame) -> pa.Table:
    table = pa.table([frame.column(name) for name in frame.names], frame.names)
    notes = frame.native.schema.metadata if frame.kind == "arrow" else None  # the delimiter
    return table.replace_schema_metadata(notes)


def same_rows(one: Frame, other: Frame) -> bool:
    """Whether two frames have the same cells, row by row, regardless of column types.

    >>> same_rows(Frame(pa.table({"age": [29, 31]})), Frame(pa.table({"age": ["29", "31"]})))
    True
    """
    return (
        one.names == other.names
        and one.height == other.height
        and all(same_cells(one.column(name), other.column(name)) for name in one.names)
    )
