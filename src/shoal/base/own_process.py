"""Own process: what only a process that runs a command of shoal may do, and no library."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class _State:
    claimed = False


_state = _State()


def claim() -> None:
    """Declare that this process does nothing but run a command of shoal."""
    if not _state.claimed:
        _state.claimed = True
        sys.meta_path.insert(0, _WithoutPandas)


def claimed() -> bool:
    """Whether this process does nothing but run a command of shoal."""
    return _state.claimed


@contextmanager
def loading() -> Iterator[None]:
    """Load modules without searching them for garbage, now and later: nothing in them is.

    A command loads 800 modules, and the searches took a tenth of its time on a small table.
    """
    if not claimed() or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def allow_pandas() -> None:
    """Let pandas be imported after all: PySpark needs it."""
    if _WithoutPandas in sys.meta_path:
        sys.meta_path.remove(_WithoutPandas)


class _WithoutPandas:
    """Makes pandas look as if it were not installed.

    pyarrow imports pandas at its first array, to recognize objects of pandas. Commands read and
    write files only: they need neither pandas nor the time that its import takes.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        if name == "pandas":
            raise ModuleNotFoundError("commands of shoal do not use pandas", name=name)
