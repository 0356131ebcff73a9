"""Tables larger than memory: the whole flow through DuckDB, against DuckDB's own GROUP BY.

`python -m benchmarks scale` measures 1,000,000 rows. More rows, in a process of their own and with
a memory limit, are measured by `python -m benchmarks.scale 100000000 [mixed] [memory]`; the input
is made first, in a temporary folder, and takes 1 GB of disk per 100,000,000 rows, temporary files
more. With `memory` the same flow runs in memory, as `python -m benchmarks.flow sizes` does.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1_000_000  # of a part of a generated file
LIMIT = "2GB"


def run() -> list[dict]:
    import subprocess

    words = [sys.executable, "-m", "benchmarks.scale", "1000000", "mixed"]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return [
        {"what": "1,000,000 mixed rows by DuckDB, k = 10", "shoal": found["seconds"], "goal": ""},
        {"what": "against DuckDB's GROUP BY", "ratio": found["ratio"], "goal": "≤ 12"},
        {"what": "the same, processor time", "ratio": found["processor ratio"], "goal": ""},
        {"what": "peak memory", "gigabytes": found["peak"], "goal": "≤ 2 GB"},
    ]


def generate(path: Path, rows: int, share: float) -> None:
    """Records of Adult, each cell of another random record with the probability `share`."""
    from benchmarks.tables import QUASI
    from shoal.datasets import adult

    people = adult().select(QUASI)
    columns = [people[name].combine_chunks().dictionary_encode() for name in QUASI]
    names = [(name, one.dictionary.type) for name, one in zip(QUASI, columns, strict=True)]
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema(names)) as file:
        for start in range(0, rows, ROWS):
            n = min(ROWS, rows - start)
            base = rng.integers(0, people.num_rows, n)
            cells = []
            for one in columns:
                taken = base
                if share:
                    other = rng.integers(0, people.num_rows, n)
                    taken = np.where(rng.random(n) < share, other, base)
                cells.append(one.dictionary.take(one.indices.take(pa.array(taken))))
            file.write_table(pa.table(cells, pa.schema(names)))


@contextmanager
def watched(folder: Path) -> Iterator[list[int]]:
    """Bytes of the temporary files of a run in this folder, looked at every second."""
    sizes, over = [0], Event()

    def look() -> None:
        while not over.wait(1.0):
            with suppress(OSError):  # a file may be removed meanwhile
                files = [one for one in folder.glob(".shoal-*/**/*") if one.is_file()]
                sizes.append(sum(512 * one.stat().st_blocks for one in files))

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield sizes
    finally:
        over.set()
        thread.join()


def measure(rows: int, share: float, engine: str = "duckdb") -> dict:
    """The whole flow without a report: from a Parquet file to a verified Parquet file."""
    import duckdb

    import shoal
    from benchmarks.tables import QUASI, frame, plan

    asked = plan(10, algorithm="peel", engine="memory")
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        source, out = Path(folder, "people.parquet"), Path(folder, "release.parquet")
        generate(source, rows, share)
        shoal.anonymize(frame(), asked).save(out)  # load compiled kernels
        begin, spent = perf_counter(), process_time()
        limit = {"memory": LIMIT} if engine == "duckdb" else {}
        with watched(Path(folder)) as temporary:
            release = shoal.anonymize(source, asked.changed(engine=engine, **limit))
            release.save(out)
        seconds, processor = perf_counter() - begin, process_time() - spent
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # without GROUP BY
        names = ", ".join(f'"{name}"' for name in QUASI)
        grouped, used, tuples = float("inf"), float("inf"), 0
        for _ in range(3 if rows <= ROWS else 1):
            begin, spent = perf_counter(), process_time()
            with duckdb.connect(config={"memory_limit": LIMIT}) as con:
                sql = (
                    f"SELECT count(*) FROM (SELECT {names}, count(*) FROM '{source}' GROUP BY ALL)"
                )
                tuples = con.execute(sql).fetchall()[0][0]
            grouped = min(grouped, perf_counter() - begin)
            used = min(used, process_time() - spent)
        return {
            "rows": rows,
            "tuples": tuples,
            "classes": release.classes,
            "input megabytes": source.stat().st_size / 1e6,
            "seconds": seconds,
            "processor": processor,
            "group by": grouped,
            "group by processor": used,
            "ratio": seconds / grouped,
            "processor ratio": processor / used,
            "temporary": max(temporary) / 1e9,
            "parts": release.as_dict()["parts"],
            "peak": peak,
            "steps": release.seconds,
        }


if __name__ == "__main__":
    words = sys.argv[2:]
    used = "memory" if "memory" in words else "duckdb"
    print(json.dumps(measure(int(sys.argv[1]), 0.15 if "mixed" in words else 0.0, used)))
