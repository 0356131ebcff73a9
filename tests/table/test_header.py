"""A file without a header line is refused; ordinary tables are not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable
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


def test_names_that_look_like_the_values_are_refused(tmp_path: Path) -> None:
    """Nobody else is 39.5 years old: the first record does not occur a second time."""
    path = tmp_path / "people.csv"
    path.write_text("39.5,1985-05-17,70123,f\n50,1974-01-02,70124,m\n41,1984-02-03,70125,m\n")
    with pytest.raises(BadTable, match=r"look like values of these columns.*header = false"):
        shoal.draft(path)


def test_a_stated_header(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("39,a,7\n39,a,7\n", encoding="utf-8")
    columns = {f"column_{i}": "quasi" for i in (1, 2, 3)}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}
    release = shoal.anonymize(path, plan | {"read": {"header": False}})
    release.save(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").read_text() == "39,a,7\n39,a,7\n"
    assert shoal.audit(tmp_path / "release.csv", release.plan, original=path).rows == 2


@pytest.mark.parametrize("kept", [[1], [2], [3], [1, 3], [2, 3]])
def test_a_release_without_some_columns_says_which_it_has(tmp_path: Path, kept: list[int]) -> None:
    path, out = tmp_path / "people.csv", tmp_path / "release.csv"
    path.write_text("39,a,7\n39,a,7\n", encoding="utf-8")
    columns = {f"column_{i}": "quasi" if i in kept else "identifier" for i in (1, 2, 3)}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}
    release = shoal.anonymize(path, plan | {"read": {"header": False}})
    release.save(out)
    names = [f"column_{i}" for i in kept]
    numbered = kept == list(range(1, len(kept) + 1))
    row = ",".join("39 a 7".split()[i - 1] for i in kept)
    header = [] if numbered else [",".join(names)]
    assert out.read_text().splitlines() == [*header, row, row]
    assert open_frame(out, None, release.plan.read).names == names
    assert shoal.audit(out, release.plan, original=path).rows == 2


def test_names_that_a_file_without_a_header_would_lose(tmp_path: Path) -> None:
    plan = {
        "columns": {"age": "quasi"},
        "models": [{"name": "k-anonymity", "k": 2}],
        "read": {"header": False},
    }
    release = shoal.anonymize(pa.table({"age": [39, 39]}), plan)
    with pytest.raises(BadFile, match=r"columns are called 'age'.* remove header = false"):
        release.save(tmp_path / "release.csv")
    release.save(tmp_path / "release.parquet")


@pytest.mark.parametrize(
    "table",
    [
        {"11": ["5", "6"], "12": ["7", "x"], "13": ["1", ""]},
        {"1": ["5", "6"], "2": ["7", "8"], "3": ["1", "2"]},
        {"age": [1, 2], "sex": ["f", "m"], "job": ["clerk", "job"]},
        {"a": ["a", "b"], "b": ["a", "b"]},
        {"2019": [5, 6], "2020": [7, 8], "2021": [1, 2]},
        {"a": [["a"], []], "b": [None, None], "c": [True, False]},
        {"a": ["a", None], "b": ["b", "x"], "c": [1.5, 2.5], "d": [1, 2]},
    ],
)
def test_ordinary_tables_are_not(table: dict) -> None:
    check_header(open_frame(pa.table(table)))
