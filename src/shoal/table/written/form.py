"""A release in the form of its file, and back: what the table `[write]` of a plan asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.base.errors import ShoalError
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.values import text
from shoal.io.compact import ArrowColumn
from shoal.io.files import check_names, keeps_types
from shoal.io.frames import Frame
from shoal.io.native.packed_texts import plain_schema
from shoal.io.text_writing import same_cells
from shoal.io.written.formulas import escaped, unescaped
from shoal.io.written.settings import Writing
from shoal.io.written.typed_columns import typed, why_text
from shoal.table.coded_columns import coded
from shoal.table.roles import (
    EMPTY,
    UNCHANGED,
    Column,
    columns_with_role,
    missing_words,
    not_published,
)
from shoal.table.written.ranges import (
    bound_names,
    from_bounds,
    range_columns,
    with_bounds,
    with_midpoints,
)


def written_form(
    frame: Frame,
    columns: Mapping[str, Column],
    words: Sequence[str],
    writing: Writing,
    path: str | Path | None,
) -> Frame:
    """The frame as it is written to a file of this name; None: to a table of a database.

    `words` are those of the plan that mean missing.
    """
    if writing.ranges == "bounds":
        frame = with_bounds(frame, columns, words)
    elif writing.ranges == "midpoint":
        frame = with_midpoints(frame, columns, words)
    if writing.types == "infer" and (path is None or keeps_types(path)):
        frame = Frame(typed(_arrow(frame), measurements(columns, words)))
    frame = _renamed(frame, new_names(columns, writing))
    if writing.escapes(path):
        frame = Frame(escaped(_arrow(frame)))
    return frame


def new_names(columns: Mapping[str, Column], writing: Writing) -> dict[str, str]:
    """The names of columns in a file that differ from those of the table, also of bounds."""
    names = dict(writing.names)
    if writing.ranges == "bounds":
        for name in columns_with_role(columns, "quasi"):
            bounds = bound_names(name)
            if name in writing.names and not any(one in columns for one in bounds):
                names |= zip(bounds, bound_names(writing.names[name]), strict=True)
    return names


def check_file_names(path: str | Path, columns: Mapping[str, Column], writing: Writing) -> None:
    """Raise an error, before a long run, if a file of this name cannot store names of columns."""
    dropped, new = not_published(columns), new_names(columns, writing)
    ranges = range_columns(columns) if writing.ranges == "bounds" else []
    names: dict[str, tuple[str, str]] = {}
    for name in columns:
        if name not in dropped:
            for one in bound_names(name)[:2] if name in ranges else [name]:
                names[new.get(one, one)] = (name, one.removeprefix(name))
    check_names(path, names)


def _renamed(frame: Frame, names: Mapping[str, str]) -> Frame:
    """The frame as arrow, with other names for some columns."""
    if not any(name in names for name in frame.names):
        return frame
    table = _arrow(frame)
    fields = [field.with_name(names.get(field.name, field.name)) for field in table.schema]
    return Frame(pa.table(table.columns, pa.schema(fields, table.schema.metadata)))


def measurements(columns: Mapping[str, Column], words: Sequence[str]) -> dict[str, Collection[str]]:
    """The columns that are published unchanged, each with its words for missing values."""
    return {
        name: missing_words(columns, name, words)
        for name, column in columns.items()
        if column.role in ("sensitive", *UNCHANGED) and column.hierarchy is None
    }


def kept_as_text(
    frame: Frame, columns: Mapping[str, Column], words: Sequence[str], writing: Writing
) -> dict[str, str]:
    """The columns that types = "infer" leaves as text though they look like numbers, and why."""
    if writing.types != "infer":
        return {}
    known = measurements(columns, words)
    found = {
        name: why_text(frame.exact(name), known[name]) for name in frame.names if name in known
    }
    return {name: why for name, why in found.items() if why}


def read_form(
    frame: Frame, columns: Mapping[str, Column], writing: Writing, path: str | Path | None
) -> Frame:
    """A table that may be the file of a release, with its labels and texts.

    `path` is that of the file; None: it is a table of a database.
    """
    if writing.escapes(path):
        frame = Frame(unescaped(_arrow(frame)))
    there = set(frame.names)
    old = {new: name for name, new in new_names(columns, writing).items() if name not in there}
    frame = _renamed(frame, old)
    return from_bounds(frame, columns) if writing.ranges == "bounds" else frame


def check_form(file: Frame, frame: Frame, columns: Mapping[str, Column], writing: Writing) -> None:
    """Raise an error unless the labels of a file, read again, are those of the release.

    Numbers may be written in another way, such as 17 for 17.0. Midpoints have no labels.
    """
    ranges = range_columns(columns) if writing.ranges != "label" else []
    for name in frame.names:
        if name not in file.names:
            raise _differs(name)
        if name not in ranges:
            cells, expected = file.column(name), frame.column(name)
            same = same_cells(cells, expected) or (
                writing.types == "infer" and _same_decimals(cells, expected)
            )
        elif writing.ranges == "bounds":
            hierarchy = columns[name].hierarchy
            assert hierarchy is not None
            same = _same_labels(file, frame, name, hierarchy)
        else:
            same = True
        if not same:
            raise _differs(name)
    if set(file.names) != set(frame.names):
        raise _differs(next(name for name in file.names if name not in frame.names))


def _same_decimals(file: ArrowColumn, texts: ArrowColumn) -> bool:
    """Whether a file has the numbers of these texts, such as 2325.7 for 2325.70."""
    kinds = (pa.types.is_floating, pa.types.is_integer)
    if not any(of(file.type) for of in kinds) or not _is_text(texts.type):
        return False
    try:
        numbers, expected = (one.cast(pa.float64()) for one in (file, texts))
    except pa.ArrowInvalid:
        return False
    return same_cells(numbers, expected)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _same_labels(file: Frame, frame: Frame, name: str, hierarchy: Hierarchy) -> bool:
    """Whether a column has the same labels, record by record, however numbers are written."""
    sides = []
    for table in (file, frame):
        codes, values = coded(table, name, [EMPTY])
        names = [hierarchy.normal(text(value)) for value in values]
        sides.append(np.array([*names, None], object)[codes])
    return bool((sides[0] == sides[1]).all())


def _differs(name: str) -> ShoalError:
    return ShoalError(
        f"the file that was written does not have the values of column {name!r}; this is a bug in "
        "shoal, and nothing is released"
    )


def _arrow(frame: Frame) -> pa.Table:
    if frame.kind == "arrow":
        columns = [frame.exact(name) for name in frame.names]
        schema = plain_schema(frame.native.schema)
        fields = [
            field.with_type(column.type) for field, column in zip(schema, columns, strict=True)
        ]
        return pa.table(columns, pa.schema(fields, schema.metadata))
    return pa.table([frame.exact(name) for name in frame.names], frame.names)
