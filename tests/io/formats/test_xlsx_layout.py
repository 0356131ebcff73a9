"""Sheets as statistics offices publish them: titles above the table, notes below it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
import xlsxwriter
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import CoveredTableCell, Table, TableCell, TableRow
from odf.text import P

import shoal
from shoal.base.errors import BadPlan, BadTable
from shoal.io.frames import read
from shoal.io.reading import Reading
from tests.io.tables import SECRET, refuse, values

PEOPLE = [[20 + i % 6, "fm"[i % 2], f"0130{i % 2}", 1000 + i] for i in range(24)]
NAMES = ["age", "sex", "zip", "income"]
OFFICE = [
    ["Table 12.3: people in the register"],
    ["by age and sex, 2024"],
    [],
    [None, "all persons"],
    NAMES,
    *PEOPLE,
    [],
    ["1) at the end of the year"],
    ["Source: register", "24 May 2025"],
]
ROWS = Reading(header_row=5, last_row=29)


def xlsx(path: Path, rows: list[list], *merge: str) -> Path:
    book = openpyxl.Workbook()
    for r, row in enumerate(rows, 1):
        for c, cell in enumerate(row, 1):
            book.active.cell(r, c, cell)
    for cells in merge:
        book.active.merge_cells(cells)
    book.save(path)
    return path


def xls(path: Path, rows: list[list]) -> Path:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sheet")
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if cell is not None:
                sheet.write(r, c, cell)
    book.save(str(path))
    return path


def ods(path: Path, rows: list[list], span: bool = False, formula: bool = False) -> Path:
    book = OpenDocumentSpreadsheet()
    sheet = Table(name="Sheet")
    for row in rows:
        line = TableRow()
        for cell in row:
            if isinstance(cell, str):
                more = {"numbercolumnsspanned": 2, "numberrowsspanned": 1} if span else {}
                made = TableCell(valuetype="string", **more)
                made.addElement(P(text=cell))
                line.addElement(made)
                if span:
                    line.addElement(CoveredTableCell())
                span = False
            elif isinstance(cell, dt.date):
                line.addElement(TableCell(valuetype="date", datevalue=cell.isoformat()))
            elif cell is None:
                line.addElement(TableCell(**({"formula": "of:=[.A2]"} if formula else {})))
            else:
                line.addElement(TableCell(valuetype="float", value=cell))
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(path))
    return path


MAKE = {".xlsx": xlsx, ".xls": xls, ".ods": ods}


@pytest.mark.parametrize("ending", MAKE)
def test_the_stated_rows_are_read(ending, tmp_path):
    path = MAKE[ending](tmp_path / f"office{ending}", OFFICE)
    found = read(path, None, ROWS).native
    assert found.column_names == NAMES
    assert [list(row.values()) for row in found.to_pylist()] == PEOPLE
    assert found.schema.field("age").type == pa.int64()
    message = refuse(path, BadTable)
    assert "If the table is in these rows, state header_row = 5 and last_row = 29" in message


def test_merged_titles_do_not_matter_if_the_rows_are_stated(tmp_path):
    path = xlsx(tmp_path / "office.xlsx", OFFICE, "A1:D1")
    assert "merged cells: A1:D1" in refuse(path, BadTable)
    assert "header_row = 5 and last_row = 29 under [read]" in refuse(path, BadTable)
    assert read(path, None, ROWS).height == 24
    merged = xlsx(tmp_path / "inside.xlsx", OFFICE, "A7:A9")
    with pytest.raises(BadTable, match="merged cells: A7:A9"):
        read(merged, None, ROWS)


def test_names_that_are_merged_with_cells_above_them(tmp_path):
    """Names of one column stand beside a heading over several, as high as both rows."""
    rows = [
        [None, "Table 12.3: people in the register"],
        [],
        [None, "age", "person", None, "income"],
        [None, None, "sex", "zip", None],
        *([None, *person] for person in PEOPLE),
    ]
    path = xlsx(tmp_path / "a.xlsx", rows, "B3:B4", "C3:D3", "E3:E4")
    plan = shoal.draft(path)
    assert plan.read.header_row == 4
    table = read(path, reading=Reading(header_row=4)).native
    assert table.column_names == NAMES
    assert [list(row.values()) for row in table.to_pylist()] == PEOPLE
    assert shoal.anonymize(path, plan).frame.num_rows == len(PEOPLE)


@pytest.mark.parametrize(
    ("merge", "said"),
    [
        (("A2:A4",), "merged cells: A2:A4"),  # into the records
        (("A3:A4",), "merged cells: A3:A4"),  # below the names
        (("A2:B3",), "merged cells: A2:B3"),  # over two columns
        (("D2:D3",), "columns without a name in row 3 .A, D,"),
    ],
)
def test_merged_cells_that_are_no_name(merge, said, tmp_path):
    rows = [["people"], ["age"], [None, "sex", "zip", None], *PEOPLE]
    path = xlsx(tmp_path / "a.xlsx", rows, *merge)
    with pytest.raises(BadTable, match=said):
        read(path, reading=Reading(header_row=3))


def test_the_advice_on_merged_cells_names_the_options_of_a_draft(tmp_path):
    path = xlsx(tmp_path / "a.xlsx", [["people"], NAMES, *PEOPLE], "A1:D1", "B4:B5")
    with pytest.raises(BadTable, match="--header-row and --last-row for draft and setup"):
        read(path)


def test_rows_that_are_not_there(tmp_path):
    path = xlsx(tmp_path / "office.xlsx", OFFICE)
    for row in (3, 99):
        with pytest.raises(BadTable, match=rf"no cells in row {row}, which should have the names"):
            read(path, None, Reading(header_row=row))
    with pytest.raises(BadTable, match=r"without a name in row 4 \(A, C, D"):
        read(path, None, Reading(header_row=4))
    with pytest.raises(BadTable, match=r"an empty row inside \(row 30\)"):
        read(path, None, Reading(header_row=5))
    twice = xlsx(tmp_path / "twice.xlsx", [["Title"], [], ["a", "a", "a_1"], [1, 2, SECRET]])
    with pytest.raises(BadTable, match="same name: 'a'"):
        read(twice, None, Reading(header_row=3))


@pytest.mark.parametrize(
    "stated",
    [{"header_row": 0}, {"last_row": 5}, {"header_row": 5, "last_row": 5}, {"header": False}],
)
def test_rows_that_contradict_each_other(stated):
    with pytest.raises(BadPlan, match=r"\[read\] needs a header_row"):
        Reading(**{"header_row": 3, **stated} if "header" in stated else stated)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([NAMES, *PEOPLE], None),
        ([[], [], NAMES, *PEOPLE], None),  # empty rows do not matter
        ([["Title"], NAMES, *PEOPLE], (2, None)),
        ([NAMES, *PEOPLE, ["a note without an empty row above it"]], (1, 25)),
        ([NAMES, *PEOPLE, [], ["a note"], ["and another one"]], (1, 25)),
        ([["Title"], [], ["town", "people"], ["A", 5], ["B", 7], ["C", None]], (3, None)),
        ([["Title"], ["town", "people"], ["A", 5], ["a note that is long", None]], (2, 3)),
    ],
)
def test_a_draft_finds_the_rows(rows, found, tmp_path):
    path = xlsx(tmp_path / "office.xlsx", rows)
    plan = shoal.draft(path)
    header, last = found or (None, None)
    assert (plan.read.header_row, plan.read.last_row) == (header, last)
    assert any("are not read" in remark for remark in plan.remarks) == (found is not None)


@pytest.mark.parametrize(
    "rows",
    [
        [NAMES, *PEOPLE, [], ["other", "names", "of", "columns"], [SECRET, 1, 2, 3]],
        [["a", "b", None, "c", "d"], [1, 2, None, 3, SECRET]],
        [["Title"], [None, "sex"], *PEOPLE],  # a column without a name: its values are no names
    ],
)
def test_sheets_of_which_it_is_not_clear_where_the_table_is(rows, tmp_path):
    path = xlsx(tmp_path / "office.xlsx", rows)
    assert "header_row =" not in refuse(path, BadTable)
    with pytest.raises(BadTable):
        shoal.draft(path)


def test_the_same_plan_reads_the_original_and_the_release(tmp_path):
    """The release has no titles: its names are in the first row."""
    path, out = xlsx(tmp_path / "office.xlsx", OFFICE, "A1:D1"), tmp_path / "release.xlsx"
    plan = shoal.draft(path)
    plan = plan.changed(models=[{"name": "k-anonymity", "k": 2}], seed=1)
    plan.save(tmp_path / "plan.toml")
    assert "header_row = 5" in (tmp_path / "plan.toml").read_text(encoding="utf-8")
    plan = shoal.Plan.load(tmp_path / "plan.toml")
    release = shoal.anonymize(path, plan)
    release.save(out)
    assert read(out).height == 24
    found = shoal.audit(out, plan, original=path)
    assert found.holds
    assert found.rows == 24
    release.recoding.save(tmp_path / "recoding.json")
    fitted = shoal.Fitted.load(tmp_path / "recoding.json")
    assert fitted.apply(path).frame.num_rows == 24
    bounds = plan.changed(write={"ranges": "bounds"})
    shoal.anonymize(path, bounds).save(tmp_path / "bounds.xlsx")
    assert shoal.audit(tmp_path / "bounds.xlsx", bounds, original=path).holds


# Names of columns


@pytest.mark.parametrize("ending", MAKE)
def test_sheets_without_names(ending, tmp_path):
    rows = [[31, 52, 17.5, "x"], [33, 54, 12.5, "y"]]
    path = MAKE[ending](tmp_path / f"people{ending}", rows)
    assert "no row of names: '31', '52', '17.5' would be names" in refuse(path, BadTable)
    found = read(path, None, Reading(header=False))
    assert found.names == ["column_1", "column_2", "column_3", "column_4"]
    assert [list(row.values()) for row in found.native.to_pylist()] == rows


def test_a_release_of_a_sheet_without_names_is_read_by_its_plan(tmp_path):
    path = xlsx(tmp_path / "people.xlsx", PEOPLE)
    plan = shoal.draft(path, read={"header": False})
    plan = plan.changed(models=[{"name": "k-anonymity", "k": 2}], seed=1)
    assert plan.read == Reading(header=False)
    shoal.anonymize(path, plan).save(tmp_path / "release.xlsx")
    assert shoal.audit(tmp_path / "release.xlsx", plan, original=path).holds


def test_columns_of_error_values(tmp_path):
    with xlsxwriter.Workbook(str(tmp_path / "people.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_formula(1, 0, "=1/0", None, "#DIV/0!")
        sheet.write_string(1, 1, SECRET)
    assert "error values such as #N/A" in refuse(tmp_path / "people.xlsx", BadTable)


def test_years_are_names(tmp_path):
    path = xlsx(tmp_path / "years.xlsx", [["region", 2021, 2022, 2023], ["A", 1, 2, 3]])
    assert values(read(path)) == {"region": ["A"], "2021": [1], "2022": [2], "2023": [3]}


# Cells


def test_styled_cells_without_a_value(tmp_path):
    """As openpyxl and Excel write them: a border or a colour makes a cell, not a value."""
    path = xlsx(tmp_path / "styled.xlsx", [["a", "b", "c"], [1, None, None], [None, "x", None]])
    book = openpyxl.load_workbook(path)
    thin = openpyxl.styles.Border(bottom=openpyxl.styles.Side("thin"))
    for row in book.active["A1:H40"]:
        for cell in row:
            cell.border = thin
    book.active["B2"].number_format = "yyyy-mm-dd"
    book.active.column_dimensions["J"].width = 30
    book.save(path)
    assert values(read(path)) == {"a": [1, None], "b": [None, "x"], "c": [None, None]}


def test_formulas_that_openpyxl_writes_have_no_value(tmp_path):
    path = xlsx(tmp_path / "sums.xlsx", [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]])
    assert "formulas without a value in the cells B2, B3" in refuse(path, BadTable)
    titled = xlsx(tmp_path / "titled.xlsx", [['="made on "&TODAY()'], ["a", "b"], [1, 2]])
    assert values(read(titled, None, Reading(header_row=2))) == {"a": [1], "b": [2]}


def test_merged_cells_and_formulas_of_open_documents(tmp_path):
    spanned = ods(tmp_path / "spanned.ods", [["a", "b"], ["x", SECRET]], span=True)
    assert "merged cells: row 1" in refuse(spanned, BadTable)
    empty = ods(tmp_path / "empty.ods", [["a", "b"], [1, None], [2, 3]], formula=True)
    assert "formulas without a value in the cells row 2" in refuse(empty, BadTable)


def test_dates_before_1900_in_open_documents(tmp_path):
    """They are written as such, so that there is no doubt about them."""
    days = [dt.date(1850, 5, 17), dt.date(1899, 12, 30), dt.date(9999, 12, 31)]
    path = ods(tmp_path / "old.ods", [["born", "x"], *([day, 1] for day in days)])
    assert values(read(path))["born"] == days


def test_where_the_table_is_can_be_stated_if_it_is_not_clear(tmp_path):
    """A note above the table has nearly as many cells as the table itself, some of them merged."""
    rows = [
        ["Lots of people", None, None, None],
        ["write", "notes", None, "at the top"],
        ["name", "job", "age", "town"],
        *([f"person {i}", "cook", 20 + i, "A"] for i in range(6)),
        [None, "and", "below", None],
    ]
    path = tmp_path / "x.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("s")
    for i, row in enumerate(rows):
        sheet.write_row(i, 0, row)
    sheet.merge_range(0, 1, 0, 3, "and merge")
    book.close()
    said = refuse(path, BadTable)
    assert "has merged cells: B1:D1" in said
    assert "If the table is in some rows only, state header_row (the row of the names)" in said
    found = read(path, None, Reading(header_row=3, last_row=9)).native
    assert found.column_names == ["name", "job", "age", "town"]
    assert found.num_rows == 6
