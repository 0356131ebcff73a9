"""A file without a header line is refused; ordinary tables are not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import BadTable
from shoal.io.frames import open_frame
from shoal.table.header import check_header

RECORDS = "39, State-gov, 7, Bachelors\n50, Private, 7, Masters\n39, State-gov, 8, Bachelors\n"


def test_a_first_record_as_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(RECORDS, encoding="utf-8")
    with pytest.raises(BadTable, match="no header line: the column names '39', ' State-gov'"):
        shoal.draft(path)
    columns = dict.fromkeys(open_frame(path).names, "quasi")
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}]}
    with pytest.raises(BadTable, match="no header line"):
        shoal.anonymize(path, plan)


@pytest.mark.parametrize(
    "table",
    [
        {"age": [1, 2], "sex": ["f", "m"], "job": ["clerk", "job"]},
        {"a": ["a", "b"], "b": ["a", "b"]},
        {"2019": [5, 6], "2020": [7, 8], "2021": [1, 2]},
        {"a": [["a"], []], "b": [None, None], "c": [True, False]},
        {"a": ["a", None], "b": ["b", "x"], "c": [1.5, 2.5], "d": [1, 2]},
    ],
)
def test_ordinary_tables_are_not(table: dict) -> None:
    check_header(open_frame(pa.table(table)))
