"""SPSS: data files of IBM SPSS Statistics, also compressed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats._statistics import StatisticsFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.format import FileNames
    from shoal.io.reading import Reading


class Spss(StatisticsFormat):
    """SPSS: numbers, dates and text, with labels of columns and values.

    Values that a file declares as missing stay the codes that they are.
    """

    name = "spss"
    endings = (".sav", ".zsav")
    program = "SPSS"

    def check_names(self, names: FileNames) -> None:
        """Raise an error if SPSS cannot store columns of these names."""
        from shoal.io.formats._spss_writing import SPSS
        from shoal.io.formats._statistics_columns import check_names

        check_names(names, SPSS)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table with its labels."""
        from shoal.io.formats._spss_writing import write_spss

        write_spss(table, path, zipped=path.suffix.lower() == ".zsav")
