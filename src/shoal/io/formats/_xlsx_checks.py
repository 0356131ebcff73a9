"""What a spreadsheet file can be instead of a table: protected, of another format, merged cells."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shoal.base.errors import BadFile, BadTable
from shoal.io.format import DAMAGED, not_installed

OLD = bytes.fromhex("d0cf11e0a1b11ae1")  # the container of .xls, and of encrypted files
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # in the directory of the container
ZIP = b"PK\x03\x04"
ZIPPED = (".xlsx", ".xlsm", ".xlsb", ".ods")
WITH_XML = (".xlsx", ".xlsm")
# What zipped files have inside, by their endings.
INSIDE = {
    ".xlsb": ("xl/workbook.bin",),
    ".xlsx": ("xl/workbook.xml",),
    ".xlsm": ("xl/workbook.xml",),
    ".ods": ("content.xml",),
}
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z0-9:]{1,40})"')
# A cell whose formula is followed by no value, or by an empty one.
NO_VALUE = re.compile(
    rb'<(?:\w+:)?c\s[^>]*?r="([A-Z0-9]{1,12})"([^>]*)>\s*'
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
WORKSHEET = re.compile(rb"<(\w+:)?worksheet\b")
TEXT_RESULT = re.compile(rb't="str"')  # a formula whose value is the empty text
# Of .ods files: rows, which may stand for several, cells that span others, and formulas.
ODS_SHEET = re.compile(rb"<table:table [^>]*>.*?</table:table>", re.DOTALL)
ODS_ROW = re.compile(rb"<table:table-row\b([^>]*?)(?:/>|>(.*?)</table:table-row>)", re.DOTALL)
ODS_REPEATED = re.compile(rb'table:number-rows-repeated="([0-9]{1,7})"')
ODS_SPANNED = re.compile(rb'table:number-(?:columns|rows)-spanned="(?!1")[0-9]+"')
ODS_FORMULA = re.compile(rb"<table:table-cell\b([^>]*\btable:formula=[^>]*)>")
SHOWN = 5
# The library makes room for the whole rectangle from the first cell to the last one: a cell far
# away from the table, or a damaged place of a cell, would take the memory of the whole machine.
ROOM = 1 << 25  # cells for which there is always room: one takes 32 bytes
SPARSE = 20  # more is refused if the cells with content are fewer than this part of the rectangle
OLD_COLUMNS = 256  # of an .xls file; its rows cannot be too many
# Records of .xls files that begin with a row and a column: values, texts, formulas, empty cells.
OLD_CELLS = frozenset((0x06, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x27E))
LETTERS = rb"[A-Z]{1,3}"


class NotOneTable(BadTable):
    """A sheet contains something else than one table."""


class Tall(NamedTuple):
    """Merged cells of one column; only the first of them has a value."""

    column: int  # counted from 0
    first: int  # rows, counted from 1
    last: int


def check_container(path: Path) -> None:
    """Raise an error that says what is wrong if the content does not fit the name."""
    with path.open("rb") as file:
        start = file.read(8)
        old = start == OLD
        locked = old and ENCRYPTED in file.read()
    ending = path.suffix.lower()
    if old and ending in ZIPPED:
        if locked:
            raise BadFile(f"cannot read {path}: it is protected by a password; save it without one")
        raise BadFile(f"cannot read {path}: it is an old .xls file; rename it to .xls")
    if start.startswith(ZIP):
        _check_zip(path, ending)


def _check_zip(path: Path, ending: str) -> None:
    try:
        with zipfile.ZipFile(path) as parts:
            inside = set(parts.namelist())
    except (zipfile.BadZipFile, EOFError, ValueError, OSError, NotImplementedError):
        return  # damaged, which reading it says
    kinds = [kind for kind, names in INSIDE.items() if inside.issuperset(names)]
    if kinds and ending not in kinds:
        raise BadFile(
            f"cannot read {path}: it is not an {ending} file; rename it to {' or '.join(kinds)}"
        )


def check_place(path: Path, number: int) -> None:
    """Raise an error if cells are so far away that there is no room for all between them.

    Those of .xlsb and .ods files are not noticed.
    """
    if path.suffix.lower() == ".xls":
        check_old_extent(path)
    elif path.suffix.lower() in WITH_XML:
        _xml(path, number)


def check_cells(path: Path, number: int, first: int = 1, last: int | None = None) -> None:
    """Raise an error for merged cells, and for formulas without a value, in these rows.

    A name in the first of them may be merged with the cells above it. Those of .xls and .xlsb files
    are not noticed. The places of cells are checked as well.
    """
    ending = path.suffix.lower()
    if ending not in (*WITH_XML, ".ods"):
        check_place(path, number)
        return
    xml = _xml(path, number)
    merged, empty = _of_ods(xml, number) if ending == ".ods" else _of_xlsx(xml)
    merged = [
        cells
        for cells in merged
        if _within(cells, first, last) and not ((tall := _tall(cells)) and tall.last == first)
    ]
    if merged:
        raise NotOneTable(
            f"{path} has merged cells: {some(merged)}; only the first cell of a range has a value. "
            "Unmerge them and fill in the others"
        )
    empty = [cells for cells in empty if _within(cells, first, last)]
    if empty:
        raise BadTable(
            f"{path} has formulas without a value in the cells {some(empty)}: the program that "
            "wrote the file did not compute them. Open and save it in a spreadsheet program"
        )


def tall_cells(path: Path, number: int) -> list[Tall]:
    """The merged cells of a sheet that are one column wide; of .xlsx files only."""
    if path.suffix.lower() not in WITH_XML:
        return []
    merged, _ = _of_xlsx(_xml(path, number))
    return [tall for cells in merged if (tall := _tall(cells))]


def _tall(cells: str) -> Tall | None:
    """Merged cells of one column; None if they are others.

    >>> _tall("AB5:AB6"), _tall("A5:B6")
    (Tall(column=27, first=5, last=6), None)
    """
    found = re.fullmatch(r"([A-Z]+)([0-9]+):\1([0-9]+)", cells)
    return Tall(column_number(found[1]) - 1, int(found[2]), int(found[3])) if found else None


def _xml(path: Path, number: int) -> bytes:
    """The part of a file that has the cells of a sheet."""
    ending = path.suffix.lower()
    try:
        with zipfile.ZipFile(path) as parts:
            xml = parts.read("content.xml" if ending == ".ods" else _part(parts, number))
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, RuntimeError):
        raise BadFile(f"cannot read {path}: {DAMAGED}") from None
    if ending != ".ods":
        check_extent(xml, _prefix(xml), str(path))
    return xml


def _prefix(xml: bytes) -> bytes:
    """What stands before the names of the elements of a sheet."""
    found = WORKSHEET.search(xml, 0, 2000)
    return (found[1] or b"") if found else b""


def _of_xlsx(xml: bytes) -> tuple[list[str], list[str]]:
    """The merged cells of a sheet, and those with formulas without a value."""
    rows = xml.rfind(b"sheetData")  # merged cells are listed after the rows
    merged = MERGED.findall(xml, max(rows, 0))
    formula = re.compile(b"<" + _prefix(xml) + b"f")
    formulas = NO_VALUE.findall(xml) if formula.search(xml, 0, max(rows, 0)) else []
    empty = [cell for cell, rest in formulas if not TEXT_RESULT.search(rest)]
    return [one.decode() for one in merged], [one.decode() for one in empty]


def _of_ods(xml: bytes, number: int) -> tuple[list[str], list[str]]:
    """The same of an .ods file, by rows."""
    merged: list[str] = []
    empty: list[str] = []
    if not ODS_SPANNED.search(xml) and b"table:formula=" not in xml:
        return merged, empty
    row = 1
    for sheet in ODS_SHEET.findall(xml)[number : number + 1]:
        for about, cells in ODS_ROW.findall(sheet):
            if ODS_SPANNED.search(cells):
                merged.append(f"row {row}")
            if any(b"office:value-type=" not in cell for cell in ODS_FORMULA.findall(cells)):
                empty.append(f"row {row}")
            repeated = ODS_REPEATED.search(about)
            row += int(repeated[1]) if repeated else 1
    return merged, empty


def _within(cells: str, first: int, last: int | None) -> bool:
    """Whether a cell or a range touches these rows.

    >>> _within("A1:C3", 4, None), _within("A1:C3", 3, None), _within("A9", 3, 8)
    (False, True, False)
    """
    rows = [int(row) for row in re.findall("[0-9]+", cells)]
    return bool(rows) and max(rows) >= first and (last is None or min(rows) <= last)


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


# How far cells reach


def check_extent(xml: bytes, prefix: bytes, where: str) -> None:
    """Raise an error if a sheet of an .xlsx file has a cell far away from the others.

    `prefix` is what stands before the names of elements, if anything.
    """
    begin = b"<" + prefix + b"c "
    cells = xml.count(begin)
    columns = set(re.findall(begin + rb'r="(' + LETTERS + rb")", xml))
    last = xml.rfind(b"<" + prefix + b"row ")
    row = re.match(rb'[^>]*?\sr="([0-9]{1,7})"', xml[last : last + 1000]) if last >= 0 else None
    if not columns or row is None:
        return  # cells without places follow each other
    rows, widest = int(row[1]), max(columns, key=lambda one: (len(one), one))
    area = rows * column_number(widest.decode())
    if area <= max(ROOM, SPARSE * cells):
        return
    beyond = re.search(begin + b'r="(' + widest + b'[0-9]{1,7})"', xml)
    far = "" if beyond is None else f", such as {beyond[1].decode()}"
    raise BadTable(
        f"{where} has cells far away from the others{far}: it reaches to column "
        f"{widest.decode()} and row {rows}, but only {cells} cells are in use. Delete the rows and "
        "columns outside of the table and save the file"
    )


def check_old_extent(path: Path) -> None:
    """Raise an error if an .xls file has a cell in a column that no such file can have."""
    try:
        import olefile
    except ImportError:
        raise not_installed("reading .xls files", "olefile", "excel") from None
    try:
        with olefile.OleFileIO(path) as parts:
            name = next(one for one in ("Workbook", "Book") if parts.exists(one))
            content = parts.openstream(name).read()
        wide = any(column >= OLD_COLUMNS for column in _old_columns(content))
    except (OSError, StopIteration, ValueError, LookupError, struct.error, RecursionError):
        return  # damaged elsewhere, which reading it says
    if wide:
        raise BadFile(f"cannot read {path}: {DAMAGED}")


def _old_columns(content: bytes) -> Iterator[int]:
    """The columns of all cells."""
    at, end = 0, len(content) - 8
    while at < end:
        kind, size = struct.unpack_from("<HH", content, at)
        if kind in OLD_CELLS:
            yield struct.unpack_from("<H", content, at + 6)[0]
        at += 4 + size


def column_number(letters: str) -> int:
    """The number of a column, counted from 1.

    >>> column_number("A"), column_number("AB"), column_number("XFD")
    (1, 28, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


# Places of cells


def address(row: int, column: int) -> str:
    """The name of a cell, counted from 0: A1."""
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


def some(cells: list[str]) -> str:
    """Up to five names of cells or columns."""
    rest = len(cells) - SHOWN
    return ", ".join(cells[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
