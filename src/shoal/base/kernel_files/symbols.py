"""The names that compiled functions have in machine code: each name belongs to one function.

numba names a function after its module, its name, its types and a number, which every process
counts from one. Functions that one factory makes differ in nothing but that number. If two
processes compiled and stored two of them under the same number, a third process that loads both
calls the first for the second: seen as results that depend on the order of loading, and as a hang.
"""

from __future__ import annotations

import itertools
import os
import secrets
from types import FunctionType
from typing import Any

from numba.core.bytecode import FunctionIdentity

NUMBERS = 1 << 48  # to begin to count from; a process compiles some thousands of functions
COUNTER = "_unique_ids"  # numba has no public way to choose the numbers


def number_apart() -> None:
    """Let this process count from a random number, numba's own functions included."""
    if hasattr(FunctionIdentity, COUNTER):
        setattr(FunctionIdentity, COUNTER, itertools.count(secrets.randbelow(NUMBERS)))


def name_apart(function: Any) -> Any:
    """Name a function that another one makes after what it takes from it; returns the function.

    >>> def make(down):
    ...     def step(x):
    ...         return x - 1 if down else x + 1
    ...     return step
    >>> name_apart(make(True)).__qualname__
    'make.<locals>.step[down=True]'
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    given = ",".join(f"{name}={_text(cell.cell_contents)}" for name, cell in cells)
    if given:
        function.__qualname__ += f"[{given}]"
    return function


def _text(value: Any) -> str:
    """A constant as it is written, and a function or a kernel by its name."""
    function = getattr(value, "py_func", value)
    return function.__qualname__ if isinstance(function, FunctionType) else repr(value)


number_apart()
if hasattr(os, "register_at_fork"):  # a fork would go on with the numbers of its parent
    os.register_at_fork(after_in_child=number_apart)
