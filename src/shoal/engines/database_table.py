"""A table of a database as one large table: the database groups its rows, and DuckDB joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from shoal.databases.database import Database
from shoal.databases.kind import Allowed
from shoal.engines.duckdb_table import DuckdbTable
from shoal.engines.large_table import Watch
from shoal.engines.resources import Resources
from shoal.engines.source import DatabaseSource
from shoal.io.frames import Counted, Frame
from shoal.io.memory import LEAST
from shoal.io.raw_text.canonical import SpelledColumn


class DatabaseTable(DuckdbTable):
    """A table or query, which its database groups and DuckDB reads again to join."""

    def __init__(
        self,
        database: Database,
        resources: Resources,
        spelled: Mapping[str, SpelledColumn] | None = None,
    ) -> None:
        self.database = database
        # Reading a table takes little, and the engine works meanwhile; a query may join and sort.
        memory = max(LEAST, resources.memory // 4) if database.query is None else resources.memory
        allowed = Allowed(memory, resources.folder)
        super().__init__(DatabaseSource.of_database(database, spelled, allowed), resources)

    @property
    def stored(self) -> Database:
        """The table or query that is read."""
        return self.database

    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, sorted, counted by the database.

        Texts that the plan reads as numbers or dates are read row by row: different ones may be the
        same number.
        """
        if any(name in self.source.spelled for name in columns):
            return super().group(columns, watch)
        watch(0.0)
        allowed = Allowed(self.resources.memory, self.resources.folder)
        found = self.database.count(columns, allowed)
        assert found.counted is not None
        self.resources.check_units(found.height, len(columns))
        place = "shoal place"
        order = found.native.append_column(place, pa.array(range(found.height), pa.int64()))
        order = order.sort_by([(name, "ascending") for name in columns])[place]
        cells = found.native.take(order)
        return Frame(cells, Counted(found.counted.weight[order.to_numpy()], None))
