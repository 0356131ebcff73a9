"""Targets that cannot be written: somebody uses them, the user may not, or the disk is full."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable, Database
from shoal.databases.kinds import postgresql, sqlite
from shoal.databases.writing import check_out, write_to
from shoal.io.frames import Frame
from tests.postgresql_server import Server

NEW = Frame(pa.table({"new": [1, 2]}))
OLD = {"old": [1]}


def written(target: Database, rows: Frame = NEW) -> None:
    write_to(target, rows, True, lambda _: None)


@pytest.fixture
def old(stored) -> Database:
    """A table of the target's name, in a database of each kind."""
    base: Database = stored(pa.table(OLD), "release")
    return base


def run(address: str, *statements: str) -> None:
    """Statements by the driver alone."""
    if address.startswith("postgresql"):
        import adbc_driver_postgresql.dbapi as driver

        with driver.connect(address) as con, con.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
            con.commit()
        return
    path = address.split("///")[1]
    library = duckdb if address.startswith("duckdb") else sqlite3
    with closing(library.connect(path)) as con:
        for sql in statements:
            con.execute(sql)
        con.commit()


# Other sessions


def test_a_table_that_somebody_reads_is_not_replaced(
    empty_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "PATIENCE", "100ms")
    empty_server.run("CREATE TABLE release AS SELECT 1 AS old")
    target = Database(empty_server.address(), "release")
    with empty_server.connect() as con, con.cursor() as cursor:
        cursor.execute("SELECT * FROM release")
        cursor.fetchall()
        check_out(target, True)  # they may have finished when the release is written
        with pytest.raises(BadFile, match=r"somebody else uses the table that would be replaced"):
            written(target)
    assert target.read().to_pydict() == OLD
    assert empty_server.tables() == ["release"]


HOLD = {
    "sqlite": "import sqlite3; con = sqlite3.connect(sys.argv[1]); con.execute('BEGIN'); "
    "con.execute(sys.argv[2]).fetchall()",
    "duckdb": "import duckdb; con = duckdb.connect(sys.argv[1])",
}


@contextmanager
def used(kind: str, path: Path, sql: str = "SELECT * FROM release") -> Iterator[None]:
    """Another process has the file open."""
    code = f"import sys; {HOLD[kind]}; print('ready', flush=True); input()"
    words = [sys.executable, "-c", code, str(path), sql]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.communicate("\n")


@pytest.mark.parametrize("sql", ["SELECT * FROM release", "DELETE FROM release"])
def test_a_file_of_sqlite_that_another_process_uses(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    path = tmp_path / "a.db"
    run(f"sqlite:///{path}", "CREATE TABLE release AS SELECT 1 AS old")
    target = Database(path, "release")
    with used("sqlite", path, sql):
        with pytest.raises(BadFile, match=r"a\.db is locked: .* nothing is changed\. Run again"):
            written(target)
        assert target.read().to_pydict() == OLD
    assert target.read().to_pydict() == OLD
    written(target)
    assert target.names() == ["new"]


def test_a_file_of_duckdb_that_another_process_uses(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    run(f"duckdb:///{path}", "CREATE TABLE release AS SELECT 1 AS old")
    target = Database(path, "release")
    with used("duckdb", path):
        for work in (target.read, lambda: written(target), lambda: check_out(target, True)):
            with pytest.raises(BadFile, match=r"a\.duckdb is locked: .* nothing is changed"):
                work()
    assert target.read().to_pydict() == OLD


def test_a_locked_file_of_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else may even read it."""
    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE release AS SELECT 1 AS old")
        con.commit()
        con.execute("BEGIN EXCLUSIVE")
        for work in (Database(path, "release").read, lambda: written(Database(path, "release"))):
            with pytest.raises(BadFile, match=r"a\.db is locked"):
                work()
    assert Database(path, "release").read().to_pydict() == OLD


def test_a_file_of_duckdb_that_this_process_uses(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE release AS SELECT 1 AS old")
        with pytest.raises(BadFile, match="is locked"):
            Database(path, "release").read()


# Views, owners and schemas


def test_a_view_that_depends_on_the_old_table(old: Database) -> None:
    """PostgreSQL refuses; for the others a view is a query of whatever has the name."""
    run(old.address, "CREATE VIEW seen AS SELECT * FROM release")
    if old.address.startswith("postgresql"):
        for work in (lambda: written(old), lambda: check_out(old, True)):  # also before a run
            with pytest.raises(BadFile, match="other objects, such as a view, depend on the table"):
                work()
        assert old.read().to_pydict() == OLD
    else:
        check_out(old, True)
        written(old)
        assert Database(old.address, "seen").names() == ["new"]


def test_a_broken_view_of_something_else(tmp_path: Path) -> None:
    """SQLite looks at all views when a table gets a name."""
    run(
        f"sqlite:///{tmp_path}/a.db",
        "CREATE TABLE gone (a)",
        "CREATE VIEW seen AS SELECT * FROM gone",
        "DROP TABLE gone",
    )
    target = Database(tmp_path / "a.db", "release")
    written(target)
    assert target.read().num_rows == 2


def test_a_view_is_not_replaced(old: Database) -> None:
    run(old.address, "CREATE VIEW seen AS SELECT * FROM release")
    target = Database(old.address, "seen")
    with pytest.raises(BadFile, match="cannot replace seen: it is not a table"):
        check_out(target, True)
    with pytest.raises(shoal.BadInput):
        written(target)
    assert target.read().to_pydict() == OLD


def test_a_table_of_somebody_else_is_not_replaced(empty_server: Server) -> None:
    if not empty_server.run("SELECT 1 FROM pg_roles WHERE rolname = 'visitor'"):
        empty_server.run("CREATE ROLE visitor LOGIN")
    empty_server.run(
        "CREATE TABLE release AS SELECT 1 AS old",
        "GRANT ALL ON release TO visitor",
        "GRANT ALL ON SCHEMA public TO visitor",
    )
    target = Database(empty_server.address("visitor"), "release")
    for work in (lambda: written(target), lambda: check_out(target, True)):
        with pytest.raises(BadFile, match="must be owner of table release; ask for the permission"):
            work()
    assert target.read().to_pydict() == OLD


def test_a_schema_that_does_not_exist(old: Database) -> None:
    target = Database(old.address, "clinic.release")
    for work in (lambda: written(target), lambda: check_out(target, True)):
        with pytest.raises(shoal.BadInput, match="clinic"):
            work()
    assert old.read().to_pydict() == OLD


# What can only be read


def test_a_database_that_is_set_to_read_only(empty_server: Server) -> None:
    if not empty_server.run("SELECT 1 FROM pg_roles WHERE rolname = 'reader'"):
        empty_server.run("CREATE ROLE reader LOGIN SUPERUSER")
    empty_server.run("ALTER ROLE reader SET default_transaction_read_only = on",
                     "CREATE TABLE release AS SELECT 1 AS old")  # fmt: skip
    target = Database(empty_server.address("reader"), "release")
    for work in (lambda: written(target), lambda: check_out(target, True)):
        with pytest.raises(BadFile, match=r"lets this user only read: .* nothing in the database"):
            work()
    assert target.read().to_pydict() == OLD


@contextmanager
def without_rights() -> Iterator[None]:
    """Let permissions of files count for the administrator, too."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_without_permission(kind: str) -> None:
    with TemporaryDirectory() as folder:
        target = Database(Path(folder) / f"a.{kind}", "release")
        written(target, Frame(pa.table(OLD)))
        assert target.file is not None
        Path(folder).chmod(0o755)
        target.file.chmod(0o444)
        with without_rights():
            assert target.read().to_pydict() == OLD
            with pytest.raises(BadFile, match=r"cannot (write|open) .*(read-only|no permission)"):
                written(target)
        new = Database(Path(folder) / f"new.{kind}", "release")
        Path(folder).chmod(0o555)
        target.file.chmod(0)
        with without_rights():
            with pytest.raises(BadFile, match=r"cannot open .*no permission"):
                target.read()
            with pytest.raises(BadFile, match=r"cannot write .*Permission denied"):
                written(new)
        Path(folder).chmod(0o755)
        target.file.chmod(0o644)
        assert target.read().to_pydict() == OLD


# Disks


FULL = """
import resource, sys
import pyarrow as pa
import shoal
from shoal.databases.writing import write_to
from shoal.io.frames import Frame

rows = pa.table({"n": range(50_000), "t": [f"{i * 7919 % 10007} {i}" * 9 for i in range(50_000)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
try:
    write_to(shoal.Database(sys.argv[1], "release"), Frame(rows), True, lambda _: None)
except shoal.BadFile as error:
    print(error)
"""


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("new", [True, False])
def test_a_full_disk(kind: str, new: bool, tmp_path: Path) -> None:
    """No file may be larger than 500 kB here, which libraries report as they do a full disk."""
    target = Database(tmp_path / f"a.{kind}", "release")
    if not new:
        written(target, Frame(pa.table(OLD)))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(target.file)], capture_output=True, text=True, check=True
    )
    assert "no space is left on the disk" in done.stdout
    assert "nothing in the file was changed" in done.stdout
    if new:
        assert list(tmp_path.iterdir()) == []
    else:
        assert target.read().to_pydict() == OLD


def test_a_full_disk_of_a_server(empty_server: Server, small_disk: Path) -> None:
    empty_server.run("CREATE TABLE release AS SELECT 1 AS old")
    psql = empty_server.handle.psql
    psql(f"CREATE TABLESPACE tiny LOCATION '{small_disk}'; "
         "ALTER DATABASE postgres SET default_tablespace = 'tiny'")  # fmt: skip
    try:
        rows = pa.table({"t": [f"{i * 7919 % 10007} {i}" * 9 for i in range(50_000)]})
        target = Database(empty_server.address(), "release")
        with pytest.raises(BadFile, match="has no disk space left; nothing in the database was"):
            written(target, Frame(rows))
        assert target.read().to_pydict() == OLD
        assert empty_server.tables() == ["release"]
    finally:
        psql("ALTER DATABASE postgres RESET default_tablespace; DROP TABLESPACE tiny")


@pytest.fixture
def small_disk(empty_server: Server) -> Iterator[Path]:
    """A disk of 2 MB in memory, which the server can write to; only some may mount it."""
    with TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("needs the right to mount a small disk")
        try:
            owner = empty_server.folder.stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


# Columns


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_columns_that_differ_in_letter_case_only(kind: str, tmp_path: Path) -> None:
    """These databases would read the first one twice, so that one column would get the other's
    values."""
    address = f"{kind}:///{tmp_path}/a.{kind}"
    run(address, "CREATE TABLE people AS SELECT 'Ann' AS name, 'f' AS sex")
    said = "the columns 'name' and 'NAME' differ in letter case only"
    base = Database(address, query='SELECT name, sex AS "NAME" FROM people')
    for work in (base.read, base.names, base.schema, lambda: base.count(["NAME"])):
        with pytest.raises(BadTable, match=said):
            work()
    with pytest.raises(BadTable, match=said):
        written(Database(address, "release"), Frame(pa.table({"name": ["x"], "NAME": ["y"]})))


def test_letter_case_matters_to_postgresql(empty_server: Server) -> None:
    target = Database(empty_server.address(), "release")
    rows = pa.table({"name": ["x"], "NAME": ["y"]})
    written(target, Frame(rows))
    assert target.read().equals(rows)


def test_two_columns_of_one_name_in_a_large_table(old: Database) -> None:
    base = Database(old.address, query="SELECT old, old FROM release")
    asked = {"columns": {"old": "quasi"}, "models": [{"name": "k-anonymity", "k": 2}]}
    for engine in ("auto", "duckdb"):
        with pytest.raises(BadTable, match="the query has several columns of the same name: 'old'"):
            shoal.anonymize(base, asked | {"engine": engine})
    with pytest.raises(BadTable, match="several columns of the same name"):
        shoal.audit(base, asked)
