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
