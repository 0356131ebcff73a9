"""A second process compiles kernels of the first run, and leaves nothing behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from shoal.flow import assistant, rehearsal
from shoal.flow.anonymize import anonymize
from shoal.io.frames import open_frame
from shoal.kernels import Job
from shoal.plan import Plan
from shoal.table.roles import Column

PEOPLE = pa.table({"age": [20 + i // 2 for i in range(80)], "sex": ["f", "m"] * 40})
COLUMNS = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"}
posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def plan(algorithm: str) -> Plan:
    return Plan(
        columns=COLUMNS, models=[{"name": "k-anonymity", "k": 2}], algorithm=algorithm, seed=1
    )


def task(algorithm: str, folder: Path) -> bytes:
    asked = plan(algorithm)
    sample = assistant.sample(open_frame(PEOPLE), asked)
    return pickle.dumps((asked, sample, str(folder)))


def full_name(job: Job) -> str:
    function = job.kernel.py_func
    return f"{function.__module__}-{function.__qualname__}"


def until(condition: Callable[[], bool]) -> None:
    end = monotonic() + 120
    while not condition():
        assert monotonic() < end, "it takes too long"
        sleep(0.02)


def test_without_a_temporary_folder_there_is_no_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(assistant.tempfile, "TemporaryDirectory", nowhere)
    with assistant.assisted(open_frame(PEOPLE), plan("peel")) as found:
        assert found.process is None
        assert found.share() == 0.0


def test_a_kernel_is_compiled_here_if_the_folder_is_gone(tmp_path: Path) -> None:
    (job,) = rehearsal.rehearsed(*pickle.loads(task("peel", Path()))[:2])[:1]
    assert assistant.claim(job, tmp_path)
    assert not assistant.claim(job, tmp_path)
    assert assistant.claim(job, tmp_path / "gone")


def test_the_sample_has_no_identifiers() -> None:
    people = PEOPLE.append_column("name", pa.array([f"SECRET{i}" for i in range(80)]))
    asked = plan("peel").changed(
        columns={**plan("peel").columns, "name": Column(role="identifier")}
    )
    sample = assistant.sample(open_frame(people), asked)
    assert b"SECRET" not in sample
    assert pa.ipc.open_stream(sample).read_all().column_names == people.column_names


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian"])
def test_a_rehearsal_finds_what_a_run_calls(algorithm: str) -> None:
    """With the types for which kernels are really compiled, and without a change of the result."""
    asked, sample, _folder = pickle.loads(task(algorithm, Path()))
    jobs = rehearsal.rehearsed(asked, sample)
    assert jobs
    anonymize(pa.ipc.open_stream(sample).read_all(), asked.with_seed(0))
    for job in jobs:
        assert job.types in job.kernel.overloads, job.kernel.py_func.__name__


def test_without_kernels_the_result_is_the_same() -> None:
    released = anonymize(PEOPLE, plan("peel"), keep_order=True).frame
    alone = plan("peel").with_threads(1)  # numpy ignores an overflow in this thread only
    with rehearsal.kernels.rehearse(60), np.errstate(over="ignore"):  # hashes wrap around
        assert anonymize(PEOPLE, alone, keep_order=True).frame.equals(released)


def test_a_kernel_is_claimed_once(tmp_path: Path) -> None:
    asked, sample, _folder = pickle.loads(task("mondrian", tmp_path))
    first, *others = rehearsal.rehearsed(asked, sample)
    assert assistant.claim(first, tmp_path)
    assert not assistant.claim(first, tmp_path)
    assert all(assistant.claim(other, tmp_path) for other in others)


class Places(NamedTuple):
    """The folders of an assistant: for compiled kernels, and for what both processes note."""

    stored: Path
    notes: Path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    found = Places(tmp_path / "cache", tmp_path / "notes")
    for folder in found:
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("SHOAL_CACHE", str(found.stored))
    return found


def test_instead_of_waiting_the_command_compiles_what_it_needs_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, sample, _folder = pickle.loads(task("peel", tmp_path))
    jobs = rehearsal.rehearsed(asked, sample)
    assert len(jobs) > 2
    helper = assistant.Assistant(tmp_path)
    assert not helper.compile_another()  # not known yet
    assistant.announce(jobs, tmp_path)
    ran: list[Job] = []
    monkeypatch.setattr(Job, "run", lambda job: ran.append(job))
    assert assistant.claim(jobs[1], tmp_path)  # by the other process
    while helper.compile_another():
        pass
    named = [job for job in jobs if "<locals>" not in job.kernel.py_func.__qualname__]
    assert ran == [job for job in named if job != jobs[1]]
    assert not assistant.claim(jobs[0], tmp_path)


def test_the_assistant_stores_what_nobody_has_claimed(places: Places) -> None:
    stored, notes = places
    asked, sample, _folder = pickle.loads(task("full-domain", notes))
    taken, *left = rehearsal.rehearsed(asked, sample)
    assert left
    assert assistant.claim(taken, notes)
    helper = assistant.Assistant(notes)
    helper.start(task("full-domain", notes))
    assert helper.process is not None
    try:
        assert helper.process.wait(300) == 0
    finally:
        helper.end()
    names = {path.name.rsplit("-", 2)[0] for path in (stored / "kernels").glob("*.code")}
    assert {full_name(job) for job in left} <= names
    assert full_name(taken) not in names


def test_the_assistant_ends_with_the_command(places: Places) -> None:
    """By itself and at once, and it leaves no half-written file."""
    stored, notes = places
    helper = assistant.Assistant(notes)
    helper.start(task("peel", notes))
    assert helper.process is not None
    until(lambda: any(notes.glob("*.claimed")))
    helper.end()
    assert helper.process.returncode == 0
    assert {path.suffix for path in (stored / "kernels").iterdir()} <= {".code", ".lock"}


def test_a_command_without_an_assistant_compiles_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    frame = open_frame(PEOPLE)
    with assistant.assisted(frame, plan("peel")) as helper:
        assert helper.process is None
        assert helper.share() == 0.0


@posix
def test_an_interrupt_while_both_compile_leaves_nothing(tmp_path: Path) -> None:
    stored, temporary = tmp_path / "cache", tmp_path / "tmp"
    stored.mkdir(mode=0o700)
    temporary.mkdir()
    data, asked, out = (tmp_path / name for name in ("people.csv", "plan.toml", "release.csv"))
    rows = "".join(f"{row['age']},{row['sex']}\n" for row in PEOPLE.to_pylist())
    data.write_text("age,sex\n" + rows, encoding="utf-8")
    plan("peel").save(asked)
    words = ["anonymize", str(data), "--plan", str(asked), "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *words],
        env={**os.environ, "SHOAL_CACHE": str(stored), "TMPDIR": str(temporary)},
        start_new_session=True,  # a group of its own, which Ctrl-C reaches as a whole
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: any(temporary.glob("shoal-*/*.known")) or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        process.kill()
        process.wait()
    assert not list(temporary.iterdir())
    assert not out.exists()
    assert {path.suffix for path in (stored / "kernels").iterdir()} <= {".code", ".lock"}
