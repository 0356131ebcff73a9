"""Threads: independent work on several cores, with the same result for any number of them.

Kernels release the lock of Python while they run. The number of threads is no option of an
algorithm, because it changes nothing but the time: `limited` sets it for everything below.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Event, Lock, current_thread
from typing import Any, Self, TypeVar, overload

Task = Callable[[int], None]
Item = TypeVar("Item")
Made = TypeVar("Made")

PIECES = 4  # tasks per thread
FEW, PER_CORE = 8, 4  # threads that may be asked for on any machine, and per core
TICK = 0.1  # seconds between two calls of `idle`

_limit: ContextVar[int | None] = ContextVar("threads", default=None)
_stops: ContextVar[tuple[Event, ...]] = ContextVar("stops", default=())


class Stopped(BaseException):
    """Raised in a task that ends early, because an exception was raised in another thread."""


def check_stopped() -> None:
    """Raise `Stopped` in a task whose team is to stop; long tasks call this again and again."""
    if any(stop.is_set() for stop in _stops.get()):
        raise Stopped


def available() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1  # macOS and Windows


def allowed() -> int:
    """The number of threads to use here: what was asked for, or all available cores.

    Many more threads than cores only take time and memory.
    """
    cores = available()
    return min(_limit.get() or cores, max(FEW, PER_CORE * cores))


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Use this number of threads, or all available cores.

    >>> with limited(3):
    ...     allowed()
    3
    """
    token = _limit.set(threads)
    try:
        yield
    finally:
        _limit.reset(token)


class Team:
    """Threads that work through lists of tasks together; the calling thread is one of them.

    A task gets the number of its thread, so that each thread can have scratch space of its own. An
    exception, such as that of Ctrl-C, ends the work: no thread begins another task, and `run`
    returns when all of them have stopped. Tasks must therefore be short, or look at `stopped`, or
    call `check_stopped`, as `Pace` does.
    """

    def __init__(self, pool: ThreadPoolExecutor | None, threads: int) -> None:
        self._pool, self.threads = pool, threads
        self._lock, self._stop = Lock(), Event()

    @property
    def pieces(self) -> int:
        """Into how many tasks to cut work: enough for none to wait long for the last one."""
        return 1 if self.threads == 1 else PIECES * self.threads

    @property
    def stopped(self) -> bool:
        """Whether tasks shall end early, because an exception is about to be raised."""
        return self._stop.is_set()

    def run(self, tasks: Iterable[Task], idle: Callable[[], None] | None = None) -> None:
        """Run all tasks; raises the first exception of the calling thread, or else of another.

        `idle` is called while the calling thread waits for others.
        """
        left, stops = iter(tasks), (*_stops.get(), self._stop)

        def work(thread: int) -> None:
            try:
                # A task does not start threads of its own.
                with limited(1), _stopped_by(stops):
                    while not self._stop.is_set():
                        with self._lock:
                            task = next(left, None)
                        if task is None:
                            return
                        task(thread)
            except BaseException:
                self._stop.set()
                raise

        helpers: list[Future[None]] = []
        try:
            if self._pool is not None:
                helpers = [self._pool.submit(work, 1 + i) for i in range(self.threads - 1)]
            work(0)
            while idle is not None and wait(helpers, TICK, FIRST_EXCEPTION).not_done:
                if self._stop.is_set():
                    break
                idle()
            _raise_first(helpers)
        except Stopped:
            _raise_first(helpers)  # the reason, unless it is in a team around this one
            raise
        except BaseException:
            self._stop.set()
            raise
        finally:
            wait(helpers)
            self._stop.clear()


@contextmanager
def _stopped_by(stops: tuple[Event, ...]) -> Iterator[None]:
    token = _stops.set(stops)
    try:
        yield
    finally:
        _stops.reset(token)


def _raise_first(helpers: Iterable[Future[None]]) -> None:
    """Wait for these threads, and raise what the first of them has raised by itself."""
    raised = [error for helper in helpers if (error := helper.exception()) is not None]
    for error in sorted(raised, key=lambda error: isinstance(error, Stopped)):
        raise error


class _Idle:
    """Pools of threads that nobody uses: a run needs dozens of teams, and to start one takes 1 ms.

    A process is forked without them: a fork has no threads, and would wait for theirs.
    """

    def __init__(self) -> None:
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by their number of threads
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.end)

    def take(self, threads: int) -> ThreadPoolExecutor:
        """A pool that nobody else uses."""
        return self._pools.pop(threads, None) or ThreadPoolExecutor(threads, "shoal")

    def give_back(self, threads: int, pool: ThreadPoolExecutor) -> None:
        """Keep a pool for the next team, unless one of its size waits already."""
        if self._pools.setdefault(threads, pool) is not pool:
            pool.shutdown()

    def end(self) -> None:
        """End all threads that wait here."""
        while self._pools:
            self._pools.popitem()[1].shutdown()


_idle = _Idle()


@contextmanager
def team() -> Iterator[Team]:
    """The threads that may be used here."""
    threads = allowed()
    if threads == 1:
        yield Team(None, 1)
        return
    pool = _idle.take(threads - 1)
    try:
        yield Team(pool, threads)
    finally:
        _idle.give_back(threads - 1, pool)


def in_threads(
    function: Callable[[Item], Made],
    items: Iterable[Item],
    idle: Callable[[], None] | None = None,
) -> list[Made]:
    """Call a function for each item; the results are in the order of the items.

    If calls fail, the error of the first such item is raised, for any number of threads.

    >>> in_threads(abs, [-2, 1])
    [2, 1]
    """
    todo = list(items)
    made: list[Any] = [None] * len(todo)
    errors: dict[int, Exception] = {}

    def call(number: int, _: int) -> None:
        if any(other < number for other in list(errors)):
            return
        try:
            made[number] = function(todo[number])
        except Exception as error:
            errors[number] = error

    with team() as workers:
        workers.run((partial(call, number) for number in range(len(todo))), idle)
    if errors:
        raise errors[min(errors)]
    return made


def only_here(function: Callable[[], None]) -> Callable[[], None]:
    """The same function, which does nothing if another thread than this one calls it."""
    here = current_thread()

    def call() -> None:
        if current_thread() is here:
            function()

    return call


class cached_property(functools.cached_property[Made]):  # noqa: N801 (named as in functools)
    """A property that is computed at the first access and then stored in its object.

    That of Python 3.11 has one lock for all objects of a class, and holds it while it computes. So
    threads that recode parts of a table waited for each other, and a process that was forked
    meanwhile waited forever. As in Python 3.12, two threads may compute the same value of the same
    object; one of these values is kept.

    >>> class Square:
    ...     side = 2
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> Square().area
    4
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Made: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | Made:
        if instance is None:
            return self
        known, name = instance.__dict__, self.attrname or self.func.__name__
        if name not in known:
            known.setdefault(name, self.func(instance))
        kept: Made = known[name]
        return kept
