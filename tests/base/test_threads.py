"""Threads: results in order, errors in order, and nothing runs on after an exception."""

from __future__ import annotations

import os
import threading
from functools import partial

import pytest

from shoal.base.pace import Pace
from shoal.base.threads import (
    FEW,
    PER_CORE,
    Stopped,
    allowed,
    available,
    check_stopped,
    in_threads,
    limited,
    team,
)


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


def wait_for_the_end(stopped: list[int], thread: int) -> None:
    """A long task: it ends only because it is stopped."""
    pace = Pace()
    try:
        while True:
            pace.begin()
    except Stopped:
        stopped.append(thread)
        raise


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_long_tasks_stop_at_the_next_pause_whoever_fails(fails: int) -> None:
    begun, stopped = threading.Barrier(3), []

    def task(thread: int) -> None:
        begun.wait(10)
        if thread == fails:
            raise ValueError("the reason")
        wait_for_the_end(stopped, thread)

    with limited(3), team() as workers, pytest.raises(ValueError, match="the reason"):
        workers.run([task] * 3)
    assert sorted(stopped) == sorted({0, 1, 2} - {fails})
    check_stopped()  # not here


def test_a_team_within_a_task_stops_too() -> None:
    begun, stopped = threading.Barrier(2), []

    def task(thread: int) -> None:
        begun.wait(10)
        if thread == 0:
            raise KeyboardInterrupt
        with team() as inner:
            inner.run([partial(wait_for_the_end, stopped)])

    with limited(2), team() as workers, pytest.raises(KeyboardInterrupt):
        workers.run([task, task])
    assert stopped == [0]  # the number in the inner team


def test_while_it_waits_the_calling_thread_can_report() -> None:
    waited, caller, seen = threading.Event(), threading.get_ident(), []

    def task(item: int) -> int:
        if threading.get_ident() != caller:
            assert waited.wait(10)
        elif not begun.wait(10):
            raise AssertionError("no other thread began")
        return item

    def idle() -> None:
        seen.append(threading.get_ident())
        waited.set()

    begun = threading.Event()

    def first(item: int) -> int:
        if threading.get_ident() != caller:
            begun.set()
        return task(item)

    with limited(2):
        assert in_threads(first, [1, 2], idle) == [1, 2]
    assert set(seen) == {caller}


def _waiting() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("shoal")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_wait_for_the_next_team_and_a_fork_has_none() -> None:
    with limited(3):
        in_threads(abs, [-1, -2, -3])
        before = _waiting()
        for _ in range(3):
            assert in_threads(abs, [-1, -2, -3]) == [1, 2, 3]
            assert len(_waiting()) <= len(before) + 1  # a pool starts its second one when needed
        with team() as outer, team() as inner:  # no pool is shared
            found: list[int] = []
            inner.run([found.append] * 5)
            outer.run([found.append] * 5)
            assert len(found) == 10
    child = os.fork()
    if child == 0:  # works with threads of its own
        with limited(3):
            os._exit(in_threads(abs, [-4, -5]) != [4, 5])
    assert _waiting() == []
    assert os.waitpid(child, 0)[1] == 0
