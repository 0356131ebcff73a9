"""Interrupts: Ctrl-C and SIGTERM become an exception only where that is safe.

Python runs a signal handler between any two steps of Python code, including Python code that is
called by compiled code. Compiled code often cannot handle an exception there. At every call numba
creates the types of returned arrays and random generators in Python code: an interrupt in it
became a SystemError, or crashed the process. An exception in `__del__` or in a callback is printed
and lost.

`held` calls compiled code and delays a signal until it has returned; this works in notebooks, too.
`run` is for the command line: it treats SIGINT and SIGTERM alike and raises KeyboardInterrupt at
the next safe place. Any exception after a signal counts as a consequence of it. The exit status is
128 + the number of the signal, as for a program that was killed by it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the module `signal` wraps each call and is slower
import _thread
import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import main_thread
from time import monotonic, sleep
from types import CodeType, FrameType
from typing import Any, NoReturn, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 0.5  # seconds that imports and the compiler get to finish
TICK = 0.02  # seconds between two checks whether it is safe now
# An exception raised there is printed and lost, or leaves something half-done: directly in a file,
# or anywhere below a function or a file.
NEVER_HERE = ("/weakref.py", "/_weakrefset.py", "/contextlib.py")
NEVER_BELOW = ("/llvmlite/", "/ctypes/")
NEVER_NAMED = "__del__"
# An interrupt that passes through code compiled from a string, such as that of data classes, makes
# Python end with the signal even if it was caught.
LATER_BELOW = ("/numba/", "<frozen importlib", "<string>")
LATER_NAMED = "__exit__"

Function = TypeVar("Function", bound=Callable[..., Any])

_MAIN = main_thread().ident
_whole: set[CodeType] = set()


class _State:
    """The signals that have come, and what was done about them."""

    number = 0  # the first signal; 0: none
    since = 0.0  # when it came
    ticking = False  # whether a thread checks again and again whether it is safe
    tick = False  # whether that thread sent the last signal
    raised = False  # whether it was raised; only another signal raises it again
    settled = False  # whether the command knows about it and ends by itself
    ended = False  # whether the program has ended: nothing is raised any more
    active = False  # whether the handler of this module is installed
    holding = False  # whether compiled code is running
    before: Any = None  # the previous handler, which has to wait
    waiting = 0  # the signal that waits for that handler


_state = _State()
_lock = _thread.allocate_lock()


def whole(function: Function) -> Function:
    """Mark a function or generator that an interrupt must not leave: it must be quick."""
    _whole.add(function.__code__)
    return function


def asked() -> int:
    """The signal that asked the command to end; 0: none."""
    return _state.number


def status() -> int:
    """The exit status after an interrupt: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + (_state.number or int(signal.SIGINT))


def check() -> None:
    """Raise KeyboardInterrupt after a signal: a library may have lost the first exception."""
    if _state.number and not _state.settled:
        _state.ticking, _state.raised = False, True
        raise KeyboardInterrupt


def settled() -> bool:
    """Whether a signal was acknowledged, and the command goes on with what it has."""
    return bool(_state.number) and _state.settled


def settle() -> None:
    """Acknowledge the signal: the command writes what it has and ends by itself."""
    _state.settled, _state.ticking, _state.raised = True, False, True


def keeps_best() -> bool:
    """Whether a search that was interrupted goes on with the best that it has: after Ctrl-C only.

    Another Ctrl-C ends the command.
    """
    if _state.number not in (0, signal.SIGINT):
        return False
    settle()
    return True


def dismiss() -> None:
    """Forget Ctrl-C: it is how the user ends this command, whose exit status is its own."""
    if _state.number == signal.SIGINT:
        _state.number, _state.raised, _state.settled, _state.ticking = 0, False, False, False


def held(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call compiled code; a signal during the call is handled after it."""
    if _state.holding or _thread.get_ident() != _MAIN:
        return function(*args, **options)  # handlers run in the main thread only
    if _state.active:  # our handler waits while this is set, and checks again soon
        _state.holding = True
        try:
            return function(*args, **options)
        finally:
            _state.holding = False
    before = _signal.getsignal(_signal.SIGINT)
    if not callable(before):
        return function(*args, **options)  # interrupts are ignored, or end the process
    # A signal that came before is handled before the handler changes, here and below.
    _signal.signal(_signal.SIGINT, _note)
    _state.holding, _state.before = True, before
    try:
        return function(*args, **options)
    finally:
        # First what must be done in any case: the handler may raise an exception at once.
        _state.holding, _state.before = False, None
        try:
            _signal.signal(_signal.SIGINT, before)
        finally:
            _handle_waiting(before)


def released(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call Python code within `held` that can handle an interrupt."""
    if not _state.holding or _thread.get_ident() != _MAIN:
        return function(*args, **options)
    before = _state.before
    _state.holding = False
    try:
        if before is not None:
            _signal.signal(_signal.SIGINT, before)
            _handle_waiting(before)
        return function(*args, **options)
    finally:
        _state.holding = True
        if before is not None:
            _signal.signal(_signal.SIGINT, _note)


def _handle_waiting(before: Callable[..., Any]) -> None:
    """Pass a delayed signal to the handler that it was for."""
    number, _state.waiting = _state.waiting, 0
    if number:
        before(number, sys._getframe())


def _note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Delay a signal."""
    _state.waiting = number


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt now, or as soon as it is safe."""
    again = _state.number != 0 and not _state.tick
    late = _state.tick and _state.raised  # it was under way when the exception was raised elsewhere
    _state.tick = False
    if late:
        return
    if not _state.number:
        _state.number, _state.since = number, monotonic()
    if _state.ended:
        return
    if again:
        _state.settled = False
    patient = not again and monotonic() - _state.since < GRACE
    if _state.holding or not _safe(frame, patient):
        if not _state.ticking:
            _state.ticking, _state.raised = True, False
            with suppress(RuntimeError):  # the interpreter is ending already
                _thread.start_new_thread(_look_again, (number,))
        return
    _state.ticking, _state.raised = False, True
    raise KeyboardInterrupt


def _look_again(number: int) -> None:
    """Call the handler again and again until it has raised the exception."""
    while True:
        sleep(TICK)
        with _lock:  # not after the previous handlers are restored: it would reach these
            if not _state.ticking:
                return
            _state.tick = True
            if _MAIN is not None and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(_MAIN, number)  # it also interrupts a wait of the main thread
            else:  # Windows
                _thread.interrupt_main(signal.Signals(number))


def _safe(frame: FrameType | None, patient: bool) -> bool:
    """Whether an exception may be raised in this frame."""
    here = True
    while frame is not None and frame.f_code is not run.__code__:
        code = frame.f_code
        file = code.co_filename.replace("\\", "/")
        if code in _whole or code.co_name == NEVER_NAMED:
            return False
        if any(part in file for part in NEVER_BELOW) or (here and file.endswith(NEVER_HERE)):
            return False
        later = code.co_name == LATER_NAMED or any(part in file for part in LATER_BELOW)
        if patient and later:
            return False
        here = False
        frame = frame.f_back
    return True


@contextmanager
def consequences(leave: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
    """Turn any exception after a signal into a KeyboardInterrupt.

    Libraries turn an interrupt into errors of their own. Exceptions in `leave` are not changed.
    """
    try:
        yield
    except BaseException as error:
        own = not _state.number or _state.settled  # no signal, or one that the command knows of
        if own or isinstance(error, (KeyboardInterrupt, SystemExit, *leave)):
            raise
        interrupt = KeyboardInterrupt()
        for note in getattr(error, "__notes__", ()):
            interrupt.add_note(note)
        raise interrupt from error


def run(program: Callable[[], None], last: bool = False) -> None:
    """Run the program of this process; after an interrupt, exit with the matching status.

    `last`: the process ends after it, and signals are ignored from then on.
    """
    if _thread.get_ident() != _MAIN or _state.active:
        program()
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    _state.ended, _state.active = False, True
    taken = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]  # as nohup does
    for number in taken:
        signal.signal(number, _on_signal)
    try:
        program()
    except BaseException:
        if not _state.number:
            raise
    finally:
        with _lock:
            _state.ended = True
            _state.ticking = _state.active = False
        for number in taken:  # None: not a Python handler, which cannot be restored
            signal.signal(number, signal.SIG_IGN if last else before[number] or signal.SIG_DFL)
    if _state.number:
        end = status()
        _state.number, _state.raised, _state.settled = 0, False, False
        if last:
            _leave(end)
        sys.exit(end)


def _leave(end: int) -> NoReturn:
    """End the process with this status.

    If the exception passed through code compiled from a string, `sys.exit` would end the process
    with the signal itself, even though the exception was caught.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(end)
