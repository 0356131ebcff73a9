"""The engine is chosen by the size of the table, unless the plan names one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadPlan, Database, Plan
from shoal.databases.writing import write_to
from shoal.flow import choose_engine as module
from shoal.flow.choose_engine import choose_engine
from shoal.io.frames import Frame


def plan(**change: object) -> Plan:
    asked: dict = {"columns": {"a": "quasi"}, "models": [{"name": "k-anonymity", "k": 2}]}
    return Plan(**asked | change)


@pytest.fixture(params=[".csv", ".parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that takes 80,000 bytes in memory or more; none is too small to look at."""
    monkeypatch.setattr(module, "SMALL", 0)
    path = tmp_path / f"people{request.param}"
    if request.param == ".csv":
        path.write_text("a\n" + "1234567\n" * 10_000)
    else:
        pq.write_table(pa.table({"a": np.zeros(10_000, np.int64)}), path)
    return path


def test_by_a_share_of_the_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 400_000)
    assert choose_engine(file, plan(), False).name == "memory"
    monkeypatch.setattr(module, "machine_memory", lambda: 300_000)
    assert choose_engine(file, plan(), False).name == "duckdb"
    assert choose_engine(str(file), plan(), False).name == "duckdb"
    assert choose_engine(file, plan(engine="memory"), False).name == "memory"
    assert choose_engine(pa.table({"a": [1]}), plan(), False).name == "memory"
    assert choose_engine(file, plan(memory="1GB"), False).name == "memory"  # a limit of the plan


def test_by_name(file: Path) -> None:
    assert choose_engine(file, plan(), False).name == "memory"
    assert choose_engine(file, plan(engine="duckdb"), False).name == "duckdb"


def test_what_duckdb_does_not_support_stays_in_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 1_000)
    found = choose_engine(file, plan(algorithm="mdav"), False)
    assert found.name == "memory"
    assert "mdav" in found.notes[0]
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    found = choose_engine(file, plan(), False)
    assert found.name == "memory"
    assert "pip install 'shoal[duckdb]'" in found.notes[0]


# Tables of databases


@pytest.fixture(params=["postgresql", "sqlite", "duckdb"])
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    """A table of 10,000 rows and two columns: 320,000 bytes by estimate."""
    monkeypatch.setattr(module, "SMALL", 0)
    if request.param == "postgresql":
        server = request.getfixturevalue("empty_server")
        server.run(
            "CREATE TABLE people AS SELECT i % 7 AS a, 'x' AS b FROM generate_series(1, 10000) i",
            "ANALYZE people",
        )
        return Database(server.address(), "people")
    target = Database(f"{request.param}:///{tmp_path}/a.{request.param}", "people")
    rows = pa.table({"a": np.arange(10_000) % 7, "b": ["x"] * 10_000})
    write_to(target, Frame(rows), False, lambda _: None)
    return target


def test_a_table_by_its_rows_and_columns(base: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    by_query = Database(base.address, query="SELECT a, b FROM people")
    asked = plan(columns={"a": "quasi", "b": "other"})
    for table in (base, by_query):
        monkeypatch.setattr(module, "machine_memory", lambda: 1_400_000)
        assert choose_engine(table, asked, False) == module.MEMORY
        monkeypatch.setattr(module, "machine_memory", lambda: 1_200_000)
        found = choose_engine(table, asked, False)
        assert found.name == "duckdb"
        assert "takes about 1 MB of 1 MB of memory, so that engine = 'duckdb'" in found.notes[0]
        assert choose_engine(table, asked.changed(engine="memory"), False) == module.MEMORY
    assert choose_engine(base, asked.changed(memory="1GB"), False) == module.MEMORY


def test_a_table_that_duckdb_does_not_support_stays_in_memory(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 1_000)
    asked = plan(columns={"a": "quasi", "b": "other"})
    found = choose_engine(base, asked.changed(algorithm="mdav"), False)
    assert (found.name, "mdav" in found.notes[0]) == ("memory", True)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    found = choose_engine(base, asked, False)
    assert (found.name, "pip install 'shoal[duckdb]'" in found.notes[0]) == ("memory", True)


def test_a_type_that_duckdb_would_change(empty_server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 10)
    empty_server.run("CREATE TABLE people AS SELECT 1.5::float8 AS a, now() AS b")
    base = Database(empty_server.address(), "people")
    found = choose_engine(base, plan(columns={"a": "quasi", "b": "other"}), False)
    assert found.name == "memory"
    assert "columns of type timestamp[us, tz=UTC] ('b')" in found.notes[0]
    found = choose_engine(base, plan(columns={"a": "person", "b": "drop"}), False)
    assert "columns of type double ('a')" in found.notes[0]
    found = choose_engine(base, plan(columns={"a": "quasi", "b": "identifier"}), False)
    assert found.name == "duckdb"


def test_a_small_file_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database")
    assert choose_engine(Database(tmp_path / "a.db", "x"), plan(), False) == module.MEMORY


def test_the_release_of_a_large_table(base: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a note, and is written to a table as the one of memory."""
    asked = plan(columns={"a": "quasi", "b": "other"}, seed=1)
    expected, target = Database(base.address, "one"), Database(base.address, "two")
    shoal.anonymize(base, asked).save(expected)
    monkeypatch.setattr(module, "machine_memory", lambda: 1_000)
    release = shoal.anonymize(base, asked)
    assert release.as_dict()["engine"] == "duckdb"
    assert any("engine = 'duckdb' was used" in note for note in release.notes)
    release.save(target)
    assert target.schema() == expected.schema()
    assert sorted(target.read()["a"].to_pylist()) == sorted(expected.read()["a"].to_pylist())


def test_a_folder_that_cannot_be_read_otherwise(tmp_path: Path) -> None:
    assert choose_engine(tmp_path, plan(), False).name == "duckdb"
    with pytest.raises(BadPlan, match=r"keep_order.*one file"):
        choose_engine(tmp_path, plan(), True)
