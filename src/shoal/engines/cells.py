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


def is_person(kind: pa.DataType) -> bool:
    """Whether people can be told apart by the texts of cells of this type.

    >>> is_person(pa.int8()), is_person(pa.float64())
    (True, False)
    """
    return is_served(kind) and not pa.types.is_floating(kind)


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
    kind = plain_type(kind)
    cell, tests = column, []
    if pa.types.is_floating(kind):
        cell = f"CAST({column} AS VARCHAR)"  # 0.0 and -0.0 are different cells
        tests.append(f"isnan({column})")
    tests += [_test(column, kind, value) for value in missing_cells(kind, tokens)]
    return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {cell} END" if tests else cell


def missing_cells(kind: pa.DataType, tokens: Sequence[str]) -> list[Any]:
    """The cells of a type that are written like one of the tokens.

    >>> missing_cells(pa.int8(), ["", "-99", "007", "1000"]), missing_cells(pa.bool_(), ["True"])
    ([-99], [True])
    """
    found = (_cell(plain_type(kind), token) for token in tokens)
    return [cell for cell in found if cell is not None]


def _cell(kind: pa.DataType, token: str) -> Any:
    """The cell that is written like this; None: no cell of the type is."""
    if _is_text(kind):
        return token
    cell: Any = None
    with suppress(ValueError, InvalidOperation, OverflowError):
        if pa.types.is_boolean(kind):
            return {"True": True, "False": False}.get(token)
        if pa.types.is_integer(kind):
            cell = pa.scalar(int(token), kind).as_py()
        elif pa.types.is_floating(kind):
            cell = float(token)
        elif pa.types.is_decimal(kind):
            cell = pa.scalar(Decimal(token), kind).as_py()
        elif pa.types.is_date(kind):
            cell = date.fromisoformat(token)
        else:
            cell = datetime.fromisoformat(token)
    return cell if cell is not None and text(cell) == token else None


def _test(column: str, kind: pa.DataType, cell: Any) -> str:
    """The test in SQL whether a cell is this one."""
    if _is_text(kind):
        return f"{column} = {quoted(cell)}"
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return f"{column} = {cell}"
    if pa.types.is_floating(kind):
        return f"CAST({column} AS DOUBLE) = '{cell!r}'::DOUBLE"
    if pa.types.is_decimal(kind):
        return f"{column} = '{cell}'::DECIMAL({kind.precision}, {kind.scale})"
    return f"{column} = '{cell}'::{'DATE' if pa.types.is_date(kind) else 'TIMESTAMP'}"


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a dictionary; any other type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def quoted(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def whole(column: Any) -> Any:
    """The cells of a column as one array."""
    found = column.combine_chunks()
    if isinstance(found, pa.ChunkedArray):  # an empty one stays chunked
        return pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], found.type)
    return found
