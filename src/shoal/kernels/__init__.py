"""Compiled loops: arrays in, arrays out; no names, no messages, no options.

Internal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import local
from time import monotonic
from typing import Any, NamedTuple

import numba
from numba import types
from numba.core import event
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from shoal.base import interrupt
from shoal.base.kernel_files import code_folder, compile_turns, machine_code
from shoal.base.kernel_files.symbols import name_apart

_FOLDER = code_folder.folder(Path(__file__).parent)
_SHIPPED = code_folder.shipped(Path(__file__).parent)
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


class _Inner(CPUDispatcher):
    """A compiled loop as other kernels call it.

    numba would compile it again for each constant among its arguments, and for int32 as well as
    int64.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        args = tuple(_general(one) for one in args)
        return super().get_call_template(args, {name: _general(one) for name, one in kws.items()})


def _general(kind: Any) -> Any:
    """The type for which a kernel that is called with this type is compiled."""
    kind = types.unliteral(kind)
    return types.int64 if kind == types.int32 else kind


class _Kernel(CPUDispatcher):
    """A compiled loop that is not interrupted: numba runs Python code to pass arrays."""

    _inner: Any = None

    @property
    def _numba_type_(self) -> Any:
        """What other kernels call: the same loop without the code that passes arguments of Python.

        A kernel has dozens of arrays as arguments, and that code takes time to compile too.
        """
        if self._inner is None:
            options = {**self.targetoptions, "no_cpython_wrapper": True}
            self._inner = _stored(_Inner(self.py_func, targetoptions=options))
        return self._inner._numba_type_

    def __call__(self, *args: Any, **options: Any) -> Any:
        if _hooks.rehearsal is not None:
            return _hooks.rehearsal.call(self, args, options)
        return interrupt.held(_call, self, *args, **options)

    def _compile_for_args(self, *args: Any, **options: Any) -> Any:
        # Compiling may take long, and is Python code that can be interrupted.
        if _hooks.before_compiling is not None and not options:
            job = Job(self, tuple(self.typeof_pyval(one) for one in args))
            if not job.is_stored():
                interrupt.released(_hooks.before_compiling, job)
        try:
            return interrupt.released(_compile, self, *args, **options)
        finally:
            compile_turns.end_turns()


class Job(NamedTuple):
    """A kernel, and the types of arguments that it is compiled for."""

    kernel: Any
    types: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The same name in every process, which can be the name of a file."""
        function = self.kernel.py_func
        whole = f"{function.__module__}.{function.__qualname__}{self.types}"
        return sha256(whole.encode()).hexdigest()

    def address(self) -> tuple[str, str, tuple[Any, ...]]:
        """Where another process finds the kernel, and the types."""
        function = self.kernel.py_func
        return function.__module__, function.__qualname__, self.types

    @staticmethod
    def at(module: str, name: str, types: tuple[Any, ...]) -> Job | None:
        """The job with this address; None if the kernel was made inside a function."""
        found = getattr(import_module(module), name, None)
        return Job(found, types) if isinstance(found, _Kernel) else None

    def is_stored(self) -> bool:
        """Whether there is a file with the machine code."""
        code = self.kernel._cache
        return isinstance(code, machine_code.MachineCode) and code.has(self.types)

    def run(self) -> None:
        """Compile the kernel and store it."""
        self.kernel.compile(self.types)


_call: Any = Dispatcher.__call__
_compile: Any = Dispatcher._compile_for_args  # type: ignore[attr-defined]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    made: Any = numba.njit(**_OPTIONS, **options)(name_apart(function))
    if not isinstance(made, CPUDispatcher):
        return made  # NUMBA_DISABLE_JIT leaves the function as it is
    made.__class__ = _Kernel
    return _stored(made)


def _stored(made: Any) -> Any:
    """Store the machine code of a kernel on disk."""
    if _FOLDER is not None:
        linked = not isinstance(made, _Kernel)  # other kernels call its inner form
        made._cache = machine_code.MachineCode(made, _FOLDER, linked, None if linked else _SHIPPED)
    return made


def ship(folder: Path) -> None:
    """Write the kernels that this process has called into a folder for a wheel (see `wheels/`).

    numba must have compiled them for any processor, and not loaded them.
    """
    for one in machine_code.defined():
        code: Any = one._cache
        if isinstance(one, _Kernel):  # the inner forms are part of them
            code.ship(folder)


class Rehearsal:
    """Runs kernels as plain Python, and records what would have to be compiled.

    This is slow, and meant for a small sample. Functions called by kernels are not recorded: they
    are compiled together with them. `until` is a moment of `time.monotonic`.
    """

    def __init__(self, until: float) -> None:
        self.jobs: dict[str, Job] = {}
        self._until = until
        self._thread = local()  # whether a kernel is running, in each thread

    def call(self, kernel: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Run a kernel as plain Python."""
        function = kernel.py_func
        if getattr(self._thread, "inside", False):
            return function(*args, **options)
        if monotonic() > self._until:
            raise TimeoutError
        if not options:
            job = Job(kernel, tuple(kernel.typeof_pyval(one) for one in args))
            self.jobs.setdefault(job.name, job)
        self._thread.inside = True
        try:
            return function(*args, **options)
        finally:
            self._thread.inside = False


class _Hooks:
    rehearsal: Rehearsal | None = None
    before_compiling: Callable[[Job], None] | None = None


_hooks = _Hooks()


@contextmanager
def rehearse(seconds: float) -> Iterator[Rehearsal]:
    """Run kernels as plain Python for at most this time, and record which ones are called."""
    _hooks.rehearsal = Rehearsal(monotonic() + seconds)
    try:
        yield _hooks.rehearsal
    finally:
        _hooks.rehearsal = None


@contextmanager
def before_compiling(wait: Callable[[Job], None]) -> Iterator[None]:
    """Call `wait` before a kernel is compiled: another process may be compiling it already."""
    outer, _hooks.before_compiling = _hooks.before_compiling, wait
    try:
        yield
    finally:
        _hooks.before_compiling = outer


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
