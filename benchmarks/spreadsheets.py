"""Reading a spreadsheet of 200,000 rows × 7 columns, against fastexcel's own reading of it.

Both run in one process, in turns; the median of five runs counts, in processor seconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import fastexcel
import numpy as np
import pyarrow as pa

from shoal.io.frames import Frame, read, write

ROWS, RUNS = 200_000, 5


def run() -> list[dict]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "people.xlsx")
        begin = process_time()
        write(Frame(_people()), path)
        writing = process_time() - begin
        ours, theirs = _medians(lambda: read(path), lambda: _alone(path))
    what = f"spreadsheet of {ROWS:,} × 7"
    return [
        {
            "what": f"reading a {what}",
            "shoal": ours,
            "plain scan": theirs,
            "ratio": ours / theirs,
            "goal": "≤ 1.5",
        },
        {"what": f"writing a {what}", "shoal": writing, "goal": ""},
    ]


def _people() -> pa.Table:
    rng = np.random.default_rng(7)
    days = rng.integers(0, 20_000, ROWS)
    return pa.table(
        {
            "id": [f"p{i:06d}" for i in range(ROWS)],
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "zip": [f"0{i}" for i in rng.integers(1000, 9999, ROWS)],
            "born": [dt.date(1950, 1, 1) + dt.timedelta(int(day)) for day in days],
            "weight": rng.normal(75, 12, ROWS),
            "diagnosis": [f"diagnosis {i}" for i in rng.integers(0, 50, ROWS)],
        }
    )


def _alone(path: Path) -> object:
    return fastexcel.read_excel(path).load_sheet(0, schema_sample_rows=None).to_arrow()


def _medians(*works: Callable[[], object]) -> list[float]:
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(RUNS):
        for work, taken in zip(works, seconds, strict=True):
            begin = process_time()
            work()
            taken.append(process_time() - begin)
    return [median(taken) for taken in seconds]
