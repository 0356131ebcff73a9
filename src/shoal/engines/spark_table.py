"""A Spark DataFrame, or files that Spark's executors read, as one large table.

The order of the published rows follows from a hash of what is published and of random numbers, so
that it discloses nothing else: neither the order of the original nor how Spark has divided it. A
task that runs again after an executor was lost gives the same rows in the same order.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.algorithms._shared.parts.part_task import MapParts, PartFound, PartRows, PartTask
from shoal.attacks._unchanged import Cells, Elsewhere
from shoal.base.arrays import Longs
from shoal.base.errors import BadFile
from shoal.base.progress import Progress
from shoal.engines import cells as served
from shoal.engines.cells import restored, whole
from shoal.engines.large_table import (
    LargeTable,
    Recoded,
    Watch,
    changed,
    hashed_cells,
    read_at_once,
)
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.engines.spark import load, quiet, run, session, session_of
from shoal.engines.spark_rows import KEYS, SparkRows, schema_of
from shoal.engines.spark_tasks import (
    WRITTEN,
    Fingerprints,
    RecodePart,
    WriteFile,
)
from shoal.engines.writing import other_rows
from shoal.io.arrow_tables import check_column_names
from shoal.io.atomic import private_folder
from shoal.io.format import format_of
from shoal.io.frames import Counted, Frame
from shoal.io.text_writing import as_text

ROWS = 5_000_000  # of one file of a folder, on average
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*){0,2}")  # of a table: [[catalog.]database.]table
ENDINGS = {".csv", ".txt", ".tsv", ".tab", ".parquet", ".pq", ".gz", ".xz", ".zst"}  # of files


class SparkTable(LargeTable):
    """The rows of a DataFrame or of files; Spark reads them again for each question."""

    engine = "spark"
    writes_folders = True

    def __init__(
        self,
        given: Any,
        schema: pa.Schema,
        session: Any,
        resources: Resources,
        source: Source | None = None,
    ) -> None:
        self._given, self.schema, self.session = given, schema, session
        self.rows = SparkRows(given, schema, session, source)
        self.resources, self.source = resources, source
        self._state = None if source is None else source.state

    @staticmethod
    def of(table: Any, resources: Resources) -> SparkTable:
        """A table of a DataFrame, of the path of a file or a folder, or of a name in a catalog."""
        if isinstance(table, str | Path) and (named := _named(str(table))) is not None:
            table = named
        if isinstance(table, str | Path):
            source = Source.of(table)
            # Workers run in folders of their own.
            files = tuple(file.absolute() for file in source.files)
            source = replace(source, files=files)
            # A session of its own, on the same cluster: settings of the user do not matter.
            return SparkTable(None, source.schema, session().newSession(), resources, source)
        its_session = session_of(table)
        check_column_names(list(table.columns), "the table")
        return SparkTable(table, schema_of(table), its_session, resources)

    @property
    def map_parts(self) -> MapParts:
        """Recodes parts on the executors, each by one task."""
        return self._found

    def _found(
        self, task: PartTask, parts: list[PartRows], progress: Progress
    ) -> Iterable[PartFound]:
        """What is found in each part, in their order.

        The parts are sent one by one, and what they share once to each executor.
        """
        context = self.session.sparkContext
        shared = context.broadcast(task)
        rows = context.parallelize(parts, len(parts)).map(RecodePart(shared))

        def watch(share: float) -> None:
            progress("recoding parts", share)

        try:
            found: list[PartFound] = run(self.session, rows.collect, watch)
        finally:
            shared.destroy()
        return found

    @property
    def sha256(self) -> str | None:
        """Of the file, or of the checksums of all files; None for a DataFrame."""
        if self.source is None:
            return None
        files = self.source.files
        found = self.rows.mapped(Fingerprints(files), len(files), "id long, sha256 string")
        table = run(self.session, found.toArrow).sort_by("id")
        sums = table["sha256"].to_pylist()
        if self.source.path.is_file():
            return str(sums[0])
        return hashlib.sha256("".join(f"{one}\n" for one in sums).encode()).hexdigest()

    @property
    def inputs(self) -> Sequence[Path]:
        """The files of the table, as far as they are known and on this machine."""
        if self.source is not None:
            return self.source.files
        addresses = [urlsplit(one) for one in self._given.inputFiles()]
        return [Path(unquote(one.path)) for one in addresses if one.scheme in ("", "file")]

    @property
    def folder(self) -> Path | None:
        """The folder of which all files are the table; None: it is no folder, or not known."""
        return None if self.source is None else self.source.folder

    def is_served(self, kind: pa.DataType) -> bool:
        """Whether Spark reads and returns cells of this type without any change."""
        if self.source is None and pa.types.is_timestamp(kind):
            return True
        return served.is_served(kind)

    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, sorted; Spark has no row order."""
        F = load().sql.functions
        names = [f"k{i}" for i in range(len(columns))]
        keys = [key.alias(name) for key, name in zip(self.rows.keys(columns), names, strict=True)]
        # The number itself next to its text: all numbers of a group are the same.
        exact = {
            name: F.first(place).alias(f"exact {name}")
            for name, place, column in zip(names, self.rows.places(columns), columns, strict=True)
            if pa.types.is_floating(self.schema.field(column).type)
        }
        counts = [F.count(F.lit(1)).alias("n"), *exact.values()]
        grouped = self.rows.selected(columns).groupBy(*keys).agg(*counts).persist()
        try:
            units = run(self.session, grouped.count, watch)
            self.resources.check_units(units, len(columns))
            found = run(self.session, grouped.toArrow)
        finally:
            grouped.unpersist()
        found = found.sort_by([(name, "ascending") for name in names])
        kinds = [self.schema.field(name).type for name in columns]
        cells = [
            restored(found[f"exact {name}" if name in exact else name], kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        schema = pa.schema(zip(columns, kinds, strict=True), self.schema.metadata)
        return Frame(pa.table(cells, schema), Counted(found["n"].to_numpy(), None))

    def alone(
        self,
        units: Frame,
        label: Longs,
        others: Mapping[str, Sequence[str]],
        watch: Watch,
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the rows that have theirs alone in their class."""
        F = load().sql.functions
        classes = pa.table([pa.array(label)], ["class"])
        rows = self.rows.joined(units, classes, list(others))
        result = {}
        for i, name in enumerate(others):
            cell = self.rows.known(name, others[name]).alias("cell")
            pairs = (
                rows.select("class", cell)
                .groupBy("class", "cell")
                .agg(F.count(F.lit(1)).alias("n"))
            )
            found = pairs.agg(
                F.count_distinct("cell"),
                F.max(F.col("cell").isNull()),
                F.count_if(F.col("n") == 1),
            )

            def share(done: float, i: int = i) -> None:
                watch((i + done) / len(others))

            values, lacks, single = run(self.session, found.first, share)
            result[name] = int(values) + bool(lacks), int(single)
        return result

    def values(self, units: Frame, others: Mapping[str, Sequence[str]], watch: Watch) -> Elsewhere:
        """The values of other columns next to each of the `units`, as hashes that Spark counts."""
        F = load().sql.functions
        names = list(others)
        number = pa.table([pa.array(np.arange(units.height))], ["id"])
        rows = self.rows.joined(units, number, names)
        hashed = {}
        for i, name in enumerate(names):
            cell = self.rows.known(name, others[name])
            hashed[name] = F.when(cell.isNotNull(), F.xxhash64(cell)).alias(f"h{i}")

        def selected(some: Sequence[str]) -> Any:
            return rows.select("id", *(hashed[name] for name in some))

        def many(some: Sequence[str]) -> int:
            return int(run(self.session, selected(some).distinct().count, watch))

        def cells(some: Sequence[str]) -> Cells:
            keys = ["id", *(f"h{names.index(name)}" for name in some)]
            counted = selected(some).groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
            found = run(self.session, counted.select("id", "n", *keys[1:]).toArrow, watch)
            return hashed_cells(found.sort_by([(key, "ascending") for key in keys]))

        return read_at_once(names, many, cells, self.resources)

    def write(
        self, recoded: Recoded, target: Path, grouped: Sequence[str], watch: Watch
    ) -> tuple[Frame, str | None]:
        """Write the release to this file, or as many files to this folder, and check them."""
        folder = target.is_dir()
        ending = self.ending if folder else "".join(target.suffixes[-2:])
        form = format_of(Path(f"x{ending}"))
        if not form.streams:
            raise BadFile(
                f"cannot write {target}: this format needs all rows in memory; write .csv or "
                ".parquet, or use engine = 'memory'"
            )
        with private_folder(target if folder else target.parent) as staging:
            task = WriteFile(staging, ending, recoded.schema(self.schema))
            rows = self.rows.published(recoded, self.files(recoded) if folder else 1)
            with quiet():
                files = rows.mapInArrow(task, WRITTEN)
            written = run(self.session, files.toArrow, lambda share: watch(0.5 * share))
            written = written.sort_by("file")
            self._check_sums(recoded, written, lambda share: watch(0.5 + 0.25 * share))
            for name in written["file"].to_pylist():
                if folder:
                    (staging / name).rename(target / name)
                else:  # a copy: the target is locked, so that no other run takes it for stale
                    shutil.copyfile(staging / name, target)
        found = self._read_back(recoded, target, grouped, lambda share: watch(0.75 + 0.25 * share))
        # Counting has not noticed a change of other columns, or a file that was added.
        if self.source is not None and self.source.state != self._state:
            raise changed(self._name)
        return found, None if folder else written["sha256"][0].as_py()

    @property
    def ending(self) -> str:
        """The format of the files of a folder: text for text, otherwise Parquet."""
        return ".parquet" if self.source is None or not self.source.text else ".csv"

    def files(self, recoded: Recoded) -> int:
        """The number of files of a folder; it does not depend on the cluster."""
        weight = recoded.released.weight
        assert weight is not None
        return max(1, ceil(int(weight.sum()) / ROWS))

    def dataframe(self, recoded: Recoded) -> Any:
        """The published rows, in an order that discloses nothing."""
        return self.rows.published(recoded, self.files(recoded)).drop(*KEYS).toDF(*recoded.names)

    # Checks

    def _check_sums(self, recoded: Recoded, written: pa.Table, watch: Watch) -> None:
        """Raise an error unless the files have the rows that another reading gives.

        The rows are compared by their number and by the sums of their hashes: no row was lost, is
        there twice, or was changed on its way to the executor that wrote it.
        """
        F = load().sql.functions
        sums = [F.sum(F.col(key).cast("decimal(38,0)")) for key in KEYS]
        found = self.rows.hashed(recoded).agg(F.count(F.lit(1)), *sums)
        rows, *expected = run(self.session, found.first, watch)
        weight = recoded.released.weight
        assert weight is not None
        if rows != int(weight.sum()):
            raise changed(self._name)
        wanted = [rows, *(int(one or 0) % (1 << 64) for one in expected)]
        there = [sum(written[name].to_pylist()) for name in ("rows", "sum1", "sum2")]
        if wanted != [there[0], *(one % (1 << 64) for one in there[1:])]:
            raise changed(self._name)

    def _read_back(
        self, recoded: Recoded, target: Path, grouped: Sequence[str], watch: Watch
    ) -> Frame:
        """The groups of the written files; raise an error unless they are those of the release."""
        file = Source.of(target.absolute())
        names = [name for name in grouped if name in recoded.released.names]
        table = SparkTable(None, file.schema, self.session, self.resources, file)
        found = table.group(names, watch)
        if not _counts(found, names).equals(_counts(recoded.released, names)):
            raise other_rows()
        return found

    @property
    def _name(self) -> str:
        return "the DataFrame" if self.source is None else str(self.source.path)


def _named(name: str) -> Any:
    """The table or view of this name in Spark's catalog; None: it is a path, or there is none."""
    if Path(name).exists() or Path(name).suffix in ENDINGS or not NAME.fullmatch(name):
        return None
    spark = session()
    return spark.table(name) if spark.catalog.tableExists(name) else None


def _counts(frame: Frame, names: Sequence[str]) -> pa.Table:
    """How often each combination of values occurs, as text and sorted."""
    assert frame.weight is not None
    cells = [_spelled(whole(frame.column(name)), name) for name in names]
    numbered = [f"k{i}" for i in range(len(names))]
    table = pa.table([*cells, pa.array(frame.weight)], [*numbered, "n"])
    found = table.group_by(numbered).aggregate([("n", "sum")])
    return found.sort_by([(name, "ascending") for name in numbered])


def _spelled(cells: Any, name: str) -> Any:
    """Cells as a text file has them, however many digits of a time it writes."""
    found = as_text(cells, name).fill_null("")
    if pa.types.is_timestamp(cells.type):
        found = pc.replace_substring_regex(found, r"(:\d\d(\.\d*?)?)\.?0*$", r"\1")
    return found
