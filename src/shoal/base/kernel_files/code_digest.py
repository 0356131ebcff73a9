"""A digest of everything that a compiled function is made from.

numba compiles a function's bytecode together with the functions it calls and the constants it
reads, but its cache only notices changes in the file of the function itself. The digest covers all
of it and nothing else: an edited callee or constant changes it, an edited docstring or another
function in the same file does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

CONSTANTS = (bool, int, float, complex, str, bytes, type(None), np.generic)
# Modules whose contents are fixed by the versions in the key of the machine code.
LIBRARIES = ("math", "numba", "numpy")
# Part of each digest. To be raised when code that is stored already must not be run any more: that
# of 1 has names that two functions may share (see `symbols`).
FORMAT = 2


class UnknownContent(Exception):
    """A function reads something whose content cannot be described, such as a list."""


def digest(kernel: Any) -> str:
    """A digest of the code, the constants and the compiler options of a kernel and its callees."""
    found = [kernel]  # grows while it is read; a kernel is referred to by its place in the list
    content = hashlib.sha256(f"{FORMAT}".encode())
    for one in found:
        for part in _parts(one, found):
            content.update(f"{len(part)}:{part}".encode())
    return content.hexdigest()


def callees(kernel: Any) -> set[Any]:
    """A kernel and all kernels that it calls, directly or not."""
    found = [kernel]
    for one in found:
        for _part in _parts(one, found):
            pass
    return set(found)


def _parts(kernel: Any, found: list[Any]) -> Iterator[str]:
    function: FunctionType = kernel.py_func
    yield f"{function.__module__}.{function.__qualname__}"  # machine code refers to callees by name
    yield repr(sorted(kernel.targetoptions.items()))
    yield _value((function.__defaults__, _pairs(function.__kwdefaults__)), found)
    yield from _code(function.__code__, function.__doc__)
    for cell in function.__closure__ or ():
        yield _value(cell.cell_contents, found)
    for name in _names(function.__code__):
        if name in function.__globals__:  # otherwise a built-in function or an attribute
            yield name
            yield _value(function.__globals__[name], found)


def _code(code: CodeType, docstring: str | None = None) -> Iterator[str]:
    """The bytecode without docstrings and line numbers, which do not reach the machine code."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags))
    yield getattr(code, "co_exceptiontable", b"").hex()
    for place, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif place > 0 or docstring is None or constant != docstring:
            yield f"{type(constant).__name__} {constant!r}"


def _names(code: CodeType) -> Iterator[str]:
    """All names that code may read from its module, including the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value(value: Any, found: list[Any]) -> str:
    if hasattr(value, "py_func"):
        if value not in found:
            found.append(value)
        return f"kernel {found.index(value)}"
    if isinstance(value, CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__name__} {[_value(one, found) for one in value]}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"{value.__module__}.{value.__qualname__} {value._fields}"
    if isinstance(value, ModuleType) and value.__name__ in LIBRARIES:
        return value.__name__
    if getattr(value, "__module__", "").partition(".")[0] in LIBRARIES:
        return f"{value.__module__}.{getattr(value, '__qualname__', repr(value))}"
    raise UnknownContent(f"{type(value).__name__} {value!r}")


def _pairs(options: dict[str, Any] | None) -> tuple[Any, ...]:
    return tuple(sorted((options or {}).items()))
