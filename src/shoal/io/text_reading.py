"""Reading text files: every column stays text, so that 007 stays 007.

Errors never contain cells, which may name a person.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from shoal.base.errors import SHOWN, BadFile, BadTable
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import Progress
from shoal.io.packing import unpacked
from shoal.io.raw_text.comments import Uncommented
from shoal.io.raw_text.encodings import CHUNK, Utf8
from shoal.io.raw_text.header import Header, read_header, rows_of
from shoal.io.text_layout import DELIMITER_KEY, ENCODING_KEY, TextLayout, opened

NO_HEADER = (
    ". If the first line is a record, state header = false under [read] in the plan (--no-header "
    "for draft and setup)"
)
BLOCK = 1 << 23  # bytes that arrow parses at once; a row must fit


def read_text(path: Path, layout: TextLayout, progress: Progress | None) -> pa.Table:
    """Read a text file with arrow; inspect it row by row only if something is wrong."""
    header, schema, layout = _begin(path, layout)
    table = None
    with _counted(path, layout, header, progress) as (source, text):
        if source is None:
            return schema.empty_table()
        with suppress(ValueError):  # arrow errors are of this kind too, and contain rows
            table = pa_csv.read_csv(source, *_options(header, schema, layout))
    _check(path, layout, header, source, None if table is None else table.num_rows)
    assert table is not None
    return table.replace_schema_metadata(_about(schema, text))


def text_schema(path: Path, layout: TextLayout) -> pa.Schema:
    """The columns of a text file, all of them text."""
    _, schema, layout = _begin(path, layout)
    if not layout.encoding:  # a later line may show that it is not UTF-8
        with utf8(path, layout) as (text, _):
            while text.read(CHUNK):
                pass
        schema = schema.with_metadata(_about(schema, text))
    return schema


def text_batches(
    path: Path, layout: TextLayout, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """Read a text file part by part; what is wrong with it may be found only at its end."""
    header, schema, layout = _begin(path, layout)
    rows: int | None = 0
    with _counted(path, layout, header, progress) as (source, _):
        if source is None:
            return
        try:
            with pa_csv.open_csv(source, *_options(header, schema, layout)) as reader:
                for batch in reader:
                    rows = (rows or 0) + batch.num_rows
                    yield batch
        except ValueError:
            rows = None
    _check(path, layout, header, source, rows)


@contextmanager
def utf8(path: Path, layout: TextLayout) -> Iterator[tuple[Utf8, io.BufferedReader]]:
    """The lines of a text file in UTF-8, without comments; and where its encoding is found."""
    with opened(path, layout) as raw:
        text = Utf8(raw, str(path), lambda: opened(path, layout), layout.encoding)
        yield text, io.BufferedReader(_lines(text, layout), CHUNK)


def _lines(text: Utf8, layout: TextLayout) -> Utf8 | Uncommented:
    return Uncommented(text, layout.comment, layout.quote) if layout.comment else text


def _begin(path: Path, layout: TextLayout) -> tuple[Header, pa.Schema, TextLayout]:
    """The header of a text file, the columns that it names, and its layout with the encoding.

    The encoding is open if it could be UTF-8 so far.
    """
    with utf8(path, layout) as (text, stream):
        head = stream.read(CHUNK)
    if not head.strip():
        raise BadFile(f"cannot read {path}: the file is empty")
    header = None
    with suppress(ValueError, csv.Error):
        header = read_header(head, layout)
    if header is None:
        _check_bytes(path, layout)
        raise BadTable(
            f"{path}: a quote ({layout.quote}) in the header is not closed, or text follows it"
        )
    check_column_names(header.names, str(path), NO_HEADER)

    schema = pa.schema([(name, pa.string()) for name in header.names])
    if not layout.delimiter:  # a table from .tsv that is written to .csv gets commas
        schema = schema.with_metadata({DELIMITER_KEY: header.delimiter})
    if text.guessed:  # once is enough
        layout = layout._replace(encoding=text.encoding)
    return header, schema.with_metadata(_about(schema, text)), layout


def _about(schema: pa.Schema, text: Utf8) -> dict[bytes, bytes]:
    """The metadata of a table, with the encoding of its file if that was found and is not UTF-8."""
    notes = dict(schema.metadata or {})
    return notes | {ENCODING_KEY: text.encoding.encode()} if text.found else notes


def _options(
    header: Header, schema: pa.Schema, layout: TextLayout
) -> tuple[pa_csv.ReadOptions, pa_csv.ParseOptions, pa_csv.ConvertOptions]:
    """How arrow reads the rows."""
    alone = len(header.names) == 1  # then an empty line is a row, and "" in it is missing as well
    parsing = pa_csv.ParseOptions(delimiter=header.delimiter, ignore_empty_lines=not alone)
    parsing.quote_char = layout.quote or False
    parsing.newlines_in_values = True
    types = pa_csv.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True)
    types.quoted_strings_can_be_null = alone
    blocks = pa_csv.ReadOptions(column_names=header.names, block_size=BLOCK)
    return blocks, parsing, types


@contextmanager
def _counted(
    path: Path, layout: TextLayout, header: Header, progress: Progress | None
) -> Iterator[tuple[CountedBytes | None, Utf8]]:
    """The bytes after the header, None if there are none; and where the encoding is found."""
    with path.open("rb") as raw, unpacked(raw, layout.packing) as packed:
        text = Utf8(packed, str(path), lambda: opened(path, layout), layout.encoding)
        stream = _lines(text, layout)
        begin = b""
        while len(begin) < header.size and (more := stream.read(header.size)):
            begin += more  # a read may return more or less than it was asked for
        begin = begin[header.size :] or stream.read(CHUNK)
        if not begin:
            yield None, text
            return
        size = path.stat().st_size

        def report() -> None:
            if progress is not None:
                progress(raw.tell(), size)

        yield CountedBytes(stream, header.delimiter, report, layout.quote, begin), text


def _check(
    path: Path, layout: TextLayout, header: Header, source: CountedBytes, rows: int | None
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

    def __init__(
        self,
        stream: IO[bytes] | io.RawIOBase,
        delimiter: str,
        report: Callable[[], None],
        quote: str = '"',
        begin: bytes = b"",  # what comes before the stream
    ) -> None:
        self._stream = stream
        self._report = report
        self._begin = begin
        self._quote = quote.encode()
        self._ends = Counter[bytes]()
        self._border = np.zeros(256, np.bool_)  # bytes that may precede or follow a field
        self._border[list(b"\r\n" + self._quote + delimiter.encode())] = True
        self._last = b"\n"
        self.quotes = self.lines = 0
        self.odd_quotes = False  # whether a quote is in an unexpected place

    def read(self, size: int) -> bytes:
        """The next bytes of the stream, at most this many."""
        chunk = self._begin or self._stream.read(size)
        self._begin = b""
        if b"\0" in chunk:
            raise ValueError("NUL byte")
        if chunk:
            if self._quote:
                self._check_quotes(chunk)
            self._ends[b"\n"] += chunk.count(b"\n")
            if b"\r" in chunk:  # looking takes much less time than counting
                self._ends[b"\r"] += chunk.count(b"\r")
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
        if self._last == self._quote and closed and not self._border[chunk[0]]:
            self.odd_quotes = True
        if self._quote in chunk:
            around = np.frombuffer(self._last + chunk + b"\n", np.uint8)
            at = np.flatnonzero(around[1:-1] == ord(self._quote)) + 1
            opening, closing = (at[::2], at[1::2]) if closed else (at[1::2], at[::2])
            around_quotes = np.concatenate([around[opening - 1], around[closing + 1]])
            self.odd_quotes |= not self._border[around_quotes].all()
            self.quotes += len(at)
        self._last = chunk[-1:]


def _check_bytes(path: Path, layout: TextLayout) -> None:
    """Raise an error that names the first line with a NUL byte, if there is one."""
    with utf8(path, layout) as (_, stream):
        for number, line in enumerate(stream, 1):
            if b"\0" in line:
                raise has_nul(path, number)


def has_nul(path: Path, line: int) -> BadFile:
    """The error for a file with a NUL byte in this line."""
    return BadFile(
        f"{path} is not a text table: there is a NUL byte in line {line}; save it as UTF-8 (in a "
        "spreadsheet: 'CSV UTF-8'), or state its encoding in [read]"
    )


def _check_rows(path: Path, layout: TextLayout, header: Header) -> None:
    """Raise an error that names rows with a wrong number of fields or a broken quote, if any."""
    width = len(header.names)
    ragged = []  # (line, number of fields)
    line = 1
    limit = csv.field_size_limit(BLOCK)
    try:
        with utf8(path, layout) as (_, stream):
            text = io.TextIOWrapper(stream, "utf-8", newline="")
            reader = rows_of(text, header.delimiter, layout)
            for row in reader:
                if row and len(row) != width:
                    ragged.append((line, len(row)))
                line = reader.line_num + 1
    except csv.Error:
        raise broken_quote(path, layout, line) from None
    finally:
        csv.field_size_limit(limit)
    if ragged:
        raise ragged_rows(path, layout, header, ragged)


def ragged_rows(
    path: Path, layout: TextLayout, header: Header, ragged: list[tuple[int, int]]
) -> BadTable:
    """The error for rows, each with its line and its number of fields, that do not fit."""
    shown = ", ".join(f"line {line} has {fields}" for line, fields in ragged[:SHOWN])
    rest = f" and {len(ragged) - SHOWN} more differ" if len(ragged) > SHOWN else ""
    first = "header" if layout.header else "first row"
    return BadTable(
        f"{path}: rows must have {len(header.names)} fields as the {first} has, but {shown}{rest}"
        f"{without_comments(layout)}; quote fields that contain {header.delimiter!r}, and remove "
        "lines that are not rows"
    )


def broken_quote(path: Path, layout: TextLayout, line: int) -> BadTable:
    """The error for a row, by its first line, whose quotes do not fit."""
    quote = layout.quote
    return BadTable(
        f"{path}: in the row that begins in line {line}{without_comments(layout)} a quote "
        f"({quote}) is not closed, or text follows a closing quote; write a quote inside a quoted "
        f"field as {quote}{quote}"
    )


def without_comments(layout: TextLayout) -> str:
    """How lines are counted, if not as an editor does."""
    return ", comments not counted" if layout.comment else ""
