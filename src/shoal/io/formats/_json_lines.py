"""Reading and writing JSON lines."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from shoal.base.errors import SHOWN, BadFile, BadTable
from shoal.io.arrow_tables import check_column_names
from shoal.io.compact import ArrowColumn
from shoal.io.format import FirstRows
from shoal.io.formats._numbers import EXACT
from shoal.io.native.values import text
from shoal.io.packing import packed, unpacked
from shoal.io.text_writing import as_text

BLOCK = 1 << 24  # bytes; a row must not be longer
BATCH = 1 << 16  # rows that are written at once
BOM = b"\xef\xbb\xbf"


def read_json_lines(path: Path, packing: str) -> pa.Table:
    """Read a file; columns are in the order in which they first occur."""
    try:
        table = _read(path, packing, None)
        # Arrow takes text that looks like a moment for one, and would write it differently.
        if any(pa.types.is_timestamp(field.type) for field in table.schema):
            table = _read(path, packing, pa.schema([_as_text(field) for field in table.schema]))
        table.validate(full=True)  # text must be UTF-8
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
        _explain(path, packing)
        raise BadTable(
            f"{path} cannot be read as a table: a row is longer than {BLOCK} bytes; shorten it, or "
            "write the table as CSV or Parquet"
        ) from None
    if not table.num_rows:
        raise _empty(path)
    _check_numbers(path, packing, table)
    check_column_names(table.column_names, str(path))
    return table


def first_json_lines(path: Path, packing: str, most: int) -> FirstRows:
    """The rows of the first lines, with all columns that they have."""
    found: list[dict[str, Any]] = []
    with _opened(path, packing) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                _object(path, number, line)
                found.append(json.loads(line))
            if len(found) == most:
                break
    names = list(dict.fromkeys(name for row in found for name in row))
    rows = [[_cell(row.get(name)) for name in names] for row in found]
    return FirstRows(names, rows)


def _cell(value: Any) -> str | None:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return None if value is None else text(value)


def _read(path: Path, packing: str, schema: pa.Schema | None) -> pa.Table:
    options = pa_json.ReadOptions(use_threads=True, block_size=BLOCK)
    with _opened(path, packing) as stream:
        return pa_json.read_json(stream, options, pa_json.ParseOptions(explicit_schema=schema))


def _as_text(field: pa.Field) -> pa.Field:
    return field.with_type(pa.string()) if pa.types.is_timestamp(field.type) else field


@contextmanager
def _opened(path: Path, packing: str) -> Iterator[IO[bytes]]:
    """The decompressed bytes, without a byte order mark."""
    with path.open("rb") as raw, unpacked(raw, packing) as stream:
        buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
        if buffered.peek(len(BOM)).startswith(BOM):
            buffered.read(len(BOM))
        yield buffered


class _Literal(str):
    """A number as the file writes it."""

    __slots__ = ()

    @property
    def is_changed(self) -> bool:
        """Whether a float cannot store it: it is too large, or an integer that would be rounded."""
        number = float(self)
        if isinf(number):
            return True
        whole = self.lstrip("-").isdecimal()
        return whole and abs(number) >= EXACT and int(number) != int(self)


def _check_numbers(path: Path, packing: str, table: pa.Table) -> None:
    """Raise an error if arrow changed a number: it reads large integers as floats."""
    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    large = [name for name in floats if (pc.max(pc.abs(table[name])).as_py() or 0) >= EXACT]
    if large:
        _refuse_numbers(path, packing, large)


def _refuse_numbers(path: Path, packing: str, columns: Collection[str] | None = None) -> None:
    """Raise an error that shows numbers that a float cannot store, if there are some.

    `columns` are those that may have them; None: any, and also inside of lists and objects.
    """
    found: dict[str, int] = {}  # the first line of each number of one column
    column = None
    with _opened(path, packing) as stream:
        for number, line in enumerate(stream, 1):
            row = _row(line) if line.strip() else {}
            for name in row if columns is None else columns:
                if column not in (None, name):
                    continue
                for literal in _literals(row.get(name), columns is None):
                    if literal.is_changed:
                        column = name
                        found.setdefault(_short(literal), number)
    if column is not None:
        shown = [f"{literal} (line {number})" for literal, number in found.items()]
        more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
        raise BadTable(
            f"{path}: column {column!r} has numbers with too many digits, or beyond the largest "
            f"floating-point number, 1.8e308: {', '.join(shown[:SHOWN])}{more}; write the column "
            "as text, in quotes, or correct them"
        )


def _literals(value: Any, inside: bool) -> Iterator[_Literal]:
    if isinstance(value, _Literal):
        yield value
    elif inside and isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _literals(one, inside)


def _short(literal: str) -> str:
    return literal if len(literal) <= 40 else f"{literal[:30]}… ({len(literal)} characters)"


def _row(line: bytes) -> Any:
    return json.loads(line, object_pairs_hook=_unique, parse_float=_Literal, parse_int=_Literal)


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The row of a line."""
    try:
        row = _row(line)
    except (ValueError, RecursionError) as error:
        twice = isinstance(error, _Twice)
        what = "has a name twice" if twice else "is not a JSON object in UTF-8"
        raise BadFile(
            f"cannot read {path}: line {number} {what}; JSON lines have one object per line"
        ) from None
    if not isinstance(row, dict):
        raise BadFile(f"cannot read {path}: line {number} is not a JSON object") from None
    return row


def _explain(path: Path, packing: str) -> None:
    """Raise an error that names the first line that does not fit, or says that there is none."""
    first: dict[str, type] = {}  # the kind of the first value of each column
    rows = 0
    with _opened(path, packing) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            rows += 1
            row = _object(path, number, line)
            for name, value in row.items():
                kind = _Literal if type(value) is float else type(value)  # NaN, which is not JSON
                if value is not None and first.setdefault(name, kind) is not kind:
                    both = " and ".join(KINDS.get(one, "an object") for one in (first[name], kind))
                    raise BadTable(
                        f"{path}: column {name!r} mixes types, {both} (line {number}); write it "
                        "with one type in all rows"
                    ) from None
    if not rows:
        raise _empty(path)
    _refuse_numbers(path, packing)


def _empty(path: Path) -> BadFile:
    return BadFile(f"cannot read {path}: the file is empty")


KINDS = {str: "text", _Literal: "a number", bool: "true or false", list: "a list"}


class _Twice(ValueError):
    """An object has two values of one name."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def write_json_lines(table: pa.Table, path: Path, packing: str) -> None:
    """Write a table; types that JSON lacks become text, as in a CSV file."""
    if not table.num_rows:
        raise BadFile(
            f"cannot write {path}: JSON lines without rows do not name the columns; choose another "
            "format"
        )
    encoded = pa.table(
        [_encoded(table[name], name) for name in table.column_names], table.column_names
    )
    with path.open("wb") as raw, packed(raw, packing) as out:
        for batch in encoded.to_batches(max_chunksize=BATCH):
            out.write(_lines(batch))


def _lines(batch: pa.RecordBatch) -> pa.Buffer:
    """The lines of some rows, whose cells are JSON."""
    parts: list[Any] = []
    for number, name in enumerate(batch.schema.names):
        before = ("{" if number == 0 else ", ") + json.dumps(name, ensure_ascii=False) + ": "
        parts += [pa.scalar(before, pa.large_string()), batch.column(number)]
    nothing = pa.scalar("", pa.large_string())
    rows = pc.binary_join_element_wise(*parts, pa.scalar("}\n", pa.large_string()), nothing)
    joined = pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), nothing)
    return joined[0].as_buffer()


def _encoded(values: ArrowColumn, name: str) -> ArrowColumn:
    """The cells of a column as JSON."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _encoded(values.cast(kind.value_type), name)
    if pa.types.is_floating(kind) and pc.all(pc.is_finite(values)).as_py() is False:
        raise BadFile(
            f"column {name!r} contains infinity or NaN, which JSON cannot store; make it missing"
        )
    small = pa.types.is_integer(kind) and not pa.types.is_uint64(kind)  # others read up to 2 ** 63
    if pa.types.is_floating(kind):  # 8.0, not 8, so that it is read as a float
        text = values.cast(pa.large_string())
        return pc.replace_substring_regex(text, r"^(-?[0-9]+)$", r"\1.0").fill_null("null")
    if small or pa.types.is_boolean(kind):
        return values.cast(pa.large_string()).fill_null("null")
    text = as_text(values, name)
    chunks = text.chunks if isinstance(text, pa.ChunkedArray) else [text]
    return pa.chunked_array([_strings(chunk) for chunk in chunks], pa.large_string())


def _strings(texts: pa.Array) -> pa.Array:
    coded = texts.dictionary_encode()
    made = [json.dumps(text, ensure_ascii=False) for text in coded.dictionary.to_pylist()]
    return pa.array(made, pa.large_string()).take(coded.indices).fill_null("null")
