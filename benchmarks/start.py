"""How long a user waits before anything happens."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pyarrow.csv

from benchmarks import tables
from shoal.datasets import adult


def run() -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        command = _adult(Path(folder))
        _timed(command, {})  # compiles what is missing
        again = [_timed(command, {}) for _ in range(5)]
        both, one = _first(command), _first(command, cores=1)
    return [
        {"what": "import shoal", "shoal": _best(["-c", "import shoal"]), "goal": "≤ 0.5 s"},
        {"what": "shoal --help", "shoal": _best(["-m", "shoal", "--help"]), "goal": "≤ 0.5 s"},
        {
            "what": "shoal anonymize, Adult, k = 5",
            "shoal": min(wall for wall, _ in again),
            "goal": "≤ 1.2 s",
        },
        {"what": "the same, processor time", "shoal": min(used for _, used in again), "goal": ""},
        {"what": "the same, nothing compiled yet", "shoal": both[0], "goal": "≤ 15 s"},
        {"what": "the same, nothing compiled yet, on one core", "shoal": one[0], "goal": ""},
        {"what": "the same, processor time", "shoal": one[1], "goal": ""},
    ]


def _adult(folder: Path) -> list[str]:
    """The command on Adult, with the default algorithm and the built-in hierarchies."""
    pyarrow.csv.write_csv(adult().select(tables.QUASI), folder / "adult.csv")
    tables.plan(algorithm="peel", seed=1).save(folder / "plan.toml")
    files = [str(folder / name) for name in ("adult.csv", "plan.toml", "release.csv")]
    return ["-m", "shoal", "anonymize", files[0], "--plan", files[1], "--out", files[2]]


def _best(words: list[str]) -> float:
    return min(_timed(words, {})[0] for _ in range(5))


def _first(words: list[str], cores: int = 0) -> tuple[float, float]:
    """Seconds of a run that has to compile all kernels, on so many cores (0: on all)."""
    with tempfile.TemporaryDirectory() as cache:
        return _timed(words, {"SHOAL_CACHE": cache}, cores)


def _timed(words: list[str], env: dict[str, str], cores: int = 0) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    before, begin = os.times(), perf_counter()
    usable = os.sched_getaffinity(0)
    try:
        if cores:  # inherited by the process
            os.sched_setaffinity(0, sorted(usable)[:cores])
        subprocess.run(
            [sys.executable, *words], check=True, capture_output=True, env={**os.environ, **env}
        )
    finally:
        os.sched_setaffinity(0, usable)
    seconds, after = perf_counter() - begin, os.times()
    used = after.children_user + after.children_system
    return seconds, used - before.children_user - before.children_system
