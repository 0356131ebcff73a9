"""The first rows before a table is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from shoal.base.progress import silent
from shoal.io.raw_text.spelling import Spelling
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.peek import ROWS, Peek, run


def peek(path: Path, reading: Any = None, spellings: Any = None, missing: Any = ("",)) -> Peek:
    source = {"kind": "file", "path": str(path)}
    return run(Held(), silent, source, reading or {}, spellings or {}, list(missing))


def test_cells_are_shown_as_they_are_and_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("rent;born\n1.234,5;17.05.2024\n?;31.02.2024\n7;\n", encoding="utf-8")
    found = peek(
        path,
        spellings={"rent": Spelling(",", "."), "born": Spelling(date_format="%d.%m.%Y")},
        missing=["", "?"],
    )
    (rent, born), (word, bad), (plain, empty) = found.rows
    assert (rent.text, rent.read, born.read) == ("1.234,5", "1234.5", "2024-05-17")
    assert (word.is_missing, bad.is_bad) == (True, True)
    assert (plain.read, empty.is_missing) == ("", True)
    assert found.delimiter == ";"


def test_no_more_rows_than_a_look_needs(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a\n" + "1\n" * 1000, encoding="utf-8")
    found = peek(path)
    assert len(found.rows) == len(found.lines) == ROWS


def test_a_fault_is_said_and_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(b"no parquet")
    assert "people.parquet" in peek(path).faults[0]
    assert "no such file" in peek(tmp_path / "nothing.csv").faults[0]


def test_somebody_has_to_choose_a_sheet(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("About", "People"):
            book.add_worksheet(name).write_column(0, 0, ["age", 31])
    found = peek(path)
    assert (found.sheets, found.faults, found.names) == (("About", "People"), (), ())
    assert peek(path, {"sheet": "People"}).names == ("age",)
    assert "no sheet 'Peopel'" in peek(path, {"sheet": "Peopel"}).faults[0]


def test_tables_of_a_database(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE people (age INTEGER)")
        base.execute("INSERT INTO people VALUES (31), (NULL)")
        base.execute("CREATE TABLE visits (day TEXT)")
        base.commit()
    source = {"kind": "database", "address": str(path), "table": None, "query": None}

    def look(**more: Any) -> Peek:
        return run(Held(), silent, {**source, **more}, {}, {}, [""])

    assert look().tables == ("people", "visits")
    assert not look().faults
    rows = look(table="people").rows
    assert [cell.text for (cell,) in rows] == ["31", ""]
    assert look(query="SELECT age + 1 AS next FROM people").names == ("next",)
    assert look(table="poeple").faults
    assert "secret" not in str(look(query="SELECT secret FROM people").rows)
