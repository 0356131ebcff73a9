"""Reading spreadsheets, by fastexcel.

A sheet can contain what a table cannot: merged cells, formulas whose value nobody computed, error
values, notes below the rows, a second table. All of these are refused: read as cells, they would
be missing values or rows that nobody sees.
"""

from __future__ import annotations

import logging
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable, did_you_mean, preview
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import not_installed
from shoal.io.formats._numbers import whole

OLD = bytes.fromhex("d0cf11e0a1b11ae1")  # the container of .xls, and of encrypted files
ZIP = b"PK\x03\x04"
ZIPPED = (".xlsx", ".xlsm", ".xlsb", ".ods")
WITH_XML = (".xlsx", ".xlsm")
DAMAGED = "it is damaged, incomplete, or not of the format that its name says"
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z0-9:]{1,40})"')
# A cell whose formula is followed by no value, or by an empty one.
NO_VALUE = re.compile(
    rb'<(?:\w+:)?c\s[^>]*?r="([A-Z0-9]{1,12})"([^>]*)>\s*'
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
TEXT_RESULT = re.compile(rb't="str"')  # a formula whose value is the empty text
# In milliseconds since 1970: the first and the last moment, and the day of times without a date.
FIRST, LAST, ZERO = (
    int(np.datetime64(moment, "ms").astype(np.int64))
    for moment in ("1900-01-01", "9999-12-31T23:59:59.999", "1899-12-31")
)
SHOWN = 5


def read_sheet(path: Path, sheet: str | None) -> pa.Table:
    """Read one sheet of a workbook."""
    check_container(path)
    with _refused(path):
        book = library().read_excel(path)
        names = book.sheet_names
    sheet = _chosen(path, names, sheet)
    if path.suffix.lower() in WITH_XML:
        _check_cells(path, names.index(sheet))
    with _refused(path):
        loaded = book.load_sheet(sheet, schema_sample_rows=None)
        batch, errors = loaded.to_arrow_with_errors() if loaded.width else (None, None)
        columns = loaded.selected_columns
    if batch is None or batch.num_columns == 0:
        raise BadFile(f"cannot read {path}: the sheet {sheet!r} is empty")
    where = f"the sheet {sheet!r} of {path}"
    if errors is not None:
        cells = [_address(*error.position) for error in errors.errors]
        raise BadTable(
            f"{where} has error values such as #N/A in the cells {_some(cells)}; replace them or "
            "empty the cells"
        )
    table = pa.Table.from_batches([batch])
    unnamed = [one.index for one in columns if one.column_name_from == "generated"]
    table = _without_margins(table, unnamed, where)
    if any(re.fullmatch(r".+_[0-9]+", name) for name in table.column_names):
        _check_header(path, sheet)  # fastexcel numbers columns of the same name
    check_column_names(table.column_names, where)
    return _typed(table, where)


def check_container(path: Path) -> None:
    """Raise an error that says what is wrong if the first bytes do not fit the name."""
    with path.open("rb") as file:
        start = file.read(8)
    ending = path.suffix.lower()
    if start == OLD and ending in ZIPPED:
        raise BadFile(
            f"cannot read {path}: it is protected by a password, or it is an old .xls file; save "
            f"it without a password, or rename it to .xls"
        )
    if start.startswith(ZIP) and ending == ".xls":
        raise BadFile(f"cannot read {path}: it is not an .xls file; rename it to .xlsx or .ods")


def library() -> Any:
    """The library that reads spreadsheets."""
    try:
        import fastexcel
    except ImportError:
        raise not_installed("reading spreadsheets", "fastexcel", "excel") from None
    # It remarks on the types of empty columns.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    return fastexcel


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn errors of the library, which may contain cells, into a message without them."""
    try:
        yield
        return
    except BaseException as error:
        known = type(error).__module__.split(".")[0] in ("fastexcel", "_fastexcel")
        panic = type(error).__name__ == "PanicException"  # of Rust
        if not known and not panic and not isinstance(error, ValueError | pa.ArrowException):
            raise
        locked = "assword" in str(error).replace(str(path), "")
    if locked:
        raise BadFile(f"cannot read {path}: it is protected by a password; save it without one")
    raise BadFile(f"cannot read {path}: {DAMAGED}")


def _chosen(path: Path, names: list[str], sheet: str | None) -> str:
    """The sheet to read."""
    if sheet is None:
        if len(names) == 1:
            return names[0]
        raise BadFile(
            f"{path} has {len(names)} sheets: {preview(names)}; name the one to read, in the plan "
            "([read] sheet = …) or with --sheet"
        )
    if sheet not in names:
        hint = did_you_mean(sheet, names)
        raise BadFile(f"{path} has no sheet {sheet!r}{hint or f', but {preview(names)}'}")
    return sheet


# What a table cannot have


def _check_cells(path: Path, number: int) -> None:
    """Raise an error for merged cells, and for formulas without a value."""
    try:
        with zipfile.ZipFile(path) as parts:
            xml = parts.read(_part(parts, number))
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, RuntimeError):
        raise BadFile(f"cannot read {path}: {DAMAGED}") from None
    if b"mergeCell" in xml and (merged := [one.decode() for one in MERGED.findall(xml)]):
        raise BadTable(
            f"{path} has merged cells: {_some(merged)}; only the first cell of a range has a "
            "value. Unmerge them and fill in the others"
        )
    if b"<f" in xml or b":f" in xml:
        empty = [cell for cell, rest in NO_VALUE.findall(xml) if not TEXT_RESULT.search(rest)]
        if empty:
            cells = _some([cell.decode() for cell in empty])
            raise BadTable(
                f"{path} has formulas without a value in the cells {cells}: the program that "
                "wrote the file did not compute them. Open and save it in a spreadsheet program"
            )


def _part(parts: zipfile.ZipFile, number: int) -> str:
    """The name of the part of a workbook that has a sheet."""
    book = parts.read("xl/workbook.xml")
    links = parts.read("xl/_rels/workbook.xml.rels")
    found = re.findall(rb"<(?:\w+:)?sheet\s[^>]*?\w+:id=[\"']([^\"']+)[\"']", book)[number:]
    for link in re.findall(rb"<(?:\w+:)?Relationship\s[^>]*>", links):
        said = dict(re.findall(rb"(\w+)=[\"']([^\"']*)[\"']", link))
        if found and said.get(b"Id") == found[0]:
            target = said[b"Target"].decode()
            return target[1:] if target.startswith("/") else f"xl/{target}"
    raise KeyError(number)


def _without_margins(table: pa.Table, unnamed: list[int], where: str) -> pa.Table:
    """Leave out empty rows below and empty columns to the right; refuse empty ones in between."""
    empty = {i for i in range(table.num_columns) if table.column(i).null_count == table.num_rows}
    width = table.num_columns
    while width - 1 in empty and width - 1 in unnamed:
        width -= 1
    gaps = [column_letters(i) for i in unnamed if i < width and i in empty]
    if gaps:
        raise BadTable(
            f"{where} has an empty column inside ({_some(gaps)}, counted from the first column of "
            "the table); a sheet must contain one table: remove the column, or what is beside it"
        )
    nameless = [column_letters(i) for i in unnamed if i < width]
    if nameless:
        raise BadTable(
            f"{where} has columns without a name in its first row ({_some(nameless)}, counted from "
            "the first column of the table); name them, and remove titles above the names"
        )
    table = table.select(range(width))
    if not table.num_rows or not all(column.null_count for column in table.columns):
        return table
    filled = np.zeros(table.num_rows, np.bool_)
    for column in table.columns:
        filled |= column.is_valid().to_numpy()
    height = int(filled.nonzero()[0].max(initial=-1)) + 1
    if not filled[:height].all():
        row = 2 + int((~filled).argmax())
        raise BadTable(
            f"{where} has an empty row inside (row {row}, if the names are in row 1); a sheet must "
            "contain one table: remove the row, or what is below it"
        )
    return table.slice(0, height)


def _check_header(path: Path, sheet: str) -> None:
    """Raise an error if two columns have the same name."""
    with _refused(path):
        book = library().read_excel(path)
        first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow()
    names = [column[0].as_py() for column in first.columns]
    check_column_names([name for name in names if name], f"the sheet {sheet!r} of {path}")


# Types


def _typed(table: pa.Table, where: str) -> pa.Table:
    """Numbers that are all whole become integers, moments at midnight become dates."""
    columns = [_column(table[name], name, where) for name in table.column_names]
    return pa.table(columns, table.column_names)


def _column(values: pa.ChunkedArray, name: str, where: str) -> pa.ChunkedArray:
    kind = values.type
    if pa.types.is_null(kind):
        return values.cast(pa.string())
    if pa.types.is_floating(kind):
        return whole(values)
    if not pa.types.is_timestamp(kind) or values.null_count == len(values):
        return values
    found = pc.min_max(values.cast(pa.timestamp("ms")).cast(pa.int64()))
    least, most = found["min"].as_py(), found["max"].as_py()
    if least >= ZERO and most < FIRST:
        return values.cast(pa.time32("ms"), safe=False)
    if least < FIRST or most > LAST:
        raise BadTable(
            f"{where} has dates before 1900 or after 9999 in column {name!r}, which spreadsheets "
            "do not agree on; write them as text, such as 1850-12-31"
        )
    days = values.cast(pa.date32(), safe=False)
    return days if days.cast(kind).equals(values) else values


# Places of cells


def _address(row: int, column: int) -> str:
    return f"{column_letters(column)}{row + 1}"


def column_letters(column: int) -> str:
    """The letters of a column, counted from 0.

    >>> column_letters(0), column_letters(27)
    ('A', 'AB')
    """
    letters = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        letters = chr(ord("A") + letter) + letters
        column -= 1
    return letters


def _some(cells: list[str]) -> str:
    rest = len(cells) - SHOWN
    return ", ".join(cells[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
