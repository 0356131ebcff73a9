"""Tables of databases that are not read into memory: their database groups, and DuckDB joins."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadPlan, BadTable, Database
from shoal.databases.writing import write_to
from shoal.engines import source
from shoal.io.frames import Frame, read
from tests.flow.test_at_scale import numbers as both_measure
from tests.flow.test_count_in_database import odd_people, plan
from tests.large_tables import nothing_left

ASKED = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3, algorithm="peel")


@pytest.fixture(params=["postgresql", "sqlite", pytest.param("duckdb", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "postgresql":
        address = request.getfixturevalue("empty_server").address()
    else:
        address = f"{request.param}:///{tmp_path}/a.{request.param}"
    target = Database(address, "people")
    write_to(target, Frame(odd_people()), False, lambda _: None)
    return target


def rows(path: Path) -> list[str]:
    return sorted(str(row) for row in read(path).native.to_pylist())


def numbers(release: shoal.Release) -> dict:
    found = both_measure(release)
    changing = {"seconds", "made", "engine", "original_sha256", "keep_order", "release_sha256"}
    return {name: value for name, value in found.items() if name not in changing}


def test_the_release_and_its_numbers_are_those_of_memory(base: Database, tmp_path: Path) -> None:
    expected = shoal.anonymize(base, ASKED)
    expected.save(tmp_path / "memory.csv")
    found = shoal.anonymize(base, ASKED.changed(engine="duckdb"))
    found.save(tmp_path / "large.csv")
    assert found.frame is None
    assert rows(tmp_path / "large.csv") == rows(tmp_path / "memory.csv")
    assert numbers(found) == numbers(expected)
    assert nothing_left(tmp_path)


def test_only_combinations_are_read_before_the_release_is_written(
    base: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = ASKED.changed(
        columns={"age": "quasi", "sex": "quasi", "disease": "sensitive"}, engine="duckdb"
    )
    narrow = Database(base.address, query="SELECT age, sex, disease FROM people")
    read_rows: list[int] = []
    batches = source.DatabaseSource.batches

    def counted(self, progress):
        for row, batch in batches(self, progress):
            read_rows.append(batch.num_rows)
            yield row, batch

    monkeypatch.setattr(source.DatabaseSource, "batches", counted)
    release = shoal.anonymize(narrow, asked)
    assert release.rows == 400
    assert read_rows == []
    release.save(tmp_path / "release.parquet")
    assert sum(read_rows) == 400


def test_a_table_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    write_to(Database(path, "people"), Frame(odd_people()), False, lambda _: None)
    release = shoal.anonymize(Database(path, "people"), ASKED.changed(engine="duckdb"))
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("DELETE FROM people WHERE age = 22")
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "release.csv")
    assert not (tmp_path / "release.csv").exists()


def test_what_is_not_served(empty_server) -> None:
    empty_server.run("CREATE TABLE people AS SELECT now() AS age, 'f' AS sex")
    base = Database(empty_server.address(), "people")
    asked = ASKED.changed(columns={"age": "quasi", "sex": "quasi"}, engine="duckdb")
    with pytest.raises(BadTable, match="column 'age' is of type timestamp"):
        shoal.anonymize(base, asked)
    with pytest.raises(BadPlan, match=r"spark\.read\.jdbc"):
        shoal.anonymize(base, asked.changed(engine="spark"))


def test_people_with_several_records(tmp_path: Path) -> None:
    people = pa.table(
        {"person": [i // 2 for i in range(80)], "age": [20 + i % 4 for i in range(80)]}
    )
    base = Database(tmp_path / "a.db", "people")
    write_to(base, Frame(people), False, lambda _: None)
    asked = ASKED.changed(
        columns={"person": "person", "age": {"role": "quasi", "hierarchy": {"ranges": [2]}}},
        models=[{"name": "ir-k-anonymity", "k": 2}],
    )
    expected = shoal.anonymize(base, asked)
    found = shoal.anonymize(base, asked.changed(engine="duckdb"))
    assert numbers(found) == numbers(expected)
    expected.save(tmp_path / "memory.csv")
    found.save(tmp_path / "large.csv")
    ages = [sorted(read(tmp_path / f"{name}.csv").column("age").to_pylist())
            for name in ("memory", "large")]  # fmt: skip
    assert ages[0] == ages[1]


def test_texts_that_are_numbers(tmp_path: Path) -> None:
    """Decimal commas become points, as in memory."""
    people = pa.table({"weight": ["1,50", "1,5", "2,5", "2,50"] * 5})
    base = Database(tmp_path / "a.db", "people")
    write_to(base, Frame(people), False, lambda _: None)
    asked = ASKED.changed(columns={"weight": {"role": "quasi", "decimal": ","}})
    expected = shoal.anonymize(base, asked)
    found = shoal.anonymize(base, asked.changed(engine="duckdb"))
    assert numbers(found) == numbers(expected)
    found.save(tmp_path / "large.csv")
    expected.save(tmp_path / "memory.csv")
    assert rows(tmp_path / "large.csv") == rows(tmp_path / "memory.csv")
    assert set(read(tmp_path / "large.csv").column("weight").to_pylist()) == {
        "1.5",
        "1.50",
        "2.5",
        "2.50",
    }
    audited = shoal.audit(base, asked)
    assert audited.as_dict() == shoal.audit(people, asked).as_dict()
