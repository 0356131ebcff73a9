"""Interrupts: Ctrl-C and a polite kill become an exception only where that is safe.

Python runs the handler of a signal between any two steps of Python code, also of such code that was
called by compiled code. Compiled code often cannot cope with an exception there. numba makes the
types of returned arrays and random generators by Python code at every call: an interrupt in it
became a SystemError, or crashed the process. An exception in `__del__` or in a callback is printed
and lost.

`held` calls compiled code and lets a signal wait until it has returned; that serves a notebook,
too. `run` is for the command line: it takes SIGINT and SIGTERM alike, raises KeyboardInterrupt at
the next place where that is safe, and whatever exception comes after a signal counts as its
consequence. The exit status is 128 + the number of the signal, as of a program that it killed.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # half as long as what is around it
import _thread
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import main_thread
from time import monotonic, sleep
from types import CodeType, FrameType
from typing import Any, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 0.5  # seconds that imports and the compiler get to come to a good end
TICK = 0.02  # seconds between two looks whether it is safe now
# An exception that is raised there is printed and lost, or leaves something half-done: right
# there, or anywhere below a function or a file.
NEVER_HERE = ("/weakref.py", "/_weakrefset.py", "/contextlib.py")
NEVER_BELOW = ("/llvmlite/", "/ctypes/")
NEVER_NAMED = "__del__"
# An interrupt that passes through code made from text, as that of data classes is, makes Python end
# by the signal, whoever caught it meanwhile.
LATER_BELOW = ("/numba/", "<frozen importlib", "<string>")
LATER_NAMED = "__exit__"

Function = TypeVar("Function", bound=Callable[..., Any])

_MAIN = main_thread().ident
_whole: set[CodeType] = set()


class _State:
    """What has come, and what came of it."""

    number = 0  # the first signal that came; 0: none
    since = 0.0  # when
    ticking = False  # whether somebody looks again and again whether it is safe
    tick = False  # whether that one called, and not a signal
    raised = False  # whether it was raised; it is raised once more only for another signal
    settled = False  # whether the command has taken note, and ends by itself
    ended = False  # whether the program is over: nothing is raised any more
    active = False  # whether signals come to the handler here
    holding = False  # whether compiled code is being called
    before: Any = None  # the handler of others, which has to wait meanwhile
    waiting = 0  # the signal that waits for it


_state = _State()
_lock = _thread.allocate_lock()


def whole(function: Function) -> Function:
    """Mark a function, also a generator, that is never left by an interrupt: it must be quick."""
    _whole.add(function.__code__)
    return function


def asked() -> int:
    """The signal that asked the command to end; 0: none did."""
    return _state.number


def status() -> int:
    """The exit status after an interrupt: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + (_state.number or int(signal.SIGINT))


def check() -> None:
    """Raise KeyboardInterrupt if a signal asked to end: some library may have lost the first."""
    if _state.number and not _state.settled:
        _state.ticking, _state.raised = False, True
        raise KeyboardInterrupt


def settle() -> None:
    """The command has taken note of the signal: it writes what it has, and ends by itself."""
    _state.settled, _state.ticking, _state.raised = True, False, True


def held(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call compiled code; a signal that comes meanwhile is handled when it has returned."""
    if _state.holding or _thread.get_ident() != _MAIN:
        return function(*args, **options)  # handlers run in the main thread only
    if _state.active:  # our handler knows that it has to wait, and looks again soon
        _state.holding = True
        try:
            return function(*args, **options)
        finally:
            _state.holding = False
    before = _signal.getsignal(_signal.SIGINT)
    if not callable(before):
        return function(*args, **options)  # interrupts are ignored, or end the process
    # A signal that has come already is handled before the handler changes, here and below.
    _signal.signal(_signal.SIGINT, _note)
    _state.holding, _state.before = True, before
    try:
        return function(*args, **options)
    finally:
        # First what no exception may keep from being done: the handler may raise one at once.
        _state.holding, _state.before = False, None
        try:
            _signal.signal(_signal.SIGINT, before)
        finally:
            _handle_waiting(before)


def released(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call Python code in the course of `held` that copes with an interrupt."""
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
    """Hand a signal that had to wait to the handler that it was for."""
    number, _state.waiting = _state.waiting, 0
    if number:
        before(number, sys._getframe())


def _note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Let a signal wait."""
    _state.waiting = number


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, now or as soon as it is safe."""
    again = _state.number != 0 and not _state.tick
    late = _state.tick and _state.raised  # on its way when it was raised elsewhere
    _state.tick = False
    if late:
        return
    if not _state.number:
        _state.number, _state.since = number, monotonic()
    if _state.ended:
        return
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
    """Call the handler again and again until it has raised."""
    while True:
        sleep(TICK)
        with _lock:  # after the handlers of others are back, it would reach these
            if not _state.ticking:
                return
            _state.tick = True
            if _MAIN is not None and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(_MAIN, number)  # it also ends a wait of the main thread
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
    """Whatever is raised after a signal is its consequence: a KeyboardInterrupt.

    Libraries turn an interrupt into errors of their own. Exceptions to `leave` stay what they are.
    """
    try:
        yield
    except BaseException as error:
        if not _state.number or isinstance(error, (KeyboardInterrupt, SystemExit, *leave)):
            raise
        interrupt = KeyboardInterrupt()
        for note in getattr(error, "__notes__", ()):
            interrupt.add_note(note)
        raise interrupt from error


def run(program: Callable[[], None], last: bool = False) -> None:
    """Run the program of this process; after an interrupt it ends with the status for that.

    `last`: nothing comes after it but the end, which nothing may disturb any more.
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
        for number in taken:  # None: a handler that is not Python's, and cannot be put back
            signal.signal(number, signal.SIG_IGN if last else before[number] or signal.SIG_DFL)
    if _state.number:
        end = status()
        _state.number, _state.raised, _state.settled = 0, False, False
        sys.exit(end)
