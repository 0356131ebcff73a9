"""Stopwatch: seconds in which something really ran; it stands still while kernels are compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from numba.core import event


class Stopwatch(event.Listener):
    """Seconds since it was started, and those that went into compiling or loading kernels."""

    def __init__(self) -> None:
        self._begin, self._since = perf_counter(), 0.0
        self._compiled, self._depth = 0.0, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """The compiler begins; one kernel may call for another."""
        if self._depth == 0:
            self._since = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """The compiler is done with a kernel."""
        self._depth -= 1
        if self._depth == 0:
            self._compiled += perf_counter() - self._since

    @property
    def compiling(self) -> float:
        """Seconds in which kernels were compiled, or loaded from where compiled ones are kept."""
        return self._compiled + (perf_counter() - self._since if self._depth else 0.0)

    @property
    def seconds(self) -> float:
        """Seconds in which something else was done."""
        return perf_counter() - self._begin - self.compiling


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Start a stopwatch; it counts as long as this lasts.

    >>> with stopwatch() as watch:
    ...     watch.compiling
    0.0
    """
    # numba takes this lock to compile a kernel as well as to load one from its cache.
    with event.install_listener("numba:compiler_lock", Stopwatch()) as watch:
        yield watch
