"""Laws of databases: what is written comes back, and a table gives the release of its CSV file."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal import Database
from shoal.databases.writing import write_to
from shoal.io.frames import Frame, same_rows, write
from tests.flow.test_count_in_database import odd_people, plan
from tests.strategies import examples

KINDS = ["postgresql", "sqlite", pytest.param("duckdb", marks=pytest.mark.slow)]
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
CELLS = st.one_of(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.int64())
    ),
    st.lists(st.none() | st.floats(), min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.float64())
    ),
    st.lists(st.none() | TEXTS, min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.string())
    ),
    st.lists(st.none() | st.dates(), min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.date32())
    ),
    st.lists(st.none() | st.datetimes(), min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.timestamp("us"))
    ),
    st.lists(st.none() | st.booleans(), min_size=4, max_size=4).map(
        lambda cells: pa.array(cells, pa.bool_())
    ),
)


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("empty_server").address()
    return f"{request.param}:///{tmp_path}/a.{request.param}"


@settings(
    max_examples=examples(16),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(columns=st.lists(CELLS, min_size=1, max_size=3))
def test_what_is_written_comes_back(address: str, columns: list[pa.Array]) -> None:
    table = pa.table({f"c{i}": cells for i, cells in enumerate(columns)})
    target = Database(address, f"t{secrets.token_hex(6)}")
    write_to(target, Frame(table), False, lambda _: None)
    found = target.read()
    assert same_rows(Frame(found), Frame(table))
    for name in table.column_names:
        assert found[name].is_null().equals(table[name].is_null())
    counted = target.count(table.column_names)
    assert counted.weight is not None
    rows = [row for row, n in zip(counted.native.to_pylist(), counted.weight, strict=True)
            for _ in range(n)]  # fmt: skip
    assert sorted(map(str, rows)) == sorted(map(str, found.to_pylist()))


def test_the_same_release_as_from_the_same_table_as_csv(address: str, tmp_path: Path) -> None:
    asked = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3)
    people = odd_people()
    write(Frame(people), tmp_path / "people.csv")
    shoal.anonymize(tmp_path / "people.csv", asked).save(tmp_path / "one.csv")
    base = Database(address, "people")
    write_to(base, Frame(people), False, lambda _: None)
    release = shoal.anonymize(base, asked)
    release.save(tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    target = Database(address, "release")
    release.save(target)
    assert same_rows(Frame(target.read()), Frame(release.frame))


def test_a_release_contains_nothing_of_the_original(tmp_path: Path) -> None:
    """A new file has the cells of the release only, wherever a database might keep others."""
    people = odd_people().append_column("secret", pa.array([f"MARKER-{i}" for i in range(400)]))
    asked = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3)
    asked = asked.changed(columns={**asked.columns, "secret": "identifier"})
    release = shoal.anonymize(people, asked)
    for name in ("a.sqlite", "a.duckdb"):
        release.save(Database(tmp_path / name, "release"))
        content = (tmp_path / name).read_bytes()
        assert b"MARKER" not in content
        assert b"Person" not in content
        assert str(tmp_path).encode() not in content
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as con:
        assert con.execute("SELECT name FROM sqlite_schema").fetchall() == [("release",)]
        assert con.execute("PRAGMA freelist_count").fetchall() == [(0,)]
