"""Writing: the rows of a release, from the published values of each combination of values.

The rows of the source are matched with their combinations, shuffled, written, read back and
compared row by row. What was written is grouped again, so that it can be verified without its rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile, ShoalError
from shoal.databases import database as databases
from shoal.databases.kind import Allowed
from shoal.databases.writing import NewTable, write_parts
from shoal.engines.cells import whole
from shoal.engines.duckdb import Database
from shoal.engines.duckdb_groups import group, joined
from shoal.engines.duckdb_people import group_people, joined_people, numbered_as_before
from shoal.engines.large_table import Recoded, changed
from shoal.engines.resources import Resources
from shoal.engines.shuffle import Shuffle
from shoal.engines.source import DatabaseSource, Source
from shoal.io.format import format_of
from shoal.io.frames import Frame, same_rows
from shoal.io.memory import LEAST
from shoal.io.native.packed_texts import is_packed
from shoal.io.text_layout import TextLayout
from shoal.io.text_writing import all_text_parts, in_one_form

TEXT = pa.string()
CODED = pa.dictionary(pa.int32(), TEXT)
# Bytes per combination of values that stay in memory: its original and its published values. An
# estimate: with nine columns and 2,911,230 of them a process took 3.2 GB, of which DuckDB may have
# had 2 GB, and the process itself 0.3 GB.
WHILE_WRITING = 300
ROWS = 1 << 20  # that are written and compared at once; a group of rows of a Parquet file


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a release that is not in memory."""

    source: Source
    recoded: Recoded
    resources: Resources

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns of the release."""
        return self.recoded.schema(self.source.schema)

    @property
    def memory(self) -> int:
        """Bytes of memory that are left for databases."""
        return max(LEAST, self.resources.memory - WHILE_WRITING * self.recoded.units.height)

    def database(self, watch: Callable[[float], None]) -> AbstractContextManager[Database]:
        """Open a database to read the source; it gets the memory that is left."""
        return Database.opened(replace(self.resources, memory=self.memory), self.source, watch)

    def write(
        self, target: Path, grouped: Sequence[str], watch: Callable[[float], None]
    ) -> tuple[Frame, str | None]:
        """Write the release to exactly this path and check the file.

        Returns the distinct combinations of the `grouped` columns that the file has, and the
        SHA-256 of its text; None if it is no text.
        """
        form = format_of(target)
        if not form.streams:
            raise BadFile(
                f"cannot write {target}: this format needs all rows in memory; write .csv or "
                ".parquet, or use engine = 'memory'"
            )
        with self.database(lambda share: watch(share / 2)) as database:
            shuffled = self._shuffled(database)
            parts = self._texts(shuffled) if not form.keeps_types else self._tables(shuffled)
            written = form.write_parts(self.schema, parts, target, self.source.reading)
            watch(0.6)
            form.check_parts(target, written, self.source.reading)
            watch(0.7)
            file = Source.of(target, self.source.reading)
            self._check_rows(file, shuffled, watch)
            watch(0.9)
            people = self.recoded.people
            if people is not None:
                return group_people(database, file, grouped, people.column).rows, written
            return group(database, file, grouped), written

    def write_table(
        self,
        target: databases.Database,
        replace: bool,
        grouped: Sequence[str],
        check: Callable[[Frame], None],
        unchanged: Callable[[], None],
        watch: Callable[[float], None],
    ) -> str:
        """Write the release to a table of a database; it gets its name if `check` lets it.

        `check` gets the distinct combinations of the `grouped` columns that the table has.
        `unchanged` raises an error if the source is not what it was: it is not read any more then.
        Returns the SHA-256 of the release as a CSV file.
        """
        people, many = self.recoded.people, self._many()
        with self.database(lambda share: watch(share / 2)) as database:
            shuffled = self._shuffled(database)
            unchanged()
            sha256 = self._csv_sha256(shuffled)

            def verify(made: NewTable) -> None:
                watch(0.9)
                if people is None:
                    check(made.count(grouped))
                else:
                    rows = DatabaseSource.of_database(made)
                    check(group_people(database, rows, grouped, people.column).rows)

            write_parts(
                target,
                self.schema,
                lambda: self._tables(shuffled),
                replace,
                verify,
                lambda rows: watch(0.5 + 0.2 * rows / many),
                lambda rows: watch(0.7 + 0.2 * rows / many),
                Allowed(self.memory, self.resources.folder),
            )
        return sha256

    def _csv_sha256(self, shuffled: Shuffle) -> str:
        """The SHA-256 of the release, if it were saved as CSV."""
        digest = hashlib.sha256()
        layout = TextLayout.of(self.source.reading, "", "")
        for part in all_text_parts(self.schema, self._texts(shuffled), layout):
            digest.update(part)
        return digest.hexdigest()

    def _many(self) -> int:
        """The number of rows of the release; 1 if it has none."""
        weight = self.recoded.released.weight
        assert weight is not None
        return max(1, int(weight.sum()))

    def _shuffled(self, database: Database) -> Shuffle:
        """The place of each row's combination, and its other cells, in a random order."""
        source, recoded = self.source, self.recoded
        others = recoded.others
        kinds = [(_own(name), source.schema.field(name).type) for name in others]
        if recoded.people is not None:
            kinds = [(_own(recoded.people.column.name), pa.int64()), *kinds]
        schema = pa.schema([("id", pa.int64()), ("r", pa.int64()), *kinds])
        weight = recoded.released.weight
        assert weight is not None
        size = source.size if others else 0
        shuffle = Shuffle(database.folder, schema, int(weight.sum()), list(recoded.entropy), size)
        found = np.zeros(len(weight), np.int64)

        def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                found[:] += np.bincount(batch.column(0).to_numpy(), minlength=len(found))
                yield pa.record_batch(batch.columns, schema=schema)

        if recoded.people is None:
            batches = joined(database, source, recoded.units, others)
        else:
            place = recoded.people.first_alike()  # equal records of a person count there
            weight = np.bincount(place, weight, len(weight)).astype(np.int64)
            numbered_as_before(database, source, recoded.people, recoded.entropy)
            batches = joined_people(
                database, source, recoded.people, recoded.people.of_rows(place), others
            )
        shuffle.add(counted(batches))
        if not np.array_equal(found, weight):
            raise changed(str(source.path))
        return shuffle

    def _tables(self, shuffled: Shuffle) -> Iterator[pa.Table]:
        """The published rows, in tables of `ROWS` rows."""
        return self._published(shuffled, [])

    def _texts(self, shuffled: Shuffle) -> Iterable[pa.Table]:
        """The same for a text file."""
        return in_one_form(self.schema, lambda: self._tables(shuffled))

    def _published(self, shuffled: Shuffle, coded: Sequence[str]) -> Iterator[pa.Table]:
        """The same, with these columns as dictionaries."""
        released, names = self.recoded.released, self.recoded.names
        kinds = [CODED if one.name in coded else one.type for one in self.schema]
        schema = pa.schema(zip(names, kinds, strict=True), self.schema.metadata)
        columns = {
            one.name: _Cells.of(released.native[one.name], one) for one in released.native.schema
        }

        def cells(part: pa.Table, name: str) -> pa.Array | pa.ChunkedArray:
            if name not in columns:
                return part[_own(name)]
            take = _Cells.coded if name in coded else _Cells.take
            return take(columns[name], part["id"])

        return resized(pa.table([cells(part, name) for name in names], schema) for part in shuffled)

    def _check_rows(self, file: Source, shuffled: Shuffle, watch: Callable[[float], None]) -> None:
        """Raise an error unless the file has exactly the rows that were to be written."""
        many = self._many()
        coded = [] if file.text else self._coded_names()
        parts = self._texts(shuffled) if file.text else self._published(shuffled, coded)
        expected = iter(parts)
        check_rows(file, expected, lambda rows: watch(0.7 + 0.2 * rows / many), coded)

    def _coded_names(self) -> list[str]:
        """Columns of few texts in many rows: comparing their codes is faster."""
        schema = self.schema
        texts = [name for name in self.recoded.released.names if schema.field(name).type == TEXT]
        return [name for name in texts if "." not in name]  # "a.b" may be the field b of a struct


def _own(name: str) -> str:
    """The name of a column while rows are shuffled: neither `id` nor `r`, which are ours."""
    return f"own {name}"


class _Cells(NamedTuple):
    """The cells of a column by the number of their value.

    Published values are few: taking them many times is faster than taking from all cells.
    """

    number: pa.Array
    values: pa.Array

    @staticmethod
    def of(column: pa.ChunkedArray, field: pa.Field) -> _Cells:
        cells = whole(column)
        if is_packed(field):
            return _Cells(cells.indices, cells.dictionary)
        if pa.types.is_dictionary(cells.type):  # its cells are numbers already
            return _Cells(pa.array(np.arange(len(cells))), cells)
        coded = cells.dictionary_encode()
        return _Cells(coded.indices, coded.dictionary)

    def take(self, places: pa.ChunkedArray) -> pa.Array:
        return self.values.take(self.number.take(places.combine_chunks()))

    def coded(self, places: pa.ChunkedArray) -> pa.Array:
        """The same texts as a dictionary."""
        number = self.number.take(places.combine_chunks())
        return pa.DictionaryArray.from_arrays(number, self.values)


def check_rows(
    file: Source,
    expected: Iterator[pa.Table],
    report: Callable[[int], None] = lambda _: None,
    coded: Sequence[str] = (),
) -> None:
    """Raise an error unless a file has exactly these rows, which come in tables of `ROWS` rows.

    The columns `coded` are expected as dictionaries of text.
    """
    read = (pa.Table.from_batches([batch]) for batch in file.coded_batches(coded))
    rows = 0
    for table in resized(read):
        wanted = next(expected, None)
        if wanted is None or not same_rows(Frame(table), Frame(wanted)):
            raise other_rows()
        rows += table.num_rows
        report(rows)
    if next(expected, None) is not None:
        raise other_rows()


def other_rows() -> ShoalError:
    """The error for a file that does not have the rows that were to be written."""
    return ShoalError(
        "the file that was written does not contain the rows of the release in their order; this "
        "is a bug in shoal, and nothing is released"
    )


def resized(tables: Iterable[pa.Table], rows: int = ROWS) -> Iterator[pa.Table]:
    """The same rows in tables of this many rows; the last one may have fewer."""
    waiting: pa.Table | None = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while waiting.num_rows >= rows:
            yield waiting.slice(0, rows)
            waiting = waiting.slice(rows)
    if waiting is not None and waiting.num_rows:
        yield waiting
