"""The files of a folder as one table, and folders that are none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable, Plan
from shoal.engines import duckdb
from tests.large_tables import plan, table, written


@pytest.mark.parametrize(("change", "said"), [
    (lambda t: t.drop_columns(["note"]), "a.parquet and b.parquet.*differ in the column 'note'"),
    (lambda t: t.select(["sex", "age", "note"]), "columns in another order"),
    (lambda t: t.set_column(0, "age", t["age"].cast(pa.string())),
     "different types of the column 'age': int64 and string"),
])  # fmt: skip
def test_files_of_a_folder_differ(change: object, said: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "in", a=table(), b=change(table()))  # type: ignore[operator]
    with pytest.raises(BadTable, match=said):
        shoal.anonymize(folder, plan())


def test_a_file_of_a_folder_without_a_header_line(tmp_path: Path) -> None:
    """Its first record, which counts as its column names, is not shown."""
    (tmp_path / "a.csv").write_text("age,sex,note\n30,f,x\n31,f,y\n")
    (tmp_path / "b.csv").write_text("44,m,MARKER\n45,m,z\n")
    with pytest.raises(BadTable, match=r"no column in common.*a line of their names") as error:
        shoal.anonymize(tmp_path, plan())
    assert "MARKER" not in str(error.value)


def test_text_in_one_file_and_numbers_in_the_next(tmp_path: Path) -> None:
    """Text files have no types: 17 and "17" are the same text, and codes stay codes."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("zip,sex\n01,f\n01,f\n")
    (folder / "b.csv").write_text('zip,sex\n"01",f\n1,m\n1,m\n')
    asked = Plan(columns={"zip": "quasi", "sex": "quasi"}, seed=1,
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    release = shoal.anonymize(folder, asked)
    release.save(tmp_path / "out.csv")
    assert sorted((tmp_path / "out.csv").read_text().split()) == [
        "01,f", "01,f", "01,f", "1,m", "1,m", "zip,sex",
    ]  # fmt: skip


@pytest.mark.parametrize(("names", "said"), [
    ([], "no files"),
    (["a.csv", "b.parquet"], "different formats"),
    (["a.docx"], "cannot tell the format"),
])  # fmt: skip
def test_folders_that_are_no_table(names: list[str], said: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("age\n1\n")
    with pytest.raises(BadFile, match=said):
        shoal.anonymize(folder, plan())


def test_memory_does_not_read_folders(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="reads a folder with engine = 'duckdb'"):
        shoal.anonymize(tmp_path, plan(engine="memory"))


@pytest.mark.parametrize("names", [["age", "note"], ["age", "Age"], ["age", "file_index"]])
def test_a_folder_of_many_files_is_one_table(
    names: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each record stays what it is, whatever DuckDB calls the columns of a list of files."""
    ages, notes = [20, 21, 20, 30, 31, 30, 30], list("abcdefg")
    rows = pa.table({names[0]: ages, names[1]: notes})
    cuts = [0, 2, 2, 3, 7]  # the second file has no rows
    files = {f"f{i}": rows.slice(a, b - a) for i, (a, b) in enumerate(pairwise(cuts))}
    folder = written(tmp_path / "in", **files)
    asked = Plan(columns={names[0]: "quasi", names[1]: "other"}, seed=1, engine="duckdb",
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    results = []
    for many in (2, 100):
        monkeypatch.setattr(duckdb, "MANY_FILES", many)
        release = shoal.anonymize(folder, asked)
        release.save(tmp_path / f"{many}.csv")
        results.append((tmp_path / f"{many}.csv").read_text())
    assert results[0] == results[1]
    shown = dict(line.split(",")[::-1] for line in results[0].split()[1:])
    for age, note in zip(ages, notes, strict=True):
        assert shown[note] in (str(age), "*")
    assert "30" in shown.values()
