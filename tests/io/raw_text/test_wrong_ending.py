"""Files whose content is of another format than their name says."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest
import xlwt

from shoal.base.errors import BadTable
from shoal.io.frames import Frame, write
from tests.io.tables import SECRET, file, refuse

MADE = [
    ".csv",
    ".csv.gz",
    ".jsonl",
    ".parquet",
    ".feather",
    ".xlsx",
    ".sav",
    ".dta",
    ".xpt",
    ".xls",
]
NAMED = [*MADE, ".ods", ".sas7bdat", ".tsv"]
ADVICE = {
    ".csv": "rename it to .csv",
    ".csv.gz": "add .gz to its name",
    ".jsonl": "rename it to .jsonl",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file of each format."""
    folder = tmp_path_factory.mktemp("made")
    for ending in MADE[:-1]:
        write(Frame(pa.table({"a": [1, 2], "b": [SECRET, "y"]})), folder / f"x{ending}")
    book = xlwt.Workbook()
    book.add_sheet("Sheet").write(0, 0, SECRET)
    book.save(str(folder / "x.xls"))
    return folder


@pytest.mark.parametrize("named", NAMED)
@pytest.mark.parametrize("content", MADE)
def test_the_error_says_what_it_is(content, named, made, tmp_path):
    if named == content or (content, named) in [(".csv", ".tsv"), (".csv", ".jsonl")]:
        return  # text as another text: its lines show what is wrong, or it can be read
    path = tmp_path / f"y{named}"
    shutil.copy(made / f"x{content}", path)
    message = refuse(path)
    if named == ".csv.gz" and content in (".csv", ".jsonl"):
        assert "its content is not compressed; remove .gz from its name" in message
    else:
        assert ADVICE.get(content, f"rename it to {content}") in message


@pytest.mark.parametrize(
    "start", ["<html><body>", "\ufeff\n <!DOCTYPE html>", '<?xml version="1.0"?>']
)
def test_web_pages_that_are_called_spreadsheets(start, tmp_path):
    page = f"{start}<table><tr><td>{SECRET}</td></tr></table>"
    assert "its content is a web page, or XML: open it in" in refuse(file(tmp_path, page, "x.xls"))


def test_other_errors_stay_as_they_are(tmp_path):
    assert "rename" not in refuse(file(tmp_path, f"a,b\n1,{SECRET},3\n"), BadTable)
    assert "the file is empty" in refuse(file(tmp_path, b"", "x.parquet"))
