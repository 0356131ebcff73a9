"""Own cells: frames of pandas and polars with their cells, and nothing else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.io.compact import compact


def own_pandas_cells(native: Any, library: Any) -> Any:
    """A pandas frame without row labels, metadata and unused categories."""
    native = native.reset_index(drop=True)  # row labels re-identify people
    native.attrs = {}
    native.columns = library.Index(list(native.columns))
    for name in native.columns:
        column = native[name]
        if hasattr(column, "cat"):
            native[name] = column.cat.remove_unused_categories()
        elif has_arrow_buffers(column):
            cells = compact(column.array.__arrow_array__())
            kind = column.dtype
            if isinstance(kind, library.ArrowDtype):  # without metadata of its fields
                kind = library.ArrowDtype(cells.type)
            native[name] = library.Series(kind.__from_arrow__(cells))
    return native


def has_arrow_buffers(column: Any) -> bool:
    """Whether pandas stores a column in arrow buffers."""
    return "Arrow" in type(column.array).__name__ and hasattr(column.array, "__arrow_array__")


def own_polars_cells(series: Any, library: Any) -> Any:
    """A polars column with only its own cells, at any depth.

    Enums lose unused categories. Selected rows of text share a buffer with the other rows, which
    would be written to files too: text is copied.
    """
    kind = series.dtype
    spelled = _spelled_type(kind, library)
    if not _has_text(spelled, library) or isinstance(kind, library.Categorical):
        return series
    trimmed = _trimmed_type(series, library)
    text = series.cast(spelled)
    try:
        fresh = library.Series(series.name, compact(text.to_arrow()))
    except (pa.ArrowException, library.exceptions.PolarsError, TypeError, ValueError):
        fresh = library.Series(series.name, text.to_list(), dtype=spelled)
    return fresh.cast(trimmed)


def _has_text(kind: Any, library: Any) -> bool:
    if isinstance(kind, library.Struct):
        return any(_has_text(field.dtype, library) for field in kind.fields)
    if isinstance(kind, library.List | library.Array):
        return _has_text(kind.inner, library)
    return isinstance(kind, library.String | library.Binary)


def _trimmed_type(series: Any, library: Any) -> Any:
    kind = series.dtype
    if isinstance(kind, library.Enum):
        used = set(series.cast(library.String).unique().drop_nulls())
        return library.Enum([category for category in kind.categories if category in used])
    if isinstance(kind, library.List):
        return library.List(_trimmed_type(series.drop_nulls().explode(), library))
    if isinstance(kind, library.Array):
        cells = series.drop_nulls().cast(library.List(kind.inner)).explode()
        return library.Array(_trimmed_type(cells, library), kind.size)
    if isinstance(kind, library.Struct):
        shown = series.drop_nulls().struct
        fields = {f.name: _trimmed_type(shown.field(f.name), library) for f in kind.fields}
        return library.Struct(fields)
    return kind


def _spelled_type(kind: Any, library: Any) -> Any:
    """The type with text instead of categories."""
    if isinstance(kind, library.Enum | library.Categorical):
        return library.String()
    if isinstance(kind, library.List):
        return library.List(_spelled_type(kind.inner, library))
    if isinstance(kind, library.Array):
        return library.Array(_spelled_type(kind.inner, library), kind.size)
    if isinstance(kind, library.Struct):
        return library.Struct({f.name: _spelled_type(f.dtype, library) for f in kind.fields})
    return kind
