"""Cells far away from a table do not take the memory of the machine."""

from __future__ import annotations

import struct

import pytest
import xlsxwriter
import xlwt

from shoal.base.errors import BadFile, BadTable
from shoal.io.format import DAMAGED
from shoal.io.formats._xlsx_checks import check_extent
from shoal.io.formats._xlsx_reading import first_of_sheet
from shoal.io.frames import read


def workbook(path, cells: dict[tuple[int, int], object]) -> None:
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("People")
    for place, value in cells.items():
        sheet.write(*place, value)
    book.close()


TABLE = {(0, 0): "age", (1, 0): 31, (2, 0): 47}


def test_a_cell_far_away_is_named(tmp_path):
    """The library would have asked for 512 GB, and the process would have been aborted."""
    path = tmp_path / "x.xlsx"
    workbook(path, {**TABLE, (1_048_575, 16_383): 1})
    for look in (read, lambda path: first_of_sheet(path, None, 5)):
        with pytest.raises(BadTable, match=r"far away from the others, such as XFD1048576: it rea"):
            look(path)


def test_a_large_table_is_read(tmp_path):
    """Many cells are no reason: only many empty ones between few."""
    path = tmp_path / "x.xlsx"
    workbook(path, {(i, j): f"c{j}" for i in range(3) for j in range(16_384)})
    assert read(path).native.num_columns == 16_384
    full = b"<worksheet><sheetData>" + b'<c r="XFD1"/>' * 100_000 + b'<row r="2000"></row>'
    check_extent(full, b"", "x")
    with pytest.raises(BadTable):
        check_extent(full.replace(b'"2000"', b'"9000"'), b"", "x")
    with pytest.raises(BadTable):
        check_extent(
            full.replace(b'"2000"', b'"9000"').replace(b"<c", b"<x:c").replace(b"<row", b"<x:row"),
            b"x:", "x",
        )  # fmt: skip


def old_workbook(path, column: int) -> None:
    """A file of Excel 97 with one cell whose column was damaged."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("People")
    for (i, j), value in {**TABLE, (1, 1): "far"}.items():
        sheet.write(i, j, value)
    book.save(str(path))
    content, cell = path.read_bytes(), struct.pack("<HHHH", 0xFD, 10, 1, 1)
    assert content.count(cell) == 1
    path.write_bytes(content.replace(cell, cell[:6] + struct.pack("<H", column)))


@pytest.mark.parametrize("column", [256, 60_000])
def test_a_damaged_column_of_an_old_file_is_refused(column, tmp_path):
    path = tmp_path / "x.xls"
    old_workbook(path, column)
    with pytest.raises(BadFile, match=DAMAGED):
        read(path)


def test_the_last_columns_of_an_old_file_are_read(tmp_path):
    book = xlwt.Workbook()
    sheet = book.add_sheet("People")
    for j in range(256):
        sheet.write(0, j, f"q{j}")
        sheet.write(1, j, j)
    book.save(str(tmp_path / "x.xls"))
    assert read(tmp_path / "x.xls").native.num_columns == 256
