"""What the formats of SPSS, Stata and SAS share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from shoal.io.format import FirstRows, Format, Progress, first_of

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class StatisticsFormat(Format):
    """Files of a statistics program: numbers, dates, text, and labels of columns and values."""

    keeps_types = True
    program: ClassVar[str]

    def check_installed(self) -> None:
        """Raise an error if a library that writes or reads such files is missing."""
        from shoal.io.formats._statistics_writing import writer

        writer(self.program)

    def read(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file; codes stay codes, and their labels are metadata."""
        from shoal.io.formats._statistics_reading import read_statistics

        return read_statistics(path, self.program, reading.encoding if reading else None)

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The first rows; special missing values of SAS are not told apart in them."""
        from shoal.io.formats._statistics_reading import first_statistics

        table = first_statistics(path, self.program, reading.encoding if reading else None, most)
        return first_of(table.combine_chunks().to_batches(), most)._replace(
            names=table.column_names
        )

    def stored(self, table: pa.Table) -> pa.Table:
        """What a file stores of a table: the cells, and the labels."""
        return table
