"""Commands on tables of databases."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tests.command_line import left
from tests.postgresql_server import PASSWORD, Server


def only_progress(errors: str) -> bool:
    """Whether nothing else is said; a slow machine shows progress."""
    return all(re.fullmatch(r"[a-z (),:-]+: [0-9]+ %", line) for line in errors.splitlines())


@pytest.fixture
def base(people: Path) -> Path:
    """The table of the 60 people in a file of SQLite."""
    with (people / "people.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with closing(sqlite3.connect(people / "people.db")) as con, con:
        con.execute("CREATE TABLE people (name TEXT, age INTEGER, sex TEXT, disease TEXT)")
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows[1:])
    return people


def test_the_same_release_as_from_the_same_table_as_csv(run, base: Path) -> None:
    words = ["--plan", "plan.toml", "--out"]
    assert run("anonymize", "people.csv", *words, "one.csv")[0] == 0
    assert run("anonymize", "people.db", "--table", "people", *words, "two.csv")[0] == 0
    query = "SELECT * FROM people"
    address = "sqlite:///people.db"
    assert run("anonymize", address, "--query", query, *words, "three.csv")[0] == 0
    assert (base / "one.csv").read_bytes() == (base / "two.csv").read_bytes()
    assert (base / "one.csv").read_bytes() == (base / "three.csv").read_bytes()


def test_every_command_reads_and_writes_tables(run, base: Path) -> None:
    given = ["people.db", "--table", "people"]
    status, out, _ = run("draft", *given, "-o", "draft.toml")
    assert status == 0
    assert "shoal anonymize people.db --table people --plan draft.toml" in out
    target = ["--out", "people.db", "--out-table", "release"]
    words = [*given, "--plan", "plan.toml", *target]
    status, out, _ = run("anonymize", *words, "--recoding", "r.json")
    assert status == 0
    assert "written: table release of people.db" in out
    status, _, errors = run("anonymize", *words)
    assert status == 2
    assert "has a table 'release' already; --replace" in errors
    assert run("anonymize", *words, "--replace")[0] == 0
    applied = ["--out", "sqlite:///new.db", "--out-table", "applied"]
    assert run("apply", *given, "--recoding", "r.json", *applied)[0] == 0
    original = ["--original", "people.db", "--original-table", "people"]
    status, _, errors = run(
        "audit", "people.db", "--table", "release", "--plan", "plan.toml", *original
    )
    assert status == 0
    assert only_progress(errors)
    risks = ["--record-risks", "risks.csv"]
    assert run("audit", "people.db", "--table", "release", "--plan", "plan.toml", *risks)[0] == 0
    assert len((base / "risks.csv").read_text().splitlines()) == 61
    assert left(base) == sorted(
        ["draft.toml", "new.db", "people.csv", "people.db", "plan.toml", "r.json", "risks.csv"]
    )


def test_a_large_table_becomes_a_table(run, base: Path) -> None:
    words = ["anonymize", "people.db", "--table", "people", "--plan", "plan.toml", "--seed", "1"]
    target = ["--out", "people.db", "--out-table"]
    assert run(*words, *target, "memory")[0] == 0
    status, out, errors = run(
        *words, *target, "large", "--engine", "duckdb", "--json", "out.json", "--report", "out.html"
    )
    assert status == 0
    assert only_progress(errors)
    assert "written: table large of people.db" in out
    with closing(sqlite3.connect(base / "people.db")) as con:
        rows = [con.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3").fetchall()
                for name in ("memory", "large")]  # fmt: skip
    assert rows[0] == rows[1]
    assert json.loads((base / "out.json").read_text())["engine"] == "duckdb"
    assert run(*words, "--out", "large.csv", "--engine", "duckdb")[0] == 0
    checksum = sha256((base / "large.csv").read_bytes()).hexdigest()
    assert checksum in (base / "out.html").read_text(encoding="utf-8")
    status, _, errors = run(*words, *target, "x", "--engine", "spark")
    assert status == 2
    assert "engine = 'spark' writes files, not tables of databases" in errors


@pytest.mark.slow  # each run of a comparison is a process of its own
def test_compare_reads_tables(run, base: Path) -> None:
    short = ["--k", "2", "--algorithms", "mondrian"]
    words = ["people.db", "--table", "people", "--plan", "plan.toml"]
    assert run("compare", *words, *short)[0] == 0


def test_options_of_databases_are_refused_for_files(run, people: Path) -> None:
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
    for more in (["--table", "people"], ["--query", "x"], ["--out-table", "x"], ["--replace"]):
        status, _, errors = run(*words, *more)
        assert status == 2
        assert "for databases" in errors
    assert left(people) == ["people.csv", "plan.toml"]


def test_the_table_that_is_read_is_not_replaced(run, base: Path) -> None:
    target = ["--out", "sqlite:///people.db", "--out-table", "people", "--replace"]
    status, _, errors = run(
        "anonymize", "people.db", "--table", "people", "--plan", "plan.toml", *target
    )
    assert status == 2
    assert "cannot replace table people: this command reads it" in errors


ADDRESSES = [
    f"postgresql://ann:{PASSWORD}@host/clinic",
    f"postgresql://ann:{PASSWORD}@host",
    f"host=localhost user=ann password={PASSWORD}",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=["database", "host", "settings"])
def test_an_address_in_place_of_a_file_is_not_repeated(run, people: Path, address: str) -> None:
    release = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "x.csv"]
    audit = ["audit", "people.csv", "--plan", "plan.toml"]
    frontier = ["frontier", "people.csv", "--plan", "plan.toml"]
    for command in (
        *([*release, one, address] for one in ("--json", "--report", "--recoding", "--codebook")),
        [*release, "--refused-report", address],
        [*release, "--engine", "duckdb", "--temp-directory", address],
        *([*audit, one, address] for one in ("--json", "--record-risks", "--population")),
        *([*frontier, one, address] for one in ("--json", "--csv", "--plot")),
        ["apply", "people.csv", "--recoding", address, "--out", "x.csv"],
        ["draft", "people.csv", "--out", address],
        ["draft", "people.csv", "--dictionary", address, "--out", "d.toml"],
        ["draft", "people.csv", "--levels", address, "--out", "d.toml"],
    ):
        status, out, errors = run(*command)
        assert status == 2, (command, errors)
        assert PASSWORD not in out + errors, command
    assert left(people) == ["people.csv", "plan.toml"]


def test_no_output_contains_the_password(
    run, people: Path, empty_server: Server, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    empty_server.run(
        "CREATE TABLE people AS SELECT 'Person ' || i AS name, 20 + i % 40 AS age, "
        "CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, 'd' || i % 5 AS disease "
        "FROM generate_series(0, 59) AS i",
        "GRANT SELECT ON people TO guarded",
        "GRANT CREATE ON SCHEMA public TO guarded",
    )
    address = empty_server.address("guarded")
    with_password = address.replace("guarded@", f"guarded:{PASSWORD}@")
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    written = ""
    words = ["--plan", "plan.toml", "--json", "out.json", "--report", "out.html"]
    foreign = f"host=localhost user=guarded password={PASSWORD}"
    for where in (with_password, f"{address}&password={PASSWORD}", foreign):
        for command in (
            ["anonymize", where, "--table", "people", *words, "--out", "x.csv"],
            ["anonymize", "people.csv", *words, "--out", where, "--out-table", "x"],
            ["draft", where, "--table", "people", "-o", "d.toml"],
            ["audit", where, "--table", "people", "--plan", "plan.toml"],
            ["audit", "people.csv", "--plan", "plan.toml", "--original", where],
        ):
            status, out, errors = run(*command)
            assert status == 2
            assert "must not contain a password" in errors
            written += out + errors
    monkeypatch.setenv("PGPASSWORD", "wrong")
    status, out, errors = run("audit", address, "--table", "people", "--plan", "plan.toml")
    assert status == 2
    written += out + errors
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    target = ["--out", address, "--out-table", "release", "--recoding", "r.json"]
    status, out, errors = run("anonymize", address, "--table", "people", *words, *target)
    assert status == 0
    assert only_progress(errors)
    written += out + errors + caplog.text
    written += "".join(
        file.read_text(encoding="utf-8") for file in people.iterdir() if file.is_file()
    )
    assert PASSWORD not in written
    assert json.loads((people / "out.json").read_text())["rows"] == 60
    assert empty_server.tables() == ["people", "release"]
    empty_server.run("REVOKE CREATE ON SCHEMA public FROM guarded")
