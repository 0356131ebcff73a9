"""SAS: transport files, and data sets to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats._statistics import StatisticsFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.format import FileNames
    from shoal.io.reading import Reading


class Sas(StatisticsFormat):
    """SAS: numbers, dates and text, with labels of columns.

    A column with special missing values is text: 1, 2, .A. Labels of values are in catalogs, which
    are separate files, and are not read.
    """

    name = "sas"
    endings = (".xpt", ".sas7bdat")
    reads_only = (".sas7bdat",)
    program = "SAS"

    def check_names(self, names: FileNames) -> None:
        """Raise an error if SAS cannot store columns of these names."""
        from shoal.io.formats._sas_writing import SAS
        from shoal.io.formats._statistics_columns import check_names

        check_names(names, SAS)

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a transport file of version 8."""
        from shoal.io.formats._sas_writing import write_transport

        if reading is not None and reading.is_foreign:
            _check_ascii(table, path)
        write_transport(table, path)


def _check_ascii(table: pa.Table, path: Path) -> None:
    """Raise an error for text that the same plan would read with other letters.

    A transport file does not name its encoding, so that the one of the plan is used for it.
    """
    from shoal.base.errors import BadFile
    from shoal.io.labels import labels_of

    for field in table.schema:
        texts = [labels_of(field).column, *map(str, table[field.name].unique().to_pylist())]
        if not all(text.isascii() for text in texts):
            raise BadFile(
                f"cannot write {path}: column {field.name!r} has letters beyond ASCII. A transport "
                "file does not name its encoding, and the plan states another one than UTF-8; "
                "write another format"
            )
