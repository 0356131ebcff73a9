"""Threads: results in order, errors in order, and nothing runs on after an exception."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from shoal.base.threads import FEW, PER_CORE, allowed, available, in_threads, limited, team


def test_the_limit_holds_inside_only() -> None:
    assert allowed() == available() >= 1
    with limited(3):
        assert allowed() == 3
        with limited(None):
            assert allowed() == available()
        assert allowed() == 3
    assert allowed() == available()


def test_no_more_threads_than_are_of_use() -> None:
    with limited(10**6):
        assert allowed() <= max(FEW, PER_CORE * available())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order_and_tasks_start_no_threads(threads: int) -> None:
    with limited(threads):
        assert in_threads(lambda item: (item, allowed()), range(20)) == [(i, 1) for i in range(20)]
        assert allowed() == threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_is_raised(threads: int) -> None:
    later = threading.Event()

    def fail(item: int) -> int:
        if item == 3:
            if threads > 1:
                later.wait(10)  # until a later item has failed
            raise ValueError("three")
        if item > 3:
            later.set()
            raise ValueError("later")
        return item

    with limited(threads), pytest.raises(ValueError, match="three"):
        in_threads(fail, range(9))


def test_an_interrupt_stops_all_threads_before_it_is_raised() -> None:
    begun, stopped, done = threading.Barrier(3), [], []

    def wait(thread: int) -> None:
        begun.wait(10)
        if thread == 0:
            raise KeyboardInterrupt
        while not workers.stopped:
            pass
        stopped.append(thread)

    with limited(3):
        with team() as workers:
            with pytest.raises(KeyboardInterrupt):
                workers.run([wait] * 3 + [done.append] * 5)
            assert sorted(stopped) == [1, 2]
            assert done == []  # no other task has begun
            assert not workers.stopped
            workers.run([done.append] * 5)  # and the threads can be used again
        assert len(done) == 5
    assert not [one for one in threading.enumerate() if one.name.startswith("shoal")]


def test_an_error_in_another_thread_is_raised() -> None:
    begun = threading.Barrier(2)

    def task(thread: int) -> None:
        begun.wait(10)
        if thread == 1:
            raise ValueError("in a helper")

    with limited(2), team() as workers, pytest.raises(ValueError, match="in a helper"):
        workers.run([task, task])


def test_each_thread_has_its_own_number() -> None:
    begun, numbers = threading.Barrier(4), []

    def task(item: int, thread: int) -> None:
        begun.wait(10)
        numbers.append((item, thread))

    with limited(4), team() as workers:
        workers.run(partial(task, item) for item in range(4))
    assert sorted(item for item, _ in numbers) == [0, 1, 2, 3]
    assert sorted(thread for _, thread in numbers) == [0, 1, 2, 3]
