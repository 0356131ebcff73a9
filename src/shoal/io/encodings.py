"""Encodings: the bytes of a text file as UTF-8, whatever it is written in.

A byte order mark decides. Otherwise the plan states the encoding, or the file is UTF-8, or, if it
cannot be that, Windows-1252 or Latin-1. A file that is UTF-8 already passes unchanged.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile

UTF8 = "utf-8"
BOM = b"\xef\xbb\xbf"
# The longest first, as one is a prefix of another.
MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    BOM: "utf-8-sig",
}
ADVICE = "state it in the plan, as in [read] encoding = 'latin-1', or save the file as UTF-8"
# The characters of UTF-8 that take several bytes (Unicode 15, table 3-7).
_SEVERAL = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
_CONTROL = [byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1a\x1c\x1d\x1e\x1f"]
_UNUSED = [0x81, 0x8D, 0x8F, 0x90, 0x9D]  # by Windows-1252
CHUNK = 1 << 20

Opened = Callable[[], AbstractContextManager[IO[bytes]]]


class Utf8(io.RawIOBase):
    """The bytes of a text file as UTF-8, without a byte order mark."""

    def __init__(self, stream: IO[bytes], name: str, opened: Opened, stated: str = "") -> None:
        self._stream, self._name, self._opened, self._stated = stream, name, opened, stated
        start = stream.read(4)
        marked = next((found for mark, found in MARKS.items() if start.startswith(mark)), "")
        self.encoding = marked or stated or UTF8
        self.encoding = UTF8 if self.encoding == "utf-8-sig" else self.encoding
        self._begin = start.removeprefix(BOM)
        self._decoder: codecs.IncrementalDecoder | None = None
        if codecs.lookup(self.encoding).name != UTF8:
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        # Without a mark or a statement the file may turn out to be in another encoding.
        self._open = not marked and not stated
        self._several = False  # whether characters of several bytes were passed on
        self._lines = 1
        self._ready: memoryview = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes; none are left if it returns 0."""
        while not self._ready:
            more = self._begin + self._stream.read(max(len(buffer), 4) - len(self._begin))
            self._begin = b""
            last = not more
            found = self._converted(more, last)
            self._lines += found.count(b"\n")
            self._ready = memoryview(found)
            if last and not found:
                return 0
        many = min(len(buffer), len(self._ready))
        buffer[:many] = self._ready[:many]
        self._ready = self._ready[many:]
        return many

    def _converted(self, more: bytes, last: bool) -> bytes:
        if self._decoder is None:
            if more.isascii() and (more or last):
                return more
            whole = more if last else more + self._stream.read(_lacking(more))
            if is_utf8(whole):
                self._several = True
                return whole
            self._change(whole)
            more = whole
        assert self._decoder is not None
        try:
            return self._decoder.decode(more, last).encode()
        except UnicodeError:
            raise self._fault(more) from None

    def _change(self, bad: bytes) -> None:
        """Read the rest in another encoding, if the whole file can be in one."""
        found = legacy_encoding(self._name, self._opened) if self._open else None
        if found is None or self._several:
            raise self._fault(bad)
        self.encoding = found
        self._decoder = codecs.getincrementaldecoder(found)()

    def _fault(self, bad: bytes) -> BadFile:
        """The error for bytes that cannot be decoded, with the number of their line."""
        decoder = codecs.getincrementaldecoder(self.encoding)
        lines = bad.splitlines(keepends=True)
        number = 0
        if self.encoding not in ("utf-16", "utf-32"):
            for number, line in enumerate(lines):  # noqa: B007
                try:
                    decoder().decode(line, True)
                except UnicodeError:
                    break
        stated = ", as [read] states" if self._stated else ""
        return BadFile(
            f"{self._name} is not in {shown(self.encoding)}{stated}: line {self._lines + number} "
            f"cannot be decoded; if it is in another encoding, {ADVICE}"
        )


def is_utf8(content: bytes) -> bool:
    """Whether bytes are UTF-8; arrow finds out many times faster than Python.

    >>> is_utf8("Müller".encode()), is_utf8("Müller".encode("latin-1"))
    (True, False)
    """
    ends = pa.py_buffer(np.array([0, len(content)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(content)]).validate(
            full=True
        )
    except pa.ArrowInvalid:
        return False
    return True


def _lacking(content: bytes) -> int:
    """How many bytes the last character of an incomplete text lacks."""
    for back in range(1, min(4, len(content)) + 1):
        byte = content[-back]
        if byte & 0xC0 != 0x80:  # the first byte of a character
            long = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return max(0, long - back)
    return 0


class _Counts(NamedTuple):
    """What the bytes of a file are."""

    several: int  # characters of several bytes, if it were UTF-8
    high: int  # other bytes above 127
    c1: int  # bytes 0x80 to 0x9f: Windows-1252 has letters and quotes there, Latin-1 nothing
    unused: int  # by Windows-1252
    control: int  # bytes that no text has


def legacy_encoding(name: str, opened: Opened) -> str | None:
    """The encoding of a file that is not UTF-8; None: it is UTF-8 with a damaged character.

    An error if it is no text, or in an encoding that cannot be told from others.
    """
    counts = _counted(opened)
    if counts.control:
        raise BadFile(
            f"{name} is not a text table: it is not in UTF-8, and has control characters; if it "
            f"is in another encoding, {ADVICE}"
        )
    if counts.several >= counts.high:
        return None
    if counts.unused:
        raise BadFile(f"{name} is neither in UTF-8 nor in Windows-1252 nor in Latin-1; {ADVICE}")
    return "windows-1252" if counts.c1 else "latin-1"


def _counted(opened: Opened) -> _Counts:
    often = np.zeros(256, np.int64)
    several = taken = 0
    with opened() as stream:
        while chunk := stream.read(CHUNK):
            often += np.bincount(np.frombuffer(chunk, np.uint8), minlength=256)
            if not chunk.isascii():
                found = _SEVERAL.findall(chunk)
                several += len(found)
                taken += sum(map(len, found))
    return _Counts(
        several,
        int(often[128:].sum()) - taken,
        int(often[0x80:0xA0].sum()),
        int(often[_UNUSED].sum()),
        int(often[_CONTROL].sum()),
    )


def shown(encoding: str) -> str:
    """The name of an encoding as people write it.

    >>> shown("latin-1"), shown("utf-16")
    ('Latin-1', 'UTF-16')
    """
    return encoding.upper() if encoding.lower().startswith("utf") else encoding.capitalize()
