"""Compiled loops: arrays in, arrays out; no names, no messages, no options.

Internal.
"""

from __future__ import annotations

import hashlib
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

HERE = Path(__file__).parent
# Settings of numba that change the machine code, as they come; its cache does not look at them.
FLAGS = {"BOUNDSCHECK": None, "OPT": 3, "LOOP_VECTORIZE": 1, "SLP_VECTORIZE": 0}


def _machine_code() -> Path | None:
    """Where compiled kernels are kept: a folder of its own for every version of their sources.

    numba looks for changes in the file of a kernel only, not in the files that it calls; code
    that was compiled from other sources must never run.
    """
    digest = hashlib.sha256()
    for source in sorted(HERE.rglob("*.py")):
        digest.update(source.read_bytes())
    folder = machine_code.folder(HERE, digest.hexdigest()[:16])
    if folder is None or not _flags():
        return folder
    (folder / _flags()).mkdir(exist_ok=True, mode=0o700)
    return folder / _flags()


def _flags() -> str:
    """The settings of numba that are not as they come, by name; none as a rule."""
    config: Any = numba.config
    found = {flag: getattr(config, flag, usual) for flag, usual in FLAGS.items()}
    odd = [f"{flag}={value}" for flag, value in found.items() if value != FLAGS[flag]]
    return "-".join(odd).lower()


_FOLDER = _machine_code()
# Nothing calls kernels from C: without the means to do so they compile faster.
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
_NO_COUNTS = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop; the one place where compiler options are chosen.

    The machine code is cached on disk, and none of it runs in parallel: several processes
    writing the cache of parallel kernels at once have crashed other projects. Fast-math stays
    off, because exact ties must stay ties.
    """
    return _compiled(function)


def lean_kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop that makes no arrays, and so needs no reference counts.

    Counting the references of a dozen arrays at every call took a third of the time of the
    merge. numba has no public word for leaving it out; without the option it is only slower.
    """
    return _compiled(function, **_NO_COUNTS)


class _Kernel(CPUDispatcher):
    """A compiled loop that interrupts wait for: numba runs Python code to hand over arrays."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return interrupt.held(_call, self, *args, **options)

    def _compile_for_args(self, *args: Any, **options: Any) -> Any:
        # The compiler may take long, and is Python code that can be left.
        return interrupt.released(_compile, self, *args, **options)


_call: Any = Dispatcher.__call__
_compile: Any = Dispatcher._compile_for_args  # type: ignore[attr-defined]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    made: Any = numba.njit(**_OPTIONS, **options)(function)
    if not isinstance(made, CPUDispatcher):
        return made  # NUMBA_DISABLE_JIT leaves the function as it is
    made.__class__ = _Kernel
    if _FOLDER is not None:
        made._cache = machine_code.MachineCode(function, _FOLDER)  # type: ignore[attr-defined]
    return made


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
