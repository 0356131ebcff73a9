"""Groups by DuckDB: combinations of values, rows joined with them, and values that are unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.attacks._unchanged import Cells, Elsewhere
from shoal.base.arrays import Longs
from shoal.engines.duckdb import Database, Work
from shoal.engines.large_table import hashed_cells, read_at_once
from shoal.engines.source import Source
from shoal.io.frames import Counted, Frame
from shoal.io.native.packed_texts import packed


def group(database: Database, source: Source, columns: Sequence[str]) -> Frame:
    """The distinct combinations of values of these columns, in the order of appearance."""
    keys = database.keys(source, columns)
    database.work = Work(source, columns, in_memory=True)
    grouped = ", ".join([*keys, *database.signs(source, columns)])
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE units AS SELECT {', '.join(keys)}, count(*) AS n, "
        f"min(r) AS first FROM {database.source_rows(source, columns)} GROUP BY {grouped}"
    )
    units = database.fetched("SELECT count(*) FROM units")[0][0]
    database.resources.check_units(units, len(columns))
    types = [source.schema.field(name).type for name in columns]
    found = database.packed("SELECT * FROM units ORDER BY first", types)
    database.execute("DROP TABLE units")
    counted = Counted(*(found[name].to_numpy() for name in ("n", "first")))
    cells = found.select(keys).rename_columns(columns)
    cells = cells.replace_schema_metadata(source.schema.metadata)
    texts = [name for name, kind in zip(columns, types, strict=True) if kind == pa.string()]
    return Frame(packed(cells, texts), counted)


def joined(
    database: Database, source: Source, units: Frame, others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The place of each row's combination among `units`, with other columns of the row.

    Rows of other combinations are left out. The batches have the columns `id`, `r` (the number
    of the row) and c0, c1, …
    """
    database.work = Work(source, units.names)
    database.register_units(units, np.arange(units.height))
    columns = database.keys(source, list(others))
    wanted = ", ".join(["k.id", "rows.r", *(f"rows.{column}" for column in columns)])
    sql = f"SELECT {wanted} FROM {database.matched(source, units.names, others)}"
    return database.rows(sql, [source.schema.field(name).type for name in others])


def values(
    database: Database, source: Source, units: Frame, others: Mapping[str, Sequence[str]]
) -> Elsewhere:
    """The values of other columns next to each of the `units`, by their hashes."""
    names = list(others)
    database.work = Work(source, [*units.names, *names])
    database.register_units(units, np.arange(units.height))
    keys = database.keys(source, names)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE held_values AS SELECT id, {', '.join(hashes(keys))} FROM "
        f"(SELECT k.id, {', '.join(database.tested(source, others))} FROM "
        f"{database.matched(source, units.names, names)})"
    )
    place = dict(zip(names, keys, strict=True))

    def many(some: Sequence[str]) -> int:
        wanted = ", ".join(["id", *(place[name] for name in some)])
        sql = f"SELECT count(*) FROM (SELECT DISTINCT {wanted} FROM held_values)"
        return int(database.fetched(sql)[0][0])

    def cells(some: Sequence[str]) -> Cells:
        wanted = ", ".join(place[name] for name in some)
        return hashed_cells(
            database.table(
                f"SELECT id, count(*) AS n, {wanted} FROM held_values GROUP BY id, {wanted} "
                f"ORDER BY id, {wanted}"
            )
        )

    found = read_at_once(names, many, cells, database.resources)
    database.execute("DROP TABLE held_values")
    return found


def hashes(columns: Sequence[str]) -> list[str]:
    """Columns in SQL, as hashes; missing cells stay null."""
    return [f"CASE WHEN {one} IS NULL THEN NULL ELSE hash({one}) END AS {one}" for one in columns]


def alone(
    database: Database,
    source: Source,
    units: Frame,
    label: Longs,
    others: Mapping[str, Sequence[str]],
) -> dict[str, tuple[int, int]]:
    """Per column: its distinct values, and the rows that have theirs alone in their class.

    `label` is the class of each of the `units`; rows of other combinations are left out. `others`
    has the words for missing of each column.
    """
    if not others:
        return {}
    database.work = Work(source, [*units.names, *others])
    database.register_units(units, label)
    columns = database.keys(source, list(others))
    cells = database.tested(source, others)
    sets = ", ".join(f"(id, {column})" for column in columns)
    counts = ", ".join(
        f"count(DISTINCT {column}), coalesce(bool_or({column} IS NULL), false)"
        for column in columns
    )
    rows = database.fetched(
        f"WITH cells AS (SELECT k.id, {', '.join(cells)} FROM "
        f"{database.matched(source, units.names, list(others))}), classes AS (SELECT id, "
        f"{', '.join(columns)}, grouping_id({', '.join(columns)}) AS which, count(*) AS n "
        f"FROM cells GROUP BY GROUPING SETS ({sets})) "
        f"SELECT which, count(*) FILTER (n = 1), {counts} FROM classes GROUP BY which"
    )
    found = {row[0]: row for row in rows}
    result = {}
    for i, name in enumerate(others):
        mine = (1 << len(others)) - 1 - (1 << (len(others) - 1 - i))  # the bit that is not set
        row = found[mine]
        result[name] = row[2 + 2 * i] + bool(row[3 + 2 * i]), row[1]
    return result
