"""DuckDB: groups and joins rows that do not fit into memory, and spills to private files.

Columns have the names c0, c1, … in queries: names in DuckDB do not distinguish letter case.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile, BadPlan, ShoalError
from shoal.base.threads import allowed, limited
from shoal.base.waiting import waited
from shoal.base.wording import many
from shoal.engines.cells import missing_test, plain_type, quoted, restored
from shoal.engines.duckdb_memory import memory_needed
from shoal.engines.large_table import PersonColumn
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.io.atomic import private_folder
from shoal.io.frames import Frame
from shoal.io.memory import shown
from shoal.io.native.packed_texts import TEXTS

MARGIN = 1.2  # combinations of values that there may be, relative to the estimate
CELL = 16  # bytes of a cell in DuckDB, at the most, next to a long text
BATCH = 1 << 18  # rows that a query returns at once
MANY_FILES = 32  # from which on they are one list: a query that names each of them becomes slow

T = TypeVar("T")


@dataclass
class Database:
    """A database in memory, which spills to a private folder."""

    con: Any
    module: Any
    resources: Resources
    folder: Path
    watch: Callable[[float], None] = lambda _: None  # called with the share of a query that is done
    _streams: list[Stream] = field(default_factory=list)
    _sources: list[Source] = field(default_factory=list)  # Parquet files of the last query
    work: Work | None = None  # of the last query, for messages

    @staticmethod
    @contextmanager
    def opened(
        resources: Resources, source: Source, watch: Callable[[float], None] = lambda _: None
    ) -> Iterator[Database]:
        """Open a database whose temporary files are in a private folder, and remove them.

        They are next to the source by default: they contain its values, and may be as large.
        """
        module = load()
        with private_folder(resources.folder or source.place) as folder:
            settings = {
                "memory_limit": f"{resources.memory}B",
                "temp_directory": str(folder),
                "autoinstall_known_extensions": "false",  # nothing is fetched from the network
                "autoload_known_extensions": "false",
            }
            if resources.threads is not None:
                with limited(resources.threads):
                    settings["threads"] = str(allowed())
            con = module.connect(":memory:", config=settings)
            try:
                # Rows carry their number, so their order need not be kept, which takes memory.
                con.execute("SET preserve_insertion_order = false")
                # A join puts the combinations of values, not the rows, into memory.
                con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
                yield Database(con, module, resources, folder, watch)
            finally:
                con.close()

    # Rows

    def keys(self, source: Source, columns: Sequence[str]) -> list[str]:
        """The names of columns in queries."""
        return [f"c{source.schema.get_field_index(name)}" for name in columns]

    def tested(self, source: Source, words: Mapping[str, Sequence[str]]) -> list[str]:
        """Columns in SQL, with null for the cells that mean missing, by the words of each."""
        return [
            f"{missing_test(f'rows.{key}', source.schema.field(name).type, words[name])} AS {key}"
            for key, name in zip(self.keys(source, list(words)), words, strict=True)
        ]

    def signs(self, source: Source, columns: Sequence[str], table: str = "") -> list[str]:
        """Distinguish 0.0 and -0.0, which are equal in DuckDB and not in a file."""
        return [
            f"signbit({table}{key})"
            for key, name in zip(self.keys(source, columns), columns, strict=True)
            if pa.types.is_floating(source.schema.field(name).type)
        ]

    def source_rows(
        self, source: Source, columns: Sequence[str], person: PersonColumn | None = None
    ) -> str:
        """The rows of a source in SQL: some columns, and r, the number of the row.

        With a `person` column they have p, a text per person.
        """
        # Spellings of a person, of numbers and of dates are compared in Python.
        if source.text or source.spelled or person is not None:
            return self._register(source, columns, person)
        names = ", ".join([*(f"c{i}" for i in range(len(source.schema))), "number"])
        self._sources = [source]
        keys = self.keys(source, columns)
        paths = [quoted(str(self._plain_path(file, i))) for i, file in enumerate(source.files)]
        before = [0, *accumulate(source.parquet_rows())][:-1]  # rows of the files before each
        options = "file_row_number = true, hive_partitioning = false"
        if len(paths) >= MANY_FILES and _told_apart(source.schema.names):
            listed = f"SELECT *, file_index FROM read_parquet([{', '.join(paths)}], {options})"
            number = f"number + ({before}::BIGINT[])[file_index::BIGINT + 1] AS r"
            names = f"{names}, file_index"
            return f"(SELECT {', '.join([*keys, number])} FROM ({listed}) AS t({names})) AS rows"
        parts = [
            f"SELECT {', '.join([*keys, f'number + {row} AS r'])} FROM "
            f"read_parquet({path}, {options}) AS t({names})"
            for path, row in zip(paths, before, strict=True)
        ]
        return f"({' UNION ALL '.join(parts)}) AS rows"

    def _plain_path(self, file: Path, number: int) -> Path:
        """A path without the characters that DuckDB takes for a pattern."""
        if not re.search(r"[*?\[\]]", str(file)):
            return file
        link = self.folder / f"{number}.parquet"
        if not link.is_symlink():
            link.symlink_to(file.absolute())
        return link

    def _register(
        self, source: Source, columns: Sequence[str], person: PersonColumn | None = None
    ) -> str:
        """Make rows that are read in Python available to one query."""
        places = [source.schema.get_field_index(name) for name in columns]
        kinds = [(f"c{place}", plain_type(source.schema.field(place).type)) for place in places]
        whose = [] if person is None else [source.schema.get_field_index(person.name)]
        schema = pa.schema([*kinds, *(("p", pa.large_string()) for _ in whose), ("r", pa.int64())])

        def batches(stream: Stream) -> Iterator[pa.RecordBatch]:
            for row, batch in source.batches(stream.report):
                number = pa.array(np.arange(row, row + batch.num_rows))
                cells = [_plain(batch.column(place)) for place in places]
                if person is not None:
                    cells += [person.texts(batch.column(place)) for place in whose]
                yield pa.record_batch([*cells, number], schema=schema)

        stream = Stream(batches)
        self._streams = [stream]
        self.con.register("source_rows", pa.RecordBatchReader.from_batches(schema, stream.batches))
        return "source_rows AS rows"

    def register_units(self, units: Frame, number: Longs) -> None:
        """Make combinations of values available as the table `k`, with a number each."""
        names = [f"u{i}" for i in range(len(units.names))]
        for start in range(0, max(len(number), 1), BATCH):  # the texts of all would take memory
            part = Frame(units.native.slice(start, BATCH))
            cells = [_plain(part.column(name)) for name in units.names]
            given = pa.table([*cells, pa.array(number[start : start + BATCH])], [*names, "id"])
            self.register("INSERT INTO k" if start else "CREATE OR REPLACE TEMP TABLE k AS", given)

    def register(self, into: str, table: pa.Table) -> None:
        """Put a table in memory into one of the database: `into` is the begin of the query."""
        self.con.register("given", table)
        self.execute(f"{into} SELECT * FROM given")
        self.con.unregister("given")

    def matched(
        self,
        source: Source,
        keys: Sequence[str],
        others: Sequence[str],
        person: PersonColumn | None = None,
    ) -> str:
        """The rows with the number of their combination of values; with `person`, their person."""
        tests = [
            f"rows.{key} IS NOT DISTINCT FROM k.u{i}"
            for i, key in enumerate(self.keys(source, keys))
        ]
        own = self.signs(source, keys, "rows.")
        given = [
            f"signbit(k.u{i})"
            for i, name in enumerate(keys)
            if pa.types.is_floating(source.schema.field(name).type)
        ]
        tests += [f"{a} IS NOT DISTINCT FROM {b}" for a, b in zip(own, given, strict=True)]
        return (
            f"{self.source_rows(source, [*keys, *others], person)} JOIN k ON {' AND '.join(tests)}"
        )

    def unregister(self) -> None:
        """Forget the rows that are read in Python."""
        if self._streams:
            self.con.unregister("source_rows")
            self._streams = []

    # Queries

    def execute(self, sql: str) -> None:
        """Run a query whose result is not needed."""
        self.fetched(sql)  # a result must not stay open

    def fetched(self, sql: str) -> list[tuple[Any, ...]]:
        """The few rows that a query returns."""
        found: list[tuple[Any, ...]] = self._wait(lambda: self.con.execute(sql).fetchall())
        self.unregister()
        return found

    def table(self, sql: str) -> pa.Table:
        """The result of a query, which is small."""
        return self._wait(lambda: self.con.sql(sql).to_arrow_table())

    def rows(self, sql: str, types: Sequence[pa.DataType]) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part; the columns after the first two are of these types."""
        with self._failing():
            relation = self.con.sql(sql)
            reader = self._wait(lambda: _reader(relation))
            for batch in reader:
                yield _typed(batch, types)
            self.unregister()

    def packed(self, sql: str, types: Sequence[pa.DataType]) -> pa.Table:
        """The result of a query with columns of these types first; texts are dictionaries."""
        batches = []
        with self._failing():
            relation = self.con.sql(sql)
            reader = self._wait(lambda: _reader(relation))
            kinds = [TEXTS if kind == pa.string() else kind for kind in types]
            kinds += reader.schema.types[len(types) :]
            schema = pa.schema(zip(reader.schema.names, kinds, strict=True))
            for batch in reader:
                cells = [
                    restored(cell, kind) for cell, kind in zip(batch.columns, kinds, strict=True)
                ]
                batches.append(pa.record_batch(cells, schema))
        return pa.Table.from_batches(batches, schema)

    def _wait(self, work: Callable[[], T]) -> T:
        """Run a query in a thread: this one reports progress, and can be interrupted."""
        with self._failing():
            return waited(work, self.con.interrupt, self._report)

    def _report(self) -> None:
        if self._streams:
            self.watch(self._streams[0].share)
        else:
            with suppress(self.module.Error):
                self.watch(max(0.0, min(1.0, self.con.query_progress() / 100)))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn errors of DuckDB, which may contain values, into messages that say what to do."""
        try:
            yield
        except (self.module.Error, pa.ArrowException, OSError, RuntimeError) as error:
            for stream in self._streams:
                if stream.error is not None:
                    raise stream.error from None
            raise self._explained(error) from None

    def _explained(self, error: BaseException) -> ShoalError:
        said = str(error)
        limit = shown(self.resources.memory)
        full = "No space left" in said or "max_temp_directory_size" in said
        if full or "File too large" in said or getattr(error, "errno", 0) == errno.ENOSPC:
            return BadFile(
                f"cannot write temporary files in {self.folder.parent}: no space is left there; "
                "free some, or choose another disk with --temp-directory (temp_directory in the "
                "plan)"
            )
        if isinstance(error, self.module.OutOfMemoryException):
            return BadPlan(
                f"the memory limit of {limit} is too low for this table: DuckDB could not group or "
                f"join it{self._needed()} (--memory-limit and --threads, or memory and threads in "
                "the plan)"
            )
        for source in self._sources:
            source.check_readable()
        return ShoalError(f"DuckDB failed ({type(error).__name__}); nothing is released")

    def _needed(self) -> str:
        """How much memory would be enough, for messages."""
        threads = int(self.con.execute("SELECT current_setting('threads')").fetchall()[0][0])
        few = "" if threads == 1 else ", or use fewer threads"
        work, self.work = self.work, None
        needed = 0
        with suppress(self.module.Error):  # there may be too little memory to count
            rows, widths = (0, []) if work is None else self._counted(work)
            most = int(MARGIN * rows)
            needed = memory_needed(most, widths, threads)
            if work is not None and work.in_memory:
                needed = max(needed, self.resources.needed_for(most))
        if needed <= self.resources.memory:
            return f"; raise it{few}"
        return (
            f"; about {rows:,} distinct combinations of {len(widths)} columns and "
            f"{many(threads, 'thread')} need {shown(needed)}: set it to that{few}"
        )

    def _counted(self, work: Work) -> tuple[int, list[float]]:
        """About how many combinations of values there are, and the bytes of each cell."""
        keys = self.keys(work.source, work.columns)
        lengths = ", ".join(f"avg(coalesce(strlen({key}::VARCHAR), 0))" for key in keys)
        try:
            self.con.execute("SET threads = 1")  # takes the least memory
            rows, *found = self.con.execute(
                f"SELECT approx_count_distinct(hash({', '.join(keys)})), {lengths} "
                f"FROM {self.source_rows(work.source, work.columns)}"
            ).fetchall()[0]
        finally:
            self.unregister()
        return rows, [CELL + (length or 0) for length in found]


class Work(NamedTuple):
    """Rows that a query groups or joins by these columns."""

    source: Source
    columns: Sequence[str]
    in_memory: bool = False  # whether the combinations are recoded in memory afterwards


class Stream:
    """Rows that DuckDB asks for from a thread of its own; keeps the error that ended them."""

    def __init__(self, batches: Callable[[Stream], Iterator[pa.RecordBatch]]) -> None:
        self._batches = batches
        self.error: BaseException | None = None
        self.share = 0.0

    def report(self, share: float) -> None:
        """Keep the share of the rows that was read."""
        self.share = share

    @property
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows; to be asked for once."""
        try:
            yield from self._batches(self)
        except Exception as error:
            self.error = error
            raise


def load() -> Any:
    """The module of DuckDB, or an error that says how to install it."""
    try:
        import duckdb
    except ImportError:
        raise BadPlan(
            "engine = 'duckdb' needs DuckDB, which is not installed: pip install 'shoal[duckdb]'"
        ) from None
    return duckdb


def _told_apart(names: Iterable[str]) -> bool:
    """Whether DuckDB, for which letter case does not matter, finds these columns in many files."""
    lower = [*map(str.lower, names), "file_index"]  # which DuckDB adds itself
    return len(set(lower)) == len(lower)


def _plain(values: Any) -> Any:
    """Values as DuckDB reads them from a file: without dictionaries."""
    return values.cast(plain_type(values.type)) if pa.types.is_dictionary(values.type) else values


def _reader(relation: Any) -> Any:
    """The rows of a relation part by part; versions of DuckDB name the method differently."""
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(BATCH)


def _typed(batch: pa.RecordBatch, types: Iterable[pa.DataType]) -> pa.RecordBatch:
    """The columns after `id` and `r` in the types of their file."""
    cells = [restored(cell, kind) for cell, kind in zip(batch.columns[2:], types, strict=True)]
    return pa.record_batch([*batch.columns[:2], *cells], names=batch.schema.names)
