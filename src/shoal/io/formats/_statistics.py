"""What the formats of SPSS, Stata and SAS share."""

from __future__ import annotations

from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from shoal.io.format import Format, Progress, holds_more

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class StatisticsFormat(Format):
    """Files of a statistics program: numbers, dates, text, and labels of columns and values."""

    keeps_types = True
    program: ClassVar[str]

    def check_installed(self) -> None:
        """Raise an error if the library that reads such files is missing."""
        from shoal.io.formats._statistics_reading import library

        library(self.program)

    def read(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file; codes stay codes, and their labels are metadata."""
        from shoal.io.formats._statistics_reading import read_statistics

        return read_statistics(path, self.program, reading.encoding if reading else None)

    def check_bytes(self, path: Path, table: pa.Table, reading: Reading | None = None) -> None:
        """Raise an error unless cells and labels, written again, give exactly the same bytes."""
        with TemporaryDirectory() as folder:
            again = Path(folder, path.name)
            self.write(table, again, reading)
            if not cmp(path, again, shallow=False):
                raise holds_more("bytes that do not follow from them")
