"""Compiled loops: arrays in, arrays out; no names, no messages, no options.

Internal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from shoal.base import interrupt, machine_code

_FOLDER = machine_code.folder(Path(__file__).parent)
# Nothing calls kernels from C, and without the wrapper for it they compile faster.
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
_NO_COUNTS = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop; the one place where compiler options are chosen.

    The machine code is cached on disk, and none of it runs in parallel: several processes that
    wrote the cache of parallel kernels at the same time have crashed other projects. Fast-math
    stays off, because exact ties must stay ties.
    """
    return _compiled(function)


def lean_kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop that creates no arrays and therefore needs no reference counts.

    Counting the references of a dozen arrays at every call took a third of the time of the
    merge. numba has no public option to turn it off; without the option it is only slower.
    """
    return _compiled(function, **_NO_COUNTS)


class _Kernel(CPUDispatcher):
    """A compiled loop that is not interrupted: numba runs Python code to pass arrays."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return interrupt.held(_call, self, *args, **options)

    def _compile_for_args(self, *args: Any, **options: Any) -> Any:
        # Compiling may take long, and is Python code that can be interrupted.
        return interrupt.released(_compile, self, *args, **options)


_call: Any = Dispatcher.__call__
_compile: Any = Dispatcher._compile_for_args  # type: ignore[attr-defined]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    made: Any = numba.njit(**_OPTIONS, **options)(function)
    if not isinstance(made, CPUDispatcher):
        return made  # NUMBA_DISABLE_JIT leaves the function as it is
    made.__class__ = _Kernel
    if _FOLDER is not None:
        made._cache = machine_code.MachineCode(made, _FOLDER)  # type: ignore[attr-defined]
    return made


class _Once(event.Listener):
    """Calls back at the first real compilation, not when machine code is loaded from disk."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._called = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self._called:
            self._called = True
            self._callback()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def on_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call back once if kernels must be compiled, as in the first run after installation."""
    with event.install_listener("numba:run_pass", _Once(callback)):
        yield
