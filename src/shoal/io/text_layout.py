"""The layout of a text file: delimiter and compression by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from shoal.io.packing import unpacked

DELIMITERS = ",;\t|"
DELIMITER_KEY = b"shoal.delimiter"  # metadata of an arrow table: the delimiter of its file


class TextLayout(NamedTuple):
    """Delimiter and compression of a text file."""

    delimiter: str  # "" if the header decides
    packing: str  # "" or one of PACKINGS


@contextmanager
def opened(path: Path, layout: TextLayout) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a text file."""
    with path.open("rb") as raw, unpacked(raw, layout.packing) as stream:
        yield stream
