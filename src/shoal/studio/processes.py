"""Processes: those that hold tables and do the work, seen from the server.

The server itself never reads a table: it stays responsive, and a run is cancelled by ending its
process.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from shoal.base.errors import BadInput, ShoalError
from shoal.base.progress import Progress, silent
from shoal.studio.nursery import HAS_ONE, Forked, Nursery, started
from shoal.studio.wording import on_page

GRACE = 3.0  # seconds that a process gets to stop its task
SKIP = "skip"  # in place of the name of a task: the present one does without the step that it is at
WITHDRAW = "withdraw"  # in place of the name of a task: the present one is not needed any more
SERVE = "import sys; from shoal.studio.tasks._serving import serve; serve(int(sys.argv[1]))"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # which Windows does not have
PATIENCE = 10.0  # seconds that a killed process gets to be gone; it needs a few milliseconds


Worker = subprocess.Popen[bytes] | Forked


class Ended(ShoalError):
    """A process ended before its task was done: it was cancelled, or the system killed it."""


class Process:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        self._process: Worker | None = None
        self._turn = asyncio.Lock()
        self._asked: asyncio.Future[Any] | None = None
        self._asked_of: Worker | None = None  # which does the present task
        self._progress: Progress = silent
        self._early: Callable[[Any], None] | None = None
        self._killed: list[Worker] = []  # that may not be gone yet
        self._closed = False

    async def ask(
        self,
        task: str,
        progress: Progress = silent,
        early: Callable[[Any], None] | None = None,
        **given: Any,
    ) -> Any:
        """The result of a task; tasks wait for each other. `early` gets what is known before it."""
        async with self._turn:
            if self._closed:
                raise Ended("the work was not finished: it was ended")
            loop = asyncio.get_running_loop()
            if self._process is None:
                self._start(loop)
            process = self._process
            assert process is not None
            self._asked, self._progress = loop.create_future(), progress
            self._early = early
            self._asked_of = process
            message = pickle.dumps((task, given), pickle.HIGHEST_PROTOCOL)
            await asyncio.to_thread(_send, process, message)
            try:
                return await self._asked
            finally:
                self._asked, self._progress, self._early = None, silent, None

    def withdraw(self) -> None:
        """Ask the process to stop what it is doing; it is ended if it does not do so soon."""
        process, asked = self._process, self._asked
        if process is None or asked is None or asked.done():
            return
        _send(process, pickle.dumps((WITHDRAW, {}), pickle.HIGHEST_PROTOCOL))

        def end() -> None:
            if self._asked is asked and not asked.done():
                self.end()

        asyncio.get_running_loop().call_later(GRACE, end)

    def skip(self) -> None:
        """Ask the process to do without the step that it is at, if it can."""
        if self._process is not None and self._asked is not None:
            _send(self._process, pickle.dumps((SKIP, {}), pickle.HIGHEST_PROTOCOL))

    @property
    def is_alive(self) -> bool:
        """Whether there is a process, which may hold something."""
        return self._process is not None

    def end(self) -> None:
        """End the process at once, whatever it is doing; the next task starts another one."""
        process, self._process = self._process, None
        if process is not None:
            self._killed.append(process)
            _kill(process)

    def close(self) -> None:
        """End the process for good: tasks that wait for their turn are refused."""
        self._closed = True
        self.end()

    async def gone(self) -> None:
        """Wait until processes that were ended are gone, so that they write nothing any more."""
        await asyncio.to_thread(self.wait)

    def wait(self) -> None:
        """The same, for callers that may wait."""
        for process in tuple(self._killed):  # several threads may wait for the same ones
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            with suppress(ValueError):
                self._killed.remove(process)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        process = self._process = _forked() if HAS_ONE else _spawned()

        def listen() -> None:
            assert process.stdout is not None
            assert process.stdin is not None
            with suppress(RuntimeError):  # the loop is closed: the server ends
                try:
                    while True:
                        loop.call_soon_threadsafe(self._heard, process, pickle.load(process.stdout))
                except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                    loop.call_soon_threadsafe(self._ended, process, process.wait())
            for pipe in (process.stdout, process.stdin):
                with suppress(OSError):  # what it did not take any more
                    pipe.close()

        Thread(target=listen, daemon=True).start()

    def _heard(self, process: Worker, message: tuple[Any, ...]) -> None:
        if process is not self._process or self._asked is None or self._asked.done():
            return  # an answer that nobody waits for any more
        match message:
            case "progress", str(stage), float(share):
                self._progress(stage, share)
            case "early", known:
                if self._early is not None:
                    self._early(known)
            case "done", result:
                self._asked.set_result(result)
            case "refused", str(said), bool(is_input), tuple(ways):
                kind: Callable[[str], ShoalError] = BadInput if is_input else ShoalError
                self._asked.set_exception(kind(on_page(said)).offering(*ways))

    def _ended(self, process: Worker, status: int) -> None:
        own = process is self._process
        if own:
            self._process = None
        if process is not self._asked_of:
            return  # the next process does the present task
        if self._asked is not None and not self._asked.done():
            killed = "the system ended it, most likely because memory ran out"
            why = killed if status == -KILL and own else "it was ended"
            self._asked.set_exception(Ended(f"the work was not finished: {why}"))


_nursery: list[Nursery] = []  # of this server, if it has needed one


def prepare() -> None:
    """Load what processes need before one is asked for."""
    if HAS_ONE and not (_nursery and _nursery[-1].is_alive):
        _nursery[:] = [Nursery()]


def _forked() -> Worker:
    prepare()
    return _nursery[-1].forked()


def _spawned() -> Worker:
    return started(SERVE, pipes=subprocess.PIPE)


def _send(process: Worker, message: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ValueError):  # listening shows how it ended
        process.stdin.write(message)
        process.stdin.flush()


def _kill(process: Worker) -> None:
    """Kill a process with those that it has started, such as a browser that prints a report."""
    if isinstance(process, Forked):
        process.unwanted = True
        if process.pid is None or process.is_over:  # it is killed when it is born
            return
    assert process.pid is not None
    for pid in [*descendants(process.pid), process.pid]:
        with suppress(OSError):
            os.kill(pid, KILL)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have; [] if not known."""
    children: dict[int, list[int]] = {}
    with suppress(OSError):  # there is no /proc elsewhere
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    # The name of the program is in parentheses, and may contain anything.
                    parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                    children.setdefault(int(parent), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        mine = children.get(waiting.pop(), [])
        found += mine
        waiting += mine
    return found
