"""Where the table is in a sheet that has more: titles above it, and notes below it.

Statistics offices publish such sheets. Which rows are read is stated in the plan, so that somebody
has seen it; here it is found, for a draft and for the advice of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.formats._xlsx_checks import Tall

# A name that is a number, and no year or place in a list, is a value.
NUMBER, YEAR = r"[+-]?[0-9]+([.,][0-9]+)?", "(1[5-9]|20|21)[0-9]{2}|[0-9]"
FEW = 4  # columns; with fewer, a record may have only its first cell, and a note must be longer


class Rows(NamedTuple):
    """The rows of a table in a sheet, counted from 1."""

    header: int
    last: int | None  # None: the last one of the sheet

    def __str__(self) -> str:
        stated = f"header_row = {self.header}"
        return stated if self.last is None else f"{stated} and last_row = {self.last}"


def find_rows(book: Any, sheet: str, tall: Sequence[Tall] = ()) -> Rows | None:
    """The rows of the table, if the sheet has one and other rows; None if that is not clear.

    `tall` are merged cells of one column: a name that is one stands in their last row.
    """
    loaded = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string")
    if not loaded.width or not loaded.height:
        return None
    columns = loaded.to_arrow().columns
    places = {column.absolute_index: i for i, column in enumerate(loaded.selected_columns)}
    for place, several in groupby(sorted(tall), lambda one: one.column):
        if place in places:
            columns[places[place]] = _moved(columns[places[place]], several)
    filled = np.column_stack([np.asarray(column.is_valid()) for column in columns])
    header = _header(filled, columns)
    if header is None:
        return None
    lengths = [len(text or "") for text in columns[_first_column(filled)].to_pylist()]
    last = _last(filled, header, np.array(lengths))
    if last is None or (header == filled.any(1).argmax() and last == len(filled) - 1):
        return None
    return Rows(header + 1, None if not filled[last + 1 :].any() else last + 1)


def _moved(column: pa.Array, tall: Iterable[Tall]) -> pa.Array:
    """A column with the values of merged cells in their last rows."""
    texts = column.to_pylist()
    for one in tall:
        if one.last <= len(texts):
            first, last = one.first - 1, one.last - 1
            texts[first], texts[last] = texts[last], texts[first]
    return pa.array(texts, column.type)


def _first_column(filled: npt.NDArray[np.bool_]) -> int:
    """The first column of the table: the first that most rows with several cells have."""
    wide = filled[filled.sum(1) >= 2]
    return int((2 * wide.sum(0) > len(wide)).argmax()) if len(wide) else 0


def _header(filled: npt.NDArray[np.bool_], columns: Any) -> int | None:
    """The row of the names: the first that has as many cells as any other, with titles above it."""
    cells = filled.sum(1)
    row = int(cells.argmax())
    width = int(cells[row])
    if width < 2 or (cells[:row] > max(1, width // 2)).any():
        return None
    here = [column for column in columns if column[row].is_valid]
    names = [column[row].as_py() for column in here]
    below = [pc.any(pc.equal(column.slice(row + 1), column[row])).as_py() for column in here]
    numbers = [re.fullmatch(NUMBER, name) and not re.fullmatch(YEAR, name) for name in names]
    if any(numbers) or any(below) or len(set(names)) < width:  # a record
        return None
    return row


def _last(filled: npt.NDArray[np.bool_], header: int, lengths: npt.NDArray[np.int64]) -> int | None:
    """The last row of the table; None if a second table may follow."""
    cells = filled.sum(1)
    width = int(cells[header])
    gaps = np.flatnonzero(cells[header + 1 :] == 0)
    end = header + int(gaps[0]) if len(gaps) else len(cells) - 1
    if (cells[end + 1 :] > max(1, width // 2)).any():
        return None
    first = _first_column(filled)
    while end > header and cells[end] == 1 and filled[end, first]:  # a note, or a record
        if width < FEW and lengths[end] <= lengths[header + 1 : end].max(initial=0):
            break
        end -= 1
    return end
