"""Waiting for another library."""

from __future__ import annotations

import _thread
from threading import Event, Timer

import pytest

from shoal.base.waiting import waited


def test_the_result_and_the_error_come_back() -> None:
    assert waited(lambda: 3, lambda: None) == 3
    with pytest.raises(KeyError):
        waited(lambda: {}["a"], lambda: None)


def test_an_interrupt_before_the_work_begins_is_not_lost() -> None:
    """A query that the server does not know yet cannot be cancelled: it is tried again."""
    begun, cancelled, ended = Event(), Event(), []

    def work() -> None:
        Event().wait(0.5)
        begun.set()
        ended.append(cancelled.wait(60))

    def cancel() -> None:
        if begun.is_set():
            cancelled.set()

    Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        waited(work, cancel)
    assert ended == [True]


def test_an_interrupt_cancels_and_waits_for_the_end() -> None:
    """Whoever closes a connection then must find it idle."""
    cancelled, looked, ended = Event(), [], []

    def work() -> None:
        cancelled.wait()
        Event().wait(0.2)
        ended.append(True)

    Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        waited(work, cancelled.set, lambda: looked.append(1))
    assert looked
    assert ended == [True]
