"""A table of a database as one large table: the database groups its rows, and DuckDB joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

import pyarrow as pa

from shoal.databases.database import Database
from shoal.engines.duckdb_table import DuckdbTable
from shoal.engines.large_table import Watch
from shoal.engines.resources import Resources
from shoal.engines.source import Source, converted
from shoal.io.format import formats
from shoal.io.frames import Counted, Frame
from shoal.io.raw_text.canonical import Canonical, SpelledColumn

CELL = 16  # bytes of a cell in memory, at a rough estimate


@dataclass(frozen=True)
class DatabaseSource(Source):
    """The rows of a table or query, which are read again for each question."""

    database: Database | None = None

    @staticmethod
    def of_database(
        database: Database, spelled: Mapping[str, SpelledColumn] | None = None
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
        """The file of the database, its size and when it was last written; () for a server."""
        found = [(file, file.stat()) for file in self.files]
        return tuple((file, now.st_size, now.st_mtime_ns) for file, now in found)

    @property
    def size(self) -> int:
        """About how many bytes the table takes in memory."""
        assert self.database is not None
        return CELL * len(self.schema) * self.database.rows()

    def batches(self, progress: Callable[[float], None]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows part by part, each with the number of its first row."""
        assert self.database is not None
        row, many, known = 0, self.database.rows(), Canonical(self.spelled)
        for batch in self.database.batches():
            yield row, converted(batch, known, row)
            row += batch.num_rows
            progress(min(1.0, row / many) if many else 0.0)


class DatabaseTable(DuckdbTable):
    """A table or query, which its database groups and DuckDB reads again to join."""

    def __init__(
        self,
        database: Database,
        resources: Resources,
        spelled: Mapping[str, SpelledColumn] | None = None,
    ) -> None:
        self.database = database
        super().__init__(DatabaseSource.of_database(database, spelled), resources)

    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, sorted, counted by the database.

        Texts that the plan reads as numbers or dates are read row by row: different ones may be the
        same number.
        """
        if any(name in self.source.spelled for name in columns):
            return super().group(columns, watch)
        watch(0.0)
        found = self.database.count(columns)
        assert found.counted is not None
        self.resources.check_units(found.height, len(columns))
        place = "shoal place"
        order = found.native.append_column(place, pa.array(range(found.height), pa.int64()))
        order = order.sort_by([(name, "ascending") for name in columns])[place]
        cells = found.native.take(order)
        return Frame(cells, Counted(found.counted.weight[order.to_numpy()], None))
