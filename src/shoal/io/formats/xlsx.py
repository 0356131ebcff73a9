"""Spreadsheets: one sheet of a workbook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.format import FirstRows, Format, Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class Xlsx(Format):
    """Spreadsheets of Excel and LibreOffice: one sheet; numbers, dates and text keep their types.

    Text such as 01300 stays text. The first row has the names of the columns, unless the plan names
    another one.
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

        return read_sheet(path, reading)

    def read_between(
        self, path: Path, progress: Progress | None, reading: Reading | None, top: int, height: int
    ) -> pa.Table:
        """Read some rows of a sheet; the others do not count for the types of its columns."""
        from shoal.io.formats._xlsx_reading import read_sheet

        return read_sheet(path, reading, (top, height))

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The first rows of the table in a sheet, and those of the sheet."""
        from shoal.io.formats._xlsx_reading import first_of_sheet

        return first_of_sheet(path, reading, most)

    def sheets(self, path: Path) -> list[str]:
        """The names of the sheets."""
        from shoal.io.formats._xlsx_reading import sheet_names

        return sheet_names(path)

    def with_rows(self, path: Path, reading: Reading) -> Reading:
        """The same with the rows of the table, if there are titles above or notes below it."""
        from shoal.io.formats._xlsx_reading import rows_of_table

        rows = rows_of_table(path, reading)
        if rows is None:
            return reading
        return reading.model_copy(update={"header_row": rows.header, "last_row": rows.last})

    def first_names(self, path: Path, reading: Reading) -> list[str]:
        """The texts of the first row that is not empty."""
        from shoal.io.formats._xlsx_reading import first_texts

        return first_texts(path, reading)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a workbook of one sheet; it is named as in the plan, so that the plan fits it."""
        from shoal.io.formats._xlsx_writing import write_sheet

        write_sheet(table, path, (reading.sheet if reading else None) or "Sheet1")
