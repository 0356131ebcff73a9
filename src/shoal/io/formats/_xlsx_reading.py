"""Reading spreadsheets, by fastexcel.

A sheet can contain what a table cannot: merged cells, formulas whose value nobody computed, error
values, notes below the rows, a second table. All of these are refused: read as cells, they would
be missing values or rows that nobody sees.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadInput, BadTable, did_you_mean, preview
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import DAMAGED, FirstRows, first_of, not_installed
from shoal.io.formats._numbers import whole
from shoal.io.formats._xlsx_checks import (
    NotOneTable,
    address,
    check_cells,
    check_container,
    check_place,
    column_letters,
    some,
    tall_cells,
)
from shoal.io.formats._xlsx_layout import NUMBER, YEAR, Rows, find_rows
from shoal.io.raw_text.header import are_numbered, numbered
from shoal.io.reading import Reading

# In milliseconds since 1970: the first and the last moment, and the day of times without a date.
FIRST, LAST, ZERO = (
    int(np.datetime64(moment, "ms").astype(np.int64))
    for moment in ("1900-01-01", "9999-12-31T23:59:59.999", "1899-12-31")
)
ROWS = "header_row (the row of the names) and last_row"
OPTIONS = " (--header-row and --last-row for draft and setup)"
FEWEST = 3  # names that are numbers; fewer may be names by chance
LARGE = 4 << 20  # bytes of a file; of a larger one, a look at the first rows sees no others


def read_sheet(
    path: Path, reading: Reading | None, between: tuple[int, int] | None = None
) -> pa.Table:
    """Read one sheet of a workbook: all of its rows, or those that are stated.

    `between` is how many records are left out at the top, and how many are read.
    """
    asked = reading or Reading()
    book, sheet = _opened(path, asked.sheet)
    try:
        return _table(path, book, sheet, asked, between)
    except NotOneTable as error:
        if asked.header_row:
            raise BadTable(str(error)) from None
        rows = _found(path, book, sheet)
        where = f"in these rows, state {rows}" if rows else f"in some rows only, state {ROWS}"
        raise BadTable(f"{error}. If the table is {where} under [read]{OPTIONS}") from None


def first_of_sheet(path: Path, reading: Reading | None, most: int) -> FirstRows:
    """The first rows of the table; if there is none, those of the sheet with the reason.

    What is wrong with any of its rows shows here already, unless the file is large.
    """
    asked = reading or Reading()
    book, sheet = _checked(path, asked.sheet)
    with _refused(path):
        top = book.load_sheet(
            sheet, header_row=None, skip_rows=0, n_rows=most, dtypes="string"
        ).to_arrow()
    rows = zip(*(column.to_pylist() for column in top.columns), strict=True)
    lines = tuple("\t".join(cell or "" for cell in row).rstrip("\t") for row in rows)
    if path.stat().st_size > LARGE and asked.header:
        first = asked.header_row or next((n for n, line in enumerate(lines, 1) if line), 1)
        asked = asked.updated({"header_row": first, "last_row": first + most})
    try:
        table = read_sheet(path, asked.updated({"sheet": sheet}))
    except BadInput as error:
        return FirstRows([], [], (str(error),), lines=lines)
    found = first_of(table.slice(0, most).combine_chunks().to_batches(), most)
    return found._replace(names=table.column_names, lines=lines)


def rows_of_table(path: Path, reading: Reading | None) -> Rows | None:
    """Where the table is, if the sheet has more: titles above, notes below."""
    asked = reading or Reading()
    if asked.header_row or not asked.header:
        return None
    book, sheet = _checked(path, asked.sheet)
    return _found(path, book, sheet)


def first_texts(path: Path, reading: Reading) -> list[str]:
    """The texts of the first row of a sheet that is not empty."""
    return _first(path, *_checked(path, reading.sheet))


def _first(path: Path, book: Any, sheet: str) -> list[str]:
    with _refused(path):
        first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string")
        columns = first.to_arrow().columns if first.width else []
    return [text for column in columns if len(column) and (text := column[0].as_py()) is not None]


def sheet_names(path: Path) -> list[str]:
    """The names of the sheets of a workbook."""
    return list(_book(path).sheet_names)


def _opened(path: Path, sheet: str | None) -> tuple[Any, str]:
    """The workbook, and the name of the sheet to read."""
    book = _book(path)
    return book, _chosen(path, book.sheet_names, sheet)


def _checked(path: Path, sheet: str | None) -> tuple[Any, str]:
    """The same, if there is room for what the sheet contains."""
    book, chosen = _opened(path, sheet)
    check_place(path, book.sheet_names.index(chosen))
    return book, chosen


def _book(path: Path) -> Any:
    check_container(path)
    with _refused(path):
        book = library().read_excel(path)
        _ = book.sheet_names
    return book


def _found(path: Path, book: Any, sheet: str) -> Rows | None:
    with _refused(path):
        return find_rows(book, sheet, tall_cells(path, book.sheet_names.index(sheet)))


def _table(
    path: Path, book: Any, sheet: str, asked: Reading, between: tuple[int, int] | None
) -> pa.Table:
    where = f"the sheet {sheet!r} of {path}"
    check_cells(path, book.sheet_names.index(sheet), asked.header_row or 1, asked.last_row)
    options = _options(path, book, sheet, asked, where)
    if between is not None:
        options |= _some_rows(path, book, sheet, options["header_row"], *between)
    with _refused(path):
        loaded = book.load_sheet(sheet, schema_sample_rows=None, **options)
        batch, errors = loaded.to_arrow_with_errors() if loaded.width else (None, None)
        unnamed = {
            c.index: c.absolute_index
            for c in loaded.selected_columns
            if c.column_name_from == "generated"
        }
    if batch is None or batch.num_columns == 0:
        raise BadFile(f"cannot read {path}: the sheet {sheet!r} is empty")
    if errors is not None:
        cells = [address(*error.position) for error in errors.errors]
        raise BadTable(
            f"{where} has error values such as #N/A in the cells {some(cells)}; replace them or "
            "empty the cells"
        )
    table = pa.Table.from_batches([batch])
    if options["header_row"] is None:
        table, unnamed = table.rename_columns(numbered(table.num_columns)), {}
    elif asked.header_row and unnamed:
        above = _names_above(path, book, sheet, asked.header_row)
        named = {i: above[place] for i, place in unnamed.items() if place in above}
        table = table.rename_columns(
            [named.get(i, name) for i, name in enumerate(table.column_names)]
        )
        unnamed = {i: place for i, place in unnamed.items() if i not in named}
    table = _without_margins(table, list(unnamed), where, asked.header_row)
    names = set(table.column_names)
    if any((twin := re.fullmatch(r"(.+)_[0-9]+", name)) and twin[1] in names for name in names):
        _check_header(path, book, sheet, asked)  # fastexcel numbers columns of the same name
    check_column_names(table.column_names, where)
    table = _typed(table, where)
    if options["header_row"] is not None:
        _check_names(table, where)
    return table


def _options(path: Path, book: Any, sheet: str, asked: Reading, where: str) -> dict[str, Any]:
    """The rows to read, as the library counts them."""
    if not asked.header and not are_numbered(_first(path, book, sheet)):
        return {"header_row": None}
    if asked.header_row is None:
        return {"header_row": 0}
    _check_row(path, book, sheet, asked.header_row, where)
    rows = None if asked.last_row is None else asked.last_row - asked.header_row
    return {"header_row": asked.header_row - 1, "n_rows": rows}


def _names_above(path: Path, book: Any, sheet: str, header: int) -> dict[int, str]:
    """Names that are merged with cells above the row of the names, by the number of the column.

    A merged range has its value in the first cell, which is not in that row.
    """
    tall = [one for one in tall_cells(path, book.sheet_names.index(sheet)) if one.last == header]
    found: dict[int, str] = {}
    for row in {one.first for one in tall}:
        with _refused(path):
            loaded = book.load_sheet(
                sheet, header_row=None, skip_rows=row - 1, n_rows=1, dtypes="string"
            )
            texts = [column[0].as_py() for column in loaded.to_arrow().columns]
            places = [column.absolute_index for column in loaded.selected_columns]
        wanted = {one.column for one in tall if one.first == row}
        found |= {p: text for p, text in zip(places, texts, strict=True) if p in wanted and text}
    return found


def _some_rows(
    path: Path, book: Any, sheet: str, header: int | None, top: int, height: int
) -> dict[str, Any]:
    """The options for so many records after the first `top` ones.

    Empty rows above the table are passed over only if no rows to skip are stated.
    """
    with _refused(path):
        cells = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string").to_arrow()
    filled = np.column_stack([np.asarray(column.is_valid()) for column in cells.columns])
    empty = int(filled.any(1).argmax()) if not header else 0
    if header is None:
        return {"skip_rows": empty + top, "n_rows": height}
    return {"header_row": header + empty, "skip_rows": top, "n_rows": height}


def _check_row(path: Path, book: Any, sheet: str, row: int, where: str) -> None:
    """Raise an error unless the row of the names has some: the library would take another one."""
    with _refused(path):
        height = book.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=1).total_height
        found = (
            height >= row
            and book.load_sheet(
                sheet, header_row=None, skip_rows=row - 1, n_rows=1, dtypes="string"
            ).to_arrow()
        )
    if not found or all(column.null_count for column in found.columns):
        raise BadTable(
            f"{where} has no cells in row {row}, which should have the names of the columns; "
            "correct header_row under [read]"
        )


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
        wrong = type(error).__name__ == "CalamineCellError"
    if wrong:
        raise BadTable(
            f"{path} has a column of error values such as #N/A; replace them or empty the cells"
        )
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


def _without_margins(
    table: pa.Table, unnamed: list[int], where: str, header: int | None
) -> pa.Table:
    """Leave out empty rows below and empty columns beside it; refuse empty ones in between."""
    empty = {i for i in range(table.num_columns) if table.column(i).null_count == table.num_rows}
    left, width = 0, table.num_columns
    while width - 1 in empty and width - 1 in unnamed:
        width -= 1
    while left in empty and left in unnamed and left < width:
        left += 1
    inside = [i for i in unnamed if left <= i < width]
    gaps = [column_letters(i) for i in inside if i in empty]
    if gaps:
        raise NotOneTable(
            f"{where} has an empty column inside ({some(gaps)}, counted from the first column of "
            "the table); a sheet must contain one table: remove the column, or what is beside it"
        )
    if inside:
        names = "its first row" if header is None else f"row {header}"
        letters = some([column_letters(i) for i in inside])
        raise NotOneTable(
            f"{where} has columns without a name in {names} ({letters}, counted from the first "
            "column of the table); name them, or state the row of the names as header_row under "
            "[read]"
        )
    table = table.select(range(left, width))
    if not table.num_rows or not all(column.null_count for column in table.columns):
        return table
    filled = np.zeros(table.num_rows, np.bool_)
    for column in table.columns:
        filled |= column.is_valid().to_numpy()
    height = int(filled.nonzero()[0].max(initial=-1)) + 1
    if not filled[:height].all():
        row = (header or 1) + 1 + int((~filled).argmax())
        unsure = "" if header else ", if the names are in row 1"
        raise NotOneTable(
            f"{where} has an empty row inside (row {row}{unsure}); a sheet must contain one table: "
            "remove the row, or state header_row and last_row under [read]"
        )
    return table.slice(0, height)


def _check_header(path: Path, book: Any, sheet: str, asked: Reading) -> None:
    """Raise an error if two columns have the same name."""
    options = {"skip_rows": asked.header_row - 1} if asked.header_row else {}
    with _refused(path):
        row = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string", **options)
        names = [column[0].as_py() for column in row.to_arrow().columns]
    check_column_names([name for name in names if name], f"the sheet {sheet!r} of {path}")


def _check_names(table: pa.Table, where: str) -> None:
    """Raise an error if the first record was read as names: they are numbers above numbers."""
    numbers = [
        field.name
        for field in table.schema
        if (pa.types.is_integer(field.type) or pa.types.is_floating(field.type))
        and re.fullmatch(NUMBER, field.name)
        and not re.fullmatch(YEAR, field.name)
    ]
    if len(numbers) >= FEWEST and 2 * len(numbers) > table.num_columns:
        raise BadTable(
            f"{where} seems to have no row of names: {preview(numbers)} would be names of columns, "
            "so that a record would be published unchanged; add a row with the names, or state "
            "header = false under [read] in the plan (--no-header for draft and setup)"
        )


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
