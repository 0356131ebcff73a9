"""The nursery forks processes, and all of them end with the studio."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shoal.studio import processes
from shoal.studio.nursery import HAS_ONE, Forked, Nursery, started
from shoal.studio.processes import descendants

Fork = Callable[[Nursery], Forked]
pytestmark = pytest.mark.skipif(not HAS_ONE, reason="only Linux has a nursery")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    end(made)


def end(nursery: Nursery) -> None:
    nursery._process.kill()
    nursery._process.wait()


def asked(process: Forked | subprocess.Popen[bytes], task: str, **given: object) -> object:
    """The answer of a process to a task."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pickle.dumps((task, given)))
    process.stdin.flush()
    while (answer := pickle.load(process.stdout))[0] == "progress":
        pass
    return answer


@pytest.fixture
def forked() -> Iterator[Fork]:
    """Forks processes, and closes their pipes in the end."""
    made: list[Forked] = []

    def fork(nursery: Nursery) -> Forked:
        made.append(nursery.forked())
        return made[-1]

    yield fork
    for child in made:
        child.stdin.close()
        child.stdout.close()


def tables(tmp_path: Path) -> dict[str, object]:
    (tmp_path / "people.csv").write_text("age\n31\n", encoding="utf-8")
    return {"source": {"kind": "file", "path": str(tmp_path / "people.csv")}}


def test_processes_do_tasks_and_share_what_was_loaded(
    nursery: Nursery, forked: Fork, tmp_path: Path
) -> None:
    one, other = forked(nursery), forked(nursery)
    assert asked(one, "tables", **tables(tmp_path)) == ("done", [])
    assert asked(other, "tables", **tables(tmp_path)) == ("done", [])
    assert one.pid is not None
    assert one.pid != other.pid
    assert {one.pid, other.pid} <= set(descendants(os.getpid()))
    one.stdin.close()  # the studio has nothing for it any more
    assert one.wait(10) == 0
    assert asked(other, "tables", **tables(tmp_path)) == ("done", [])
    processes._kill(other)
    assert other.wait(10) == -signal.SIGKILL


def test_one_that_is_ended_before_it_is_born_does_nothing(forked: Fork, tmp_path: Path) -> None:
    nursery = Nursery()  # it takes a second to load
    child = forked(nursery)
    processes._kill(child)
    assert child.wait(60) == -signal.SIGKILL
    assert asked(forked(nursery), "tables", **tables(tmp_path)) == ("done", [])
    end(nursery)


def test_a_nursery_that_is_killed_takes_its_processes_along(forked: Fork, tmp_path: Path) -> None:
    nursery = Nursery()
    child = forked(nursery)
    asked(child, "tables", **tables(tmp_path))
    nursery._process.kill()
    assert child.wait(10) == -signal.SIGKILL
    assert child.stdout.read() == b""
    late = forked(nursery)  # its pipes are closed, as nobody has them
    assert late.wait(10) == -signal.SIGKILL
    assert late.stdout.read() == b""
    assert not nursery.is_alive


def test_elsewhere_processes_are_started_anew(tmp_path: Path) -> None:
    child = started(processes.SERVE, pipes=subprocess.PIPE)
    assert asked(child, "tables", **tables(tmp_path)) == ("done", [])
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    assert child.wait(10) == 0
    child.stdout.close()
