"""Encodings: the bytes of a text file as UTF-8, whatever it is written in.

A byte order mark decides. Otherwise the plan states the encoding, or the file is UTF-8, or, if it
cannot be that, Windows-1252 or Latin-1. A file that is UTF-8 already passes unchanged.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
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
        self.guessed = False  # whether it did
        self._several = False  # whether characters of several bytes were passed on
        # A stated encoding of one byte per letter decodes everything, also UTF-8: as other letters.
        garbles = self._decoder is not None and not marked and _has_letters(self.encoding)
        self._twin = codecs.getincrementaldecoder(UTF8)() if garbles else None
        self._letter = ""  # the first beyond ASCII, if the text is UTF-8 so far
        self._ready = b""

    @property
    def found(self) -> bool:
        """Whether the encoding was found, not stated, and is not UTF-8."""
        return not self._stated and self.encoding != UTF8

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, about as many as asked for; none are left if it returns none."""
        if self._ready:
            found, self._ready = self._ready, b""
            return found
        last = False
        while not last:
            more = self._stream.read(max(size, 4) if size >= 0 else -1)
            if self._begin:
                more, self._begin = self._begin + more, b""
            last = not more
            if found := self._converted(more, last):
                return found
        return b""

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes; none are left if it returns 0."""
        found = self.read(len(buffer))
        many = min(len(buffer), len(found))
        buffer[:many] = found[:many]
        self._ready = found[many:]
        return many

    def _converted(self, more: bytes, last: bool) -> bytes:
        if self._decoder is None:
            if more.isascii() and (more or last):
                return more
            whole = more if last else more + self._stream.read(_lacking(more))
            if is_utf8(whole):
                self._several = True
                return whole
            self._change()
            more = whole
        assert self._decoder is not None
        if self._twin is not None:
            self._compare(self._twin, more, last)
        try:
            return self._decoder.decode(more, last).encode()
        except UnicodeError:
            raise self._fault() from None

    def _compare(self, twin: codecs.IncrementalDecoder, more: bytes, last: bool) -> None:
        """Raise an error at the end of a text that is UTF-8 in every letter."""
        try:
            text = twin.decode(more, last)
        except UnicodeDecodeError:
            self._twin = None
            return
        if not self._letter and not text.isascii():
            self._letter = next(letter for letter in text if not letter.isascii())
        if last and self._letter:
            garbled = self._letter.encode().decode(self.encoding, "replace")
            raise BadFile(
                f"{self._name} is in UTF-8, although [read] encoding (--encoding) states "
                f"{shown(self.encoding)}: {self._letter!r} would be read as {garbled!r}; state "
                "'utf-8', or leave the encoding out"
            )

    def _change(self) -> None:
        """Read the rest in another encoding, if the whole file can be in one."""
        found = legacy_encoding(self._name, self._opened) if self._open else None
        if found is None or self._several:
            raise self._fault()
        self.encoding, self.guessed = found, True
        self._decoder = codecs.getincrementaldecoder(found)()

    def _fault(self) -> BadFile:
        """The error for bytes that cannot be decoded, with the number of their line."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        number = 1
        with self._opened() as stream, suppress(UnicodeError):
            while part := stream.read(1 << 12):
                state = decoder.getstate()
                try:
                    number += decoder.decode(part).count("\n")
                except UnicodeError:  # somewhere here: once more, byte by byte
                    decoder.setstate(state)
                    for i in range(len(part)):
                        number += decoder.decode(part[i : i + 1]).count("\n")
        stated = ", as [read] states" if self._stated else ""
        return BadFile(
            f"{self._name} is not in {shown(self.encoding)}{stated}: line {number} "
            f"cannot be decoded; if it is in another encoding, {ADVICE}"
        )


def _has_letters(encoding: str) -> bool:
    """Whether the bytes that begin a character of UTF-8 are letters by themselves.

    >>> _has_letters("windows-1252"), _has_letters("utf-16"), _has_letters("gbk")
    (True, False, False)
    """
    try:
        return all(len(bytes([byte]).decode(encoding)) == 1 for byte in range(0xC2, 0xE0))
    except UnicodeError:
        return False


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

    several: int  # bytes that begin a character of UTF-8, and the next one belongs to it
    stray: int  # bytes above 127 that would be in no such character
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
    if counts.several >= counts.stray:
        return None
    if counts.unused:
        raise BadFile(f"{name} is neither in UTF-8 nor in Windows-1252 nor in Latin-1; {ADVICE}")
    return "windows-1252" if counts.c1 else "latin-1"


def _counted(opened: Opened) -> _Counts:
    often = np.zeros(256, np.int64)
    several = stray = 0
    with opened() as stream:
        while chunk := stream.read(CHUNK):
            found = np.frombuffer(b"\n" + chunk + b"\n", np.uint8)
            often += np.bincount(found[1:-1], minlength=256)
            goes_on = (found >= 0x80) & (found < 0xC0)
            begins = found >= 0xC2
            several += int((begins[:-1] & goes_on[1:]).sum())
            stray += int((begins[:-1] & ~goes_on[1:]).sum())
            stray += int((goes_on[1:] & (found[:-1] < 0x80)).sum())
    return _Counts(
        several,
        stray,
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
