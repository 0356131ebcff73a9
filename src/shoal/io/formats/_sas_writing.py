"""Writing transport files of SAS, of version 8 ("Record Layout of a SAS Version 8 or 9 Data Set").

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
from shoal.io.formats._statistics_columns import Program, Variable, cut, variables

LINE = 80  # bytes of a record
NEVER = b"01JAN60:00:00:00"  # the time of writing is nobody's business
SINCE = 315_619_200_000  # milliseconds from 1960-01-01 to 1970-01-01
MOST_COLUMNS = 9999
LONGEST_LABEL = 256  # bytes
FORMATS = {"date": (b"DATE", 9, 0), "moment": (b"DATETIME", 22, 3)}
MISSING = b"." + bytes(7)

SAS = Program(
    name="SAS",
    names="[A-Za-z_][A-Za-z0-9_]*",
    allowed="begins with a letter or _, and has the letters a to z, digits and _",
    longest_name=32,
    reserved=frozenset(["_n_", "_error_", "_numeric_", "_character_", "_all_"]),
    longest_text=32_767,
    keeps_spaces=False,
    holds=lambda numbers: (
        ((np.abs(numbers) >= 16.0**-64) & (np.abs(numbers) < 16.0**62)) | _is_zero(numbers)
    ),
)


def _is_zero(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    zero: npt.NDArray[np.bool_] = (numbers == 0) & ~np.signbit(numbers)
    return zero


def write_transport(table: pa.Table, path: Path) -> None:
    """Write a table to exactly this path."""
    if table.num_columns > MOST_COLUMNS:
        raise BadFile(
            f"cannot write {path}: a transport file stores at most {MOST_COLUMNS:,} columns, and "
            f"the table has {table.num_columns:,}; write another format"
        )
    columns = variables(table, SAS)
    with path.open("wb") as out:
        out.write(_library() + _member(columns, table.num_rows))
        out.write(_lines(_cells(columns, table.num_rows)))


def _lines(content: bytes) -> bytes:
    """The content in whole records."""
    return content.ljust(-(-len(content) // LINE) * LINE)


def _record(name: str, rest: str = "0" * 30) -> bytes:
    return f"HEADER RECORD*******{name:<8}HEADER RECORD!!!!!!!{rest}".encode().ljust(LINE)


def _library() -> bytes:
    about = b"SAS     SAS     SASLIB  9.4     ".ljust(LINE - len(NEVER)) + NEVER
    return _record("LIBV8") + about + NEVER.ljust(LINE)


def _member(columns: list[Variable], rows: int) -> bytes:
    """The description of the table and of its columns."""
    made = _record("MEMBV8", "000000000000000001600000000140") + _record("DSCPTV8")
    made += b"SAS     " + b"DATASET".ljust(32) + b"SASDATA 9.4     ".ljust(24) + NEVER
    made += NEVER.ljust(LINE)
    made += _record("NAMSTV8", f"{len(columns):010d}".ljust(30, "0"))
    place, described = 0, b""
    for number, column in enumerate(columns, 1):
        described += _column(column, number, place)
        place += _width(column)
    made += _lines(described)
    labels = [
        struct.pack(">hhh", number, len(column.name), len(text)) + column.name.encode() + text
        for number, column in enumerate(columns, 1)
        if len(text := cut(column.labels.column, LONGEST_LABEL)) > 40
    ]
    if labels:
        made += _record("LABELV8", str(len(labels))) + _lines(b"".join(labels))
    return made + _record("OBSV8", f"{rows:15d}")


def _column(column: Variable, number: int, place: int) -> bytes:
    """The record of a column, of 140 bytes (NAMESTR)."""
    name = column.name.encode()
    form, width, decimals = FORMATS.get(column.kind, (b"", 0, 0))
    made = struct.pack(">hhhh", 2 if column.kind == "text" else 1, 0, _width(column), number)
    made += name[:8].ljust(8) + cut(column.labels.column, 40).ljust(40)
    made += form.ljust(8) + struct.pack(">hhh", width, decimals, 0 if column.kind == "text" else 1)
    made += bytes(2) + b" " * 8 + bytes(4) + struct.pack(">i", place) + name.ljust(32)
    label = cut(column.labels.column, LONGEST_LABEL)
    return made + struct.pack(">h", len(label) if len(label) > 40 else 0) + bytes(18)


def _width(column: Variable) -> int:
    return column.width if column.kind == "text" else 8


def _cells(columns: list[Variable], rows: int) -> bytes:
    shape = [(str(i), f"S{_width(one)}") for i, one in enumerate(columns)]
    table = np.zeros(rows, np.dtype(shape))
    for i, column in enumerate(columns):
        table[str(i)] = _texts(column) if column.kind == "text" else _numbers(column)
    return table.tobytes()


def _texts(column: Variable) -> npt.NDArray[Any]:
    if len(column.texts) == 0:
        return column.texts
    plain = column.texts.view(np.uint8).reshape(len(column.texts), -1)
    padded = np.where(plain == 0, np.uint8(ord(" ")), plain)
    return np.ascontiguousarray(padded).view(f"S{plain.shape[1]}")[:, 0]


def _numbers(column: Variable) -> npt.NDArray[Any]:
    numbers = column.numbers
    if column.kind == "date":
        numbers = (numbers + SINCE) / 86_400_000
    elif column.kind == "moment":
        numbers = (numbers + SINCE) / 1000
    found = ibm_floats(np.nan_to_num(numbers))
    found[np.isnan(numbers)] = MISSING
    return found


def ibm_floats(numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Floats in the form of IBM mainframes: sign, exponent of 16, and 56 bits; exact.

    >>> ibm_floats(np.array([1.5, -3.0])).tolist()
    [b'A\\x18', b'\\xc10']
    """
    fraction, two = np.frexp(np.abs(numbers))
    sixteen = -(-two // 4)
    bits = np.ldexp(fraction, 56 + two - 4 * sixteen).astype(np.uint64)
    head = (sixteen + 64 + 128 * np.signbit(numbers)).astype(np.uint64)
    whole = np.where(bits == 0, np.uint64(0), (head << np.uint64(56)) | bits)
    return whole.astype(">u8").view("S8")
