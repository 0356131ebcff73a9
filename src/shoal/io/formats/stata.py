"""Stata: data files of Stata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats._statistics import StatisticsFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.format import FileNames
    from shoal.io.reading import Reading


class Stata(StatisticsFormat):
    """Stata: numbers, dates and text, with labels of columns and values.

    A column with extended missing values is text: 1, 2, .a.
    """

    name = "stata"
    endings = (".dta",)
    program = "Stata"

    def check_names(self, names: FileNames) -> None:
        """Raise an error if Stata cannot store columns of these names."""
        from shoal.io.formats._stata_writing import STATA
        from shoal.io.formats._statistics_columns import check_names

        check_names(names, STATA)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table with its labels, in the version of Stata 14 and later."""
        from shoal.io.formats._stata_writing import write_stata

        write_stata(table, path)
