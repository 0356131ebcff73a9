"""The layout of a text file: what its name says of delimiter and packing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from shoal.io.packing import unpacked

DELIMITERS = ",;\t|"
DELIMITER_KEY = b"shoal.delimiter"  # a note on an arrow table: what its file had


class Layout(NamedTuple):
    """What the name of a text file says."""

    delimiter: str  # "" if the header decides
    packing: str  # "" or one of PACKINGS


@contextmanager
def opened(path: Path, layout: Layout) -> Iterator[IO[bytes]]:
    """The bytes of a text file, unpacked."""
    with path.open("rb") as raw, unpacked(raw, layout.packing) as stream:
        yield stream
