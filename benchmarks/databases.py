"""Reading and counting 1,000,000 rows of PostgreSQL, against ADBC alone.

Both run in one process, in turns; the median of five runs counts, by the clock, as most of the
work is that of the server, and by the processor time of this process.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

import adbc_driver_postgresql.dbapi as adbc

from shoal import Database
from tests.postgresql_server import Server, started

ROWS, RUNS = 1_000_000, 5


def run() -> list[dict]:
    with started() as server:
        _fill(server)
        address = server.address()
        people = Database(address, "people")
        results = []
        for what, ours, sql, goal in (
            ("reading PostgreSQL, 1,000,000 × 7", people.read, "SELECT * FROM people", "≤ 1.5"),
            (
                "counting there, 3 of 7 columns",
                lambda: people.count(["age", "sex", "job"]),
                "SELECT age, sex, job FROM people",
                "",
            ),
        ):
            clock, processor = _medians(ours, lambda sql=sql: _alone(address, sql))
            for unit, (mine, theirs) in (("clock", clock), ("processor time", processor)):
                results.append(
                    {
                        "what": f"{what}, {unit}",
                        "shoal": mine,
                        "plain scan": theirs,
                        "ratio": mine / theirs,
                        "goal": goal,
                    }
                )
    return results


def _fill(server: Server) -> None:
    server.run(
        "CREATE TABLE people AS SELECT i AS id, (20 + i % 70)::int AS age, "
        "CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, 'job ' || i % 100 AS job, "
        "DATE '1950-01-01' + (i % 20000)::int AS born, (i % 997)::float8 / 7 AS weight, "
        f"'diagnosis ' || i % 50 AS diagnosis FROM generate_series(1, {ROWS}) AS i",
        "ANALYZE people",
    )


def _alone(address: str, sql: str) -> object:
    with adbc.connect(address) as con, con.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def _medians(*works: Callable[[], object]) -> list[list[float]]:
    """The medians by the clock of each, and those of the processor time."""
    seconds: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(RUNS):
        for work, taken in zip(works, seconds, strict=True):
            start, used = perf_counter(), process_time()
            work()
            taken.append((perf_counter() - start, process_time() - used))
    return [[median(one[unit] for one in taken) for taken in seconds] for unit in (0, 1)]
