"""Reading text files: every column stays text, so that 007 stays 007.

Errors never contain cells, which may name a person.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from shoal.base.errors import SHOWN, BadFile, BadTable
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import Progress
from shoal.io.packing import unpacked
from shoal.io.text_layout import DELIMITER_KEY, DELIMITERS, TextLayout, opened

BOM = b"\xef\xbb\xbf"
# Byte order marks of wider encodings; the longest first, as one is a prefix of another.
WIDE = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
BLOCK = 1 << 23  # bytes that arrow parses at once; a row must fit


def read_text(path: Path, layout: TextLayout, progress: Progress | None) -> pa.Table:
    """Read a text file with arrow; inspect it row by row only if something is wrong."""
    header, schema = _begin(path, layout)
    table = None
    with _counted(path, layout, header, progress) as source:
        if source is None:
            return schema.empty_table()
        with suppress(ValueError):  # arrow errors are of this kind too, and contain rows
            table = pa_csv.read_csv(source, *_options(header, schema))
    _check(path, layout, header, source, None if table is None else table.num_rows)
    assert table is not None
    return table.replace_schema_metadata(schema.metadata)


def text_schema(path: Path, layout: TextLayout) -> pa.Schema:
    """The columns of a text file, all of them text."""
    return _begin(path, layout)[1]


def text_batches(
    path: Path, layout: TextLayout, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """Read a text file part by part; what is wrong with it may be found only at its end."""
    header, schema = _begin(path, layout)
    rows: int | None = 0
    with _counted(path, layout, header, progress) as source:
        if source is None:
            return
        try:
            with pa_csv.open_csv(source, *_options(header, schema)) as reader:
                for batch in reader:
                    rows = (rows or 0) + batch.num_rows
                    yield batch
        except ValueError:
            rows = None
    _check(path, layout, header, source, rows)


def _begin(path: Path, layout: TextLayout) -> tuple[_Header, pa.Schema]:
    """The header of a text file, and the columns that it names."""
    with opened(path, layout) as stream:
        head = stream.read(1 << 20)
    if not head.removeprefix(BOM).strip():
        raise BadFile(f"cannot read {path}: the file is empty")
    header = None
    with suppress(ValueError, csv.Error):
        header = _header(head, layout.delimiter)
    if header is None:
        _check_bytes(path, layout)
        raise BadTable(f'{path}: a quote (") in the header is not closed, or text follows it')
    check_column_names(header.names, str(path))

    schema = pa.schema([(name, pa.string()) for name in header.names])
    if not layout.delimiter:  # a table from .tsv that is written to .csv gets commas
        schema = schema.with_metadata({DELIMITER_KEY: header.delimiter})
    return header, schema


def _options(
    header: _Header, schema: pa.Schema
) -> tuple[pa_csv.ReadOptions, pa_csv.ParseOptions, pa_csv.ConvertOptions]:
    """How arrow reads the rows."""
    alone = len(header.names) == 1  # then an empty line is a row, and "" in it is missing as well
    parsing = pa_csv.ParseOptions(delimiter=header.delimiter, ignore_empty_lines=not alone)
    parsing.newlines_in_values = True
    types = pa_csv.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True)
    types.quoted_strings_can_be_null = alone
    blocks = pa_csv.ReadOptions(column_names=header.names, block_size=BLOCK)
    return blocks, parsing, types


@contextmanager
def _counted(
    path: Path, layout: TextLayout, header: _Header, progress: Progress | None
) -> Iterator[CountedBytes | None]:
    """The bytes after the header; None: there are none."""
    with path.open("rb") as raw, unpacked(raw, layout.packing) as stream:
        stream.read(header.size)
        if not stream.peek(1):
            yield None
            return
        size = path.stat().st_size
        yield CountedBytes(
            stream, header.delimiter, lambda: progress and progress(raw.tell(), size)
        )


def _check(
    path: Path, layout: TextLayout, header: _Header, source: CountedBytes, rows: int | None
) -> None:
    """Raise an error if arrow could not read the rows (None), or if it was misled."""
    if rows is None:
        _check_bytes(path, layout)
        _check_rows(path, layout, header)
        raise BadTable(f"{path} is not a text table, or has a row longer than {BLOCK} bytes")
    # A quote that is never closed merges many rows into one field. Then the number of quotes is
    # odd, or there are more lines than rows; both can happen in a valid file as well. Arrow takes
    # text after a closing quote as part of the field, which is never intended.
    if source.odd_quotes or source.quotes % 2 or source.lines != rows:
        _check_rows(path, layout, header)


class CountedBytes:
    """A stream for arrow that counts lines and quotes, and rejects NUL bytes."""

    closed = False  # arrow reads this attribute

    def __init__(self, stream: IO[bytes], delimiter: str, report: Callable[[], None]) -> None:
        self._stream = stream
        self._report = report
        self._ends = Counter[bytes]()
        self._border = np.zeros(256, np.bool_)  # bytes that may precede or follow a field
        self._border[list(b'\r\n"' + delimiter.encode())] = True
        self._last = b"\n"
        self.quotes = self.lines = 0
        self.odd_quotes = False  # whether a quote is in an unexpected place

    def read(self, size: int) -> bytes:
        """The next bytes of the stream, at most this many."""
        chunk = self._stream.read(size)
        if b"\0" in chunk:
            raise ValueError("NUL byte")
        if chunk:
            self._check_quotes(chunk)
            self._ends.update({end: chunk.count(end) for end in (b"\n", b"\r")})
            self.lines = max(self._ends.values()) + (not chunk.endswith((b"\n", b"\r")))
        self._report()
        return chunk

    def _check_quotes(self, chunk: bytes) -> None:
        """Check that every quote opens a field, closes one, or is doubled inside one.

        Quotes open and close in turn. An opening quote follows a delimiter, the end of a line or
        the quote that it doubles; a closing one precedes one of these. Otherwise the rows must be
        checked one by one: a quote inside an unquoted field is allowed.
        """
        closed = self.quotes % 2 == 0
        if self._last == b'"' and closed and not self._border[chunk[0]]:
            self.odd_quotes = True
        if b'"' in chunk:
            around = np.frombuffer(self._last + chunk + b"\n", np.uint8)
            at = np.flatnonzero(around[1:-1] == ord('"')) + 1
            opening, closing = (at[::2], at[1::2]) if closed else (at[1::2], at[::2])
            around_quotes = np.concatenate([around[opening - 1], around[closing + 1]])
            self.odd_quotes |= not self._border[around_quotes].all()
            self.quotes += len(at)
        self._last = chunk[-1:]


class _Header(NamedTuple):
    names: list[str]
    delimiter: str
    size: int  # in bytes


def _header(head: bytes, delimiter: str = "") -> _Header:
    r"""Find names and delimiter at the start of a text file.

    >>> _header(b'"a;b";c\n1;2\n')
    _Header(names=['a;b', 'c'], delimiter=';', size=8)
    """
    if b"\0" in head:
        raise ValueError("NUL byte")
    bom = BOM if head.startswith(BOM) else b""
    lines = head.removeprefix(bom).splitlines(keepends=True)
    first = next(line for line in lines if line.strip(b"\r\n")).decode()
    outside = re.sub('"[^"]*"?', "", first)
    delimiter = delimiter or max(DELIMITERS, key=outside.count)
    reader = csv.reader((line.decode() for line in lines), delimiter=delimiter, strict=True)
    names = next(row for row in reader if row)
    return _Header(names, delimiter, len(bom) + sum(map(len, lines[: reader.line_num])))


def _check_bytes(path: Path, layout: TextLayout) -> None:
    """Raise an error that names the first line that is not UTF-8 text, if there is one."""
    with opened(path, layout) as stream:
        start = stream.read(4)
    for mark, name in WIDE.items():
        if start.startswith(mark):
            raise BadFile(
                f"{path} is in {name}, not in UTF-8; save it as UTF-8 (in a spreadsheet: "
                "'CSV UTF-8')"
            )
    with opened(path, layout) as stream:
        for number, line in enumerate(stream, 1):
            if b"\0" in line:
                found = f"is not a text table: there is a NUL byte in line {number}"
            elif line.decode(errors="ignore").encode() != line:
                found = f"is not in UTF-8: line {number} cannot be decoded"
            else:
                continue
            raise BadFile(f"{path} {found}; save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')")


def _check_rows(path: Path, layout: TextLayout, header: _Header) -> None:
    """Raise an error that names rows with a wrong number of fields or a broken quote, if any."""
    width = len(header.names)
    ragged = []  # (line, number of fields)
    line = 1
    limit = csv.field_size_limit(BLOCK)
    try:
        with opened(path, layout) as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
            reader = csv.reader(text, delimiter=header.delimiter, strict=True)
            for row in reader:
                if row and len(row) != width:
                    ragged.append((line, len(row)))
                line = reader.line_num + 1
    except csv.Error:
        raise BadTable(
            f'{path}: in the row that begins in line {line} a quote (") is not closed, or text '
            'follows a closing quote; write a quote inside a quoted field as ""'
        ) from None
    finally:
        csv.field_size_limit(limit)
    if ragged:
        shown = ", ".join(f"line {line} has {fields}" for line, fields in ragged[:SHOWN])
        rest = f" and {len(ragged) - SHOWN} more differ" if len(ragged) > SHOWN else ""
        raise BadTable(
            f"{path}: rows must have {width} fields as the header has, but {shown}{rest}; quote "
            f"fields that contain {header.delimiter!r}, and remove lines that are not rows"
        )
