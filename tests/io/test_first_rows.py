"""The first rows of a file: the same cells as reading all of it, also if it cannot be read."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from shoal.base.errors import BadFile
from shoal.io.files import read_first, read_table, sheets_of, write_table
from shoal.io.format import formats
from shoal.io.native.values import text
from shoal.io.reading import Reading

ENDINGS = [
    ending for kind in formats.values() for ending in kind.endings if ending not in kind.reads_only
]


def people(rows: int) -> pa.Table:
    return pa.table(
        {
            "name": [f"Ann {i}" if i % 5 else None for i in range(rows)],
            "age": [20 + i % 60 for i in range(rows)],
            "share": [i / 4 for i in range(rows)],
            "born": [date(1960 + i % 40, 1 + i % 12, 1 + i % 28) for i in range(rows)],
        }
    )


@pytest.mark.parametrize("ending", [*ENDINGS, ".csv.gz", ".jsonl.zst"])
@pytest.mark.parametrize("rows", [3, 50])
def test_they_are_those_of_the_whole_table(tmp_path: Path, ending: str, rows: int) -> None:
    path = tmp_path / f"people{ending}"
    write_table(people(rows), path)
    whole, first = read_table(path), read_first(path, 10)
    assert first.names == whole.column_names
    assert not first.faults
    cells = whole.slice(0, 10).to_pylist()
    assert first.rows == [
        [None if value is None else text(value) for value in row.values()] for row in cells
    ]


def test_a_text_file_says_how_it_was_understood(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("Name;Größe\nJürgen;180\n".encode("latin-1"))
    first = read_first(path, 10)
    assert (first.encoding, first.delimiter) == ("latin-1", ";")
    assert first.rows == [["Jürgen", "180"]]
    assert first.lines == ("Name;Größe", "Jürgen;180")
    assert first.lines == read_first(path, 10, Reading(delimiter=",")).lines


@pytest.mark.parametrize(
    ("content", "reading", "fault", "rows"),
    [
        (b"a,b\n1,2\n3\n4,5,6\n", {}, "line 3 has 1, line 4 has 3", [["1", "2"], ["3", None],
                                                                     ["4", "5"]]),
        (b'a,b\n1,"2\n3,4\n', {}, "begins in line 2 a quote", []),
        (b'"a,b\n1,2\n', {}, "in the header is not closed", []),
        (b"a,a\n1,2\n", {}, "several columns of the same name", [["1", "2"]]),
        (b"a,\n1,2\n", {}, "columns without a name", [["1", "2"]]),
        (b"a\0,b\n", {}, "NUL byte in line 1", []),
        (b"\xff\xff,\x81\n", {"encoding": "utf-8"}, "is not in UTF-8, as [read] states", []),
        (b"#x\n#y\n", {"comment": "#"}, "empty", []),
    ],
)  # fmt: skip
def test_a_fault_does_not_hide_what_can_be_read(
    tmp_path: Path, content: bytes, reading: dict[str, str], fault: str, rows: list[list[str]]
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    first = read_first(path, 10, Reading(**reading))
    assert len(first.faults) == 1
    assert fault in first.faults[0]
    assert first.rows == rows
    assert first.lines  # as they are in the file


def test_lines_are_counted_after_a_header_of_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b'"a\nb",c\n1,2\n3\n')
    (fault,) = read_first(path, 10).faults
    assert "line 4 has 1" in fault


def test_a_large_file_is_cut_between_lines(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    long = "x" * 3000
    path.write_text("a,b\n" + f'"{long}\n",2\n' * 1000, encoding="utf-8")
    first = read_first(path, 500)
    assert not first.faults
    assert 50 < len(first.rows) < 500
    assert {row[1] for row in first.rows} == {"2"}
    assert max(map(len, first.lines)) == 300


def test_compressed_text_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"a|b\n1|2\n"))
    first = read_first(path, 10)
    assert (first.delimiter, first.rows) == ("|", [["1", "2"]])


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"1,2\n3,4\n")
    first = read_first(path, 10, Reading(header=False))
    assert (first.names, first.rows) == (["column_1", "column_2"], [["1", "2"], ["3", "4"]])


def test_the_sheets_of_a_workbook_are_listed(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("About", "People"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["Patients of 2024"] if name == "About" else ["age", "sex"])
            sheet.write_row(1, 0, [] if name == "About" else [31, "f"])
    assert sheets_of(path) == ["About", "People"]
    with pytest.raises(BadFile, match="2 sheets: 'About', 'People'"):
        read_first(path, 10)
    first = read_first(path, 10, Reading(sheet="People"))
    assert (first.names, first.rows) == (["age", "sex"], [["31", "f"]])


def test_titles_above_a_table_are_shown_with_the_fault(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("People")
        sheet.write_row(0, 0, ["Patients of 2024"])
        sheet.write_row(2, 0, ["age", "sex"])
        sheet.write_row(3, 0, [31, "f"])
    first = read_first(path, 10)
    assert "header_row = 3" in first.faults[0]
    assert first.lines == ("Patients of 2024", "", "age\tsex", "31\tf")
    first = read_first(path, 10, Reading(header_row=3))
    assert (first.names, first.rows, first.faults) == (["age", "sex"], [["31", "f"]], ())


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", ".sav", ".dta", ".jsonl"])
def test_a_file_of_another_kind_says_what_it_is(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    path.write_bytes(b"age,sex\n31,f\n")
    with pytest.raises(BadFile, match=r"people"):
        read_first(path, 10)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.touch()
    with pytest.raises(BadFile, match="the file is empty"):
        read_first(path, 10)
