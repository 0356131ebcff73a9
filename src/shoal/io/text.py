"""Delimited text formats: one line per row, possibly compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from shoal.io.format import FirstRows, Format, Progress, packing_of
from shoal.io.packing import PACKINGS
from shoal.io.text_layout import TextLayout

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class Text(Format):
    """A text file with a header; the modules that read and write it are slow to import."""

    packings = PACKINGS
    keeps_types = False
    streams = True
    delimiter: ClassVar[str] = ""  # "": the header decides

    def _layout(self, path: Path, reading: Reading | None) -> TextLayout:
        return TextLayout.of(reading, self.delimiter, packing_of(path))

    def read(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file; every column is text."""
        from shoal.io.text_reading import read_text

        return read_text(path, self._layout(path, reading), progress)

    def schema(self, path: Path, reading: Reading | None = None) -> pa.Schema:
        """Read the header."""
        from shoal.io.text_reading import text_schema

        return text_schema(path, self._layout(path, reading))

    def batches(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read a file part by part."""
        from shoal.io.text_reading import text_batches

        return text_batches(path, self._layout(path, reading), progress)

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The first rows, as far as they can be read."""
        from shoal.io.raw_text.first_lines import first_lines

        return first_lines(path, self._layout(path, reading), most)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table."""
        from shoal.io.text_writing import write_text

        write_text(table, path, self._layout(path, reading))

    def write_parts(
        self,
        schema: pa.Schema,
        parts: Iterable[pa.Table],
        path: Path,
        reading: Reading | None = None,
    ) -> str | None:
        """Write a table that comes part by part; returns the SHA-256 of its text."""
        from shoal.io.text_writing import write_text_parts

        return write_text_parts(schema, parts, path, self._layout(path, reading))

    def check_parts(self, path: Path, written: str | None, reading: Reading | None = None) -> None:
        """Raise an error unless the file contains exactly the text that was written."""
        from shoal.io.formats._reachable import check_digest

        check_digest(path, self._layout(path, reading), written)

    def check_bytes(self, path: Path, table: pa.Table, reading: Reading | None = None) -> None:
        """Raise an error unless the cells, written again, give the same decompressed bytes."""
        from shoal.io.formats._reachable import check_text

        check_text(path, self._layout(path, reading), table)
