"""Writing data files of Stata, of version 118 (Stata 14 and later; `help dta`).

The file is made here, because libraries add the time of writing and need a data frame of pandas or
polars.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.base.errors import BadFile
from shoal.io.formats._numbers import is_whole
from shoal.io.formats._statistics_columns import Program, Variable, cut, number_of, variables

MISSING, MISSING_LONG = 2.0**1023, 2_147_483_621  # the missing value "."
MOST_LONG = 2_147_483_620
MOST_COLUMNS = 32_767
SINCE = 315_619_200_000  # milliseconds from 1960-01-01 to 1970-01-01
DOUBLE, LONG = 65_526, 65_528
NAME, FORMAT, LABEL = 129, 57, 321  # bytes
WORDS = (
    "_all _b byte _coef _cons double float if in int long _n _pi _pred _rc _skip strl using with"
).split()

STATA = Program(
    name="Stata",
    names=r"[^\W\d]\w*",
    allowed="begins with a letter or _, and has letters, digits and _",
    longest_name=32,
    reserved=frozenset(WORDS),
    longest_text=2045,
    keeps_spaces=True,
    holds=lambda numbers: np.abs(numbers) < MISSING,
)


def write_stata(table: pa.Table, path: Path) -> None:
    """Write a table to exactly this path."""
    if table.num_columns > MOST_COLUMNS:
        raise BadFile(
            f"cannot write {path}: Stata stores at most {MOST_COLUMNS:,} columns, and the table "
            f"has {table.num_columns:,}; write another format"
        )
    columns = variables(table, STATA)
    content = b"<stata_dta>" + _header(len(columns), table.num_rows)
    places = [0, len(content)]
    content += b"<map>" + bytes(14 * 8) + b"</map>"
    for name, inside in _parts(columns, table.num_rows):
        places.append(len(content))
        content += b"<%b>%b</%b>" % (name, inside, name)
    places.append(len(content))
    content += b"</stata_dta>"
    places.append(len(content))
    start = places[1] + len(b"<map>")
    with path.open("wb") as out:
        out.write(content[:start] + struct.pack("<14Q", *places) + content[start + 14 * 8 :])


def _header(columns: int, rows: int) -> bytes:
    """Without a label of the data, and without a time."""
    return (
        b"<header><release>118</release><byteorder>LSF</byteorder>"
        b"<K>%b</K><N>%b</N><label>\0\0</label><timestamp>\0</timestamp></header>"
    ) % (struct.pack("<H", columns), struct.pack("<Q", rows))


def _parts(columns: list[Variable], rows: int) -> list[tuple[bytes, bytes]]:
    kinds = [_kind(column) for column in columns]
    named = [f"labels{i}" if _labels(one) else "" for i, one in enumerate(columns, 1)]
    return [
        (b"variable_types", struct.pack(f"<{len(kinds)}H", *kinds)),
        (b"varnames", _fixed([one.name.encode() for one in columns], NAME)),
        (b"sortlist", bytes(2 * (len(columns) + 1))),
        (b"formats", _fixed([_format(one).encode() for one in columns], FORMAT)),
        (b"value_label_names", _fixed([name.encode() for name in named], NAME)),
        (b"variable_labels", _fixed([_label(one) for one in columns], LABEL)),
        (b"characteristics", b""),
        (b"data", _cells(columns, kinds, rows)),
        (b"strls", b""),
        (b"value_labels", b"".join(map(_value_labels, named, columns))),
    ]


def _fixed(texts: list[bytes], size: int) -> bytes:
    return b"".join(text.ljust(size, b"\0") for text in texts)


def _label(column: Variable) -> bytes:
    return cut(column.labels.column[:80], LABEL - 1)  # Stata counts characters here


def _kind(column: Variable) -> int:
    if column.kind == "text":
        return column.width
    there = column.numbers[~np.isnan(column.numbers)]
    small = is_whole(there) and bool((np.abs(there) <= MOST_LONG).all())
    return LONG if column.kind == "date" or (column.kind == "number" and small) else DOUBLE


def _format(column: Variable) -> str:
    if column.kind == "text":
        return f"%-{min(column.width, 244)}s"
    return {"date": "%td", "moment": "%tc"}.get(column.kind, "%10.0g")


def _cells(columns: list[Variable], kinds: list[int], rows: int) -> bytes:
    types = {DOUBLE: "<f8", LONG: "<i4"}
    shape = [(str(i), types.get(kind, f"S{kind}")) for i, kind in enumerate(kinds)]
    table = np.zeros(rows, np.dtype(shape))
    for i, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        table[str(i)] = column.texts if column.kind == "text" else _numbers(column, kind)
    return table.tobytes()


def _numbers(column: Variable, kind: int) -> npt.NDArray[Any]:
    numbers = column.numbers
    if column.kind == "date":
        numbers = (numbers + SINCE) / 86_400_000
    elif column.kind == "moment":
        numbers = numbers + SINCE
    missing = np.isnan(numbers)
    if kind == LONG:
        return np.where(missing, MISSING_LONG, np.where(missing, 0, numbers)).astype(np.int32)
    return np.where(missing, MISSING, numbers)


def _labels(column: Variable) -> dict[int, bytes]:
    """The labels of integers; Stata has no other."""
    if column.kind != "number":
        return {}
    found = {}
    for value, label in column.labels.values.items():
        number = number_of(value)
        text = cut(label, 32_000)
        if number is not None and number.is_integer() and abs(number) <= MOST_LONG and text:
            found[int(number)] = text
    return dict(sorted(found.items()))


def _value_labels(name: str, column: Variable) -> bytes:
    labels = _labels(column)
    if not labels:
        return b""
    texts = [text.replace(b"\0", b"") + b"\0" for text in labels.values()]
    starts = np.cumsum([0, *map(len, texts)])
    table = struct.pack("<II", len(texts), int(starts[-1]))
    table += starts[:-1].astype("<u4").tobytes()
    table += np.array(list(labels), "<i4").tobytes() + b"".join(texts)
    head = struct.pack("<I", len(table)) + _fixed([name.encode()], NAME) + bytes(3)
    return b"<lbl>" + head + table + b"</lbl>"
