"""Parquet: a binary format of typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.base.errors import BadFile
from shoal.io.format import Format, Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading

ROWS = 1 << 20  # in a group of rows of a file
BATCH = 1 << 17  # rows that are read at once


class Parquet(Format):
    """Apache Parquet: compressed columns that keep their types.

    The library is imported when it is needed, as that takes long.
    """

    name = "parquet"
    endings = (".parquet", ".pq")
    keeps_types = True
    streams = True
    writing: ClassVar[dict[str, Any]] = {"write_statistics": False}  # they could show more values

    def read(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file."""

        from shoal.io.arrow_tables import check_column_names

        with _opened(path) as file:  # read_table() would make a column of a folder "k=5"
            table = file.read()
        table.validate(full=True)  # text must be UTF-8
        check_column_names(table.column_names, str(path))
        return table

    def read_packed(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file; texts stay dictionaries, as they are stored."""
        import pyarrow as pa

        from shoal.io.arrow_tables import check_column_names
        from shoal.io.native.packed_texts import packed

        with _opened(path) as file:
            schema = file.schema_arrow
        check_column_names(schema.names, str(path))
        # A name with a dot could be taken for a field of a struct.
        texts = [one.name for one in schema if one.type == pa.string() and "." not in one.name]
        with _opened(path, texts) as file:
            table = file.read()
        table.validate(full=True)
        return packed(table, texts)

    def schema(self, path: Path, reading: Reading | None = None) -> pa.Schema:
        """Read the types of the columns."""

        from shoal.io.arrow_tables import check_column_names, takeable

        with _opened(path) as file:
            schema = file.schema_arrow
        check_column_names(schema.names, str(path))
        found: pa.Schema = takeable(schema.empty_table()).schema
        return found

    def batches(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read a file part by part."""

        with _opened(path) as file:
            rows, done = max(file.metadata.num_rows, 1), 0
            for batch in file.iter_batches(batch_size=BATCH):
                batch.validate(full=True)
                done += batch.num_rows
                if progress is not None:
                    progress(done, rows)
                yield batch

    def coded_batches(
        self, path: Path, coded: Sequence[str], reading: Reading | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read a file part by part; these columns of text stay coded as they are in the file."""

        with _opened(path, list(coded)) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                batch.validate(full=True)
                yield batch

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table; each group of rows has dictionaries of its own."""
        parts = [table.slice(start, ROWS) for start in range(0, max(table.num_rows, 1), ROWS)]
        self.write_parts(table.schema, parts, path)

    def write_parts(
        self,
        schema: pa.Schema,
        parts: Iterable[pa.Table],
        path: Path,
        reading: Reading | None = None,
    ) -> str | None:
        """Write a table that comes part by part; each part is a group of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from shoal.io.arrow_tables import compact_table

        table = schema.empty_table()
        try:
            with pq.ParquetWriter(path, compact_table(table).schema, **self.writing) as file:
                for table in parts:
                    file.write_table(compact_table(table))
        except pa.ArrowException:  # its message may contain values
            _name_column(table)
            raise
        return None

    def check_parts(self, path: Path, written: str | None, reading: Reading | None = None) -> None:
        """Take the file apart, byte by byte."""
        from shoal.io.formats._reachable import check_parquet

        check_parquet(path)

    def check_bytes(self, path: Path, table: pa.Table, reading: Reading | None = None) -> None:
        """Take the file apart, byte by byte."""
        from shoal.io.formats._reachable import check_parquet

        check_parquet(path)


@contextmanager
def _opened(path: Path, coded: list[str] | None = None) -> Iterator[Any]:
    """A file; these columns of text stay dictionaries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, read_dictionary=coded) as file:
            yield file
    except UnicodeDecodeError:  # in the name of a column
        raise pa.ArrowInvalid("names") from None


def _name_column(table: pa.Table) -> None:
    """Raise an error that names the column that Parquet cannot store, if there is one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for field in table.schema:
        try:
            pq.write_table(table.select([field.name]), pa.BufferOutputStream())
        except pa.ArrowException:
            raise BadFile(
                f"column {field.name!r} is of type {field.type}, which Parquet cannot store; "
                "drop or cast the column"
            ) from None
