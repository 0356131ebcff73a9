"""Stopwatch: seconds of running time, without the time for compiling kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from numba.core import event


class Stopwatch(event.Listener):
    """Seconds since the start, with and without compiling or loading kernels."""

    def __init__(self) -> None:
        self._begin, self._since = perf_counter(), 0.0
        self._compiled, self._depth = 0.0, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """The compiler starts; compiling one kernel may start another."""
        if self._depth == 0:
            self._since = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """The compiler has finished a kernel."""
        self._depth -= 1
        if self._depth == 0:
            self._compiled += perf_counter() - self._since

    @property
    def compiling(self) -> float:
        """Seconds spent on compiling kernels, or loading them from the cache."""
        return self._compiled + (perf_counter() - self._since if self._depth else 0.0)

    @property
    def seconds(self) -> float:
        """Seconds spent on everything else."""
        return perf_counter() - self._begin - self.compiling


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """A stopwatch that runs within the `with` block.

    >>> with stopwatch() as watch:
    ...     watch.compiling
    0.0
    """
    # numba takes this lock both to compile a kernel and to load one from its cache.
    with event.install_listener("numba:compiler_lock", Stopwatch()) as watch:
        yield watch
