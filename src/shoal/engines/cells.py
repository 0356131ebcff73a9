"""Cells: which types of columns DuckDB returns unchanged, and which cells are missing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from shoal.hierarchies.values import text


def is_served(kind: pa.DataType) -> bool:
    """Whether DuckDB reads and returns cells of this type without any change.

    >>> is_served(pa.string()), is_served(pa.list_(pa.int8())), is_served(pa.binary())
    (True, False, False)
    """
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    if pa.types.is_timestamp(kind):
        return kind.tz is None and kind.unit != "s"
    return (
        _is_text(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_decimal128(kind)
    )


def restored(cells: Any, kind: pa.DataType) -> Any:
    """Cells from DuckDB in the type that their file has."""
    if not pa.types.is_dictionary(kind):
        return cells.cast(kind)
    if isinstance(cells, pa.ChunkedArray):
        return pa.chunked_array([restored(one, kind) for one in cells.chunks], kind)
    coded = cells.cast(kind.value_type).dictionary_encode()
    indices = coded.indices.cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=kind.ordered)


def missing_test(column: str, kind: pa.DataType, tokens: Sequence[str]) -> str:
    """A column in SQL, with null for the cells that mean missing, as `value_codes` has it."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    cell, tests = column, []
    if pa.types.is_floating(kind):
        cell = f"CAST({column} AS VARCHAR)"  # 0.0 and -0.0 are different cells
        tests.append(f"isnan({column})")
    tests += [test for token in tokens if (test := _test(column, kind, token))]
    return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {cell} END" if tests else cell


def _test(column: str, kind: pa.DataType, token: str) -> str | None:
    """The test in SQL whether a cell is this token; None: no cell of the type is."""
    if _is_text(kind):
        return f"{column} = {_quoted(token)}"
    with suppress(ValueError, InvalidOperation, OverflowError):
        if pa.types.is_boolean(kind):
            return f"{column} = {token}" if token in ("True", "False") else None
        if pa.types.is_integer(kind):
            same = text(pa.scalar(int(token), kind).as_py()) == token
            return f"{column} = {int(token)}" if same else None
        if pa.types.is_floating(kind):
            same = text(float(token)) == token
            return f"CAST({column} AS DOUBLE) = '{float(token)!r}'::DOUBLE" if same else None
        if pa.types.is_decimal(kind):
            same = text(pa.scalar(Decimal(token), kind).as_py()) == token
            return f"{column} = {_quoted(token)}::{_decimal(kind)}" if same else None
        if pa.types.is_date(kind):
            same = str(date.fromisoformat(token)) == token
            return f"{column} = {_quoted(token)}::DATE" if same else None
        same = text(datetime.fromisoformat(token)) == token
        return f"{column} = {_quoted(token)}::TIMESTAMP" if same else None
    return None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _quoted(token: str) -> str:
    return "'" + token.replace("'", "''") + "'"


def _decimal(kind: Any) -> str:
    return f"DECIMAL({kind.precision}, {kind.scale})"
