"""Writing text files, and columns as text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, preview
from shoal.io.compact import ArrowColumn
from shoal.io.packing import packed
from shoal.io.raw_text.encodings import BOM
from shoal.io.raw_text.header import are_numbered, numbered
from shoal.io.text_layout import DELIMITER_KEY, DELIMITERS, TextLayout


def write_text(table: pa.Table, path: Path, layout: TextLayout) -> None:
    """Write a table to exactly this path."""
    with path.open("wb") as raw, packed(raw, layout.packing) as out:
        for part in text_parts(table, layout):
            out.write(part)


def write_text_parts(
    schema: pa.Schema, tables: Iterable[pa.Table], path: Path, layout: TextLayout
) -> str:
    """Write a table that comes part by part to exactly this path; returns the SHA-256 of it."""
    digest = hashlib.sha256()
    with path.open("wb") as raw, packed(raw, layout.packing) as out:
        for part in all_text_parts(schema, tables, layout):
            digest.update(part)
            out.write(part)
    return digest.hexdigest()


def text_parts(table: pa.Table, layout: TextLayout) -> Iterator[pa.Buffer]:
    """The bytes of the text file of a table, before compression."""
    return all_text_parts(table.schema, [table], layout)


def all_text_parts(
    schema: pa.Schema, tables: Iterable[pa.Table], layout: TextLayout
) -> Iterator[pa.Buffer]:
    """The same for a table that comes part by part."""
    notes = schema.metadata or {}
    names = schema.names
    delimiter = layout.delimiter or notes.get(DELIMITER_KEY, b",").decode()
    if not layout.delimiter and len(names) == 1:  # its header cannot show another one
        delimiter = ","
    if layout.marked:
        yield pa.py_buffer(BOM)
    # Without a fixed delimiter, readers take the most frequent one of the header. Names that would
    # mislead them are quoted.
    special = "" if layout.delimiter or _is_clear(names, delimiter, layout.quote) else DELIMITERS
    if layout.header or _needs_header(names):
        header = [pa.array([name], pa.large_string()) for name in names]
        yield _lines(header, delimiter, layout, special)
    for table in tables:
        text = pa.table([as_text(table[name], name) for name in names], names)
        for batch in text.to_batches(max_chunksize=1 << 16):
            yield _lines(batch.columns, delimiter, layout)


def _needs_header(names: list[str]) -> bool:
    """Whether the columns of a file without a header are not the first ones: some are left out."""
    if not are_numbered(names):
        raise BadFile(
            f"the plan has header = false under [read], but columns are called {preview(names)}, "
            "which a file without a header would lose; remove header = false, or write Parquet"
        )
    return names != numbered(len(names))


def in_one_form(schema: pa.Schema, parts: Callable[[], Iterable[pa.Table]]) -> Iterable[pa.Table]:
    """A table in parts, with moments as text in one form for all parts, as `as_text` has it.

    One cell with a fraction of a second decides about its column: `parts` is called twice then.
    """
    moments = {one.name: one.type for one in schema if pa.types.is_timestamp(one.type)}
    if not moments:
        return parts()
    whole = {name: pa.timestamp("s", kind.tz) for name, kind in moments.items()}
    for part in parts():
        whole = {name: kind for name, kind in whole.items() if is_lossless(part[name], kind)}
    return (_with_moments(part, moments | whole) for part in parts())


def is_lossless(cells: ArrowColumn, kind: pa.DataType) -> bool:
    """Whether cells can be cast to a type without any loss."""
    try:
        cells.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _with_moments(table: pa.Table, kinds: dict[str, pa.DataType]) -> pa.Table:
    for name, kind in kinds.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(kind).cast(pa.large_string()))
    return table


def _is_clear(names: list[str], delimiter: str, quote: str) -> bool:
    """Whether this delimiter is more frequent in a header of these names than any other one."""
    unquoted = [name for name in names if not set(name) & {quote, "\r", "\n", delimiter}]
    often = max(sum(map(str.count, unquoted, other * len(unquoted))) for other in DELIMITERS)
    return often < len(names) - 1 or often == 0


def same_cells(one: ArrowColumn, other: ArrowColumn) -> bool:
    """Whether two columns are equal in every row, as a text file would write them.

    >>> same_cells(pa.array([17, None]), pa.array(["17", ""]))
    True
    """
    first, second = map(_chunked, (one, other))
    if first.type == second.type and (_same_codes(first, second) or first.equals(second)):
        return True
    if _same_numbers(first, second):
        return True
    if _is_moment(first.type) and _is_moment(second.type):
        return _same_moments(first, second)
    with suppress(BadFile):  # cannot be text: then both must be of one type
        first, second = (_chunked(as_text(column, "")).fill_null("") for column in (first, second))
    return bool(first.equals(second))


def _same_numbers(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    """Whether an integer column and a float column are equal: 1e+10 is 10000000000.

    >>> _same_numbers(pa.chunked_array([[1e10]]), pa.chunked_array([[10**10]]))
    True
    """
    kinds = [first.type, second.type]
    if not (any(map(pa.types.is_integer, kinds)) and any(map(pa.types.is_float64, kinds))):
        return False
    try:  # an integer that a float cannot store is an error
        return bool(first.cast(pa.float64()).equals(second.cast(pa.float64())))
    except pa.ArrowInvalid:
        return False


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _same_moments(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    """Whether two columns of dates or moments are equal; a date is the moment at which it begins.

    >>> days = pa.chunked_array([pa.array([1], pa.date32())])
    >>> _same_moments(days, days.cast(pa.timestamp("ms")))
    True
    """
    units = [one.type.unit if pa.types.is_timestamp(one.type) else "ms" for one in (first, second)]
    zones = [one.type.tz if pa.types.is_timestamp(one.type) else None for one in (first, second)]
    finest = pa.timestamp(max(units, key=["s", "ms", "us", "ns"].index), zones[0])
    if zones[0] != zones[1]:
        return False
    try:
        return bool(first.cast(finest).equals(second.cast(finest)))
    except pa.ArrowInvalid:  # years that the finer unit cannot count
        return False


def _same_codes(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    """Whether two columns of coded text are equal; False also for what codes do not decide."""
    kind = first.type
    if len(first) != len(second) or not len(first) or not pa.types.is_dictionary(kind):
        return False
    if not (pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)):
        return False
    try:
        (one, entries), (two, values) = (_codes(column) for column in (first, second))
    except pa.ArrowInvalid:  # all entries together are too many for the type of the codes
        return False
    into = pc.index_in(entries, values)
    if into.null_count or entries.null_count or values.null_count:
        return False
    into = np.append(into.to_numpy(), -1)  # the last one is that of missing cells
    return bool(np.array_equal(into[one], two))


def _codes(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], pa.Array]:
    """The codes of the cells in one dictionary, -1 for missing ones, and the dictionary."""
    whole = column.unify_dictionaries()
    # Codes may be unsigned, as those of polars are.
    codes = [chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy() for chunk in whole.chunks]
    return np.concatenate(codes), whole.chunk(0).dictionary


def _chunked(values: ArrowColumn) -> pa.ChunkedArray:
    return pa.chunked_array([values]) if isinstance(values, pa.Array) else values


def as_text(values: ArrowColumn, name: str) -> ArrowColumn:
    """Turn a column into text, to be written to a text file."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_nested(values.type):
        plain = [json.dumps(value, default=str, ensure_ascii=False) for value in values.to_pylist()]
        return pa.array(plain, pa.large_string(), mask=values.is_null().to_numpy())
    with suppress(pa.ArrowInvalid):  # the coarsest unit without loss: no trailing zeros
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp("s", values.type.tz))
        if pa.types.is_duration(values.type):  # arrow would write a number without its unit
            values = values.cast(pa.duration("us"))
            values = pa.array([v if v is None else str(v) for v in values.to_pylist()])
    try:
        return values.cast(pa.large_string())
    except pa.ArrowException:
        raise BadFile(
            f"column {name!r} is of type {values.type}, which a text file cannot store; "
            "write Parquet, or drop the column"
        ) from None


def _lines(
    columns: list[pa.Array], delimiter: str, layout: TextLayout, special: str = ""
) -> pa.Buffer:
    r"""Join columns of text into the lines of a text file; `special` is quoted as well.

    >>> columns = [["a", None], ["1;2", ""]]
    >>> arrays = [pa.array(column, pa.large_string()) for column in columns]
    >>> _lines(arrays, ";", TextLayout("", "")).to_pybytes()
    b'a;"1;2"\n;""\n'
    """
    comma, nothing, end = pa.array([delimiter, "", "\n"], pa.large_string())
    quote = layout.quote
    missing = "" if len(columns) > 1 else 2 * quote  # most readers skip an empty line
    signs = f"[{_plainly(quote + delimiter + special)}\r\n]|^$"
    first = f"{signs}|^{_plainly(layout.comment)}" if layout.comment else signs
    fields = [
        _quoted(column, signs if i else first, quote).fill_null(missing)
        for i, column in enumerate(columns)
    ]
    rows = pc.binary_join_element_wise(*fields, comma)
    rows = pc.binary_join_element_wise(rows, nothing, end)
    return pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), nothing)[
        0
    ].as_buffer()


def _plainly(signs: str) -> str:
    """Signs in a regular expression of arrow, which refuses some of what Python escapes."""
    return re.sub(r"([^\w\s])", r"\\\1", signs, flags=re.ASCII)


def _quoted(values: pa.Array, signs: str, quote: str) -> pa.Array:
    """Quote the fields that need it; the writer of arrow quotes all text."""
    special = pc.match_substring_regex(values, signs)
    if not pc.any(special).as_py():
        return values
    if not quote:
        raise BadFile(
            "cells are empty texts, begin with the comment sign, or contain the delimiter or the "
            "end of a line, and [read] has quote = '', so that they cannot be written; state a "
            "quote or another delimiter, or write Parquet"
        )
    around, nothing = pa.array([quote, ""], pa.large_string())
    doubled = pc.replace_substring(values, quote, 2 * quote)
    return pc.if_else(
        special, pc.binary_join_element_wise(around, doubled, around, nothing), values
    )
