"""Releases as tables of databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, datetime
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable, Database
from shoal.databases import writing
from shoal.io.frames import Frame, same_rows
from tests.large_tables import plan, table
from tests.postgresql_server import Server


@cache
def release(rows: int = 200) -> shoal.Release:
    return shoal.anonymize(table(rows), plan(engine="memory", seed=4))


def written(address: str, cells: pa.Table, name: str = "release") -> pa.Table:
    target = Database(address, name)
    writing.write_to(target, Frame(cells), False, lambda _: None)
    return target.read()


def names(address: str) -> list[str]:
    """All tables of a database, whoever made them."""
    with shoal.databases.kind.kind_of(address).opened(address, False) as session:
        return session.tables()


def test_a_release_is_written_and_read_back(address: str) -> None:
    made = release()
    target = Database(address, "release")
    made.save(target)
    assert same_rows(Frame(target.read()), Frame(made.frame))
    assert names(address) == ["release"]


def test_an_existing_table_is_replaced_only_if_asked(stored) -> None:
    base = stored(pa.table({"old": [1]}), "release")
    with pytest.raises(BadFile, match="has a table 'release' already; --replace replaces it"):
        release().save(base)
    assert base.read().to_pydict() == {"old": [1]}
    made = release()
    made.save(base, replace=True)
    assert same_rows(Frame(base.read()), Frame(made.frame))
    assert names(base.address) == ["release"]


def test_every_type_comes_back(address: str) -> None:
    cells = pa.table(
        {
            "i": pa.array([1, None, -3], pa.int8()),
            "u": pa.array([1, None, 2**63], pa.uint64()),
            "f": pa.array([0.1, None, -0.0], pa.float32()),
            "g": [float("nan"), None, 1e300],
            "b": [True, None, False],
            "d": [date(1850, 1, 2), None, date(9999, 12, 31)],
            "t": pa.array([datetime(2024, 5, 17, 10), None, datetime(1, 1, 1)], pa.timestamp("us")),
            "n": pa.array([1, None, 2], pa.timestamp("ns")),
            "z": pa.array([datetime(2024, 5, 17)] * 3, pa.timestamp("us", "Europe/Paris")),
            "s": ["", None, 'a"b\n,\\é\U0001f600'],
            "c": pa.array(["x", None, "x"]).dictionary_encode(),
            "void": pa.nulls(3),
        }
    )
    found = written(address, cells)
    for name in ("i", "u", "b", "d", "s", "c", "void"):
        assert same_rows(Frame(found.select([name])), Frame(cells.select([name]))), name
    assert found["s"].to_pylist() == cells["s"].to_pylist()  # missing is not empty
    assert found["g"].null_count == 1
    assert str(float(found["f"].to_pylist()[2])) == "-0.0"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_moments_of_a_release_with_fractions_of_a_second(
    unit: str, zone: str | None, address: str
) -> None:
    moments = pa.array([1001, 1001, None, 2000]).cast(pa.timestamp(unit, zone))
    rows = pa.table({"age": [1] * 4, "t": moments})
    asked = {"columns": {"age": "quasi", "t": "other"}, "models": [{"name": "k-anonymity", "k": 2}]}
    made = shoal.anonymize(rows, asked)
    made.save(Database(address, "release"))
    found = Database(address, "release").read()["t"]
    if address.startswith("sqlite"):
        assert found.type == pa.string()
    elif unit != "ns":  # which these databases do not have
        assert pa.types.is_timestamp(found.type)
    assert found.null_count == 1


def test_a_table_without_rows(address: str) -> None:
    found = written(address, pa.table({"age": pa.array([], pa.string())}))
    assert (found.column_names, found.num_rows) == (["age"], 0)


def test_nothing_is_left_if_verifying_fails(stored) -> None:
    base = stored(pa.table({"old": [1]}), "release")

    def fail(_: Frame) -> None:
        raise shoal.NotHeld("no")

    with pytest.raises(shoal.NotHeld):
        writing.write_to(base, Frame(table(20)), True, fail)
    assert base.read().to_pydict() == {"old": [1]}
    assert names(base.address) == ["release"]


def test_nothing_is_left_after_an_interrupt(stored) -> None:
    base = stored(pa.table({"old": [1]}), "release")

    def stop(_: Frame) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing.write_to(base, Frame(table(20)), True, stop)
    assert base.read().to_pydict() == {"old": [1]}
    assert names(base.address) == ["release"]


def test_other_rows_are_noticed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read back counts: here an empty cell instead of a missing one."""
    found = writing.NewTable.read

    def changed(self: writing.NewTable) -> Frame:
        native = found(self).native
        return Frame(native.set_column(0, "a", pa.chunked_array([pa.array(["", "x"])])))

    monkeypatch.setattr(writing.NewTable, "read", changed)
    with pytest.raises(shoal.ShoalError, match="does not contain the rows"):
        written(address, pa.table({"a": [None, "x"]}))
    assert names(address) == []


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_new_file_is_made_only_if_all_goes_well(kind: str, tmp_path: Path) -> None:
    target = Database(f"{kind}:///{tmp_path}/new.{kind}", "release")

    def fail(_: Frame) -> None:
        raise shoal.NotHeld("no")

    with pytest.raises(shoal.NotHeld):
        writing.write_to(target, Frame(table(20)), False, fail)
    assert list(tmp_path.iterdir()) == []
    release().save(target)
    assert [file.name for file in tmp_path.iterdir()] == [f"new.{kind}"]


def test_a_replaced_table_leaves_no_bytes_in_a_file_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("CREATE TABLE release AS SELECT 'Ann-Secret' AS name")
    assert b"Ann-Secret" in path.read_bytes()
    release(20).save(Database(path, "release"), replace=True)
    assert b"Ann-Secret" not in path.read_bytes()


def test_the_order_of_rows_is_that_of_the_shuffled_release(address: str) -> None:
    made = release()
    target = Database(address, "release")
    made.save(target)
    notes = target.read()["note"].to_pylist()
    assert notes == made.frame["note"].to_pylist()
    assert notes != sorted(notes, key=lambda note: int(note.split()[1]))


# Other sessions, and other schemas


def test_a_server_that_ends_while_rows_are_written(empty_server: Server) -> None:
    target = Database(empty_server.address(), "release")

    def kill(_: Frame) -> None:
        empty_server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
            "pg_backend_pid() AND backend_type = 'client backend'"
        )

    with pytest.raises(BadFile, match="connection to PostgreSQL was lost"):
        writing.write_to(target, Frame(table(20)), False, kill)
    assert empty_server.tables() == []


def test_without_permission_to_write(empty_server: Server) -> None:
    if not empty_server.run("SELECT 1 FROM pg_roles WHERE rolname = 'visitor'"):
        empty_server.run("CREATE ROLE visitor LOGIN")
    target = Database(empty_server.address("visitor"), "release")
    with pytest.raises(BadFile, match="permission denied for schema public"):
        writing.check_out(target, False)


def test_a_schema_in_front_of_the_name(empty_server: Server) -> None:
    empty_server.run("DROP SCHEMA IF EXISTS clinic CASCADE", "CREATE SCHEMA clinic")
    target = Database(empty_server.address(), "clinic.release")
    made = release(50)
    made.save(target)
    made.save(target, replace=True)
    assert same_rows(Frame(target.read()), Frame(made.frame))
    assert empty_server.tables() == []
    empty_server.run("DROP SCHEMA clinic CASCADE")


# Refused before a run


def test_the_table_that_is_read_is_not_replaced(stored, tmp_path: Path) -> None:
    base = stored(pa.table({"old": [1]}), "release")
    with pytest.raises(BadFile, match="cannot replace table release: this command reads it"):
        writing.check_out(base, True, Database(base.address, "RELEASE"))
    by_query = Database(base.address, query="SELECT * FROM release")
    with pytest.raises(BadFile, match="this command reads it"):
        writing.check_out(base, True, by_query)
    writing.check_out(base, True, tmp_path / "people.csv")
    assert names(base.address) == ["release"]  # a table made to try it is gone


def test_a_target_needs_a_table(address: str) -> None:
    for target in (Database(address), Database(address, query="SELECT 1")):
        with pytest.raises(BadTable, match=r"name the table .*--out-table"):
            writing.check_out(target, False)


def test_names_that_are_too_long_are_refused(empty_server: Server) -> None:
    with pytest.raises(BadTable, match="longer than the 63 bytes"):
        writing.check_out(Database(empty_server.address(), "x" * 64), False)
    with pytest.raises(BadTable, match="longer than the 63 bytes"):
        written(empty_server.address(), pa.table({"é" * 32: [1]}))


def test_a_nul_is_refused_by_column(empty_server: Server) -> None:
    with pytest.raises(BadTable, match="column 'a' contains the character NUL"):
        written(empty_server.address(), pa.table({"a": ["x\0y"]}))
