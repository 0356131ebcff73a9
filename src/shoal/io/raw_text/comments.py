"""Comments: lines of a text file that are no rows."""

from __future__ import annotations

import io
from typing import IO

AT_ONCE = 1 << 20  # bytes that are searched for comments


class Uncommented(io.RawIOBase):
    r"""A text file in UTF-8 without the lines that begin with a sign, outside quoted fields.

    >>> lines = io.BytesIO(b'# made by hand\na,b\n"#1\n#2",3\n#end')
    >>> io.BufferedReader(Uncommented(lines, "#", '"')).read()
    b'a,b\n"#1\n#2",3\n'
    """

    def __init__(self, stream: IO[bytes] | io.RawIOBase, sign: str, quote: str) -> None:
        self._stream = stream
        self._sign, self._quote = sign.encode(), quote.encode()
        self._inside = False  # a quoted field
        self._rest = b""  # the begin of a line
        self._ready = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002
        """The next bytes, more or less than asked for; none are left if it returns none."""
        found, self._ready = self._ready, b""
        while not found:
            more = self._stream.read(AT_ONCE)
            if not more and not self._rest:
                break
            lines = self._rest + more
            # Whole lines only: a comment may end in the next chunk, and \r\n may be cut in two.
            end = 1 + max(lines.rfind(b"\n"), lines.rfind(b"\r", 0, -1)) if more else len(lines)
            self._rest = lines[end:]
            found = self._without(lines[:end])
        return found

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes; none are left if it returns 0."""
        found = self.read()
        many = min(len(buffer), len(found))
        buffer[:many] = found[:many]
        self._ready = found[many:]
        return many

    def _without(self, lines: bytes) -> bytes:
        kept, done = [], 0
        while (at := self._next(lines, done)) >= 0:
            part = lines[done:at]
            self._follow(part)
            kept.append(part)
            done = at
            if self._inside:
                sign = lines[at : at + len(self._sign)]
                self._follow(sign)
                kept.append(sign)
                done += len(sign)
            else:
                ends = (lines.find(end, at) for end in (b"\n", b"\r"))
                done = 1 + min((end for end in ends if end >= 0), default=len(lines) - 1)
                if lines[done - 1 : done + 1] == b"\r\n":
                    done += 1
        part = lines[done:]
        self._follow(part)
        return b"".join([*kept, part])

    def _next(self, lines: bytes, begin: int) -> int:
        """Where the next line that begins with the sign begins; -1 if there is none."""
        if (begin == 0 or lines[begin - 1] in b"\r\n") and lines.startswith(self._sign, begin):
            return begin
        ends = (lines.find(end + self._sign, begin) for end in (b"\n", b"\r"))
        return 1 + min((end for end in ends if end >= 0), default=-2)

    def _follow(self, part: bytes) -> None:
        """Notice whether a quoted field goes on after this part."""
        if self._quote:
            self._inside ^= part.count(self._quote) % 2 == 1
