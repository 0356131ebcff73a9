"""Waiting for another library: in a thread, so that the main one reports and can be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar

POLL = 0.05  # seconds between two looks
AGAIN = 0.5  # seconds between two attempts to cancel
START = 5.0  # seconds that a new thread may take to start

T = TypeVar("T")


def waited(
    work: Callable[[], T],
    cancel: Callable[[], None],
    look: Callable[[], None] = lambda: None,
    poll: float = POLL,
) -> T:
    """Run something in a thread; an interrupt cancels it and waits for its end.

    `look` is called again and again meanwhile.
    """
    done: list[T] = []
    failed: list[BaseException] = []
    # Not Thread.join: Python 3.11 takes a thread for ended if an interrupt comes while it waits.
    begun, ended = Event(), Event()

    def run() -> None:
        begun.set()
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    try:
        Thread(target=run, daemon=True).start()
        while not ended.wait(poll):
            look()
    except BaseException:
        # An interrupt may come while the thread starts, or before there is one.
        while begun.wait(START):  # work that the library does not know yet does not notice it
            with suppress(Exception):  # a connection may be gone
                cancel()
            if ended.wait(AGAIN):
                break
        raise
    if failed:
        raise failed[0]
    return done[0]
