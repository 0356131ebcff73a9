"""The rows of a Spark DataFrame, or of files that Spark's executors read, in queries.

Columns have the names c0, c1, … in queries: names in Spark do not distinguish letter case. Text of
a floating-point number stands for it in groups and joins, as Spark takes -0.0 for 0.0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.cells import missing_cells, plain_type, whole
from shoal.engines.large_table import Recoded
from shoal.engines.source import Source
from shoal.engines.spark import load, quiet
from shoal.engines.spark_tasks import ReadFiles, spark_cells, spark_type
from shoal.io.frames import Frame

BROADCAST = 32 * 10**6  # bytes of combinations that every executor may hold at once
KEYS = ("h0", "h1")  # columns that the published rows are sorted by


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The rows of a table, read again by each query."""

    given: Any  # a DataFrame; None: files
    schema: pa.Schema
    session: Any
    source: Source | None  # the files

    def mapped(self, task: Any, many: int, schema: str | Any) -> Any:
        """Call a task with each of the numbers from 0, each in a partition of its own."""
        with quiet():
            return self.session.range(0, many, 1, many).mapInArrow(task, schema)

    def selected(self, columns: Sequence[str]) -> Any:
        """The rows: these columns, with the names c0, c1, … by their place in the table."""
        F = load().sql.functions
        if self.given is not None:
            numbered = self.given.toDF(*(f"c{i}" for i in range(len(self.given.columns))))
            string = load().sql.types.StringType
            kinds = dict(zip(numbered.columns, numbered.schema.fields, strict=True))
            return numbered.select(
                *(
                    # Text with a collation would be grouped by it.
                    F.col(name).cast("string").alias(name)
                    if isinstance(kinds[name].dataType, string)
                    else F.col(name)
                    for name in dict.fromkeys(self.places(columns))
                )
            )
        assert self.source is not None
        task = ReadFiles.of(self.source, columns)
        fields = [
            (f"c{self.schema.get_field_index(name)}", spark_type(self.schema.field(name).type))
            for name in task.columns
        ]
        empty = self.session.createDataFrame(pa.schema(fields).empty_table())
        return self.mapped(task, len(task.pieces), empty.schema)

    def places(self, columns: Sequence[str]) -> list[str]:
        """The names of columns in queries."""
        return [f"c{self.schema.get_field_index(name)}" for name in columns]

    def keys(self, columns: Sequence[str]) -> list[Any]:
        """The columns as they are compared."""
        F = load().sql.functions
        return [
            F.col(place).cast("string")
            if pa.types.is_floating(self.schema.field(name).type)
            else F.col(place)
            for name, place in zip(columns, self.places(columns), strict=True)
        ]

    def known(self, name: str, missing_values: Sequence[str]) -> Any:
        """A column as it is compared, with null for the cells that mean missing."""
        F = load().sql.functions
        kind = self.schema.field(name).type
        [cell], [key] = (F.col(place) for place in self.places([name])), self.keys([name])
        tests = [F.isnan(cell)] if pa.types.is_floating(kind) else []
        given = missing_cells(kind, missing_values)
        values = spark_cells(pa.array(given, plain_type(kind))).to_pylist() if given else []
        tests += [cell.eqNullSafe(F.lit(value)) for value in values]
        for test in tests:
            key = F.when(test, None).otherwise(key)
        return key

    def joined(self, units: Frame, given: pa.Table, others: Sequence[str]) -> Any:
        """The rows of these combinations of values, with the columns of `given`, and others."""
        F = load().sql.functions
        columns = [*(units.column(name) for name in units.names), *given.columns]
        names = [*(f"u{i}" for i in range(len(units.names))), *given.column_names]
        table = pa.table([spark_cells(whole(one)) for one in columns], names)
        known = self.session.createDataFrame(table)
        if table.nbytes <= BROADCAST:
            known = F.broadcast(known)
        rows = self.selected([*units.names, *others])
        test = F.lit(True)
        for i, (name, key) in enumerate(zip(units.names, self.keys(units.names), strict=True)):
            floating = pa.types.is_floating(self.schema.field(name).type)
            mine = F.col(f"u{i}").cast("string") if floating else F.col(f"u{i}")
            test = test & key.eqNullSafe(mine)
        return rows.join(known, test).select(*given.column_names, *self.places(others))

    def hashed(self, recoded: Recoded) -> Any:
        """The published rows, each with two hashes of its cells and of random numbers.

        The columns are o0, o1, … in the order of the release, and the hashes.
        """
        F = load().sql.functions
        released = recoded.released
        given = pa.table(
            [released.column(name) for name in released.names],
            [f"p{i}" for i in range(len(released.names))],
        )
        rows = self.joined(recoded.units, given, recoded.others)
        kinds = recoded.schema(self.schema)
        columns = []
        for i, name in enumerate(recoded.names):
            mine = name in released.names
            place = f"p{released.names.index(name)}" if mine else self.places([name])[0]
            columns.append(F.col(place).alias(f"o{i}", metadata={}))
        plain = []
        for name, column in zip(recoded.names, columns, strict=True):
            floating = pa.types.is_floating(kinds.field(name).type)
            # The hash skips nulls: whether a cell is null is hashed as well.
            plain += [column.cast("string") if floating else column, column.isNull()]
        seeds = np.array(recoded.entropy, np.uint32).view(np.int64)  # int64[4]
        hashes = [
            F.xxhash64(*(F.lit(int(one)) for one in seeds[2 * i : 2 * i + 2]), *plain).alias(key)
            for i, key in enumerate(KEYS)
        ]
        return rows.select(*columns, *hashes)

    def published(self, recoded: Recoded, files: int) -> Any:
        """The published rows with their keys, sorted by them in each of so many partitions."""
        rows = self.hashed(recoded)
        return rows.repartition(files, KEYS[0]).sortWithinPartitions(*KEYS)


def schema_of(dataframe: Any) -> pa.Schema:
    """The columns as `toArrow` returns them; types that Arrow lacks count as binary."""
    types = load().sql.types
    known = (types.StringType, types.NumericType, types.BooleanType, types.DateType,
             types.TimestampType, types.TimestampNTZType)  # fmt: skip
    numbered = dataframe.toDF(*(f"c{i}" for i in range(len(dataframe.columns))))
    fields = {one.name: isinstance(one.dataType, known) for one in numbered.schema.fields}
    wanted = [name for name, simple in fields.items() if simple]
    found = numbered.select(*wanted).limit(0).toArrow().schema
    kinds = [found.field(name).type if simple else pa.binary() for name, simple in fields.items()]
    return pa.schema(zip(dataframe.columns, kinds, strict=True))
