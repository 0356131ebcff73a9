"""Spreadsheets: what is read, what is refused, and what the written file contains."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter
import xlwt

from shoal.base.errors import BadFile, BadTable
from shoal.io.files import check_target
from shoal.io.format import format_of
from shoal.io.formats import _xlsx_writing
from shoal.io.frames import Frame, read, read_back, same_rows, write
from shoal.io.reading import Reading
from tests.io.tables import PEOPLE, SECRET, file, refuse, values

DAY = "yyyy-mm-dd"


def book(folder: Path, *sheets: list[list], name: str = "people.xlsx", merge: str = "") -> Path:
    """A workbook as another program writes it; a pair is a number and its format."""
    path = folder / name
    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as made:
        for rows in sheets:
            sheet = made.add_worksheet()
            for r, row in enumerate(rows):
                for c, cell in enumerate(row):
                    if isinstance(cell, tuple):
                        sheet.write_number(r, c, cell[0], made.add_format({"num_format": cell[1]}))
                    elif isinstance(cell, dict):
                        sheet.write_formula(r, c, "=NA()", None, cell["value"])
                    elif cell is not None:
                        sheet.write(r, c, cell)
            if merge:
                sheet.merge_range(merge, SECRET)
    return path


def test_numbers_dates_and_text_keep_their_types(tmp_path):
    rows = [
        ["zip", "age", "share", "born", "seen", "at", "smokes", "none"],
        ["01300", 29, 0.5, (45429, DAY), (45429.25, DAY), (0.75, "hh:mm"), True, None],
        ["01301", 31, 2, (1, DAY), (45429, DAY), (0.5, "hh:mm"), False, None],
    ]
    found = read(book(tmp_path, rows)).native
    assert found.to_pydict() == {
        "zip": ["01300", "01301"],
        "age": [29, 31],
        "share": [0.5, 2.0],
        "born": [dt.date(2024, 5, 17), dt.date(1900, 1, 1)],
        "seen": [dt.datetime(2024, 5, 17, 6), dt.datetime(2024, 5, 17)],
        "at": [dt.time(18), dt.time(12)],
        "smokes": [True, False],
        "none": [None, None],
    }
    assert found.schema.field("age").type == pa.int64()
    assert found.schema.field("none").type == pa.string()


def test_a_column_of_numbers_and_words_is_text(tmp_path):
    rows = [["a", "b"], [1, (45429, DAY)], ["N", "1850-12-31"], [2.5, "?"]]
    assert values(read(book(tmp_path, rows))) == {
        "a": ["1", "N", "2.5"],
        "b": ["2024-05-17 00:00:00", "1850-12-31", "?"],
    }


def test_empty_cells_around_the_table_do_not_matter(tmp_path):
    rows = [[], [None, "a", "b"], [None, 1, "x"], [None, None, "y"]]
    path = book(tmp_path, rows)
    assert values(read(path)) == {"a": [1, None], "b": ["x", "y"]}
    grey = openpyxl.load_workbook(path)
    for cell in ("F2", "B9"):
        grey.active[cell].fill = openpyxl.styles.PatternFill("solid", "cccccc")
    grey.save(path)
    assert values(read(path)) == {"a": [1, None], "b": ["x", "y"]}


def test_several_sheets_are_named(tmp_path):
    path = book(tmp_path, [["a"], [1]], [["b"], [2]])
    assert "2 sheets: 'Sheet1', 'Sheet2'; name the one to read, in the plan" in refuse(path)
    assert values(read(path, None, Reading(sheet="Sheet2"))) == {"b": [2]}
    with pytest.raises(BadFile, match="has no sheet 'Sheet3'; did you mean"):
        read(path, None, Reading(sheet="Sheet3"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "b"], [1, 2], [], [SECRET, 4]], "an empty row inside (row 3"),
        ([["a", None, "b"], [1, None, SECRET]], "an empty column inside (B"),
        ([["a", None, "b"], [1, 5, SECRET]], "columns without a name in its first row (B"),
        ([["A title"], ["a", "b"], [1, SECRET]], "columns without a name in its first row (B"),
        ([["a", "a", "a_1"], [1, 2, SECRET]], "same name: 'a'"),
        ([["a", "b"], [1, {"value": "#N/A"}], [SECRET, 2]], "such as #N/A in the cells B2"),
        ([["a"], [{"value": ""}], [SECRET]], "formulas without a value in the cells A2"),
        ([["a"], [(2958466, DAY)]], "dates before 1900 or after 9999 in column 'a'"),
        ([["a"], [(-5, DAY)]], "dates before 1900 or after 9999 in column 'a'"),
    ],
)  # fmt: skip
def test_sheets_that_are_not_one_table(rows, message, tmp_path):
    assert message in refuse(book(tmp_path, rows), BadTable)


def test_formulas_with_a_value_are_read(tmp_path):
    rows = [["a", "b"], [{"value": 5}, {"value": "x"}], [6, "y"]]
    assert values(read(book(tmp_path, rows))) == {"a": [5, 6], "b": ["x", "y"]}


def test_merged_cells(tmp_path):
    path = book(tmp_path, [["a", "b"], [1, 2]], merge="A2:A5")
    assert "merged cells: A2:A5; only the first" in refuse(path, BadTable)


def test_empty_sheets_and_sheets_without_rows(tmp_path):
    assert "the sheet 'Sheet1' is empty" in refuse(book(tmp_path, []))
    frame = read(book(tmp_path, [["a", "b"]]))
    assert (frame.names, frame.height) == (["a", "b"], 0)


OLD = bytes.fromhex("d0cf11e0a1b11ae1")


def test_passwords_and_wrong_endings(tmp_path):
    locked = OLD + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600)
    assert "it is protected by a password; save" in refuse(file(tmp_path, locked, "x.xlsx"))
    assert "old .xls file; rename it to .xls" in refuse(file(tmp_path, OLD + bytes(99), "x.xlsx"))
    path = book(tmp_path, [["a"], [1]])
    assert "rename it to .xlsx" in refuse(path.rename(tmp_path / "x.xls"))
    for ending in (".xlsx", ".xls", ".ods", ".xlsb"):
        assert "damaged" in refuse(file(tmp_path, f"a,b\n1,{SECRET}\n", f"y{ending}"))


def test_what_the_library_cannot_read_without(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(BadFile, match=r"fastexcel.*not installed: pip install 'shoal\[excel"):
        read(book(tmp_path, [["a"], [1]]))


@pytest.mark.parametrize("name", ["out.xlsx", "out.sav", "out.dta", "out.xpt"])
def test_a_missing_library_is_noticed_before_the_work(name, tmp_path, monkeypatch):
    """What is written is read back."""
    check_target(tmp_path / name)
    for library in ("fastexcel", "pyreadstat"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadFile, match="not installed: pip install"):
        check_target(tmp_path / name)


@pytest.mark.parametrize("ending", [".xls", ".ods", ".xlsm", ".xlsb"])
def test_endings_that_are_only_read(ending, tmp_path):
    with pytest.raises(BadFile, match=rf"end in \{ending} can be read but not.*\.csv.* or \.xlsx"):
        check_target(tmp_path / f"x{ending}")
    with pytest.raises(BadFile, match="can be read but not written"):
        write(Frame(pa.table({"a": [1]})), tmp_path / f"x{ending}")


# Writing


def old_workbook(path: Path, rows: list[list[object]]) -> None:
    """A file of Excel 97."""
    book = xlwt.Workbook()
    sheet, days = book.add_sheet("People"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell, *([days] if isinstance(cell, dt.date) else []))
    book.save(str(path))


def open_document(path: Path, rows: list[list[object]]) -> None:
    """A file of LibreOffice."""
    pd.DataFrame(rows[1:], columns=rows[0]).to_excel(path, engine="odf", index=False)


@pytest.mark.parametrize(("ending", "made"), [(".xls", old_workbook), (".ods", open_document)])
def test_other_spreadsheets_are_read_as_xlsx_files_are(ending, made, tmp_path):
    """Written by other libraries: codes keep their zeros, days are dates."""
    path = tmp_path / f"people{ending}"
    made(path, [["zip", "age", "share", "born"], ["01300", 31, 0.5, dt.date(2001, 2, 3)],
                ["99", 47, 1.25, dt.date(1999, 12, 31)]])  # fmt: skip
    found = read(path).native
    assert found.to_pylist() == [
        {"zip": "01300", "age": 31, "share": 0.5, "born": dt.date(2001, 2, 3)},
        {"zip": "99", "age": 47, "share": 1.25, "born": dt.date(1999, 12, 31)},
    ]
    assert pa.types.is_integer(found.schema.field("age").type)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(BadFile):
        read(path)


def test_others_read_what_is_written(tmp_path):
    path = tmp_path / "x.xlsx"
    table = pa.table({**PEOPLE, "text": ["=1+1", "http://example.org", "01300", "a & <b>"]})
    write(Frame(table), path)
    assert same_rows(read_back(path), Frame(table))
    header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    assert list(header) == table.column_names
    expected = [tuple(row.values()) for row in table.to_pylist()]
    found = [tuple(c.date() if isinstance(c, dt.datetime) else c for c in row) for row in rows]
    assert found == expected
    cells = openpyxl.load_workbook(path).active["G"][1:]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}  # no formulas, no links
    assert all(cell.hyperlink is None for cell in cells)


def test_a_file_contains_its_cells_and_no_time_or_author(tmp_path):
    path = tmp_path / "x.xlsx"
    write(Frame(pa.table({"a": ["x"]})), path)
    with zipfile.ZipFile(path) as parts:
        assert {one.date_time for one in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not any("docProps" in one for one in parts.namelist())
        assert parts.comment == b""
    content = path.read_bytes()
    write(Frame(pa.table({"a": ["x"]})), path)
    assert path.read_bytes() == content


def test_a_changed_file_is_noticed(tmp_path):
    path = tmp_path / "x.xlsx"
    write(Frame(pa.table({"a": ["x"]})), path)
    with zipfile.ZipFile(path, "a") as parts:
        parts.writestr("docProps/core.xml", SECRET)
    with pytest.raises(Exception, match="contains more than the cells"):
        read_back(path)


def test_the_sheet_has_the_name_of_the_plan(tmp_path):
    path, reading = tmp_path / "x.xlsx", Reading(sheet="People & more")
    write(Frame(pa.table({"a": ["x"]})), path, reading)
    assert values(read_back(path, reading)) == {"a": ["x"]}
    with pytest.raises(BadFile, match=r"no sheet of an .* can be named"):
        write(Frame(pa.table({"a": ["x"]})), path, Reading(sheet="a/b"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": ["x" * 32_768]}, "text of 32,768 characters"),
        ({"a": ["x\x01"]}, "control characters"),
        ({"a\x01": ["x"]}, "cannot store this name"),
        ({"a": ["x", None]}, "a row without any value"),
        ({"a": ["x"] * 10}, "at most 9 rows"),
        ({"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]}, "and 3 columns"),
    ],
)
def test_what_a_sheet_cannot_contain(table, message, tmp_path, monkeypatch):
    monkeypatch.setattr(_xlsx_writing, "MOST_ROWS", 10)
    monkeypatch.setattr(_xlsx_writing, "MOST_COLUMNS", 3)
    with pytest.raises(BadFile, match=message):
        write(Frame(pa.table(table)), tmp_path / "x.xlsx")


def test_what_a_spreadsheet_would_round_is_text(tmp_path):
    table = pa.table(
        {
            "big": [2**53 + 1, 1],
            "old": [dt.date(1899, 12, 31), dt.date(2024, 1, 1)],
            "fine": pa.array([1, 2], pa.timestamp("us")),
            "nan": [float("nan"), 1.0],
            "small": pa.array([0.1, 0.2], pa.float32()),
        }
    )
    write(Frame(table), tmp_path / "x.xlsx")
    back = read_back(tmp_path / "x.xlsx")
    assert same_rows(back, Frame(table))
    kinds = [str(back.native.schema.field(name).type) for name in back.names]
    assert kinds == ["string", "string", "string", "string", "double"]


def test_large_files_are_estimated_as_compressed(tmp_path):
    from shoal.engines.source import size_in_memory

    path = book(tmp_path, [["a"], [1]])
    assert size_in_memory(path) == 8 * path.stat().st_size
    assert format_of(path).compressed
