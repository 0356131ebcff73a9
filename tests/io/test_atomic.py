"""Files are there whole or not at all, private where they must be, and on the disk."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from shoal.base.errors import BadFile
from shoal.cli import main as cli
from shoal.io import atomic as module
from shoal.io.atomic import NAME, atomic, remove_stale

SOURCE = str(Path(module.__file__).parents[2])
posix = pytest.mark.skipif(os.name == "nt", reason="permissions and locks of POSIX")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write(path: Path, *, private: bool = False) -> None:
    with atomic(path, private=private) as beside:
        beside.write_text("new")


def leftovers(folder: Path) -> list[Path]:
    """Temporary files that hold something."""
    ours = (path for path in folder.iterdir() if NAME.match(path.name))
    return [path for path in ours if path.stat().st_size]


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


# Item 10: permissions


@posix
def test_item_10_new_files_are_private_or_follow_the_umask(tmp_path, umask):
    write(tmp_path / "report.html", private=True)
    write(tmp_path / "release.csv")
    umask(0o027)
    write(tmp_path / "other.csv")
    modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert modes == {"report.html": 0o600, "release.csv": 0o644, "other.csv": 0o640}


@posix
@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("had", [0o600, 0o640, 0o644, 0o660, 0o400, 0o604])
def test_item_10_a_file_that_exists_keeps_its_mode(had, private, tmp_path, umask):
    target = tmp_path / "release.csv"
    target.write_text("old")
    target.chmod(had)
    write(target, private=private)
    assert (target.read_text(), mode(target)) == ("new", had)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    write(link, private=private)
    assert link.is_symlink()
    assert mode(target) == had


@posix
@as_root
def test_item_10_owner_and_group_stay_where_that_is_allowed(tmp_path):
    target = tmp_path / "release.csv"
    target.write_text("old")
    os.chown(target, 12345, 23456)
    target.chmod(0o640)
    write(target)
    found = target.stat()
    assert (found.st_uid, found.st_gid, mode(target)) == (12345, 23456, 0o640)


@posix
@as_root
@pytest.mark.parametrize(("had", "gets"), [(0o640, 0o600), (0o644, 0o644), (0o604, 0o600)])
def test_item_10_another_group_never_gets_more(had, gets):
    """Somebody who cannot give a file back to its group gives the new group nothing more."""
    with TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        overwritten_by_another(Path(folder), had, gets)


def overwritten_by_another(folder: Path, had: int, gets: int) -> None:
    folder.chmod(0o777)
    target = folder / "release.csv"
    target.write_text("old")
    os.chown(target, 12345, 0)
    target.chmod(had)
    # Once before: another user may not be able to read what Python has still to load.
    first = "exec(code.replace('[1]', '[2]')); import os"
    become = f"{first}; os.setgroups([]); os.setgid(12345); os.setuid(12345)"
    before, after = WRITE.split("\n")
    code = f"code = {after!r}\n{before}\n{become}\n{after}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(target), str(folder / "first.csv")],
        env=ENV,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    found = target.stat()
    assert (found.st_uid, found.st_gid, mode(target)) == (12345, 12345, gets)


WRITE = (
    "import sys; from pathlib import Path; from shoal.io.atomic import atomic\n"
    "with atomic(Path(sys.argv[1])) as beside: beside.write_text('new')"
)
ENV = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"}


PLAN = """
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { ranges = [10] } }
disease = { role = "sensitive" }

[[models]]
name = "k-anonymity"
k = 2
"""


@posix
def test_item_10_which_files_of_the_command_line_are_private(tmp_path, monkeypatch, umask):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"N{i},{20 + i % 20},d{i % 3}\n" for i in range(40))
    Path("people.csv").write_text("name,age,disease\n" + rows)
    Path("plan.toml").write_text(PLAN)
    for line in (
        "anonymize people.csv --plan plan.toml --out release.csv --report report.html "
        "--json numbers.json --recoding recoding.json --no-explain",
        "audit release.csv --plan plan.toml --json audit.json --record-risks risks.csv",
        "draft people.csv -o draft.toml",
    ):
        monkeypatch.setattr(sys, "argv", ["shoal", *line.split()])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert not end.value.code
    modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert [name for name, found in modes.items() if found != 0o600] == sorted(
        ["people.csv", "plan.toml", "release.csv"], key=list(modes).index
    )
    assert modes["release.csv"] == 0o644


# Item 11: temporary files


@posix
def test_item_11_a_temporary_file_is_private_from_the_first_byte(tmp_path, umask):
    umask(0)
    with atomic(tmp_path / "release.csv.gz") as beside:
        assert NAME.match(beside.name)
        assert beside.name.endswith(".csv.gz")
        assert (mode(beside), beside.stat().st_size) == (0o600, 0)
        beside.write_bytes(b"new")
        assert mode(beside) == 0o600
    assert mode(tmp_path / "release.csv.gz") == 0o666


def test_item_11_one_within_another_is_one_file(tmp_path):
    with atomic(tmp_path / "x.json", private=True) as outer:
        with atomic(outer) as inner:
            inner.write_text("new")
        assert inner == outer
        assert outer.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_item_11_an_interrupt_at_any_line_leaves_nothing(error, tmp_path):
    """The error is raised at the first line of the module that runs, at the second, and so on."""
    target = tmp_path / "release.csv"
    finished = False
    moment = 0
    while not finished:
        moment += 1
        target.unlink(missing_ok=True)
        lines = 0

        def trace(frame, event, arg, at=moment):
            nonlocal lines
            if frame.f_code.co_filename != module.__file__:
                return None
            if event == "line":
                lines += 1
                if lines == at:
                    raise error
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            write(target)
            finished = True
        except error:
            pass
        finally:
            sys.settrace(before)
        module._leave_nothing()  # as at the end of the process
        module._at_work.clear()
        assert not [path for path in tmp_path.iterdir() if path != target], moment
        assert not target.exists() or target.read_text() == "new"
    assert moment > 40


WRITER = """
import logging, signal, sys
from pathlib import Path
from shoal.io.atomic import atomic
class Stop(SystemExit): pass
def stop(*_): raise Stop(143)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    with atomic(Path(sys.argv[1])) as beside:
        with beside.open("w") as file:
            for i in range(200):
                file.write("unpublished " * 100)
                file.flush()
"""


def killed(target: Path, how: signal.Signals, wait: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)],
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    threading.Event().wait(wait)
    process.send_signal(how)
    process.communicate()
    return process


@posix
def test_item_11_kills_at_random_moments(tmp_path, caplog):
    """SIGTERM leaves nothing; what SIGKILL leaves is private, and the next run removes it."""
    rng = random.Random(11)
    for _ in range(4):
        process = killed(tmp_path / "x.csv", signal.SIGTERM, rng.random() / 20)
        assert process.returncode == 143
        assert not leftovers(tmp_path)
    for _ in range(6):
        killed(tmp_path / "x.csv", signal.SIGKILL, rng.random() / 20)
        assert all(mode(path) == 0o600 for path in leftovers(tmp_path))
    while not leftovers(tmp_path):  # a kill between two files leaves none
        killed(tmp_path / "x.csv", signal.SIGKILL, rng.random() / 20)
    caplog.clear()
    write(tmp_path / "y.csv")
    assert not leftovers(tmp_path)
    assert f"that a killed run of shoal had left in {tmp_path}" in caplog.text


@posix
def test_item_11_what_others_work_on_is_left_alone(tmp_path, caplog):
    """A file that is locked, one of another machine, and what only looks like ours."""
    kernel, machine = module._here()
    process, token = os.getpid(), "0" * 16
    foreign = tmp_path / f".shoal-{'0' * 8}-{'1' * 8}-{process}-{token}.csv"
    alike = [tmp_path / name for name in (".shoal-0123456789abcdef.csv", ".shoal.toml", ".shoal-x")]
    folder = tmp_path / f".shoal-{kernel}-{machine}-{process}-{token}"
    folder.mkdir()
    for path in (foreign, *alike):
        path.write_text("somebody's")
    with atomic(tmp_path / "x.csv") as beside:
        before = sorted(tmp_path.iterdir())
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-c", WRITE, str(tmp_path / "other.csv")], env=ENV
            )
            assert done.returncode == 0
        (tmp_path / "other.csv").unlink()
        assert sorted(tmp_path.iterdir()) == before
        beside.write_text("new")
    assert (tmp_path / "x.csv").read_text() == "new"
    assert not caplog.records
    stale = [
        tmp_path / f".shoal-{kernel}-{'2' * 8}-1-{token}.parquet",  # in another container
        tmp_path / f".shoal-{'2' * 8}-{machine}-1-{token}",  # before the machine started again
    ]
    for path in stale:
        path.write_text("stale")
    young = tmp_path / f".shoal-{'3' * 8}-{machine}-1-{token}"  # of a copy of this machine
    young.write_text("somebody's")
    os.utime(stale[1], (0, 0))
    remove_stale(tmp_path)
    assert not any(path.exists() for path in stale)
    young.unlink()
    assert "removed 2 temporary files" in caplog.text
    assert sorted(tmp_path.iterdir()) == sorted([foreign, *alike, folder, tmp_path / "x.csv"])


@posix
def test_item_11_many_at_once_in_one_folder(tmp_path):
    """Nobody takes another's file for stale, also between its making and its lock."""
    code = (
        "import sys, logging; from pathlib import Path; from shoal.io.atomic import atomic\n"
        "logging.getLogger('shoal').addHandler(logging.StreamHandler(sys.stdout))\n"
        "for i in range(150):\n"
        "    with atomic(Path(sys.argv[1])) as beside: beside.write_text('new')\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / f"{i}.csv")],
            env=ENV,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for i in range(3)
    ]
    ended = [(run.communicate(), run.returncode) for run in runs]
    assert ended == [((b"", b""), 0)] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.csv", "1.csv", "2.csv"]


# Item 17: on the disk before it has its name


@posix
def test_item_17_the_file_and_its_folder_are_synced_before_and_after_the_rename(
    tmp_path, monkeypatch
):
    calls = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(file):
        found = os.fstat(file)
        kind = "folder" if stat.S_ISDIR(found.st_mode) else f"file of {found.st_size}"
        fsync(file)
        calls.append(kind)

    def recorded_replace(source, target, **options):
        replace(source, target, **options)
        calls.append("rename")

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    write(tmp_path / "release.csv")
    assert calls == ["file of 3", "folder", "rename", "folder"]


@posix
def test_item_17_a_disk_that_fails_is_no_success(tmp_path, monkeypatch):
    def broken(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(BadFile, match=r"release\.csv: Input/output error"):
        write(tmp_path / "release.csv")
    assert not list(tmp_path.iterdir())
