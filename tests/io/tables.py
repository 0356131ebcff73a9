"""A table of every kind, and files that must be refused."""

import datetime as dt
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.base.errors import BadFile
from shoal.io.frames import Frame, open_frame, read

PEOPLE = {
    "name": ["Ana", "Bo", "Zoë", "李"],
    "zip": ["04767", None, "04768", "04769"],
    "age": [29, 31, 40, 55],
    "visit": [1.5, 2.25, 0.125, 8.0],
    "smokes": [True, False, True, False],
    "born": [dt.date(1990, 1, 2), dt.date(1988, 5, 6), dt.date(1980, 7, 8), dt.date(1965, 9, 1)],
}

MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}

ODD_TEXT = {
    "id": ["007", "08", "1e5", "1.50", "NA", "null", "true"],
    "note": ["a,b;c\td|e", 'say "hi"', "two\nlines", "two\r\nlines", " spaces ", "", None],
    "naïve; name": ["é", "李", "🐟", None, "-", "'", '"'],
}
SECRET = "Rumpelstiltskin"  # stands in data rows; no message may show it


def values(frame: Frame) -> dict[str, list]:
    return {name: frame.column(name).to_pylist() for name in frame.names}


def as_read(table: dict[str, list]) -> Frame:
    return open_frame(pa.table({k: pa.array(v, pa.string()) for k, v in table.items()}))


def file(folder: Path, content: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refuse(path: Path, error: type[Exception] = BadFile) -> str:
    """The message with which a file is refused; it must name the file and hide the rows."""
    with pytest.raises(error) as caught:
        read(path)
    shown = caught.value
    while shown is not None:  # whatever hangs on the error may reach a log
        assert SECRET not in str(shown)
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    assert path.name in str(caught.value)
    return str(caught.value)
