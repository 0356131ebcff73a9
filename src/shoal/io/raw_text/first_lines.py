"""The first lines of a text file: rows as far as they can be read, and what is wrong with them."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path

from shoal.base.errors import BadInput, BadTable
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import FirstRows
from shoal.io.raw_text.header import Header, read_header, rows_of
from shoal.io.text_layout import TextLayout, opened
from shoal.io.text_reading import NO_HEADER, broken_quote, has_nul, ragged_rows, utf8

HEAD = 1 << 18  # bytes that are looked at
LONGEST = 300  # characters of a line that are shown


def first_lines(path: Path, layout: TextLayout, most: int) -> FirstRows:
    """The first rows of a text file; a fault does not hide what can be read."""
    try:
        with utf8(path, layout) as (text, stream):
            head = stream.read(HEAD)
            is_cut = len(head) == HEAD  # in the middle of a line, perhaps
            if is_cut:
                head = head[: 1 + max(head.rfind(b"\n"), head.rfind(b"\r"))] or head
            encoding = text.encoding
    except BadInput as error:
        lines = _as_they_are(path, layout, layout.encoding or "utf-8", most)
        return FirstRows([], [], (str(error),), layout.encoding, lines=lines)
    lines = _as_they_are(path, layout, encoding, most)
    header = None
    with suppress(ValueError, csv.Error, StopIteration):
        header = read_header(head, layout)
    if header is None:
        return FirstRows([], [], (_no_header(path, layout, head),), encoding, lines=lines)
    rows, faults = _rows(path, layout, head, header, most, is_cut)
    return FirstRows(header.names, rows, tuple(faults), encoding, header.delimiter, lines)


def _no_header(path: Path, layout: TextLayout, head: bytes) -> str:
    """Why there are no names."""
    if not head.strip():
        return f"cannot read {path}: the file is empty"
    if b"\0" in head:
        return str(has_nul(path, 1 + head[: head.index(b"\0")].count(b"\n")))
    return f"{path}: a quote ({layout.quote}) in the header is not closed, or text follows it"


def _rows(
    path: Path, layout: TextLayout, head: bytes, header: Header, most: int, is_cut: bool
) -> tuple[list[list[str | None]], list[str]]:
    """The rows after the header, all of them as wide as it is."""
    width = len(header.names)
    found: list[list[str | None]] = []
    ragged: list[tuple[int, int]] = []
    faults: list[str] = []
    try:
        check_column_names(header.names, str(path), NO_HEADER)
    except BadTable as error:
        faults.append(str(error))
    line = 1 + head[: header.size].count(b"\n")
    reader = rows_of(
        io.StringIO(head[header.size :].decode(), newline=""), header.delimiter, layout
    )
    before = line - 1
    try:
        for row in reader:
            if len(found) == most:
                break
            if row or width == 1:
                cells = [cell or None for cell in row[:width]]
                found.append([*cells, *[None] * (width - len(cells))])
            if row and len(row) != width:
                ragged.append((line, len(row)))
            line = before + reader.line_num + 1
    except csv.Error:
        if not is_cut:
            faults.append(str(broken_quote(path, layout, line)))
    if ragged:
        faults.append(str(ragged_rows(path, layout, header, ragged)))
    return found, faults


def _as_they_are(path: Path, layout: TextLayout, encoding: str, most: int) -> tuple[str, ...]:
    """The first lines, whatever is in them; what cannot be decoded is shown as such."""
    with opened(path, layout) as raw:
        head = raw.read(HEAD)
    lines = head.decode(encoding, "replace").removeprefix("\ufeff").splitlines()
    return tuple(line[:LONGEST] for line in lines[:most])
