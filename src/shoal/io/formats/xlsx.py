"""Spreadsheets: one sheet of a workbook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.format import Format, Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class Xlsx(Format):
    """Spreadsheets of Excel and LibreOffice: one sheet; numbers, dates and text keep their types.

    Text such as 01300 stays text. The first row has the names of the columns.
    """

    name = "xlsx"
    endings = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    reads_only = (".xlsm", ".xlsb", ".xls", ".ods")
    keeps_types = True
    compressed = True

    def check_installed(self) -> None:
        """Raise an error if the library that reads spreadsheets is missing."""
        from shoal.io.formats._xlsx_reading import library

        library()

    def read(
        self,
        path: Path,
        progress: Progress | None,
        reading: Reading | None = None,
    ) -> pa.Table:
        """Read a sheet: the only one, or the one that the plan names."""
        from shoal.io.formats._xlsx_reading import read_sheet

        return read_sheet(path, reading.sheet if reading else None)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a workbook of one sheet; it is named as in the plan, so that the plan fits it."""
        from shoal.io.formats._xlsx_writing import write_sheet

        write_sheet(table, path, (reading.sheet if reading else None) or "Sheet1")
