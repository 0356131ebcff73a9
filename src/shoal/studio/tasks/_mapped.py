"""Mapped tables: a large table is kept in a file, so that it takes no memory of its own.

The system holds as much of the file in memory as there is room for, and drops the rest when others
need it. The file has no name: it is gone when its process ends, however that happens.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from shoal.flow.draft.draft import Examined
from shoal.flow.draft.facts import Facts
from shoal.io.frames import Frame
from shoal.studio.private_folder import private
from shoal.table.coding import Values

LARGE = 1 << 20  # bytes from which on something is worth a file
T = TypeVar("T")


def mapped(examined: Examined, folder: Path) -> Examined:
    """The same, with cells and codes in files; what can be computed from them again is dropped."""
    facts = {name: _facts(one, folder) for name, one in examined.facts.items()}
    frame = examined.frame
    if frame.kind == "arrow" and frame.counted is None:
        frame = Frame(_table(frame.native, folder))
    return replace(examined, frame=frame, facts=facts)


def _facts(facts: Facts, folder: Path) -> Facts:
    values = _table(pa.table({"": facts.coded.array}), folder).column(0)
    whole = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    return replace(facts, codes=_array(facts.codes, folder), coded=Values(whole))


def _table(table: pa.Table, folder: Path) -> pa.Table:
    if table.nbytes < LARGE:
        return table

    def write(file: Any) -> None:
        with pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)

    return _in_file(
        table, folder, write, lambda path: pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
    )


def _array(array: np.ndarray[Any, Any], folder: Path) -> np.ndarray[Any, Any]:
    if array.nbytes < LARGE:
        return array

    def read(path: Path) -> np.ndarray[Any, Any]:
        with path.open("rb") as file:
            # Kernels are compiled for arrays that can be written to; nobody writes to these.
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return np.frombuffer(memory, array.dtype)

    return _in_file(array, folder, lambda file: file.write(np.ascontiguousarray(array).data), read)


def _in_file(kept: T, folder: Path, write: Callable[[Any], object], read: Callable[[Path], T]) -> T:
    """What is read from a file that has lost its name; if the disk is full, what is in memory."""
    if os.name != "posix":  # elsewhere a file that is used keeps its name
        return kept
    path = folder / f"table-{os.getpid()}.new"  # one that is not complete is swept away
    try:
        with private(path) as file:
            write(file)
        return read(path)
    except OSError:
        return kept
    finally:
        path.unlink(missing_ok=True)
