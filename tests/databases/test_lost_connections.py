"""Servers, connections and processes that end in the middle: nothing is half done."""

from __future__ import annotations

import _thread
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import sleep

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, Database
from shoal.databases.kinds import postgresql
from shoal.databases.writing import write_parts, write_to
from shoal.engines import source
from shoal.io.frames import Frame
from tests import postgresql_server
from tests.large_tables import plan, table
from tests.postgresql_server import Server

LOST = "connection to PostgreSQL was lost: .* nothing in the database was changed.* Run again"
ROWS = pa.table({"n": range(20_000), "t": ["x" * 200] * 20_000})


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that no other test uses: it is killed."""
    if (reason := postgresql_server.lacking()) is not None:
        pytest.skip(reason)
    with postgresql_server.started() as server:
        yield server


@pytest.fixture
def mortal(own_server: Server) -> Iterator[Server]:
    """The same with a table `release`, which stays as it is."""
    own_server.run("DROP TABLE IF EXISTS release", "CREATE TABLE release AS SELECT 1 AS old")
    yield own_server
    assert own_server.tables() == ["release"]
    assert own_server.run("SELECT * FROM release") == [(1,)]


def test_a_server_that_is_killed_while_rows_are_written(mortal: Server) -> None:
    target = Database(mortal.address(), "release")
    calls: list[int] = []

    def parts() -> Iterator[pa.Table]:
        yield ROWS
        calls.append(1)
        mortal.kill()
        yield ROWS

    with pytest.raises(BadFile, match=LOST):
        write_parts(target, ROWS.schema, parts, True, lambda _: None)
    assert calls
    with pytest.raises(BadFile, match="cannot connect to PostgreSQL: no server answers"):
        target.read()
    mortal.restart()


def test_a_server_that_is_killed_after_all_rows_were_written(mortal: Server) -> None:
    target = Database(mortal.address(), "release")
    with pytest.raises(BadFile, match=LOST):
        write_to(target, Frame(ROWS), True, lambda _: mortal.kill())
    mortal.restart()


def test_a_server_that_is_killed_while_rows_are_read(mortal: Server) -> None:
    query = "SELECT i, repeat('x', 100) AS t FROM generate_series(1, 400000) AS i"
    done: list[int] = []

    def kill(rows: int, size: int) -> None:
        if not done:
            mortal.kill()
        done.append(rows)

    with pytest.raises(BadFile, match=LOST):
        Database(mortal.address(), query=query).read(kill)
    assert done[-1] < 400_000
    mortal.restart()


def test_a_server_that_is_killed_while_a_large_release_is_written(
    mortal: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its rows are read by a thread of DuckDB."""
    query = (
        "SELECT 20 + i % 20 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "repeat('x', 100) AS note FROM generate_series(1, 400000) AS i"
    )
    release = shoal.anonymize(Database(mortal.address(), query=query), plan(seed=1))
    converted, done = source.converted, []

    def kill(batch: pa.RecordBatch, *rest: object) -> pa.RecordBatch:
        if not done:
            mortal.kill()
        done.append(batch.num_rows)
        return converted(batch, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(source, "converted", kill)
    with pytest.raises(BadFile, match=LOST):
        release.save(tmp_path / "release.csv")
    assert sum(done) < 400_000
    assert list(tmp_path.iterdir()) == []
    mortal.restart()


def test_a_standby_can_only_be_read(mortal: Server) -> None:
    target = Database(mortal.address(), "release")
    mortal.handle.stop()
    (mortal.folder / "standby.signal").touch()
    mortal.restart()
    try:
        assert target.read().num_rows == 1
        with pytest.raises(BadFile, match=r"only read: the server is a standby.*primary server"):
            write_to(target, Frame(ROWS), True, lambda _: None)
    finally:
        mortal.handle.stop()
        (mortal.folder / "standby.signal").unlink()
        mortal.restart()


def test_an_interrupt_while_a_connection_is_made(
    empty_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed, although nobody has got it."""
    driver = postgresql.load()
    connect = driver.connect

    def interrupted(address: str) -> object:
        _thread.interrupt_main()
        sleep(0.3)
        return connect(address)

    monkeypatch.setattr(driver, "connect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Database(empty_server.address(), "release").read()
    monkeypatch.undo()
    ended(empty_server)


# COMMIT


@contextmanager
def broken(server: Server, folder: Path, forward: bool) -> Iterator[str]:
    """An address by which the connection breaks at COMMIT, which reaches the server or does not."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / ".s.PGSQL.5432"))
    listener.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=connected, args=(client,), daemon=True).start()

    def connected(client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as back:
            back.connect(str(server.folder / ".s.PGSQL.5432"))
            answers = threading.Thread(target=pump, args=(back, client), daemon=True)
            answers.start()
            pump(client, back, True)
            answers.join()

    def pump(origin: socket.socket, other: socket.socket, to_server: bool = False) -> None:
        with suppress(OSError):
            while sent := origin.recv(1 << 16):
                last = to_server and b"COMMIT" in sent
                if last:
                    origin.shutdown(socket.SHUT_RDWR)  # no answer comes back
                if not last or forward:
                    other.sendall(sent)
                if last:
                    break
        for one in (origin, other):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR if one is origin else socket.SHUT_WR)

    threading.Thread(target=serve, daemon=True).start()
    with closing(listener):
        yield f"postgresql://postgres@/postgres?host={folder}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("forward", "outcome"), [(True, "committed"), (False, "aborted")])
def test_a_connection_that_is_lost_at_commit(
    forward: bool, outcome: str, empty_server: Server, short_path: Path
) -> None:
    """Nobody can know whether it was committed: the message says so, and how to find out."""
    empty_server.run("CREATE TABLE release AS SELECT 1 AS old")
    with broken(empty_server, short_path, forward) as address:
        assert Database(address, "release").read().num_rows == 1
        with pytest.raises(
            BadFile, match="it is not known whether the release was written"
        ) as error:
            write_to(Database(address, "release"), Frame(ROWS), True, lambda _: None)
    assert "nothing in the database was changed" not in str(error.value)
    found = re.search(r"SELECT txid_status\(\d+\)", str(error.value))
    assert found is not None
    ended(empty_server)
    assert empty_server.run(found[0]) == [(outcome,)]
    assert empty_server.tables() == ["release"]
    names = Database(empty_server.address(), "release").names()
    assert names == (["n", "t"] if forward else ["old"])


def test_an_interrupt_at_commit(own_server: Server) -> None:
    """The server waits for a standby that never answers: it has committed, but does not say so."""
    psql = own_server.handle.psql
    own_server.run("DROP TABLE IF EXISTS release")
    psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf()")
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    def interrupt() -> None:
        while "1" not in psql(waiting).split():
            sleep(0.05)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt) as error:
            write_to(Database(own_server.address(), "release"), Frame(ROWS), False, lambda _: None)
    finally:
        thread.join()
        psql("ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()")
    (note,) = error.value.__notes__
    found = re.search(r"it is not known .* (SELECT txid_status\(\d+\))", note)
    assert found is not None
    assert own_server.run(found[1]) == [("committed",)]
    assert own_server.run("SELECT count(*) FROM release") == [(20_000,)]


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder for a socket, whose path must be short."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        yield Path(folder)


def ended(server: Server) -> None:
    """Wait until all other connections have ended."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = "
        "'client backend'"
    )
    for _ in range(600):
        if server.run(others) == [(0,)]:
            return
        sleep(0.05)
    pytest.fail("a connection does not end")


# Killed processes


KILLED = """
import os, signal, sys
import pyarrow as pa
from shoal import Database
from shoal.databases.writing import write_parts

rows = pa.table({"n": range(20_000), "t": ["x" * 200] * 20_000})

def parts():
    yield rows
    yield rows
    os.kill(os.getpid(), signal.SIGKILL)

write_parts(Database(sys.argv[1], "release"), rows.schema, parts, True, lambda _: None)
"""


def test_a_process_that_is_killed_while_it_writes(stored) -> None:
    base = stored(pa.table({"old": [1]}), "release")
    done = subprocess.run([sys.executable, "-c", KILLED, base.address], check=False)
    assert done.returncode == -9
    assert base.read().to_pydict() == {"old": [1]}
    with shoal.databases.kind.kind_of(base.address).opened(base.address, False) as session:
        assert session.tables() == ["release"]
    write_to(base, Frame(table(20)), True, lambda _: None)
    assert base.read().num_rows == 20


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_new_file_of_a_killed_process(kind: str, tmp_path: Path) -> None:
    address = f"{kind}:///{tmp_path}/new.{kind}"
    done = subprocess.run([sys.executable, "-c", KILLED, address], check=False)
    assert done.returncode == -9
    assert not (tmp_path / f"new.{kind}").exists()
    write_to(Database(address, "release"), Frame(table(20)), False, lambda _: None)
    left = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    del left[f"new.{kind}"]
    assert not any(left.values())  # an empty file stays for a while
