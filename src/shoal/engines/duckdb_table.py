"""Files as one large table, by DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa

from shoal.attacks._unchanged import Elsewhere
from shoal.base.arrays import Longs
from shoal.base.errors import BadTable
from shoal.databases import database as stored
from shoal.engines.cells import is_served
from shoal.engines.duckdb import Database
from shoal.engines.duckdb_groups import alone, group, values
from shoal.engines.duckdb_people import (
    alone_people,
    group_people,
    numbered_as_before,
    values_of_people,
)
from shoal.engines.large_table import (
    People,
    PeopleTable,
    PersonColumn,
    ProfileRows,
    Recoded,
    Watch,
    changed,
)
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.engines.writing import Rows
from shoal.io.frames import Frame
from shoal.io.raw_text.canonical import SpelledColumn
from shoal.io.reading import Reading

AT_ONCE = 32  # columns that are counted by one query; GROUPING_ID of DuckDB takes up to 63


class DuckdbTable(PeopleTable):
    """A file or a folder, which DuckDB reads again for each question."""

    engine = "duckdb"

    def __init__(
        self,
        path: str | Path | Source,
        resources: Resources,
        reading: Reading | None = None,
        spelled: Mapping[str, SpelledColumn] | None = None,
    ) -> None:
        self.source = path if isinstance(path, Source) else Source.of(path, reading, spelled)
        self.resources = resources
        self.schema, self._state = self.source.schema, self.source.state

    @property
    def sha256(self) -> str | None:
        """Of the file, or of the checksums of all files."""
        return self.source.sha256

    @property
    def inputs(self) -> Sequence[Path]:
        """The files of the table."""
        return self.source.files

    @property
    def folder(self) -> Path | None:
        """The folder of which all files are the table; None: it is one file."""
        return self.source.folder

    def is_served(self, kind: pa.DataType) -> bool:
        """Whether DuckDB reads and returns cells of this type without any change."""
        return is_served(kind)

    def check_types(self, columns: Sequence[str]) -> None:
        """Raise an error unless DuckDB returns the cells of these columns unchanged."""
        super().check_types(columns)
        used = [name for name in self.schema.names if name.lower() == "file_row_number"]
        if used and not self.source.text:
            raise BadTable(f"DuckDB cannot read a column of the name {used[0]!r}; rename it")

    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, in the order of appearance."""
        with self._database(watch) as database:
            return group(database, self.source, columns)

    def alone(
        self,
        units: Frame,
        label: Longs,
        others: Mapping[str, Sequence[str]],
        watch: Watch,
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the rows that have theirs alone in their class."""
        found: dict[str, tuple[int, int]] = {}
        for start in range(0, len(others), AT_ONCE):
            some = dict(list(others.items())[start : start + AT_ONCE])

            def share(done: float, start: int = start, many: int = len(some)) -> None:
                watch((start + done * many) / len(others))

            with self._database(share) as database:
                found |= alone(database, self.source, units, label, some)
        return found

    def values(self, units: Frame, others: Mapping[str, Sequence[str]], watch: Watch) -> Elsewhere:
        """The values of other columns next to each of the `units`."""
        with self._database(watch) as database:
            return values(database, self.source, units, others)

    def group_people(
        self, columns: Sequence[str], person: PersonColumn, watch: Watch
    ) -> ProfileRows:
        """The distinct sets of records that people have, each with its number of people."""
        with self._database(watch) as database:
            return group_people(database, self.source, columns, person)

    def values_of_people(
        self, people: People, others: Mapping[str, Sequence[str]], watch: Watch
    ) -> Elsewhere:
        """The values of other columns next to each of the published rows, person by person."""
        with self._database(watch) as database:
            numbered_as_before(database, self.source, people, ())
            return values_of_people(database, self.source, people, others)

    def alone_people(
        self, recoded: Recoded, label: Longs, others: Mapping[str, Sequence[str]], watch: Watch
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the people who are unique by classes and values."""
        people = recoded.people
        assert people is not None
        with self._database(watch) as database:
            numbered_as_before(database, self.source, people, recoded.entropy)
            return alone_people(database, self.source, people, people.of_rows(label), others)

    def write(
        self, recoded: Recoded, target: Path, grouped: Sequence[str], watch: Watch
    ) -> tuple[Frame, str | None]:
        """Write the release to exactly this path and check the file."""
        found = Rows(self.source, recoded, self.resources).write(target, grouped, watch)
        self._check_unchanged()
        return found

    def write_table(
        self,
        recoded: Recoded,
        target: stored.Database,
        replace: bool,
        grouped: Sequence[str],
        check: Callable[[Frame], None],
        watch: Watch,
    ) -> str | None:
        """Write the release to a table of a database, which may be in the file that is read."""
        rows = Rows(self.source, recoded, self.resources)
        return rows.write_table(target, replace, grouped, check, self._check_unchanged, watch)

    def _check_unchanged(self) -> None:
        """Raise an error if a file was changed: counting does not notice that in other columns."""
        if self.source.state != self._state:
            raise changed(str(self.source.path))

    def _database(self, watch: Watch) -> AbstractContextManager[Database]:
        return Database.opened(self.resources, self.source, watch)
