"""JSON lines: one JSON object per line and row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.format import FirstRows, Format, Progress, packing_of
from shoal.io.packing import PACKINGS

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class Jsonl(Format):
    """JSON lines: one object per row; numbers, text, true and false keep their types."""

    name = "jsonl"
    endings = (".jsonl", ".ndjson")
    packings = PACKINGS
    keeps_types = True

    def read(
        self,
        path: Path,
        progress: Progress | None,
        reading: Reading | None = None,
    ) -> pa.Table:
        """Read a file; text that looks like a date stays text."""
        from shoal.io.formats._json_lines import read_json_lines

        return read_json_lines(path, packing_of(path))

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The rows of the first lines."""
        from shoal.io.formats._json_lines import first_json_lines

        return first_json_lines(path, packing_of(path), most)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table."""
        from shoal.io.formats._json_lines import write_json_lines

        write_json_lines(table, path, packing_of(path))
