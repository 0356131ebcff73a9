"""Rehearsal: the program of the assistant, which compiles the kernels that a plan needs.

It runs the plan on a sample with kernels as plain Python: in about a second it knows which kernels
will be called with which types. The command compiles them from the first on, as it calls them; the
assistant from the middle on.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread, Timer
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import kernels
from shoal.base import own_process
from shoal.base.kernel_files.code_digest import callees
from shoal.base.kernel_files.machine_code import MachineCode
from shoal.flow import assistant
from shoal.flow.anonymize import anonymize
from shoal.kernels import Job
from shoal.plan import Plan

SECONDS = 10.0  # for the rehearsal
HEAD_START = 0.4  # share of the work that the command does before it meets the assistant's


def assist() -> None:
    """The program of the assistant: read the task, rehearse it, compile."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends this
    own_process.claim()
    length = int.from_bytes(sys.stdin.buffer.read(8), "little")
    plan, sample, folder = pickle.loads(sys.stdin.buffer.read(length))
    _end_with_the_command()
    with suppress(Exception):
        compile_from_the_middle(rehearsed(plan, sample), Path(folder))
    os._exit(0)  # nothing is left to do, and unloading takes time


def _end_with_the_command() -> None:
    """End this process when the command closes its input or ends, but not while it writes."""
    writing = Lock()
    save = MachineCode.save_overload

    def save_whole(self: MachineCode, sig: Any, data: Any) -> None:
        with writing:
            save(self, sig, data)

    def watch() -> None:
        os.read(sys.stdin.fileno(), 1)
        with writing:
            os._exit(0)

    MachineCode.save_overload = save_whole  # type: ignore[method-assign]
    Thread(target=watch, daemon=True).start()


def rehearsed(plan: Plan, sample: bytes) -> list[Job]:
    """The kernels that a plan calls on a sample, in the order of their first calls."""
    # Plain Python may loop where the integers of a kernel would wrap around.
    stuck = Timer(2 * SECONDS, os._exit, [1])
    stuck.daemon = True
    stuck.start()
    records = pa.ipc.open_stream(sample).read_all()
    # Whatever fails on a sample: what was called until then is known.
    with kernels.rehearse(SECONDS) as rehearsal, suppress(Exception), np.errstate(all="ignore"):
        anonymize(records, plan.changed(seed=0, threads=1, limits={}))
    stuck.cancel()
    return list(rehearsal.jobs.values())


def compile_from_the_middle(jobs: list[Job], folder: Path) -> None:
    """Compile what is not stored yet and not claimed by the command.

    The command begins with the first. The last may be needed for the sample only.
    """
    missing = [job for job in jobs if not job.is_stored()]
    assistant.announce(missing, folder)
    middle = _middle(missing)
    for job in (*missing[middle:], *reversed(missing[:middle])):
        if assistant.claim(job, folder):
            job.run()


def _middle(jobs: list[Job]) -> int:
    """Where the command will be when two processes have compiled everything, roughly.

    The length of the bytecode, with that of functions not called before, stands for the time.
    """
    seen: set[Any] = set()
    costs = []
    for job in jobs:
        functions = callees(job.kernel) - seen
        seen |= functions
        costs.append(sum(len(one.py_func.__code__.co_code) for one in functions))
    return int(np.searchsorted(np.cumsum(costs), HEAD_START * sum(costs)))
