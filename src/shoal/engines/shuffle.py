"""Shuffle: records in a random order, without all of them in memory.

Every record goes to a random one of many temporary files; then each file is read into memory and
its records are put into a random order. Every order of all records is equally likely, as if they
were shuffled in memory.

The random numbers of a record depend on its number in the original: with a seed, the order is the
same however DuckDB delivers the records.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile

ROWS = 500_000  # of one file, on average
BYTES = 1 << 28  # of one file, and of the rows that are assigned to files together
MOST = 512  # files that are open at once
AT_ONCE = 1_000_000  # rows that are assigned to files together
BLOCK = 1 << 16  # records whose files are drawn together
PACKED = pa.ipc.IpcWriteOptions(compression="lz4")


class Shuffle:
    """Takes records in any order, and returns them in a random one.

    Their column `r` is the number of the record in the original.
    """

    def __init__(
        self, folder: Path, schema: pa.Schema, rows: int, entropy: list[int], size: int = 0
    ) -> None:
        """`rows` and `size`, in bytes, are estimates of what will be added."""
        self.folder, self.schema, self.entropy = folder, schema, entropy
        self.files = min(MOST, max(1, ceil(rows / ROWS), ceil(size / BYTES)))
        self._waiting: list[pa.RecordBatch] = []
        self._writers: list[Any] = []

    def add(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Assign all records to files."""
        try:
            with ExitStack() as stack:
                self._writers = [self._writer(i, stack) for i in range(self.files)]
                for batch in batches:
                    self._waiting.append(batch)
                    rows = sum(one.num_rows for one in self._waiting)
                    if rows >= AT_ONCE or sum(one.nbytes for one in self._waiting) >= BYTES:
                        self._scatter()
                self._scatter()
        except OSError as error:
            raise self._explained(error) from None

    def _writer(self, i: int, stack: ExitStack) -> Any:
        # A writer that opens its file by itself does not close it.
        file = stack.enter_context(pa.OSFile(str(self._path(i)), "wb"))
        return stack.enter_context(pa.ipc.new_stream(file, self.schema, options=PACKED))

    def _explained(self, error: OSError) -> BadFile:
        reason = os.strerror(error.errno) if error.errno else "the disk may be full"
        way_out = (
            "free some space, or choose another disk with --temp-directory (temp_directory in the "
            "plan)"
        )
        if error.errno == errno.EMFILE:
            way_out = f"let this process open {self.files} more files (ulimit -n)"
        return BadFile(f"cannot write temporary files in {self.folder.parent}: {reason}; {way_out}")

    def __iter__(self) -> Iterator[pa.Table]:
        """The records in their new order, file by file; always the same one."""
        for i in range(self.files):
            with pa.OSFile(str(self._path(i))) as raw, pa.ipc.open_stream(raw) as file:
                table = file.read_all()
            # Rows come in long rising runs, which a stable sort merges.
            order = np.argsort(table["r"].to_numpy(), kind="stable")
            rng = np.random.default_rng([*self.entropy, 0, i])
            yield table.take(pa.array(rng.permutation(order)))

    def _scatter(self) -> None:
        table = pa.Table.from_batches(self._waiting, self.schema)
        self._waiting = []
        if not table.num_rows:
            return
        file = self._drawn(table["r"].to_numpy())
        order = np.argsort(file.astype(np.uint16), kind="stable")  # sorted digit by digit
        ends = np.cumsum(np.bincount(file, minlength=self.files)).tolist()
        table = table.take(pa.array(order))
        for writer, start, end in zip(self._writers, [0, *ends], ends, strict=False):
            if end > start:
                writer.write_table(table.slice(start, end - start).combine_chunks())

    def _drawn(self, number: Longs) -> Longs:
        """A random file for each record; int64[n]."""
        if self.files == 1:
            return np.zeros(len(number), np.int64)
        least = number.min() // BLOCK
        block = number // BLOCK - least
        there = np.bincount(block) > 0
        blocks, place = np.flatnonzero(there) + least, (np.cumsum(there) - 1)[block]
        draws = [
            np.random.default_rng([*self.entropy, 1, block]).integers(0, self.files, BLOCK)
            for block in blocks.tolist()
        ]
        found: Longs = np.stack(draws)[place, number % BLOCK]
        return found

    def _path(self, i: int) -> Path:
        return self.folder / f"{i}.arrow"
