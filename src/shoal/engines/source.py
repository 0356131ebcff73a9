"""Source: a table that is not read into memory, in files or in a database."""

from __future__ import annotations

import hashlib
import lzma
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.base.errors import BadFile, BadTable, preview
from shoal.databases.database import CELL
from shoal.databases.kind import Allowed
from shoal.io.digests import fingerprint
from shoal.io.format import DAMAGED, Format, format_of, formats, packing_of
from shoal.io.raw_text.canonical import Canonical, SpelledColumn
from shoal.io.reading import Reading
from shoal.io.sources import check_source, is_folder

PACKED = 8  # times larger when decompressed, at a rough estimate


@dataclass(frozen=True)
class Source:
    """One file, or all files of a folder, in the order of their names."""

    path: Path
    files: tuple[Path, ...]
    form: Format
    schema: pa.Schema  # the same for all files
    reading: Reading | None = None  # what the plan states about its files
    spelled: Mapping[str, SpelledColumn] = field(default_factory=dict)  # and about columns of text

    @staticmethod
    def of(
        path: str | Path,
        reading: Reading | None = None,
        spelled: Mapping[str, SpelledColumn] | None = None,
    ) -> Source:
        """Look at the names of the files and at their columns, but not at their rows."""
        path = Path(path)
        files = _files(path)
        form = format_of(files[0])
        if not form.streams:
            able = ", ".join(kind.name for kind in formats.values() if kind.streams)
            raise BadFile(
                f"{path} is of the format {form.name}, which is read into memory only; use "
                f"engine = 'memory', or one of the formats {able}"
            )
        schemas = [_schema(form, file, reading) for file in files]
        for file, schema in zip(files[1:], schemas[1:], strict=True):
            _check_same(files[0], schemas[0], file, schema)
        return Source(path, tuple(files), form, schemas[0], reading, spelled or {})

    @property
    def text(self) -> bool:
        """Whether the files are text; otherwise they are Parquet."""
        return not self.form.keeps_types

    @property
    def folder(self) -> Path | None:
        """The folder of which all files are the table; None: it is one file."""
        return self.path if is_folder(self.path) else None

    @property
    def place(self) -> Path:
        """Where temporary files go: next to the source, or where the system has them."""
        near = self.path.absolute().parent
        return near if os.access(near, os.W_OK | os.X_OK) else Path(gettempdir())

    @property
    def sha256(self) -> str | None:
        """Of the file; of a folder, that of the checksums of its files, one per line."""
        found = [fingerprint(file) for file in self.files]
        if self.path.is_file():
            return found[0]
        lines = "".join(f"{one}\n" for one in found)
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def state(self) -> tuple[tuple[Path, int, int], ...]:
        """The files that the table has now, their sizes and when they were last written."""
        with reading(self.path):
            found = [(file, file.stat()) for file in _files(self.path)]
        return tuple((file, now.st_size, now.st_mtime_ns) for file, now in found)

    @property
    def size(self) -> int:
        """About how many bytes the table takes in memory."""
        return size_in_memory(self.path)

    def batches(self, progress: Callable[[float], None]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows part by part, each with the number of its first row."""
        row, known = 0, Canonical(self.spelled)
        for i, file in enumerate(self.files):

            def report(done: int, size: int, i: int = i) -> None:
                progress((i + done / max(size, 1)) / len(self.files))

            with reading(file):
                for batch in self.form.batches(file, report, self.reading):
                    yield row, converted(batch, known, row)
                    row += batch.num_rows

    def coded_batches(self, coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows part by part, these columns of text as dictionaries if files store them so."""
        for file in self.files:
            with reading(file):
                yield from self.form.coded_batches(file, coded, self.reading)

    def check_readable(self) -> None:
        """Read all files, and raise an error that names the first one that cannot be read."""
        for _ in self.batches(lambda _: None):
            pass

    def parquet_rows(self) -> list[int]:
        """The number of rows of each Parquet file."""
        return [pq.read_metadata(file).num_rows for file in self.files]


class ReadTable(Protocol):
    """A table of a database that is read part by part: a `Database`, or a `NewTable`."""

    @property
    def file(self) -> Path | None:
        """The file of the database; None for a server."""

    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    def rows(self) -> int:
        """About how many rows there are; 0 if that is not known."""

    def batches(self, allowed: Allowed | None = None) -> Iterator[pa.RecordBatch]:
        """All rows part by part."""


@dataclass(frozen=True)
class DatabaseSource(Source):
    """The rows of a table or query, which are read again for each question."""

    database: ReadTable | None = None
    allowed: Allowed | None = None  # to read the rows

    @staticmethod
    def of_database(
        database: ReadTable,
        spelled: Mapping[str, SpelledColumn] | None = None,
        allowed: Allowed | None = None,
    ) -> DatabaseSource:
        """Look at the columns, but not at the rows."""
        files = () if database.file is None else (database.file,)
        form = formats["csv"]()  # rows come from Python, as those of text files do
        return DatabaseSource(
            Path(str(database)),
            files,
            form,
            database.schema(),
            spelled=spelled or {},
            database=database,
            allowed=allowed,
        )

    @property
    def folder(self) -> Path | None:
        """None: it is no folder."""
        return None

    @property
    def place(self) -> Path:
        """Where temporary files go: where the system has them."""
        return Path(gettempdir())

    @property
    def sha256(self) -> str | None:
        """None: the table is no file."""
        return None

    @property
    def state(self) -> tuple[tuple[Path, int, int], ...]:
        """The file of the database, its size and when it was last written; () for a server.

        Changes may be in a second file first (SQLite: people.db-wal, DuckDB: people.duckdb.wal),
        which may also come and go without any.
        """
        files = [Path(f"{file}{end}") for file in self.files for end in ("", "-wal", ".wal")]
        found = [(file, file.stat()) for file in files if file.exists()]
        return tuple((file, now.st_size, now.st_mtime_ns) for file, now in found if now.st_size)

    @property
    def size(self) -> int:
        """About how many bytes the table takes in memory."""
        assert self.database is not None
        return CELL * len(self.schema) * self.database.rows()

    def batches(self, progress: Callable[[float], None]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows part by part, each with the number of its first row."""
        assert self.database is not None
        row, many, known = 0, self.database.rows(), Canonical(self.spelled)
        for batch in self.database.batches(self.allowed):
            yield row, converted(batch, known, row)
            row += batch.num_rows
            progress(min(1.0, row / many) if many else 0.0)


def converted(batch: pa.RecordBatch, known: Canonical, row: int) -> pa.RecordBatch:
    """A part with its columns in canonical form."""
    for i, name in enumerate(batch.schema.names):
        if name in known.columns:
            batch = batch.set_column(i, name, known.column(name, batch.column(i), row))
    return batch


def size_in_memory(path: Path) -> int:
    """About how many bytes a file, or the files of a folder, take when they are in memory."""
    total = 0
    for file in _files(path):
        size = file.stat().st_size
        if packing_of(file) or format_of(file).compressed:
            size *= PACKED
        elif format_of(file).name == "parquet":
            with reading(file):
                meta = pq.read_metadata(file)
            inside = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            size = max(inside, 8 * meta.num_rows * meta.num_columns)
        total += size
    return total


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn errors of libraries, which may contain rows, into a message without them."""
    reason = DAMAGED
    try:
        yield
        return
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            reason = os.strerror(error.errno)
    raise BadFile(f"cannot read {file}: {reason}")


def _files(path: Path) -> list[Path]:
    """The files of a table; hidden ones, and those that begin with _, do not belong to it."""
    if not is_folder(path):
        check_source(path, "")
        return [path]
    files = sorted(one for one in path.iterdir() if not one.name.startswith((".", "_")))
    if not files:
        raise BadFile(f"cannot read {path}: the folder has no files")
    for file in files:
        check_source(file, "")
    kinds = {format_of(file).name: file for file in files}
    if len(kinds) > 1:
        names = preview(file.name for file in kinds.values())
        raise BadFile(
            f"the files of {path} are of different formats, for example {names}; a folder is one "
            "table, and all of its files are of one format"
        )
    return files


def _schema(form: Format, file: Path, stated: Reading | None) -> pa.Schema:
    if file.stat().st_size == 0:
        raise BadFile(f"cannot read {file}: the file is empty")
    with reading(file):
        return form.schema(file, stated)


def _check_same(first: Path, schema: pa.Schema, file: Path, other: pa.Schema) -> None:
    """Raise an error unless two files of a folder have the same columns."""
    both = f"{first.name} and {file.name}, two files of one table,"
    if schema.names != other.names:
        if not set(schema.names) & set(other.names):  # then these may be values of a record
            raise BadTable(
                f"{both} have no column in common; write all files of {first.parent} with the same "
                "columns, and with a line of their names"
            )
        apart = sorted(set(schema.names) ^ set(other.names))
        what = (
            f"differ in the column{'s' if len(apart) > 1 else ''} {preview(apart)}"
            if apart
            else "have columns in another order"
        )
        raise BadTable(f"{both} {what}; write all files of {first.parent} with the same columns")
    for one, two in zip(schema, other, strict=True):
        if one.type != two.type:
            raise BadTable(
                f"{both} have different types of the column {one.name!r}: {one.type} and "
                f"{two.type}; write it with one type in all files of {first.parent}"
            )
