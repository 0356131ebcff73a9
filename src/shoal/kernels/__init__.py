"""Compiled loops: arrays in, arrays out; no names, no messages, no options."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.cpu import CPUTargetOptions

from shoal import machine_code

HERE = Path(__file__).parent


def _machine_code() -> Path | None:
    """Where compiled kernels are kept: a folder of its own for every version of their sources.

    numba looks for changes in the file of a kernel only, not in the files that it calls; code
    that was compiled from other sources must never run.
    """
    digest = hashlib.sha256()
    for source in sorted(HERE.glob("*.py")):
        digest.update(source.read_bytes())
    return machine_code.folder(HERE, digest.hexdigest()[:16])


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


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    compiled = numba.njit(**_OPTIONS, **options)(function)
    if _FOLDER is not None and hasattr(compiled, "enable_caching"):  # not with NUMBA_DISABLE_JIT
        compiled._cache = machine_code.MachineCode(function, _FOLDER)
    return compiled


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
