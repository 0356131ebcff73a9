"""Checking the dictionary of an SPSS file before it is read.

The library that reads these files ends the whole process if a record refers to a variable that is
not there, or if a label is not in the encoding of the file.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

HEADER = 176  # bytes
MAGIC = (b"$FL2", b"$FL3")
END = 999
MOST_MISSING = 3
TEXT_FORMATS = (1, 2)  # A and AHEX

Ints: TypeAlias = Callable[[int, int], tuple[int, ...]]  # place and count to integers


class Damaged(ValueError):
    """The dictionary contradicts itself, or ends too early."""


class _Variables(NamedTuple):
    widths: list[int]  # of each slot of 8 bytes: 0 is a number, -1 the rest of text
    texts: list[bytes]  # labels, which must be in the encoding of the file


def check_dictionary(path: Path, encoding: str | None) -> str | None:
    """Raise an error unless all records of the dictionary fit together.

    Returns the encoding to read the file with: None is the one that the file names. A file that
    names UTF-8 is in UTF-8, whatever the plan states, as a release of the same plan is.
    """
    with path.open("rb") as file:
        content = file.read(HEADER)
        if len(content) < HEADER or content[:4] not in MAGIC:
            raise Damaged
        order = "<" if content[64:68] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
        content += file.read(path.stat().st_size - HEADER)
    found = _Variables([], [])
    try:
        stated = _records(content, order, found)
    except (struct.error, IndexError):
        raise Damaged from None
    slots = struct.unpack_from(order + "i", content, 68)[0]
    if not found.widths or found.widths[0] < 0 or slots not in (len(found.widths), -1, 0):
        raise Damaged
    if stated.strip().upper() in ("UTF-8", "UTF8"):
        encoding = None
    _check_texts(found, encoding or stated)
    return encoding


def _records(content: bytes, order: str, found: _Variables) -> str:
    """Walk through the records to the end of the dictionary; returns the encoding that it names."""

    def ints(place: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f"{order}{count}i", content, place)

    place, rest, encoding, labels = HEADER, 0, "", 0
    while True:
        kind = ints(place, 1)[0]
        if kind == 2:
            rest, place = _variable(content, ints, place, rest, found)
            continue
        if rest:  # text lacks its other slots
            raise Damaged
        if kind == 3:
            place, labels = _value_labels(content, ints, place, found)
        elif kind == 4:
            place = _labelled(ints, place, found, labels)
        elif kind == 6:
            place += 8 + 80 * _positive(ints(place + 4, 1)[0])
        elif kind == 7:
            what, size, count = ints(place + 4, 3)
            length = _positive(size) * _positive(count)
            if place + 16 + length > len(content):
                raise Damaged
            if what == 20:
                encoding = content[place + 16 : place + 16 + length].decode("ascii", "ignore")
            place += 16 + length
        elif kind == END:
            return encoding
        else:
            raise Damaged


def _positive(number: int) -> int:
    if number < 0:
        raise Damaged
    return number


def _variable(
    content: bytes,
    ints: Ints,
    place: int,
    rest: int,
    found: _Variables,
) -> tuple[int, int]:
    """A record of a variable; returns how many slots of its text must follow, and where it ends."""
    width, labelled, missing, shown = ints(place + 4, 4)
    if not -1 <= width <= 255 or (width == -1) != (rest > 0):
        raise Damaged
    if labelled not in (0, 1) or abs(missing) > MOST_MISSING or missing == -1:
        raise Damaged
    if width >= 0 and (shown >> 16 in TEXT_FORMATS) != (width > 0):
        raise Damaged
    found.widths.append(width)
    rest = rest - 1 if rest else max(0, -(-width // 8) - 1)
    place += 32
    if labelled:
        size = _positive(ints(place, 1)[0])
        found.texts.append(content[place + 4 : place + 4 + size])
        place += 4 + -(-size // 4) * 4
    place += 8 * abs(missing)
    if place > len(content):
        raise Damaged
    return rest, place


def _value_labels(content: bytes, ints: Ints, place: int, found: _Variables) -> tuple[int, int]:
    """The labels of some values; returns where they end, and where they begin."""
    begin, count = place, _positive(ints(place + 4, 1)[0])
    place += 8
    for _ in range(count):
        size = content[place + 8]
        found.texts.append(content[place + 9 : place + 9 + size])
        place += 8 + -(-(1 + size) // 8) * 8
        if place > len(content):
            raise Damaged
    if ints(place, 1)[0] != 4:  # which variables they belong to
        raise Damaged
    found.texts.extend(_values(content, ints, begin, place, found))
    return place, begin


def _values(
    content: bytes,
    ints: Ints,
    begin: int,
    end: int,
    found: _Variables,
) -> list[bytes]:
    """The labelled values, if they are text."""
    first = ints(end + 8, 1)[0]
    if not 1 <= first <= len(found.widths) or found.widths[first - 1] <= 0:
        return []
    values, place = [], begin + 8
    while place < end:
        values.append(content[place : place + 8].rstrip(b" \0"))
        place += 8 + -(-(1 + content[place + 8]) // 8) * 8
    return values


def _labelled(ints: Ints, place: int, found: _Variables, labels: int) -> int:
    """The variables of the labels before; all are numbers, or all are short text."""
    count = _positive(ints(place + 4, 1)[0])
    if not labels or not 0 < count <= len(found.widths):
        raise Damaged
    which = ints(place + 8, count)
    if not all(1 <= one <= len(found.widths) for one in which):
        raise Damaged
    widths = [found.widths[one - 1] for one in which]
    if not (all(width == 0 for width in widths) or all(0 < width <= 8 for width in widths)):
        raise Damaged
    return place + 8 + 4 * count


def _check_texts(found: _Variables, encoding: str) -> None:
    """Raise an error unless all labels can be decoded."""
    try:
        decode = codecs.lookup(encoding or "cp1252").decode
    except LookupError:  # an encoding that only the library knows
        return
    try:
        for text in found.texts:
            decode(text)
    except UnicodeError:
        raise Damaged from None
