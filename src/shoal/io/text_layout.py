"""The layout of a text file: what its name and the plan say about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from shoal.io.packing import unpacked

if TYPE_CHECKING:
    from shoal.io.reading import Reading

DELIMITERS = ",;\t|"
DELIMITER_KEY = b"shoal.delimiter"  # metadata of an arrow table: the delimiter of its file
ENCODING_KEY = b"shoal.encoding"  # the same for its encoding, if it was found and is not UTF-8


class TextLayout(NamedTuple):
    """How a text file is written."""

    delimiter: str  # "" if the first lines decide
    packing: str  # "" or one of PACKINGS
    encoding: str = ""  # "" if its bytes decide; a byte order mark is stronger
    quote: str = '"'  # "" if no field is quoted
    header: bool = True  # whether the first row has the names of the columns
    comment: str = ""  # lines that begin with it are no rows
    marked: bool = False  # whether it is written with a byte order mark

    @staticmethod
    def of(reading: Reading | None, delimiter: str, packing: str) -> TextLayout:
        """The layout of a file, with the delimiter of its format."""
        if reading is None:
            return TextLayout(delimiter, packing)
        # A release is UTF-8. The same plan reads it by its mark, if it states another encoding.
        return TextLayout(
            # Without names nothing shows the delimiter: ranges contain commas.
            reading.delimiter or delimiter or ("" if reading.header else ","),
            packing,
            reading.encoding or "",
            '"' if reading.quote is None else reading.quote,
            reading.header,
            reading.comment or "",
            reading.is_foreign,
        )


@contextmanager
def opened(path: Path, layout: TextLayout) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a text file."""
    with path.open("rb") as raw, unpacked(raw, layout.packing) as stream:
        yield stream
