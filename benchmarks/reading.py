"""Reading text files of 1,000,000 rows × 9 columns, against pyarrow's own reading of them as text.

Both run in one process, in turns; the median of five runs counts, in processor seconds of all
threads. Files in UTF-8 have
a goal. Other encodings are decoded while they are read; pyarrow does that too, if it is told which.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from shoal.io.frames import read
from shoal.io.reading import Reading

ROWS, COLUMNS, RUNS = 1_000_000, 9, 5


def run() -> list[dict]:
    results = []
    with TemporaryDirectory() as folder:
        for name, letter, encoding, reading, goal in (
            ("plain", "u", "utf-8", Reading(), "≤ 2"),
            ("with accents, UTF-8", "ü", "utf-8", Reading(), "≤ 2"),
            ("Latin-1, found", "ü", "latin-1", Reading(), ""),
            ("UTF-16", "ü", "utf-16", Reading(), ""),
            ("comments left out", "u", "utf-8", Reading(comment="#"), ""),
        ):
            path = Path(folder, "people.csv")
            path.write_bytes(_lines(letter).encode(encoding))
            ours, theirs = _medians(
                lambda path=path, reading=reading: read(path, None, reading),
                lambda path=path, encoding=encoding: _arrow(path, encoding),
            )
            results.append(
                {
                    "what": f"reading CSV, 1,000,000 × {COLUMNS}: {name}",
                    "shoal": ours,
                    "plain scan": theirs,
                    "ratio": ours / theirs,
                    "goal": goal,
                }
            )
    return results


def _lines(letter: str) -> str:
    rng = np.random.default_rng(1)
    words = [np.array([f"m{letter}ll{i}" for i in range(10**digits)]) for digits in (1, 2, 3) * 3]
    columns = [word[rng.integers(0, len(word), ROWS)].tolist() for word in words]
    header = ",".join(f"c{i}" for i in range(COLUMNS))
    return "\n".join([header, *map(",".join, zip(*columns, strict=True))]) + "\n"


def _arrow(path: Path, encoding: str) -> pa.Table:
    types = {f"c{i}": pa.string() for i in range(COLUMNS)}
    return pa_csv.read_csv(
        path,
        read_options=pa_csv.ReadOptions(encoding=encoding),
        convert_options=pa_csv.ConvertOptions(column_types=types),
    )


def _medians(*works: Callable[[], object]) -> list[float]:
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(RUNS):
        for work, taken in zip(works, seconds, strict=True):
            start = process_time()
            work()
            taken.append(process_time() - start)
    return list(map(median, seconds))
