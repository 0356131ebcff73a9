"""What a command need not load."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pyarrow as pa


class _Without(MetaPathFinder):
    """Makes the import of a module fail, as if it were not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


def leave_out_pandas() -> None:
    """Keep pyarrow from loading pandas, which takes a third of a second.

    The first conversion of a Python object looks for it, once. In a command, tables come from files
    and go to files, so there is no frame of pandas to convert.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, finder := _Without("pandas"))
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
