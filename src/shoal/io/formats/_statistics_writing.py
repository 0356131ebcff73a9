"""Writing files of SPSS, Stata and SAS, by pyreadstat.

It takes frames of pandas or polars, so that polars is needed as well. It writes the time into the
file, which is replaced by a fixed one: the same table gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import ShoalError
from shoal.io.format import not_installed
from shoal.io.formats._statistics_columns import Variable
from shoal.io.formats._statistics_reading import library


def writer(program: str) -> Any:
    """The library that writes the files of statistics programs."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise not_installed(f"writing files of {program}", "polars", "statistics") from None
    return library(program)


def frame_of(columns: list[Variable], whole: Iterable[str] = ()) -> Any:
    """The columns as a frame of polars; those named `whole` as integers of 32 bits.

    A column with special missing values has their letters among its numbers.
    """
    import polars as pl

    return pl.DataFrame([_series(pl, column, column.name in set(whole)) for column in columns])


def _series(pl: Any, column: Variable, is_whole: bool) -> Any:
    if column.kind == "text":
        return pl.Series(column.name, pl.from_arrow(column.texts), pl.String)
    kind = pa.int32() if is_whole else pa.float64()
    numbers = pa.array(column.numbers, mask=np.isnan(column.numbers)).cast(kind)
    if not len(column.tags):
        return pl.Series(column.name, pl.from_arrow(numbers))
    cells = zip(column.tags.tolist(), numbers.to_pylist(), strict=True)
    return pl.Series(column.name, [tag or number for tag, number in cells], pl.Object)


def column_labels(columns: list[Variable]) -> dict[str, str]:
    """The labels of the columns that have one."""
    return {one.name: one.labels.column for one in columns if one.labels.column}


def fix_time(path: Path, place: bytes, never: bytes, times: int = 1) -> None:
    """Replace the time of writing: the group of this pattern, in the first kilobyte."""
    with path.open("r+b") as file:
        found = [*re.finditer(place, file.read(1024), re.DOTALL)]
        if len(found) != times:
            raise ShoalError("pyreadstat wrote a file of another layout; please report it")
        for one in found:
            file.seek(one.start(1))
            file.write(never)
