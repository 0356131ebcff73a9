"""What the library that reads transport files of SAS does not say: their rows, and .A to .Z.

The layout is that of "Record Layout of a SAS Version 8 or 9 Data Set in SAS Transport Format".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.base.errors import BadFile

LINE = 80  # bytes of a record
ROWS = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? +HEADER RECORD!{7} *([0-9]*)")
LETTERS = b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MISSING = ord(".")


def stated_rows(path: Path, found: int) -> int:
    """The number of rows that a file should have; -1 if its end is missing.

    Version 8 states it. Version 5 does not: a file without its last records cannot be recognized,
    unless one of them is incomplete.
    """
    content = path.read_bytes()
    if len(content) % LINE:
        return -1
    stated = re.search(rb"OBSV8   HEADER RECORD!{7} *([0-9]+)", content)
    return int(stated[1]) if stated else found


def cells_of(path: Path, width: int, rows: int, mode: str = "r") -> npt.NDArray[np.uint8]:
    """The bytes of the rows, [rows, width]."""
    with path.open("rb") as file:
        place = 0
        while record := file.read(LINE):
            place += LINE
            if ROWS.match(record):
                break
    if rows * width == 0 or path.stat().st_size < place + rows * width:
        return np.zeros((0, width), np.uint8)
    opened: Any = np.memmap
    cells: npt.NDArray[np.uint8] = opened(path, np.uint8, mode, place, (rows, width))
    return cells


def special_missing(path: Path, about: Any, cells: dict[str, Any]) -> dict[str, list[str]]:
    """The special missing values of the columns that have some: .A, "" for other cells."""
    widths = [about.variable_storage_width[name] for name in cells]
    starts = np.cumsum([0, *widths])
    rows = len(next(iter(cells.values()), []))
    found = {}
    content = cells_of(path, int(starts[-1]), rows)
    if len(content) < rows:
        raise BadFile(f"cannot read {path}: its records are shorter than their description says")
    for name, start in zip(cells, starts, strict=False):
        if about.readstat_variable_types[name] == "string":
            continue
        missing = np.array([cell is None for cell in cells[name]], np.bool_)
        marks = np.where(missing, content[:, start], 0)
        if np.isin(marks, list(LETTERS)).any():
            found[name] = [f".{chr(mark)}" if mark in LETTERS else "" for mark in marks.tolist()]
    return found


def mark_missing(path: Path, widths: Sequence[int], tags: Sequence[npt.NDArray[np.str_]]) -> None:
    """Write the letters of special missing values into the missing numbers of a file."""
    starts = np.cumsum([0, *widths])
    for letters, start in zip(tags, starts, strict=False):
        if len(letters):
            content = cells_of(path, int(starts[-1]), len(letters), "r+")
            marks = np.array([ord(letter or ".") for letter in letters.tolist()], np.uint8)
            content[:, start] = np.where(marks == MISSING, content[:, start], marks)
