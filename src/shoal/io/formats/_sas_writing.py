"""Writing transport files of SAS, of version 8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.base.errors import BadFile
from shoal.io.formats._sas_transport import mark_missing
from shoal.io.formats._statistics_columns import Program, variables
from shoal.io.formats._statistics_writing import column_labels, fix_time, frame_of, writer

MOST_COLUMNS = 9999
TIME, NEVER = rb"(\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d)", b"01JAN60:00:00:00"
TIMES = 4  # when the library and the table were made and changed

SAS = Program(
    name="SAS",
    names="[A-Za-z_][A-Za-z0-9_]*",
    allowed="begins with a letter or _, and has the letters a to z, digits and _",
    longest_name=32,
    reserved=frozenset(["_n_", "_error_", "_numeric_", "_character_", "_all_"]),
    longest_text=32_767,
    longest_label=256,
    keeps_spaces=False,
    formats={"date": "DATE9", "moment": "DATETIME22.3"},
    holds=lambda numbers: (
        ((np.abs(numbers) >= 16.0**-64) & (np.abs(numbers) < 16.0**62)) | _is_zero(numbers)
    ),
)


def _is_zero(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    zero: npt.NDArray[np.bool_] = (numbers == 0) & ~np.signbit(numbers)
    return zero


def write_transport(table: pa.Table, path: Path) -> None:
    """Write a table to exactly this path."""
    if table.num_columns > MOST_COLUMNS:
        raise BadFile(
            f"cannot write {path}: a transport file stores at most {MOST_COLUMNS:,} columns, and "
            f"the table has {table.num_columns:,}; write another format"
        )
    columns = variables(table, SAS)
    none = np.zeros(0, "U1")
    writer("SAS").write_xport(
        frame_of([column._replace(tags=none) for column in columns]),
        path,
        column_labels=column_labels(columns),
        variable_format={
            one.name: SAS.formats[one.kind] for one in columns if one.kind in SAS.formats
        },
    )
    fix_time(path, TIME, NEVER, TIMES)
    widths = [column.width if column.kind == "text" else 8 for column in columns]
    mark_missing(path, widths, [column.tags for column in columns])
