"""The complete flow, each size in its own process to measure its memory.

From a data frame, and from a Parquet file to a verified Parquet file compared with DuckDB's GROUP
BY of the same file. `python -m benchmarks.flow sizes` measures up to 10,000,000 rows, which takes
minutes. Processor time means something on a busy machine too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import perf_counter

ROWS = (100_000, 1_000_000)
SIZES = (100_000, 1_000_000, 10_000_000)


def run() -> list[dict]:
    found = {rows: _in_a_process(str(rows)) for rows in ("adult", *map(str, ROWS))}
    small, large = (found[str(rows)] for rows in ROWS)
    peeled = _in_a_process("peel")
    adult, ratio = found["adult"], large["seconds"] / small["seconds"]
    files = _of_files(1_000_000)
    return [
        {"what": "anonymize Adult, k = 5", "shoal": adult["seconds"], "goal": "≤ 0.5 s"},
        {"what": "100,000 mixed rows, k = 5", "shoal": small["seconds"], "goal": ""},
        {"what": "1,000,000 mixed rows, k = 5", "shoal": large["seconds"], "goal": "≤ 5 s"},
        {"what": "1,000,000 rows against 100,000", "ratio": ratio, "goal": "≤ 14"},
        {"what": "peak memory, 1,000,000 rows", "gigabytes": large["peak"], "goal": "≤ 1.5 GB"},
        {"what": "1,000,000 mixed rows by peel, k = 10", "shoal": peeled["seconds"], "goal": ""},
        {"what": "the same, Parquet to Parquet", "shoal": files["seconds"], "goal": ""},
        {"what": "against DuckDB's GROUP BY", "ratio": files["ratio"], "goal": "≤ 12"},
        {"what": "the same, processor time", "ratio": files["processor ratio"], "goal": ""},
    ]


def sizes() -> None:
    """Print time, processor time and memory of each size."""
    print("rows        seconds  processor  µs per row  peak GB  × GROUP BY  × its processor time")
    for rows in SIZES:
        found = _of_files(rows)
        print(
            f"{rows:<10,}  {found['seconds']:7.2f}  {found['processor']:9.2f}  "
            f"{1e6 * found['processor'] / rows:10.2f}  {found['peak']:7.2f}  "
            f"{found['ratio']:10.1f}  {found['processor ratio']:20.1f}",
            flush=True,
        )


def _of_files(rows: int) -> dict:
    """The flow from file to file, by peel in memory."""
    return _run("benchmarks.scale", str(rows), "mixed", "memory")


def _in_a_process(rows: str) -> dict:
    return _run("benchmarks.flow", rows)


def _run(*words: str) -> dict:
    """What a module prints, run in its own process."""
    whole = [sys.executable, "-m", *words]
    return json.loads(subprocess.run(whole, check=True, capture_output=True, text=True).stdout)


def _once(rows: str) -> dict:
    import shoal
    from benchmarks.tables import frame, mixed, plan

    asked = plan(10, algorithm="peel") if rows == "peel" else plan()
    shoal.anonymize(frame(), asked)  # compile, or load compiled kernels
    people = frame() if rows == "adult" else mixed(1_000_000 if rows == "peel" else int(rows))
    best = float("inf")
    for _ in range(3 if rows == "adult" else 2):
        begin = perf_counter()
        shoal.anonymize(people, asked)
        best = min(best, perf_counter() - begin)
    return {"seconds": best, "peak": _gigabytes()}


def _gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    if sys.argv[1] == "sizes":
        sizes()
    else:
        print(json.dumps(_once(sys.argv[1])))
