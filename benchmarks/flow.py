"""The complete flow from a data frame, each size in its own process to measure its memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import perf_counter

ROWS = (100_000, 1_000_000)


def run() -> list[dict]:
    found = {rows: _in_a_process(str(rows)) for rows in ("adult", *map(str, ROWS))}
    small, large = (found[str(rows)] for rows in ROWS)
    peeled = _in_a_process("peel")
    adult, ratio = found["adult"], large["seconds"] / small["seconds"]
    return [
        {"what": "anonymize Adult, k = 5", "shoal": adult["seconds"], "goal": "≤ 0.5 s"},
        {"what": "100,000 mixed rows, k = 5", "shoal": small["seconds"], "goal": ""},
        {"what": "1,000,000 mixed rows, k = 5", "shoal": large["seconds"], "goal": "≤ 5 s"},
        {"what": "1,000,000 rows against 100,000", "ratio": ratio, "goal": "≤ 14"},
        {"what": "peak memory, 1,000,000 rows", "gigabytes": large["peak"], "goal": "≤ 1.5 GB"},
        {"what": "1,000,000 mixed rows by peel, k = 10", "shoal": peeled["seconds"], "goal": ""},
    ]


def _in_a_process(rows: str) -> dict:
    words = [sys.executable, "-m", "benchmarks.flow", rows]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


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
    print(json.dumps(_once(sys.argv[1])))
