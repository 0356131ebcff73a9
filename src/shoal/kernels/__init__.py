"""Compiled loops: arrays in, arrays out; no names, no messages, no options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a loop; the one place where compiler options are chosen.

    The machine code is cached on disk, and none of it runs in parallel: several processes
    writing the cache of parallel kernels at once have crashed other projects. Fast-math stays
    off, because exact ties must stay ties.
    """
    compiled: F = numba.njit(cache=True, nogil=True)(function)
    return compiled
