"""Drafting a plan for a wide table in a file: 243,073 records × 36 columns, goal 10 s.

Adult's nine columns four times, cells exchanged at random between records; two columns follow from
others. The plain scan is reading the file alone, in the same run. A second table has 36 columns in
which nearly all values differ: numbers, and numbers written as text. In a third one two
columns of the first are counts that would be published unchanged, so that the plan is tried.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa

from benchmarks.tables import QUASI, mixed
from shoal.flow.draft.draft import propose
from shoal.io.frames import open_frame, write

ROWS, COPIES = 243_073, 4


def run() -> list[dict]:
    cases = {
        "few values per column": (wide(), "≤ 10 s"),
        "nearly all values differ": (unlike(), ""),
        "with counts, so that the plan is tried": (counted(), "≤ 10 s"),
    }
    return [row for what, (table, goal) in cases.items() for row in _measured(what, table, goal)]


def _measured(name: str, table: pa.Table, goal: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        write(open_frame(table), path)
        begin = perf_counter()
        open_frame(path)
        read = perf_counter() - begin
        begin, busy = perf_counter(), process_time()
        proposed = propose(path)
        seconds, busy = perf_counter() - begin, process_time() - busy
    assert len(proposed.plan.columns) == COPIES * len(QUASI)
    what = f"draft of {ROWS:,} × {len(proposed.plan.columns)} from CSV, {name}"
    return [
        {"what": what, "shoal": seconds, "plain scan": read, "ratio": seconds / read}
        | {"goal": goal},
        {"what": f"{what}: processor time", "shoal": busy, "goal": ""},
    ]


def counted() -> pa.Table:
    """The first table; two of its columns are counts that only the holder of the data knows."""
    table, rng = wide(), np.random.default_rng(1)
    for name in ("num_procedures", "num_medications"):
        table = table.set_column(table.num_columns - 1, name, pa.array(rng.poisson(4, ROWS)))
        table = table.select([name, *(one for one in table.column_names if one != name)])
    return table


def unlike() -> pa.Table:
    """Columns of amounts and measurements, and one of a few values."""
    rng = np.random.default_rng(1)
    columns = {f"amount{i}": rng.integers(0, 10**7, ROWS) for i in range(20)}
    columns |= {f"measured{i}": rng.normal(size=ROWS).round(6) for i in range(15)}
    return pa.table({**columns, "sex": rng.choice(["f", "m"], ROWS)})


def wide() -> pa.Table:
    """Adult several times, as different people: 36 columns, none of them in order with another."""
    copies = [
        pa.Table.from_pandas(mixed(ROWS, seed), preserve_index=False) for seed in range(COPIES)
    ]
    columns = {
        f"{name}{i or ''}": copy[name]
        for i, copy in enumerate(copies)
        for name in copy.column_names
    }
    ages = columns["age"].to_pylist()
    columns["age3"] = pa.array([f"{age // 5 * 5}-{age // 5 * 5 + 4}" for age in ages])
    columns["age2"] = pa.array([age // 10 for age in ages])
    return pa.table(columns)
