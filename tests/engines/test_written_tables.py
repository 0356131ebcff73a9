"""Releases of tables that are not in memory, written to tables of databases part by part."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadFile, BadTable, Database
from shoal.databases.kind import Allowed, kind_of
from shoal.databases.writing import NewTable, write_parts, write_to
from shoal.engines import shuffle, writing
from shoal.io.frames import Frame, write
from tests.flow.test_at_scale import by_person, of_people, patients, typed
from tests.flow.test_count_in_database import odd_people, plan
from tests.large_tables import nothing_left

ASKED = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3, algorithm="peel")
LARGE = ASKED.changed(engine="duckdb")
KINDS = ["postgresql", "sqlite", pytest.param("duckdb", marks=pytest.mark.slow)]


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("empty_server").address()
    return f"{request.param}:///{tmp_path}/a.{request.param}"


@pytest.fixture
def base(address: str) -> Database:
    """A table of 400 people."""
    target = Database(address, "people")
    write_to(target, Frame(odd_people()), False, lambda _: None)
    return target


@pytest.fixture(autouse=True)
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are written in parts of 64 rows, and shuffled in files of about 100."""
    resized = writing.resized
    monkeypatch.setattr(writing, "resized", lambda tables: resized(tables, 64))
    monkeypatch.setattr(shuffle, "ROWS", 100)


def cells(table: pa.Table) -> list[str]:
    return sorted(str(row) for row in table.to_pylist())


def names(address: str) -> list[str]:
    with kind_of(address).opened(address, False) as session:
        return session.tables()


def test_the_table_is_that_of_memory(base: Database, tmp_path: Path) -> None:
    """The same records in columns of the same types, next to the table that is read."""
    expected = Database(base.address, "memory")
    shoal.anonymize(base, ASKED).save(expected)
    release = shoal.anonymize(base, LARGE)
    target = Database(base.address, "large")
    release.save(target)
    assert release.frame is None
    assert target.schema() == expected.schema()
    assert cells(target.read()) == cells(expected.read())
    assert names(base.address) == ["large", "memory", "people"]
    assert nothing_left(tmp_path)


def test_the_rows_are_those_of_the_file_in_their_order(base: Database, tmp_path: Path) -> None:
    release = shoal.anonymize(base, LARGE)
    release.save(tmp_path / "release.csv")
    sha256 = release.csv_sha256()
    target = Database(base.address, "release")
    release.save(target)
    assert release.csv_sha256() == sha256
    write(Frame(target.read()), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()


def test_a_file_becomes_a_table(address: str, tmp_path: Path) -> None:
    write(Frame(odd_people()), tmp_path / "people.parquet")
    target = Database(address, "release")
    shoal.anonymize(tmp_path / "people.parquet", LARGE).save(target)
    expected = Database(address, "memory")
    shoal.anonymize(tmp_path / "people.parquet", ASKED).save(expected)
    assert target.schema() == expected.schema()
    assert cells(target.read()) == cells(expected.read())


def test_people_are_counted_in_the_table(address: str, tmp_path: Path) -> None:
    base = Database(address, "patients")
    columns = {"sex" if name == "who" else name: one for name, one in of_people().columns.items()}
    rows = patients(1)
    rows = rows.rename_columns(["sex" if name == "who" else name for name in rows.column_names])
    write_to(base, Frame(rows), False, lambda _: None)
    release = shoal.anonymize(base, of_people(engine="duckdb", columns=columns))
    target = Database(address, "release")
    release.save(target)
    shoal.anonymize(base, of_people(columns=columns)).save(tmp_path / "memory.csv")
    write(Frame(target.read()), tmp_path / "large.csv")
    assert by_person(tmp_path / "large.csv") == by_person(tmp_path / "memory.csv")


def test_rows_are_written_and_read_back_in_parts(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kind_of(base.address).opened(base.address, False) as session:
        kind = type(session)
    seen: list[int] = []
    append = kind.append

    def counted(self, table: str, rows: pa.Table) -> None:
        seen.append(rows.num_rows)
        append(self, table, rows)

    monkeypatch.setattr(kind, "append", counted)
    monkeypatch.setattr(NewTable, "read", lambda _: pytest.fail("all rows are in memory"))
    shoal.anonymize(base, LARGE).save(Database(base.address, "release"))
    assert sum(seen) == 400
    assert max(seen) == 64


def test_every_type_is_stored_as_from_memory(address: str, tmp_path: Path) -> None:
    pq.write_table(typed(1), tmp_path / "typed.parquet")
    asked = ASKED.changed(
        columns={name: "quasi" if name == "q" else "other" for name in typed(0).column_names}
    )
    expected, target = Database(address, "memory"), Database(address, "large")
    shoal.anonymize(tmp_path / "typed.parquet", asked).save(expected)
    shoal.anonymize(tmp_path / "typed.parquet", asked.changed(engine="duckdb")).save(target)
    assert target.schema() == expected.schema()
    assert cells(target.read()) == cells(expected.read())


def test_one_cell_decides_the_form_of_its_column(address: str, tmp_path: Path) -> None:
    """A fraction of a second in one of many parts, or what is no number to SQLite."""
    rows = 300
    usual = np.full(rows, 10**9)
    columns = {"q": pa.array([1] * rows), "whole": pa.array(usual).cast(pa.timestamp("ns"))}
    for name, odd in (("milli", 10**6), ("nano", 1)):
        moments = usual.copy()
        moments[7] += odd
        columns[name] = pa.array(moments).cast(pa.timestamp("ns"))
    numbers = np.ones(rows)
    numbers[7] = -0.0
    columns["number"] = pa.array(numbers)
    pq.write_table(pa.table(columns), tmp_path / "odd.parquet")
    asked = ASKED.changed(columns={name: "quasi" if name == "q" else "other" for name in columns})
    expected, target = Database(address, "memory"), Database(address, "large")
    shoal.anonymize(tmp_path / "odd.parquet", asked).save(expected)
    shoal.anonymize(tmp_path / "odd.parquet", asked.changed(engine="duckdb")).save(target)
    assert target.schema() == expected.schema()
    assert cells(target.read()) == cells(expected.read())


# What goes wrong


def old(address: str) -> Database:
    target = Database(address, "release")
    write_to(target, Frame(pa.table({"old": [1]})), False, lambda _: None)
    return target


def test_an_existing_table_is_replaced_only_if_asked(base: Database) -> None:
    target = old(base.address)
    release = shoal.anonymize(base, LARGE)
    with pytest.raises(BadFile, match="has a table 'release' already; --replace replaces it"):
        release.save(target)
    assert target.read().to_pydict() == {"old": [1]}
    release.save(target, replace=True)
    assert target.read().num_rows == 400
    assert names(base.address) == ["people", "release"]


def test_the_table_that_is_read_is_not_replaced(base: Database) -> None:
    release = shoal.anonymize(base, LARGE)
    with pytest.raises(BadFile, match="cannot replace table people: this command reads it"):
        release.save(base, replace=True)
    by_query = shoal.anonymize(Database(base.address, query="SELECT * FROM people"), LARGE)
    with pytest.raises(BadFile, match="cannot replace table people: this command reads it"):
        by_query.save(base, replace=True)
    assert base.read().num_rows == 400


def test_a_target_needs_a_table(base: Database) -> None:
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(base, ASKED.changed(engine=engine))
        with pytest.raises(BadTable, match="name the table"):
            release.save(Database(base.address))


def test_a_violated_requirement_is_found_in_the_table(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = old(base.address)
    release = shoal.anonymize(base, LARGE)
    count = NewTable.count

    def too_small(self: NewTable, wanted: list[str]) -> Frame:
        found = count(self, wanted)
        assert found.counted is not None
        weight = found.counted.weight.copy()
        weight[:] = 1
        return Frame(found.native.slice(0, 1), found.counted._replace(weight=weight[:1]))

    monkeypatch.setattr(NewTable, "count", too_small)
    with pytest.raises(shoal.NotHeld, match="k-anonymity requires"):
        release.save(target, replace=True)
    assert target.read().to_pydict() == {"old": [1]}
    assert names(base.address) == ["people", "release"]


@pytest.mark.parametrize("change", ["another cell", "a row less", "a row more"])
def test_other_rows_in_the_table_are_found(
    change: str, base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database itself has other rows than were to be written."""
    target = old(base.address)
    release = shoal.anonymize(base, LARGE)
    with kind_of(base.address).opened(base.address, False) as session:
        kind = type(session)
    append, parts = kind.append, []

    def changed(self, table: str, rows: pa.Table) -> None:
        parts.append(rows.num_rows)
        if len(parts) == 3 and change == "another cell":
            place = rows.column_names.index("sex")
            first = rows["sex"].to_pylist()
            rows = rows.set_column(place, "sex", pa.array(["other", *first[1:]]))
        if len(parts) == 3 and change != "another cell":
            rows = rows.slice(1) if change == "a row less" else rows.take([0, *range(len(rows))])
        append(self, table, rows)

    monkeypatch.setattr(kind, "append", changed)
    with pytest.raises(shoal.ShoalError, match="does not contain the rows of the release"):
        release.save(target, replace=True)
    assert target.read().to_pydict() == {"old": [1]}
    assert names(base.address) == ["people", "release"]


def test_an_interrupt_while_rows_are_written(
    base: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = old(base.address)
    release = shoal.anonymize(base, LARGE)
    with kind_of(base.address).opened(base.address, False) as session:
        kind = type(session)
    append, parts = kind.append, []

    def stopped(self, table: str, rows: pa.Table) -> None:
        append(self, table, rows)
        parts.append(rows)
        if len(parts) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(kind, "append", stopped)
    with pytest.raises(KeyboardInterrupt):
        release.save(target, replace=True)
    assert target.read().to_pydict() == {"old": [1]}
    assert names(base.address) == ["people", "release"]
    assert nothing_left(tmp_path)


def test_an_original_that_changes_is_noticed(tmp_path: Path) -> None:
    """Counting does not notice a change in other columns; SQLite has it in a second file."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("PRAGMA journal_mode = wal")
        con.execute("CREATE TABLE people AS SELECT 30 AS age, 'n' AS note")
        con.execute("INSERT INTO people SELECT * FROM people")
    asked = LARGE.changed(columns={"age": "quasi", "note": "other"})
    writer = sqlite3.connect(path)  # as long as it is open, changes stay in the second file
    writer.execute("INSERT INTO people SELECT * FROM people")
    writer.commit()
    release = shoal.anonymize(Database(path, "people"), asked)
    release.save(Database(tmp_path / "b.db", "release"))
    writer.execute("UPDATE people SET note = 'other' WHERE rowid = 1")
    writer.commit()
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(Database(tmp_path / "c.db", "release"))
    assert not (tmp_path / "c.db").exists()
    writer.close()


def test_a_new_file_has_nothing_else(tmp_path: Path) -> None:
    """Neither identifiers nor the original values of the columns."""
    people = odd_people().append_column("secret", pa.array([f"MARKER-{i}" for i in range(400)]))
    write(Frame(people), tmp_path / "people.parquet")
    asked = LARGE.changed(columns={**LARGE.columns, "secret": "identifier"})
    release = shoal.anonymize(tmp_path / "people.parquet", asked)
    for name in ("a.sqlite", "a.duckdb"):
        release.save(Database(tmp_path / name, "release"))
        content = (tmp_path / name).read_bytes()
        assert b"MARKER" not in content
        assert b"Person" not in content
        assert Database(tmp_path / name, "release").read().num_rows == 400
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "a.duckdb",
        "a.sqlite",
        "people.parquet",
    ]


def test_many_parts_of_rows_of_any_length_stay_in_order(empty_server) -> None:
    """Later parts are short enough to fit into the gaps that earlier ones leave."""
    texts = ["x" * (7 * i % 3000) for i in range(3000)] + ["y" * (i % 5) for i in range(3000)]
    target = Database(empty_server.address(), "texts")
    table = pa.table({"n": range(6000), "t": texts})
    parts = [table.slice(start, 50) for start in range(0, 6000, 50)]
    write_parts(target, table.schema, lambda: parts, False, lambda _: None)
    assert target.read().equals(table)


def test_parts_do_not_stay_in_memory(address: str) -> None:
    """DuckDB would keep the tables that it was given until the transaction ends."""
    seen: list[int] = []

    def parts() -> Iterator[pa.Table]:
        for start in range(0, 400_000, 40_000):
            yield pa.table({"t": [f"{i:0100}" for i in range(start, start + 40_000)]})

    schema = pa.schema([("t", pa.string())])
    target = Database(address, "texts")
    size = next(parts()).nbytes
    before = pa.total_allocated_bytes()
    write_parts(
        target, schema, parts, False, lambda _: None,
        lambda _: seen.append(pa.total_allocated_bytes() - before),
    )  # fmt: skip
    assert len(seen) == 10
    assert max(seen) < 4 * size
    assert target.rows() > 0


def test_a_file_of_duckdb_gets_the_memory_that_it_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    folders: list[Path] = []
    kind = type(kind_of("duckdb:///a.duckdb"))
    opened = kind.opened

    @contextmanager
    def noted(self, address: str, write: bool, allowed: Allowed | None = None):
        with opened(self, address, write, allowed) as session:
            yield session
            asked = "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
            limit, folder = session.con.execute(asked).fetchall()[0]
            given.append(limit)
            if allowed is None:
                assert not folder, "temporary files are next to the file"
            else:
                folders.append(Path(folder))
                assert stat.S_IMODE(folders[-1].stat().st_mode) == 0o700

    base = Database(tmp_path / "a.duckdb", "people")
    write_to(base, Frame(odd_people()), False, lambda _: None)
    (tmp_path / "temporary").mkdir()
    asked = LARGE.changed(memory="1GiB", temp_directory=str(tmp_path / "temporary"))
    release = shoal.anonymize(base, asked)
    monkeypatch.setattr(kind, "opened", noted)
    release.save(Database(tmp_path / "b.duckdb", "release"))
    assert folders[-1].parent == tmp_path / "temporary"
    assert list((tmp_path / "temporary").iterdir()) == []
    assert "256.0 MiB" in given  # to read the rows
    assert given[-1] == "1023.9 MiB"  # to write: all but what the combinations need


def test_duckdb_returns_rows_in_their_order(tmp_path: Path) -> None:
    """Many groups of rows, which several threads read."""
    table = pa.table({"n": np.arange(1_000_000)})
    target = Database(tmp_path / "a.duckdb", "numbers")
    parts = [table.slice(start, 90_001) for start in range(0, 1_000_000, 90_001)]
    write_parts(target, table.schema, lambda: parts, False, lambda _: None)
    with duckdb.connect(str(tmp_path / "a.duckdb")) as con:
        assert con.execute("SELECT bool_and(n = rowid) FROM numbers").fetchall() == [(True,)]
    assert target.read().equals(table)
