"""SAS: transport files, and data sets to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats._statistics import StatisticsFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading


class Sas(StatisticsFormat):
    """SAS: numbers, dates and text, with labels of columns.

    The special missing values .A to .Z are read as missing. Labels of values are in catalogs,
    which are separate files, and are not read.
    """

    name = "sas"
    endings = (".xpt", ".sas7bdat")
    reads_only = (".sas7bdat",)
    program = "SAS"

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a transport file of version 8."""
        from shoal.io.formats._sas_writing import write_transport

        write_transport(table, path)
