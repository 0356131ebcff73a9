"""What is written are the rows of the release, of an original that has not changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadFile
from shoal.engines import writing
from shoal.engines.duckdb import Database
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.io.frames import Frame
from tests.large_tables import nothing_left, plan, table, written


def test_a_file_that_changes_between_reading_and_writing(source: Path) -> None:
    release = shoal.anonymize(source, plan())
    pq.write_table(table().slice(1), source)
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()
    assert nothing_left(source.parent)


def test_another_column_that_changes_between_reading_and_writing(tmp_path: Path) -> None:
    """Counting groups does not notice it, as the column is no part of them."""
    path = tmp_path / "people.csv"
    path.write_text("age,sex,note\n" + "30,f,aaa\n31,f,bbb\n" * 4)
    release = shoal.anonymize(path, plan())
    path.write_text(path.read_text().replace("bbb", "ccc", 1))
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_is_added_to_the_folder(tmp_path: Path) -> None:
    release = shoal.anonymize(written(tmp_path / "in", a=table()), plan())
    pq.write_table(table(), tmp_path / "in" / "b.parquet")
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.parquet")


def test_a_release_is_not_written_into_a_folder_of_one_file(tmp_path: Path) -> None:
    """The next run would read it as a part of the original; nor if the file is a link."""
    pq.write_table(table(), tmp_path / "elsewhere.parquet")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(BadFile, match="the original table is read from there"):
        shoal.anonymize(folder, plan()).save(folder / "new.parquet")
    shoal.anonymize(folder / "a.parquet", plan()).save(folder / "new.parquet")  # no folder was read


def test_a_release_does_not_replace_the_original(tmp_path: Path) -> None:
    folder = written(tmp_path / "in", a=table(), b=table())
    before = {file: file.read_bytes() for file in folder.iterdir()}
    for target in (folder / "a.parquet", folder / "new.parquet"):
        with pytest.raises(BadFile, match="the original table is read from there"):
            shoal.anonymize(folder, plan()).save(target)
    with pytest.raises(BadFile, match="the original table is read from there"):
        shoal.anonymize(folder / "a.parquet", plan()).save(folder / "a.parquet")
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("fraction", [0, 1])
def test_moments_have_one_form_in_all_parts(
    fraction: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cell of 200 may have a fraction of a second: then all are written with it."""
    resized = writing.resized
    monkeypatch.setattr(writing, "resized", lambda tables: resized(tables, 30))
    moments = np.full(200, 5000)
    moments[7] += fraction
    rows = table().set_column(2, "note", pa.array(moments).cast(pa.timestamp("ms")))
    pq.write_table(rows, tmp_path / "people.parquet")
    shoal.anonymize(tmp_path / "people.parquet", plan(engine="memory")).save(tmp_path / "one.csv")
    release = shoal.anonymize(tmp_path / "people.parquet", plan())
    release.save(tmp_path / "two.csv")
    of_csv = release.csv_sha256()
    one, two = ((tmp_path / name).read_bytes() for name in ("one.csv", "two.csv"))
    assert sorted(one.splitlines()) == sorted(two.splitlines())
    release.save(tmp_path / "two.parquet")
    assert release.csv_sha256() == of_csv
    release.save(shoal.Database(tmp_path / "a.db", "release"))
    assert release.csv_sha256() == of_csv


@pytest.mark.parametrize("name", ["id", "r", "own id", "number", "k", "n"])
def test_names_that_the_engine_uses_too(name: str, tmp_path: Path) -> None:
    rows = table().rename_columns(["age", "sex", name])
    pq.write_table(rows, tmp_path / "people.parquet")
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"}
    asked = plan(columns={**columns, name: "other"})
    shoal.anonymize(tmp_path / "people.parquet", asked).save(tmp_path / "out.parquet")
    assert sorted(pq.read_table(tmp_path / "out.parquet")[name].to_pylist()) == sorted(
        rows[name].to_pylist()
    )


def test_duckdb_gets_the_memory_that_the_combinations_leave(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Original and published values stay in memory while DuckDB joins them with the rows."""
    given = []
    opened = Database.opened

    def noted(resources: Resources, *rest: object) -> object:
        given.append(resources.memory)
        return opened(resources, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Database, "opened", staticmethod(noted))
    monkeypatch.setattr(writing, "WHILE_WRITING", 10**7)
    release = shoal.anonymize(source, plan(memory="1GB"))
    del given[:]
    release.save(source.with_name("out.parquet"))
    assert given == [600_000_000]  # 40 combinations
    monkeypatch.setattr(writing, "WHILE_WRITING", 10**9)
    release.save(source.with_name("out.parquet"))
    assert given[1:] == [128_000_000]  # with less, DuckDB cannot join


def test_a_violated_requirement_is_found_in_the_file(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requirements are verified on the groups of the file, and on nothing else."""
    release = shoal.anonymize(source, plan())
    grouped = writing.group

    def too_small(database: Database, file: Source, columns: list[str]) -> object:
        found = grouped(database, file, columns)
        weight = found.counted.weight.copy()
        weight[0] = 1  # a class of one record
        return Frame(found.native, found.counted._replace(weight=weight))

    monkeypatch.setattr(writing, "group", too_small)
    with pytest.raises(shoal.NotHeld, match=r"k-anonymity requires .*2, the table reaches 1"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()


@pytest.mark.parametrize(("name", "cell"), [
    ("note", None), ("sex", None), ("sex", "x"), ("sex", "other"),
])  # fmt: skip
def test_other_rows_in_the_file_are_found(
    name: str, cell: str | None, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In columns that are published row by row, and in those whose values are coded."""
    release = shoal.anonymize(source, plan())
    honest = writing.Rows._tables
    calls = []

    def one_row_differs(self: writing.Rows, shuffled: object) -> object:
        calls.append(1)
        for part in honest(self, shuffled):  # type: ignore[arg-type]
            if len(calls) == 1:  # what is written, but not what is expected
                cells = part[name].to_pylist()
                cells[0] = cell if cell != "other" else {"f": "m", "m": "f"}[cells[0]]
                part = part.set_column(part.schema.get_field_index(name), name, pa.array(cells))
            yield part

    monkeypatch.setattr(writing.Rows, "_tables", one_row_differs)
    with pytest.raises(shoal.ShoalError, match="does not contain the rows of the release"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()
