"""Waiting for a database: in a thread, so that the main one can be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

POLL = 0.05  # seconds between two looks

T = TypeVar("T")


def waited(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Run something in a thread; an interrupt cancels it and waits for its end."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL)
    except BaseException:
        with suppress(Exception):  # the connection may be gone
            cancel()
        thread.join()
        raise
    if failed:
        raise failed[0]
    return done[0]
