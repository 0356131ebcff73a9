"""Compiled loops: arrays in, arrays out; no names, no messages, no options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import event


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop; the one place where compiler options are chosen.

    The machine code is cached on disk, and none of it runs in parallel: several processes
    writing the cache of parallel kernels at once have crashed other projects. Fast-math stays
    off, because exact ties must stay ties.
    """
    return numba.njit(cache=True, nogil=True)(function)


class _Once(event.Listener):
    """Calls back at the first real compilation, not when machine code comes from the cache."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._told = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self._told:
            self._told = True
            self._callback()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def told_of_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call back once if kernels have to be compiled, as on the first run after installing."""
    with event.install_listener("numba:run_pass", _Once(callback)):
        yield
