"""The attack dependency on 1,000,000 records with 30 published columns: in seconds.

Nine quasi-identifiers of Adult, k = 10, and 21 columns that are published unchanged, each of which
is read back by itself and in 210 pairs. In one table they say nothing; in the other a third of them
shows a quasi-identifier in half of the records. The plain scan is Arrow's group_by of all 30
columns of the release, in the same run. Both are in processor seconds, the attack also in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa

from benchmarks.tables import QUASI, mixed, plan
from shoal.attacks._unchanged import Truth, Unchanged, unchanged_of
from shoal.attacks.dependency import Dependency
from shoal.flow.auto_select.search import recode
from shoal.io.frames import Frame, open_frame
from shoal.plan import Plan
from shoal.table.coded_columns import coded, forget_codes
from shoal.table.encode import Table, encode
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import decode

ROWS, OTHERS, K = 1_000_000, 21, 10
VALUES = (2, 5, 15, 100, 10_000)  # of the columns that say nothing


def run() -> list[dict]:
    people = pa.Table.from_pandas(mixed(ROWS), preserve_index=False)
    cases = {
        "that say nothing": others(people, every=OTHERS + 1),
        "a third of which depends": others(people, every=3),
    }
    return [row for what, table in cases.items() for row in _measured(what, table)]


def others(people: pa.Table, every: int) -> pa.Table:
    """The table with columns of random values; those in every such place show a quasi one."""
    rng = np.random.default_rng(1)
    for i in range(OTHERS):
        cells = rng.integers(0, VALUES[i % len(VALUES)], ROWS)
        if i % every == every - 1:
            shown, _ = coded(open_frame(people), QUASI[i // every % len(QUASI)])
            cells = np.where(rng.random(ROWS) < 0.5, shown, rng.integers(0, shown.max() + 1, ROWS))
        people = people.append_column(f"other{i}", pa.array(cells))
    return people


def _measured(what: str, table: pa.Table) -> list[dict]:
    asked = _plan(table)
    published, frame, read = _release(table, asked)
    Dependency().run(published, unchanged=read())  # compiles

    def attack() -> None:
        forget_codes(frame, frame.names)  # so that it has to code its columns
        Dependency().run(published, unchanged=read())

    seconds, busy = _timed(attack)
    names = table.column_names
    arrow = pa.Table.from_arrays([frame.column(name) for name in names], names)
    _, plain = _timed(lambda: arrow.group_by(names).aggregate([([], "count_all")]))
    what = f"dependency, {ROWS:,} records and {len(names)} columns, {OTHERS} {what}"
    return [
        {"what": what, "shoal": seconds, "goal": "≤ 10 s"},
        {"what": f"{what}: processor time, against Arrow's group_by of all columns"}
        | {"shoal": busy, "plain scan": plain, "ratio": busy / plain, "goal": ""},
    ]


def _plan(table: pa.Table) -> Plan:
    base = plan(K, algorithm="peel", seed=1)
    added = [name for name in table.column_names if name not in base.columns]
    return base.changed(columns=dict(base.columns) | dict.fromkeys(added, "other"))


def _release(table: pa.Table, asked: Plan) -> tuple[Published, Frame, Callable[[], Unchanged]]:
    """The release, its table, and what the attack gets."""
    frame = open_frame(table)
    original: Table = encode(frame, asked.columns)
    made = recode(original, asked)
    released = decode(frame, asked.columns, original, made.recoding, made.rng, True)
    published = read_published(released.frame, asked.columns).together()
    truth = Truth(original, released.rows)
    return (
        published,
        released.frame,
        lambda: unchanged_of(released.frame, asked.columns, published, k=K, truth=truth),
    )


def _timed(do: Callable[[], object]) -> tuple[float, float]:
    """The seconds of the faster one of two runs, and the processor seconds of the cheaper one."""
    found = []
    for _ in range(2):
        begin, busy = perf_counter(), process_time()
        do()
        found.append((perf_counter() - begin, process_time() - busy))
    return min(one for one, _ in found), min(busy for _, busy in found)
