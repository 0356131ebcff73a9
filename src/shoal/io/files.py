"""Files: text tables and Parquet, read into and written from arrow tables.

Every column of a text file stays text, so that 007 stays 007. No error shows what stands in a
row: it may name a person.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from shoal.base.errors import SHOWN, BadFile, BadTable, did_you_mean, is_text, preview
from shoal.io.atomic import check_place
from shoal.io.compact import Column, compact

Progress: TypeAlias = Callable[[int, int], None]  # bytes of the file read so far, and in all

TEXT = {".csv": "", ".txt": "", ".tsv": "\t", ".tab": "\t"}  # ending → its delimiter, if settled
PARQUET = (".parquet", ".pq")
UNPACK: dict[str, Callable[[Any], Any]] = {
    ".gz": partial(pa.CompressedInputStream, compression="gzip"),
    ".xz": lzma.LZMAFile,
    ".zst": partial(pa.CompressedInputStream, compression="zstd"),
}
PACK: dict[str, Callable[[Any], Any]] = {  # the same table always gives the same bytes
    "": nullcontext,
    ".gz": lambda raw: gzip.GzipFile("", "wb", 4, raw, mtime=0),  # arrow's is many times slower
    ".xz": partial(lzma.LZMAFile, mode="wb", preset=1),  # so are the higher presets
    ".zst": partial(pa.CompressedOutputStream, compression="zstd"),
}
DELIMITERS = ",;\t|"
DELIMITER_KEY = b"shoal.delimiter"
BOM = b"\xef\xbb\xbf"
PARQUET_OPTIONS = {"write_statistics": False}
ROWS = 1 << 20  # in a group of rows of a Parquet file
# What files in wider encodings begin with; of the longest mark first, as one begins with another.
WIDE = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
BLOCK = 1 << 23  # bytes that arrow parses at once; a single row must fit in


def read_table(path: str | Path, progress: Progress | None = None) -> pa.Table:
    """Read a text file or a Parquet file."""
    path = Path(path)
    form = _form(path)
    check_source(path, "")
    if path.stat().st_size == 0:
        raise BadFile(f"cannot read {path}: the file is empty")
    reason = "it is damaged, cut off, or not what its name says; make or fetch it anew"
    try:
        table = _read_parquet(path) if form.ending in PARQUET else _read_text(path, form, progress)
        return takeable(table)
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        # Only the system's own words are passed on: arrow's show rows.
        if isinstance(error, OSError) and error.errno:
            reason = os.strerror(error.errno)
    raise BadFile(f"cannot read {path}: {reason}")


KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_source(path: Path, what: str, hint: str = "") -> None:
    """Refuse to read what is not a plain file: a pipe or a device may never end.

    `what` says what the file is for, as in "the plan "; `hint` what to do where there is none.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = hint or did_you_mean(path.name, near)
        raise BadFile(f"cannot read {what}{path}: no such file{hint}") from None
    except ValueError:  # a lone surrogate or a NUL in the name
        raise BadFile(f"cannot read {what}{str(path)!r}: no file can have this name") from None
    except OSError as error:  # a loop of links, a name that is too long, no permission
        shown = str(path) if len(str(path)) < 200 else f"{str(path)[:80]}…"
        raise BadFile(f"cannot read {what}{shown}: {os.strerror(error.errno or 0)}") from None
    if kind != stat.S_IFREG:
        advice = "" if kind == stat.S_IFDIR else "; write its content to a file first"
        found = KINDS.get(kind, "something else")
        raise BadFile(f"cannot read {what}{path}: it is {found}, not a file{advice}")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table to this very path, in the format that its name says."""
    path = Path(path)
    form = _form(path)
    if form.ending in PARQUET:
        _write_parquet(table, path)
    else:
        _write_text(table, path, form)


def same_cells(one: Column, other: Column) -> bool:
    """Whether two columns hold the same in every row, as a text file would write it.

    >>> same_cells(pa.array([17, None]), pa.array(["17", ""]))
    True
    """
    first, second = map(_chunked, (one, other))
    if first.type == second.type and first.equals(second):
        return True
    with suppress(BadFile):  # no text: then both must be of one type
        first, second = (_chunked(_text(column, "")).fill_null("") for column in (first, second))
    return bool(first.equals(second))


def _chunked(values: Column) -> pa.ChunkedArray:
    return pa.chunked_array([values]) if isinstance(values, pa.Array) else values


def holds_types(path: str | Path) -> bool:
    """Whether a file of this name keeps the types of columns, as Parquet does."""
    return _form(Path(path)).ending in PARQUET


def check_target(path: str | Path) -> None:
    """Check, before a long run, that a table can be written to this path."""
    _form(Path(path))
    check_place(Path(path))


def check_names(names: list[Any], where: str) -> None:
    """Refuse a table whose columns cannot be told apart by name."""
    if not names:
        raise BadTable(f"{where} has no columns")
    if odd := [name for name in names if not isinstance(name, str)]:
        raise BadTable(
            f"{where} has columns whose names are not text: {preview(odd)}; rename them, "
            "for example with frame.columns = [str(name) for name in frame.columns]"
        )
    if broken := [name for name in names if not is_text(name)]:
        raise BadTable(
            f"{where} has columns whose names hold half a character (a lone surrogate), which no "
            f"file can hold: {preview(broken)}; rename them"
        )
    if empty := [number for number, name in enumerate(names, 1) if not name.strip()]:
        raise BadTable(
            f"{where} has columns without a name, counted from the left: {preview(empty)}; "
            "name them or remove them (pandas writes its index so, unless told index=False)"
        )
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadTable(
            f"{where} has several columns of the same name: {preview(twice)}; rename them"
        )


def takeable(table: pa.Table) -> pa.Table:
    """Make sure, before a long run, that arrow can take rows of every column."""
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    for number, field in enumerate(table.schema):
        if str(field.type) in plain:
            field = field.with_type(plain[str(field.type)])
            table = table.set_column(number, field, table[number].cast(field.type))
        check_takeable(field.name, table[number])
    return table


def check_takeable(name: str, values: Column) -> None:
    """Refuse, before a long run, a column of which arrow cannot take rows and only these."""
    kind = values.type
    if pa.types.is_dictionary(kind) and pa.types.is_nested(kind.value_type):
        raise BadTable(
            f"column {name!r} is a dictionary of {kind.value_type}, which pyarrow cannot compare; "
            "cast it to plain values first"
        )
    try:
        compact(values.slice(0, 0))
    except pa.ArrowNotImplementedError:
        raise BadTable(
            f"column {name!r} is of type {values.type}, of which pyarrow cannot take "
            "single rows; cast it to a plainer type first"
        ) from None
    except BadTable as error:
        raise BadTable(f"column {name!r} {error}") from None


class _Form(NamedTuple):
    ending: str
    packing: str  # "" or a key of UNPACK
    delimiter: str  # "" if the ending does not settle it


def _form(path: Path) -> _Form:
    r"""Tell the format of a file from its name.

    >>> _form(Path("people.2024.TSV.gz"))
    _Form(ending='.tsv', packing='.gz', delimiter='\t')
    """
    endings = ["", *(ending.lower() for ending in path.suffixes)]
    packing = endings.pop() if endings[-1] in UNPACK else ""
    if endings[-1] in TEXT or (endings[-1] in PARQUET and not packing):
        return _Form(endings[-1], packing, TEXT.get(endings[-1], ""))
    raise BadFile(
        f"cannot tell the format of {path} from its name; use {', '.join(TEXT)} "
        f"(also with {', '.join(UNPACK)} behind) or {', '.join(PARQUET)}"
    )


# Reading


def _read_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq  # slow to import, and often not needed

    with pq.ParquetFile(path) as file:  # read_table() would make a column of a folder "k=5"
        table = file.read()
    check_names(table.column_names, str(path))
    return table


def _read_text(path: Path, form: _Form, progress: Progress | None) -> pa.Table:
    """Read a text file with arrow; look at it row by row only if something is wrong."""
    with path.open("rb") as raw, _unpacked(raw, form) as stream:
        head = stream.read(1 << 20)
    if not head.removeprefix(BOM).strip():
        raise BadFile(f"cannot read {path}: the file is empty")
    header = None
    with suppress(ValueError, csv.Error):
        header = _header(head, form)
    if header is None:
        _check_bytes(path, form)
        raise BadTable(f'{path}: a quote (") in the header is not closed, or text follows it')
    check_names(header.names, str(path))

    schema = pa.schema([(name, pa.string()) for name in header.names])
    if not form.delimiter:  # what is read from .tsv and written to .csv gets commas
        schema = schema.with_metadata({DELIMITER_KEY: header.delimiter})
    alone = len(header.names) == 1  # then an empty line is a row, and "" in it is missing as well
    layout = pa_csv.ParseOptions(delimiter=header.delimiter, ignore_empty_lines=not alone)
    layout.newlines_in_values = True
    types = pa_csv.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True)
    types.quoted_strings_can_be_null = alone
    table = None
    with path.open("rb") as raw, _unpacked(raw, form) as stream:
        stream.read(header.size)
        if not stream.peek(1):
            return schema.empty_table()
        size = path.stat().st_size
        source = _Source(stream, header.delimiter, lambda: progress and progress(raw.tell(), size))
        blocks = pa_csv.ReadOptions(column_names=header.names, block_size=BLOCK)
        with suppress(ValueError):  # arrow's errors are of this kind too, and show rows
            table = pa_csv.read_csv(source, blocks, layout, types)
    if table is None:
        _check_bytes(path, form)
        _check_rows(path, form, header)
        raise BadTable(f"{path} is no table of text, or has a row longer than {BLOCK} bytes")
    # A quote that is never closed swallows rows, names and all, into one field. Then quotes are
    # odd in number, or there are more lines than rows; both can happen in a sound file as well.
    # Arrow takes text behind a closing quote for a part of the field, which nobody meant.
    if source.odd_quotes or source.quotes % 2 or source.lines != table.num_rows:
        _check_rows(path, form, header)
    return table.replace_schema_metadata(schema.metadata)


class _Source:
    """A stream on its way to arrow: lines and quotes are counted, NUL bytes refused."""

    closed = False  # arrow asks

    def __init__(self, stream: IO[bytes], delimiter: str, tell: Callable[[], None]) -> None:
        self._stream = stream
        self._tell = tell
        self._ends = Counter[bytes]()
        self._border = np.zeros(256, np.bool_)  # bytes that may stand before and behind a field
        self._border[list(b'\r\n"' + delimiter.encode())] = True
        self._last = b"\n"
        self.quotes = self.lines = 0
        self.odd_quotes = False  # whether a quote stands where none belongs

    def read(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        if b"\0" in chunk:
            raise ValueError("NUL byte")
        if chunk:
            self._look_at_quotes(chunk)
            self._ends.update({end: chunk.count(end) for end in (b"\n", b"\r")})
            self.lines = max(self._ends.values()) + (not chunk.endswith((b"\n", b"\r")))
        self._tell()
        return chunk

    def _look_at_quotes(self, chunk: bytes) -> None:
        """Find out whether every quote opens a field, closes one, or is doubled inside one.

        Every other quote opens, and has a delimiter, the end of a line or the quote before it that
        it doubles in front of it; every other one closes, and has one of these behind it. Where it
        is not so, the rows have to be looked at one by one: a quote in the middle of a field
        without quotes is allowed.
        """
        closed = self.quotes % 2 == 0
        if self._last == b'"' and closed and not self._border[chunk[0]]:
            self.odd_quotes = True
        if b'"' in chunk:
            around = np.frombuffer(self._last + chunk + b"\n", np.uint8)
            at = np.flatnonzero(around[1:-1] == ord('"')) + 1
            opening, closing = (at[::2], at[1::2]) if closed else (at[1::2], at[::2])
            beside = np.concatenate([around[opening - 1], around[closing + 1]])
            self.odd_quotes |= not self._border[beside].all()
            self.quotes += len(at)
        self._last = chunk[-1:]


class _Header(NamedTuple):
    names: list[str]
    delimiter: str
    size: int  # in bytes


def _header(head: bytes, form: _Form) -> _Header:
    r"""Find names and delimiter in the beginning of a text file.

    >>> _header(b'"a;b";c\n1;2\n', _Form(".csv", "", ""))
    _Header(names=['a;b', 'c'], delimiter=';', size=8)
    """
    if b"\0" in head:
        raise ValueError("NUL byte")
    bom = BOM if head.startswith(BOM) else b""
    lines = head.removeprefix(bom).splitlines(keepends=True)
    first = next(line for line in lines if line.strip(b"\r\n")).decode()
    outside = re.sub('"[^"]*"?', "", first)
    delimiter = form.delimiter or max(DELIMITERS, key=outside.count)
    reader = csv.reader((line.decode() for line in lines), delimiter=delimiter, strict=True)
    names = next(row for row in reader if row)
    return _Header(names, delimiter, len(bom) + sum(map(len, lines[: reader.line_num])))


def _check_bytes(path: Path, form: _Form) -> None:
    """Say which line of a file is not text in UTF-8, if there is one."""
    with path.open("rb") as raw, _unpacked(raw, form) as stream:
        start = stream.read(4)
    for mark, name in WIDE.items():
        if start.startswith(mark):
            raise BadFile(
                f"{path} is in {name}, not in UTF-8; save it as UTF-8 (in a spreadsheet: "
                "'CSV UTF-8')"
            )
    with path.open("rb") as raw, _unpacked(raw, form) as stream:
        for number, line in enumerate(stream, 1):
            if b"\0" in line:
                found = f"is no table of text: there is a NUL byte in line {number}"
            elif line.decode(errors="ignore").encode() != line:
                found = f"is not in UTF-8: line {number} cannot be decoded"
            else:
                continue
            raise BadFile(f"{path} {found}; save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')")


def _check_rows(path: Path, form: _Form, header: _Header) -> None:
    """Say which rows have too few or too many fields, or a broken quote, if there are any."""
    width = len(header.names)
    ragged = []  # (line, number of fields)
    line = 1
    limit = csv.field_size_limit(BLOCK)
    try:
        with path.open("rb") as raw, _unpacked(raw, form) as stream:
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
            f"fields that hold the delimiter {header.delimiter!r}, remove lines that are no rows"
        )


def _unpacked(raw: IO[bytes], form: _Form) -> Any:
    """Open what is packed; buffered, so that a read gives as much as was asked for."""
    return io.BufferedReader(UNPACK[form.packing](raw), 1 << 20) if form.packing else raw


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a text file, unpacked."""
    with path.open("rb") as raw, _unpacked(raw, _form(path)) as stream:
        yield stream


# Writing


def _write_parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq  # slow to import, and often not needed

    try:
        # Each group of rows has dictionaries of its own. Statistics could show what no cell does.
        with pq.ParquetWriter(path, _compact(table.slice(0, 0)).schema, **PARQUET_OPTIONS) as file:
            for start in range(0, max(table.num_rows, 1), ROWS):
                file.write_table(_compact(table.slice(start, ROWS)))
    except pa.ArrowException:  # may speak of values
        for field in table.schema:
            try:
                pq.write_table(table.select([field.name]), pa.BufferOutputStream())
            except pa.ArrowException:
                raise BadFile(
                    f"column {field.name!r} is of type {field.type}, which Parquet cannot hold; "
                    "drop or cast the column"
                ) from None
        raise


def _compact(table: pa.Table) -> pa.Table:
    return pa.table([compact(one) for one in table.columns], table.column_names)


def _write_text(table: pa.Table, path: Path, form: _Form) -> None:
    with path.open("wb") as raw, PACK[form.packing](raw) as out:
        for part in text_parts(table, path):
            out.write(part)


def text_parts(table: pa.Table, path: str | Path) -> Iterator[pa.Buffer]:
    """The bytes of the text file of this name that holds a table, before they are packed."""
    notes = table.schema.metadata or {}
    delimiter = _form(Path(path)).delimiter or notes.get(DELIMITER_KEY, b",").decode()
    names = table.column_names
    text = pa.table([_text(table[name], name) for name in names], names)
    yield _lines([pa.array([name], pa.large_string()) for name in names], delimiter)
    for batch in text.to_batches(max_chunksize=1 << 16):
        yield _lines(batch.columns, delimiter)


def _text(values: Column, name: str) -> Column:
    """Turn a column into text, to be written to a text file."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_nested(values.type):
        plain = [json.dumps(value, default=str, ensure_ascii=False) for value in values.to_pylist()]
        return pa.array(plain, pa.large_string(), mask=values.is_null().to_numpy())
    with suppress(pa.ArrowInvalid):  # the coarsest unit that loses nothing: no trail of zeros
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp("s", values.type.tz))
        if pa.types.is_duration(values.type):  # arrow would write a number without its unit
            values = values.cast(pa.duration("us"))
            values = pa.array([v if v is None else str(v) for v in values.to_pylist()])
    try:
        return values.cast(pa.large_string())
    except pa.ArrowException:
        raise BadFile(
            f"column {name!r} is of type {values.type}, which a text file cannot hold; "
            "write Parquet, or drop the column"
        ) from None


def _lines(columns: list[pa.Array], delimiter: str) -> pa.Buffer:
    r"""Join columns of text to the lines of a text file.

    >>> columns = [["a", None], ["1;2", ""]]
    >>> _lines([pa.array(column, pa.large_string()) for column in columns], ";").to_pybytes()
    b'a;"1;2"\n;""\n'
    """
    comma, nothing, end = pa.array([delimiter, "", "\n"], pa.large_string())
    missing = "" if len(columns) > 1 else '""'  # an empty line is no row to most readers
    fields = [_quoted(column, delimiter).fill_null(missing) for column in columns]
    rows = pc.binary_join_element_wise(*fields, comma)
    rows = pc.binary_join_element_wise(rows, nothing, end)
    return pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), nothing)[
        0
    ].as_buffer()


def _quoted(values: pa.Array, delimiter: str) -> pa.Array:
    """Quote the fields that need it; arrow's own writer quotes all text."""
    special = pc.match_substring_regex(values, f'["\r\n{delimiter}]|^$')
    if not pc.any(special).as_py():
        return values
    quote, nothing = pa.array(['"', ""], pa.large_string())
    doubled = pc.replace_substring(values, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise(quote, doubled, quote, nothing), values)
