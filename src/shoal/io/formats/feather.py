"""Feather: the file format of Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import BadFile
from shoal.io.format import FirstRows, Format, Progress, first_of

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading

ROWS = 1 << 20  # in a batch of a file


class Feather(Format):
    """Feather, or Arrow IPC: columns that keep their types."""

    name = "feather"
    endings = (".feather", ".arrow", ".ipc")
    keeps_types = True

    def read(
        self,
        path: Path,
        progress: Progress | None,
        reading: Reading | None = None,
    ) -> pa.Table:
        """Read a file."""
        import pyarrow as pa

        from shoal.io.arrow_tables import check_column_names

        try:
            with pa.OSFile(str(path)) as file:
                table = pa.ipc.open_file(file).read_all()
            table.validate(full=True)  # offsets of a damaged file can point outside of its memory
        except UnicodeDecodeError:  # in the name of a column
            raise pa.ArrowInvalid("names") from None
        check_column_names(table.column_names, str(path))
        return table

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The first rows of the first batches."""
        import pyarrow as pa

        try:
            with pa.OSFile(str(path)) as source:
                file = pa.ipc.open_file(source)
                batches = (file.get_batch(i) for i in range(file.num_record_batches))
                found = first_of(_validated(batches), most)
                return found._replace(names=list(file.schema.names))
        except UnicodeDecodeError:
            raise pa.ArrowInvalid("names") from None

    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table; each column has one dictionary, as the format demands."""
        import pyarrow as pa

        from shoal.io.arrow_tables import compact_table

        try:
            compact = compact_table(table.unify_dictionaries().combine_chunks())
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, compact.schema) as out:
                out.write_table(compact, max_chunksize=ROWS)
        except pa.ArrowException:  # its message may contain values
            raise BadFile(
                f"cannot write {path}: a column is of a type that Feather cannot store in one "
                "piece; write Parquet, or cast it to a simpler type"
            ) from None


def _validated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        batch.validate(full=True)
        yield batch
