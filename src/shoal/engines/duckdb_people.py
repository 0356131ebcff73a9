"""People: DuckDB counts people with the same records together, and numbers people at random.

Who has which records is on disk only. In memory are the distinct sets of records that people have
(profiles), each with the number of people who have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.attacks._unchanged import Cells, Elsewhere
from shoal.base.arrays import Longs
from shoal.base.errors import ShoalError
from shoal.engines.duckdb import Database
from shoal.engines.duckdb_groups import group, hashes
from shoal.engines.large_table import (
    People,
    PersonColumn,
    ProfileRows,
    changed,
    hashed_cells,
    read_at_once,
)
from shoal.engines.source import Source
from shoal.io.frames import Counted, Frame
from shoal.table.coded_columns import person_numbers
from shoal.table.equivalence_classes import tally

HASH = "bit_xor(md5_number(concat(item, ':', n)))"  # of the items of a person, in any order


def group_people(
    database: Database, source: Source, columns: Sequence[str], person: PersonColumn
) -> ProfileRows:
    """Count the people whose records have the same combinations of values of these columns.

    The tables `held_people` and `held_profiles` stay in the database.
    """
    combinations = group(database, source, columns)
    database.register_units(combinations, np.arange(combinations.height))
    matched = database.matched(source, columns, (), person)
    # A record without a person is a person of its own: `lone` is its number.
    database.execute(
        "CREATE OR REPLACE TEMP TABLE held AS SELECT rows.p, CASE WHEN rows.p IS NULL THEN rows.r "
        f"END AS lone, k.id AS item, count(*) AS n, min(rows.r) AS r FROM {matched} GROUP BY ALL"
    )
    found = _profiles(
        database, "held", ("p", "lone"), "p IS NULL",
        lambda rows: database.resources.check_profiles(rows, len(columns)),
    )  # fmt: skip
    item, times = found["item"].to_numpy(), found["n"].to_numpy()
    assert combinations.counted is not None
    first = combinations.counted.first
    assert first is not None
    order = np.lexsort((found["profile"].to_numpy(), first[item]))
    order = np.repeat(order, times[order])
    item, profile = item[order], found["profile"].to_numpy()[order]
    nobody = found["lacks"].to_numpy()[order]
    number = pa.array(person_numbers(profile, person.missing_values), mask=nobody)
    native = combinations.native.take(pa.array(item)).append_column(person.name, number)
    weight = found["people"].to_numpy()[order]
    rows = Frame(native, Counted(weight, first[item]))
    return ProfileRows(rows, profile, item, combinations)


def _profiles(
    database: Database, held: str, keys: Sequence[str], lacks: str, check: Callable[[int], None]
) -> pa.Table:
    """The distinct sets of items that people have: `profile`, `item` and `n`, and its `people`.

    The table `held` has a row per person (the `keys`) and item, which the person has `n` times.
    `lacks` is a property of people; those who differ in it have different profiles. `check` gets
    the number of items of all profiles before they are in memory.
    """
    check(_count_profiles(database, held, keys, lacks))
    return _read_profiles(database, held)


def _count_profiles(database: Database, held: str, keys: Sequence[str], lacks: str) -> int:
    """Find the same, for `_read_profiles`; returns the number of items of all profiles."""
    by = ", ".join(keys)
    # A hash of 128 bits per person takes little space. It may be equal for different sets only by
    # intent or by a very rare chance, which is checked when they are read.
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE {held}_people AS SELECT {by}, {lacks} AS lacks, "
        f"min(r) AS r, count(*) AS m, {HASH} AS h "
        f"FROM {held} GROUP BY {by}"
    )
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE {held}_profiles AS "
        "SELECT *, row_number() OVER (ORDER BY m, h, lacks) - 1 AS profile FROM "
        f"(SELECT m, h, lacks, count(*) AS people FROM {held}_people GROUP BY m, h, lacks)"
    )
    own = " AND ".join(f"{held}.{key} IS NOT DISTINCT FROM s.{key}" for key in keys)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE {held}_contents AS SELECT f.profile, f.lacks, f.people, "
        f"{held}.item, {held}.n, count(*) AS having FROM {held} JOIN {held}_people AS s ON {own} "
        f"JOIN {held}_profiles AS f ON {_like('s', 'f')} GROUP BY ALL"
    )
    rows = database.table(f"SELECT sum(n)::BIGINT AS rows FROM {held}_contents")["rows"][0].as_py()
    return rows or 0


def _read_profiles(database: Database, held: str) -> pa.Table:
    """The profiles that were counted, and their items."""
    found = database.table(f"SELECT * FROM {held}_contents ORDER BY profile, item")
    database.execute(f"DROP TABLE {held}_contents")
    if not found["people"].equals(found["having"]):
        raise ShoalError(
            "people with different records have the same hash in DuckDB; nothing is released. Use "
            "engine = 'memory'"
        )
    return found


def _like(person: str, profile: str) -> str:
    return " AND ".join(f"{person}.{key} = {profile}.{key}" for key in ("m", "h", "lacks"))


def numbered_as_before(
    database: Database, source: Source, people: People, entropy: Sequence[int]
) -> None:
    """Count people again, and number them in a random order; raise an error if they are others.

    The order depends on the entropy and on the first record of each.
    """
    names = people.profiles.combinations.names
    if not group_people(database, source, names, people.column).same(people.profiles):
        raise changed(str(source.path))
    secret = ":".join(map(str, entropy))
    database.execute(
        "CREATE OR REPLACE TEMP TABLE numbered AS SELECT s.p, s.lone, f.profile, row_number() "
        f"OVER (ORDER BY sha256(concat(s.r, ':{secret}')), s.r) - 1 AS number "
        f"FROM held_people AS s JOIN held_profiles AS f ON {_like('s', 'f')}"
    )


def _numbered(
    database: Database, source: Source, people: People, of_row: Longs, others: Sequence[str]
) -> str:
    """Rows in SQL, with the number of their person (n) and `of_row` (q.of), if it is not -1."""
    profiles = people.profiles
    _, first = np.unique(profiles.item, return_index=True)
    first = first[of_row[first] >= 0]
    database.register(
        "CREATE OR REPLACE TEMP TABLE places AS",
        pa.table(
            {
                "profile": profiles.profile[first],
                "id": profiles.combination[first],
                "of": of_row[first],
            }
        ),
    )
    database.register_units(profiles.combinations, np.arange(profiles.combinations.height))
    matched = database.matched(source, profiles.combinations.names, others, people.column)
    return (
        f"{matched} JOIN numbered AS n ON rows.p IS NOT DISTINCT FROM n.p AND (CASE WHEN rows.p IS "
        "NULL THEN rows.r END) IS NOT DISTINCT FROM n.lone JOIN places AS q ON q.profile = "
        "n.profile AND q.id = k.id"
    )


def joined_people(
    database: Database, source: Source, people: People, of_row: Longs, others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of the source: `of_row` of the row of their profile, and their person's number.

    The batches have the columns `id`, `r` (the number of the row), `number` and c0, c1, … Rows for
    which `of_row` is -1 are left out; equal rows of a profile have the same.
    """
    matched = _numbered(database, source, people, of_row, others)
    cells = [f"rows.{column}" for column in database.keys(source, others)]
    wanted = ", ".join(["q.of AS id", "rows.r", "n.number", *cells])
    types = [pa.int64(), *(source.schema.field(name).type for name in others)]
    for batch in database.rows(f"SELECT {wanted} FROM {matched}", types):
        number = person_numbers(batch.column(2).to_numpy(), people.column.missing_values)
        yield batch.set_column(2, "number", pa.array(number))


def values_of_people(
    database: Database, source: Source, people: People, others: Mapping[str, Sequence[str]]
) -> Elsewhere:
    """The values of other columns next to each published row, by their hashes, person by person."""
    names = list(others)
    published = people.of_rows(np.arange(len(people.published)))
    matched = _numbered(database, source, people, published, names)
    keys = dict(zip(names, database.keys(source, names), strict=True))
    database.execute(
        "CREATE OR REPLACE TEMP TABLE held_values AS SELECT DISTINCT number, of, "
        f"{', '.join(hashes(list(keys.values())))} FROM (SELECT n.number, q.of, "
        f"{', '.join(database.tested(source, others))} FROM {matched})"
    )

    def many(some: Sequence[str]) -> int:
        _number_items(database, [keys[name] for name in some])
        return _count_profiles(database, "own", ("number",), "false")

    def cells(some: Sequence[str]) -> Cells:
        """Of the columns that were counted last."""
        profiles = _read_profiles(database, "own")
        items = database.table("SELECT * FROM items ORDER BY item").take(profiles["item"])
        hashed = [items[keys[name]] for name in some]
        held = pa.table([items["of"], profiles["people"], *hashed], ["id", "n", *some])
        return hashed_cells(held, profiles["profile"].to_numpy())

    return read_at_once(names, many, cells, database.resources)


def _number_items(database: Database, columns: Sequence[str]) -> None:
    """Number the different values of rows: the table `items`; `own` has the items of each person.

    They are those of the table `held_values`, in which `of` is the row.
    """
    cells = ["of", *columns]
    values = ", ".join(cells)
    same = " AND ".join(f"held_values.{one} IS NOT DISTINCT FROM items.{one}" for one in cells)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE items AS SELECT {values}, row_number() OVER (ORDER BY "
        f"{values}) - 1 AS item FROM (SELECT DISTINCT {values} FROM held_values)"
    )
    database.execute(
        "CREATE OR REPLACE TEMP TABLE own AS SELECT DISTINCT held_values.number, items.item, "
        f"1 AS n, held_values.number AS r FROM held_values JOIN items ON {same}"
    )


def alone_people(
    database: Database,
    source: Source,
    people: People,
    label: Longs,
    others: Mapping[str, Sequence[str]],
) -> dict[str, tuple[int, int]]:
    """Per column: its distinct values, and the people who are unique by classes and values.

    A person is unique if no other one has records with all of their classes and values. `label` is
    the class of each row of the profiles; -1: it is not published. `others` has the words
    for missing of each column.
    """
    matched = _numbered(database, source, people, label, list(others))
    columns = database.keys(source, list(others))
    cells = database.tested(source, others)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE cells AS SELECT n.number, q.of, {', '.join(cells)} "
        f"FROM {matched}"
    )
    return {name: _alone(database, column) for name, column in zip(others, columns, strict=True)}


def _alone(database: Database, column: str) -> tuple[int, int]:
    """The same for one column of the table `cells`."""
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE pairs AS SELECT of, {column} AS v, "
        f"row_number() OVER () - 1 AS item FROM (SELECT DISTINCT of, {column} FROM cells)"
    )
    values = database.table("SELECT count(DISTINCT v) + count(DISTINCT v IS NULL) "
                            "FILTER (v IS NULL) AS many FROM pairs")["many"][0].as_py()  # fmt: skip
    database.execute(
        "CREATE OR REPLACE TEMP TABLE own AS SELECT DISTINCT cells.number, pairs.item, 1 AS n, "
        "cells.number AS r FROM cells JOIN pairs ON cells.of = pairs.of AND "
        f"cells.{column} IS NOT DISTINCT FROM pairs.v"
    )
    found = _profiles(database, "own", ("number",), "false", database.resources.check_pairs)
    people = found["profile"].to_numpy()
    classes = tally(
        found["item"].to_numpy()[:, None].astype(np.int32), people, (), found["people"].to_numpy()
    )
    return values, len(np.unique(people[classes.candidates == 1]))
