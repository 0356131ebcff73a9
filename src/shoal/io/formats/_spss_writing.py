"""Writing data files of SPSS.

The layout is that of the manual of PSPP, "System File Format". The file is made here, because
libraries add the time of writing and need a data frame of pandas or polars.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.io.formats._statistics_columns import Program, Variable, cut, number_of, variables
from shoal.io.formats._statistics_reading import MEASURES

MISSING = -np.finfo(np.float64).max  # the system-missing value
LOWEST = np.nextafter(MISSING, 0)
HIGHEST = np.finfo(np.float64).max
SINCE = 12_219_379_200_000  # milliseconds from 1582-10-14 to 1970-01-01
MOST_CODES = 3  # values that a column can declare as missing one by one
SHORT = 8  # bytes of text whose values can have labels
PIECE, STEP = 255, 252  # bytes of a piece of long text; how the number of pieces is computed
LONGEST_LABEL, LONGEST_VALUE_LABEL = 255, 120  # bytes
BLOCK = 0x3FF000  # bytes of a compressed block
FORMATS = {"date": (20, 11, 0), "moment": (22, 23, 3)}  # DATE11, DATETIME23.3
WORDS = "all and by eq ge gt le lt ne not or to with".split()

SPSS = Program(
    name="SPSS",
    names=r"[^\W\d_][\w.$#@]*(?<!\.)",
    allowed="begins with a letter, and has letters, digits and . _ $ # @",
    longest_name=64,
    reserved=frozenset(WORDS),
    longest_text=32_767,
    keeps_spaces=False,
    holds=lambda numbers: (numbers > LOWEST) & (numbers < HIGHEST),
)


class _Field(NamedTuple):
    """A variable of the file; long text takes several."""

    short: str
    variable: Variable
    width: int  # 0: a number
    piece: int  # which part of long text it has

    @property
    def slots(self) -> int:
        """How many times 8 bytes it takes."""
        return max(1, -(-self.width // 8))


def write_spss(table: pa.Table, path: Path, zipped: bool) -> None:
    """Write a table to exactly this path."""
    fields = list(_fields(variables(table, SPSS)))
    slots = sum(field.slots for field in fields)
    cells = _cells(fields, table.num_rows)
    with path.open("wb") as out:
        out.write(_header(zipped, slots, table.num_rows))
        for field in fields:
            out.write(_variable(field))
        out.write(b"".join(_value_labels(fields)))
        out.write(b"".join(_extensions(fields, table.num_rows)))
        out.write(struct.pack("<ii", 999, 0))
        out.write(_zipped(cells, out.tell()) if zipped else cells)


def _fields(columns: list[Variable]) -> Iterator[_Field]:
    number = 0
    for column in columns:
        width = column.width if column.kind == "text" else 0
        pieces = -(-width // STEP) if width > PIECE else 1
        for piece in range(pieces):
            last = piece == pieces - 1
            number += 1
            yield _Field(f"V{number}", column, width - piece * STEP if last else PIECE, piece)


def _header(zipped: bool, slots: int, rows: int) -> bytes:
    about = b"@(#) SPSS DATA FILE".ljust(60)
    never = b"01 Jan 70" + b"00:00:00"  # the time of writing is nobody's business
    numbers = struct.pack("<iiiiid", 2, slots, 2 if zipped else 0, 0, rows, 100.0)
    return (b"$FL3" if zipped else b"$FL2") + about + numbers + never + b" " * 64 + bytes(3)


def _variable(field: _Field) -> bytes:
    """The record of a variable, and those of the rest of its text."""
    label = cut(field.variable.labels.column, LONGEST_LABEL) if field.piece == 0 else b""
    missing = _missing(field.variable) if field.piece == 0 else b""
    count = len(missing) // 8
    if count and _is_range(field.variable):
        count = -2
    form = _format(field)
    made = struct.pack("<iiiiii", 2, field.width, bool(label), count, form, form)
    made += field.short.encode().ljust(8)
    if label:
        made += struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4)
    more = struct.pack("<iiiiii", 2, -1, 0, 0, form, form) + b" " * 8
    return made + missing + more * (field.slots - 1)


def _format(field: _Field) -> int:
    if field.width:
        kind, width, decimals = 1, field.width, 0  # A
    elif field.variable.kind in FORMATS:
        kind, width, decimals = FORMATS[field.variable.kind]
    else:
        kind, width, decimals = (5, 8, 0) if field.variable.is_whole else (5, 8, 2)  # F
    return kind << 16 | width << 8 | decimals


def _missing(variable: Variable) -> bytes:
    """The values that are declared as missing: up to three, or the range of them."""
    said = variable.labels.missing
    if variable.kind == "text":
        if variable.width > SHORT or len(said) > MOST_CODES:
            return b""
        return b"".join(value.encode().ljust(8) for value in said)
    codes = sorted(code for value in said if (code := number_of(value)) is not None)
    if variable.kind != "number" or not codes:
        return b""
    if len(codes) > MOST_CODES:
        return struct.pack("<dd", codes[0], codes[-1]) if _is_range(variable) else b""
    return struct.pack(f"<{len(codes)}d", *codes)


def _is_range(variable: Variable) -> bool:
    """Whether the missing codes are many, and no other value is among them."""
    codes = [code for value in variable.labels.missing if (code := number_of(value)) is not None]
    if variable.kind != "number" or len(codes) <= MOST_CODES:
        return False
    found = variable.numbers[(variable.numbers >= min(codes)) & (variable.numbers <= max(codes))]
    return bool(np.isin(found, codes).all())


def _value_labels(fields: list[_Field]) -> Iterator[bytes]:
    """The labels of the values of numbers and of short text."""
    place = 1
    for field in fields:
        labels = []
        for value, label in sorted(field.variable.labels.values.items()):
            code = _code(field, value)
            text = cut(label, LONGEST_VALUE_LABEL)
            if code is not None and text:
                size = -(-(1 + len(text)) // 8) * 8 - 1
                labels.append(code + bytes([len(text)]) + text.ljust(size))
        if labels:
            yield struct.pack("<ii", 3, len(labels)) + b"".join(labels)
            yield struct.pack("<iii", 4, 1, place)
        place += field.slots


def _code(field: _Field, value: str) -> bytes | None:
    if field.width:
        coded = value.encode()
        return coded.ljust(8) if max(field.width, len(coded)) <= SHORT else None
    number = number_of(value) if field.variable.kind == "number" else None
    return None if number is None else struct.pack("<d", number)


def _extensions(fields: list[_Field], rows: int) -> Iterator[bytes]:
    """Encoding, names, lengths of long text, and how columns are shown."""
    first = [field for field in fields if field.piece == 0]
    yield _extension(3, 4, struct.pack("<8i", 20, 0, 0, -1, 1, 1, 2, 65001))
    yield _extension(4, 8, struct.pack("<3d", MISSING, HIGHEST, LOWEST))
    shown = [
        struct.pack("<iii", _measure(field.variable), 8, 0 if field.width else 1)
        for field in fields
    ]
    yield _extension(11, 4, b"".join(shown))
    names = [f"{field.short}={field.variable.name}".encode() for field in first]
    yield _extension(13, 1, b"\t".join(names))
    long = [
        f"{field.short}={field.variable.width:05d}\0\t".encode()
        for field in first
        if field.variable.kind == "text" and field.variable.width > PIECE
    ]
    if long:
        yield _extension(14, 1, b"".join(long))
    yield _extension(16, 8, struct.pack("<qq", 1, rows))
    yield _extension(20, 1, b"UTF-8")


def _measure(variable: Variable) -> int:
    measure = variable.labels.measure
    return 1 + MEASURES.index(measure) if measure in MEASURES else 0


def _extension(kind: int, size: int, content: bytes) -> bytes:
    return struct.pack("<iiii", 7, kind, size, len(content) // size) + content


# Rows


def _cells(fields: list[_Field], rows: int) -> bytes:
    """All rows: numbers take 8 bytes, text a multiple of 8."""
    kinds = [(field.short, f"S{field.slots * 8}" if field.width else "<f8") for field in fields]
    table = np.zeros(rows, np.dtype(kinds))
    for field in fields:
        table[field.short] = _texts(field) if field.width else _numbers(field.variable)
    return table.tobytes()


def _numbers(variable: Variable) -> npt.NDArray[np.float64]:
    numbers = variable.numbers
    if variable.kind != "number":
        numbers = (numbers + SINCE) / 1000
    return np.where(np.isnan(numbers), MISSING, numbers)


def _texts(field: _Field) -> npt.NDArray[Any]:
    """The part of the text that a field has, followed by spaces."""
    texts = field.variable.texts
    size = field.slots * 8
    if len(texts) == 0:
        return np.zeros(0, f"S{size}")
    whole = texts.view(np.uint8).reshape(len(texts), -1)  # [n, width]
    share = whole[:, field.piece * PIECE : (field.piece + 1) * PIECE][:, :size]
    padded = np.full((len(texts), size), ord(" "), np.uint8)
    padded[:, : share.shape[1]] = np.where(share == 0, ord(" "), share)
    return padded.view(f"S{size}")[:, 0]


def _zipped(cells: bytes, place: int) -> bytes:
    """The rows of a .zsav file: codes of 8 bytes each, in blocks that are compressed."""
    coded = _bytecode(cells)
    parts = [coded[start : start + BLOCK] for start in range(0, len(coded), BLOCK)]
    packed = [zlib.compress(part, 6) for part in parts]
    end = place + 24 + sum(map(len, packed))
    trailer = struct.pack("<qqii", -100, 0, BLOCK, len(parts))
    before, after = place, place + 24
    for part, block in zip(parts, packed, strict=True):
        trailer += struct.pack("<qqii", before, after, len(part), len(block))
        before, after = before + len(part), after + len(block)
    return struct.pack("<qqq", place, end, len(trailer)) + b"".join(packed) + trailer


def _bytecode(cells: bytes) -> bytes:
    """Eight codes "8 bytes follow" before every eight cells; the last codes may be empty."""
    whole = np.frombuffer(cells, np.uint8).reshape(-1, 8)
    full = len(whole) // 8
    head = np.empty((full, 72), np.uint8)
    head[:, :8] = 253
    head[:, 8:] = whole[: full * 8].reshape(full, 64)
    rest = whole[full * 8 :]
    tail = bytes([253] * len(rest) + [0] * (8 - len(rest))) if len(rest) else b""
    return head.tobytes() + tail + rest.tobytes()
