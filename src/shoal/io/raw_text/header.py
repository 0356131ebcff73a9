"""The first lines of a text file: its delimiter and the names of its columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from shoal.io.text_layout import DELIMITERS, TextLayout

ROWS = 20  # that a delimiter must fit, if the header alone does not show it
_NUMBERED = re.compile(r"column_[1-9][0-9]*")


class Header(NamedTuple):
    """Names and delimiter of a text file."""

    names: list[str]
    delimiter: str
    size: int  # in bytes of UTF-8; 0 if the file has no header


def read_header(head: bytes, layout: TextLayout) -> Header:
    r"""Find names and delimiter at the start of a text file in UTF-8.

    >>> read_header(b'"a;b";c\n1;2\n', TextLayout("", ""))
    Header(names=['a;b', 'c'], delimiter=';', size=8)
    >>> read_header(b"17,f\n", TextLayout(",", "", header=False)).names
    ['column_1', 'column_2']
    >>> read_header(b"column_2,column_5\n17,f\n", TextLayout(",", "", header=False)).names
    ['column_2', 'column_5']
    """
    if b"\0" in head:
        raise ValueError("NUL byte")
    lines = head.splitlines(keepends=True)
    delimiter = layout.delimiter or _delimiter(lines, layout)
    reader = rows_of((line.decode() for line in lines), delimiter, layout)
    names = next(row for row in reader if row)
    if not layout.header and not are_numbered(names):
        return Header(numbered(len(names)), delimiter, 0)
    return Header(names, delimiter, sum(map(len, lines[: reader.line_num])))


def numbered(width: int) -> list[str]:
    """The names of the columns of a file without a header."""
    return [f"column_{i}" for i in range(1, width + 1)]


def are_numbered(names: list[str]) -> bool:
    """Whether these are such names; a release lacks some of them, and has a header of the others.

    >>> are_numbered(["column_2", "column_5"]), are_numbered(["column_2", "age"])
    (True, False)
    """
    return len(set(names)) == len(names) and all(map(_NUMBERED.fullmatch, names))


def rows_of(lines: Iterable[str], delimiter: str, layout: TextLayout) -> Any:
    """Read rows with the module csv, which is slow and says what is wrong."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=layout.quote or None,
        quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
        strict=True,
    )


def _delimiter(lines: list[bytes], layout: TextLayout) -> str:
    """The delimiter that is most frequent in the header, or the only one that fits the rows."""
    outside = next(line for line in lines if line.strip(b"\r\n")).decode()
    if quote := re.escape(layout.quote):
        outside = re.sub(f"{quote}[^{quote}]*{quote}?", "", outside)
    often = max(DELIMITERS, key=outside.count)
    fitting = [one for one in DELIMITERS if one in outside and _fits(lines, one, layout)]
    return fitting[0] if len(fitting) == 1 else often


def _fits(lines: list[bytes], delimiter: str, layout: TextLayout) -> bool:
    """Whether the first rows have as many fields as the header."""
    found: set[int] = set()
    whole = lines[:-1] if len(lines) > ROWS else lines  # the last one may be cut
    with suppress(csv.Error, UnicodeError):
        for row in islice(rows_of(map(bytes.decode, whole), delimiter, layout), ROWS):
            found.add(len(row))
    return len(found - {0}) == 1
