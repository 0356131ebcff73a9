"""The loop of a process of the studio: tasks come in, results and progress go out."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import Any, BinaryIO

from shoal.base import own_process
from shoal.base.errors import BadInput, ShoalError
from shoal.base.progress import Progress
from shoal.studio.jobs import SKIPPABLE
from shoal.studio.processes import SKIP, WITHDRAW

EVERY = 0.1  # seconds between two reports of progress
PARENT_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)
Send = Callable[..., None]


class Held(dict[str, Any]):
    """What a process keeps from one task to the next, by name."""

    def __init__(self, **held: Any) -> None:
        super().__init__(held)
        self._later: list[Callable[[], None]] = []
        self.skip = Event()  # whether the present step is not wanted
        self.early: Callable[[Any], None] = _to_nobody  # sends what is known before the result

    def later(self, work: Callable[[], None]) -> None:
        """Do this once the result has been sent: nobody waits for it."""
        self._later.append(work)

    def catch_up(self) -> None:
        """Do what was to be done later."""
        while self._later:
            self._later.pop(0)()


def _to_nobody(_: Any) -> None:
    """Send nothing: nobody waits for it."""


def serve(parent: int) -> None:
    """Do the tasks that arrive until the studio is gone, or the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the studio ends this process
    die_with(parent)
    own_process.claim()
    held = Held()
    with os.fdopen(os.dup(0), "rb") as inbox, os.fdopen(os.dup(1), "wb") as outbox:
        os.dup2(2, 1)  # a print() must not get between the messages

        def send(*message: Any) -> None:
            pickle.dump(message, outbox, pickle.HIGHEST_PROTOCOL)
            outbox.flush()

        held.early = lambda known: send("early", known)
        arrived: SimpleQueue[tuple[str, dict[str, Any]]] = SimpleQueue()
        withdrawn = Event()
        Thread(target=_listen, args=(inbox, arrived, withdrawn, held.skip), daemon=True).start()
        try:
            while True:
                name, given = arrived.get()
                withdrawn.clear()
                held.skip.clear()
                send(*done(held, name, given, send, withdrawn))
                held.catch_up()
                give_back()
        except BrokenPipeError:
            os._exit(0)  # the studio is gone


def die_with(parent: int) -> None:
    """End with the parent, even if that is killed in the middle of a task (on Linux)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before
            os._exit(0)


def _listen(
    inbox: BinaryIO,
    arrived: SimpleQueue[tuple[str, dict[str, Any]]],
    withdrawn: Event,
    skip: Event,
) -> None:
    """Take tasks, and note that the present one is withdrawn; when the studio is gone, end."""
    with suppress(EOFError, OSError):
        while True:
            name, given = pickle.load(inbox)
            if name == WITHDRAW:
                withdrawn.set()
            elif name == SKIP:
                skip.set()
            else:
                arrived.put((name, given))
    os._exit(0)


def give_back() -> None:
    """Return memory to the system that was needed for a task only; allocators keep it."""
    gc.collect()
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


class Withdrawn(KeyboardInterrupt):
    """Nobody waits for the task any more: it ends at its next report of progress.

    An interrupt: those who can hand over what they have so far do so.
    """


class Skipped(KeyboardInterrupt):
    """Nobody waits for the present step: a task that can do without it goes on."""


def done(
    held: Held, name: str, given: dict[str, Any], send: Send, withdrawn: Event
) -> tuple[Any, ...]:
    """Do one task; the message that says how it ended."""
    try:
        with own_process.loading():
            task = importlib.import_module(f"shoal.studio.tasks.{name}")
        return "done", task.run(held, _reporter(send, withdrawn, held.skip), **given)
    except Withdrawn:
        return "refused", "the work was withdrawn", False, ()
    except ShoalError as error:
        said = "; ".join([str(error), *getattr(error, "__notes__", [])])
        return "refused", said, isinstance(error, BadInput), error.ways
    except MemoryError:
        return (
            "refused",
            "there is not enough memory for this table; try engine = 'duckdb'",
            False,
            (),
        )
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            import traceback

            traceback.print_exc()
        return "refused", f"internal error in shoal ({type(error).__name__})", False, ()


def _reporter(send: Send, withdrawn: Event, skip: Event) -> Progress:
    """Reports progress, but not more often than anybody could read it; ends a withdrawn task."""
    last, before = 0.0, ""

    def report(stage: str, share: float) -> None:
        nonlocal last, before
        if withdrawn.is_set():
            withdrawn.clear()  # what is found so far may be put together after it
            raise Withdrawn
        if skip.is_set():
            skip.clear()
            if stage in SKIPPABLE:  # otherwise that step was over by then
                raise Skipped
        if stage != before or perf_counter() - last > EVERY:
            last, before = perf_counter(), stage
            send("progress", stage, float(share))

    return report
