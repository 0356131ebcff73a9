"""Nursing: what the nursery does."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import signal
import socket
import sys
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

import pyarrow as pa

from shoal.algorithms import DEFAULT
from shoal.base import own_process
from shoal.io.frames import Frame
from shoal.studio import tasks
from shoal.studio.nursery import BORN, GONE, NEWS
from shoal.studio.tasks._serving import die_with, serve

# Entries of the catalog are loaded by name, and libraries by what a table needs: nearly every table
# needs these.
PACKAGES = (
    "shoal.attacks", "shoal.hierarchies.builders", "shoal.io.formats", "shoal.losses",
    "shoal.models",
)  # fmt: skip
MODULES = ("numpy.ma", "pyarrow.csv", f"shoal.algorithms.{DEFAULT}", "shoal.io.text_reading")


def nurse() -> None:
    """Fork a process for each pair of pipes that arrives, and report which ones have ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the studio ends this process
    die_with(int(sys.argv[1]))
    control = socket.socket(fileno=int(sys.argv[2]))
    _load()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # what counts is that it wakes us
    with DefaultSelector() as both:
        both.register(control, EVENT_READ)
        both.register(woken, EVENT_READ)
        while True:
            for key, _ in both.select():
                if key.fileobj is control:
                    _, pipes, _, _ = socket.recv_fds(control, 1, 2)
                    if not pipes:
                        os._exit(0)  # the studio is gone
                    control.send(_born(pipes, [control.fileno(), woken, wake, both.fileno()]))
                else:
                    os.read(woken, 1024)
                    _report_ended(control)


def _load() -> None:
    """Load what processes need: all tasks, with everything that these import, and what is loaded
    only when a table is read or a plan is used."""
    own_process.claim()
    with own_process.loading():
        for module in pkgutil.walk_packages(tasks.__path__, f"{tasks.__name__}."):
            importlib.import_module(module.name)
        for package in PACKAGES:
            for entry in pkgutil.iter_modules(importlib.import_module(package).__path__):
                importlib.import_module(f"{package}.{entry.name}")
        for name in MODULES:
            importlib.import_module(name)
        Frame(pa.table({"a": [1]}))  # narwhals loads its part for arrow then
    gc.freeze()  # searching for garbage would copy the pages that all share


def _born(pipes: list[int], ours: list[int]) -> bytes:
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid == 0:
        try:
            _live(pipes, ours, parent)
        finally:
            os._exit(1)
    for pipe in pipes:
        os.close(pipe)
    return NEWS.pack(BORN, pid, 1)


def _live(pipes: list[int], ours: list[int], parent: int) -> None:
    """Be a process that does tasks."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for place, pipe in enumerate(pipes):
        os.dup2(pipe, place)
    for number in (*pipes, *ours):
        os.close(number)
    serve(parent)


def _report_ended(control: socket.socket) -> None:
    with suppress(ChildProcessError):  # there is none left
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            control.send(NEWS.pack(GONE, pid, os.waitstatus_to_exitcode(status)))
