"""What runs on Spark's executors: reading files, and writing and checking the files of a release.

Each is a function of Arrow batches, for `DataFrame.mapInArrow`. A task may run twice, after an
executor was lost: the same task always gives the same rows, and a file gets its name at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.algorithms._shared.parts.part_task import PartFound, PartRows, PartTask
from shoal.base.threads import limited
from shoal.engines.cells import restored
from shoal.engines.source import Source, reading
from shoal.engines.writing import check_rows, resized
from shoal.io.digests import fingerprint
from shoal.io.format import format_of

PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
WRITTEN = "file string, rows long, sum1 long, sum2 long, sha256 string"  # of each file


@dataclass(frozen=True)
class ReadFiles:
    """Read pieces of files, each by one task, with the reader that memory uses.

    A piece is a text file, as a quote may be opened anywhere in it, or a group of rows of a
    Parquet file. Columns have the names c0, c1, … and types that Spark has.
    """

    source: Source
    columns: tuple[str, ...]
    pieces: tuple[tuple[int, int], ...]  # the number of the file, and of the group of rows

    @staticmethod
    def of(source: Source, columns: Sequence[str]) -> ReadFiles:
        """All pieces of a source."""
        pieces = []
        for i, file in enumerate(source.files):
            groups = 1 if source.text else max(1, pq.read_metadata(file).num_row_groups)
            pieces += [(i, group) for group in range(groups)]
        return ReadFiles(source, tuple(dict.fromkeys(columns)), tuple(pieces))

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of these pieces."""
        names = [f"c{self.source.schema.get_field_index(name)}" for name in self.columns]
        for number in _listed(numbers):
            file = self.source.files[self.pieces[number][0]]
            with reading(file):
                for batch in self._batches(file, self.pieces[number][1]):
                    cells = [
                        spark_cells(batch.column(batch.schema.get_field_index(name)))
                        for name in self.columns
                    ]
                    yield pa.record_batch(cells, names)

    def _batches(self, file: Path, group: int) -> Iterator[pa.RecordBatch]:
        if self.source.text:
            yield from self.source.form.batches(file, None)
            return
        with pq.ParquetFile(file) as opened:
            if opened.num_row_groups:
                yield from opened.iter_batches(row_groups=[group], columns=list(self.columns))


@dataclass(frozen=True)
class RecodePart:
    """Recode one part of the combinations of values, with the kernels that memory uses."""

    shared: Any  # a broadcast PartTask

    def __call__(self, part: PartRows) -> PartFound:
        """What is published of its combinations; a second attempt finds the same."""
        task: PartTask = self.shared.value
        with limited(1):  # an executor has one task per core
            return task.run(part)


@dataclass(frozen=True)
class Fingerprints:
    """The SHA-256 of each file."""

    files: tuple[Path, ...]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The number and the checksum of the files."""
        for number in _listed(numbers):
            found = fingerprint(self.files[number])
            yield pa.record_batch([pa.array([number]), pa.array([found])], ["id", "sha256"])


@dataclass(frozen=True)
class WriteFile:
    """Write the rows of one partition to a file, read it back and compare it row by row.

    The last two columns are the keys that the rows are sorted by; they are not written.
    """

    folder: Path
    ending: str
    schema: pa.Schema  # of the release

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The name of the file, its rows, the sums of their keys, and the SHA-256 of its text."""
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        number = task.partitionId()
        # Another attempt at the same task may still run somewhere.
        attempt = self.folder / f".{number}-{task.taskAttemptId()}{self.ending}"
        copy = attempt.with_suffix(".arrow")
        try:
            sums = np.zeros(2, np.uint64)
            rows = self._copy(batches, copy, sums)
            form = format_of(attempt)
            written = form.write_parts(self.schema, self._tables(copy), attempt)
            form.check_parts(attempt, written)
            check_rows(Source.of(attempt), self._tables(copy))
            name = f"part-{number:05d}{self.ending}"
            attempt.replace(self.folder / name)
        finally:
            for left in (attempt, copy):
                left.unlink(missing_ok=True)
        found = [[name], [rows], *([int(one)] for one in sums.view(np.int64)), [written]]
        kinds = [pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string()]
        cells = [pa.array(one, kind) for one, kind in zip(found, kinds, strict=True)]
        yield pa.record_batch(cells, ["file", "rows", "sum1", "sum2", "sha256"])

    def _copy(self, batches: Iterator[pa.RecordBatch], path: Path, sums: Any) -> int:
        """Keep the rows, in the types of the release, to compare the file with."""
        rows = 0
        with pa.ipc.new_stream(str(path), self.schema, options=PACKED) as stream:
            for batch in batches:
                rows += batch.num_rows
                for i, keys in enumerate(batch.columns[-2:]):
                    sums[i] += keys.to_numpy().view(np.uint64).sum(dtype=np.uint64)
                cells = [
                    restored(cell, field.type)
                    for cell, field in zip(batch.columns[:-2], self.schema, strict=True)
                ]
                stream.write_batch(pa.record_batch(cells, schema=self.schema))
        return rows

    def _tables(self, path: Path) -> Iterator[pa.Table]:
        """The rows again, in tables that the file is written from."""
        with pa.OSFile(str(path)) as raw, pa.ipc.open_stream(raw) as stream:
            tables = (pa.Table.from_batches([batch]) for batch in stream)
            yield from resized(tables)


def _listed(numbers: Iterator[pa.RecordBatch]) -> Iterator[int]:
    for batch in numbers:
        yield from batch.column(0).to_pylist()


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The type that Spark has for cells of a type; `restored` turns them back.

    >>> spark_type(pa.uint8()), spark_type(pa.timestamp("ns")), spark_type(pa.large_string())
    (DataType(int16), DataType(int64), DataType(string))
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return pa.int64() if kind.unit == "ns" else pa.timestamp("us")  # Spark has microseconds
    if pa.types.is_unsigned_integer(kind):
        wider: Sequence[pa.DataType] = (pa.int16(), pa.int32(), pa.int64(), pa.decimal128(20, 0))
        return wider[(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()).index(kind)]
    return kind


def spark_cells(cells: Any) -> Any:
    """Cells in the type that Spark has for them."""
    return cells.cast(spark_type(cells.type))
