"""Of two processes one compiles a kernel, and the other waits for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.base.kernel_files import compile_turns
from tests.base.kernel_files.tiny_kernel import (
    SOURCE,
    TINY,
    call,
    environment,
    posix,
    stored,
)

# Says so before it waits for another process.
WAITING = TINY.replace(
    "compiled = []",
    """compiled = []
def sleep(seconds):
    print("waiting", flush=True)
    wait(seconds)
from shoal.base.kernel_files import compile_turns
wait, compile_turns.sleep = compile_turns.sleep, sleep""",
)
# Begins to compile, and does not end.
HANGING = TINY.replace(
    "compiled = []",
    """compiled = []
class Hang(event.Listener):
    def on_start(self, event):
        print("compiling", flush=True)
        sys.stdin.read()
    def on_end(self, event): pass
event.register("numba:compile", Hang())""",
)


@contextmanager
def running(source: str, package: Path, cache: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", source, str(package)],
        env=environment(None, PYTHONPATH=str(SOURCE.parent), SHOAL_CACHE=str(cache)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@posix
def test_of_two_processes_one_compiles_and_the_other_waits_for_it(package, tmp_path):
    with running(HANGING, package, tmp_path) as first:
        assert first.stdout.readline() == "compiling\n"
        with running(WAITING, package, tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            assert first.communicate()[0].split()[:2] == ["42", "True"]
            *_, last = second.communicate()[0].splitlines()
            assert last.split()[:2] == ["42", "False"]


@posix
def test_a_process_that_is_killed_while_it_compiles_does_not_keep_others_waiting(package, tmp_path):
    with running(HANGING, package, tmp_path) as first:
        assert first.stdout.readline() == "compiling\n"
        with running(WAITING, package, tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            first.kill()
            *_, last = second.communicate(timeout=compile_turns.PATIENCE / 2)[0].splitlines()
            assert last.split()[:2] == ["42", "True"]


def test_without_locks_every_process_compiles_by_itself(tmp_path, monkeypatch):
    (tmp_path / compile_turns.LOCKS).mkdir()  # it cannot be opened for writing
    assert call(tmp_path) == (42, True)
    assert call(tmp_path) == (42, False)
    monkeypatch.setattr(compile_turns, "fcntl", None)
    assert call(tmp_path) == (42, False)
    stored(tmp_path)[0].unlink()
    assert call(tmp_path) == (42, True)
