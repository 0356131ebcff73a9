"""How long a user waits before anything happens."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from time import perf_counter


def run() -> list[dict]:
    return [
        {"what": "import shoal", "shoal": _best(["-c", "import shoal"]), "goal": "≤ 0.5 s"},
        {"what": "shoal --help", "shoal": _best(["-m", "shoal", "--help"]), "goal": "≤ 0.5 s"},
        {"what": "a small run, nothing compiled yet", "shoal": _first(), "goal": "≤ 20 s"},
    ]


def _best(words: list[str]) -> float:
    return min(_timed(words, {}) for _ in range(5))


def _first() -> float:
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "shoal", "demo", "--rows", "200", "--out", f"{folder}/demo"]
        return _timed(words, {"NUMBA_CACHE_DIR": folder})


def _timed(words: list[str], env: dict[str, str]) -> float:
    begin = perf_counter()
    subprocess.run(
        [sys.executable, *words], check=True, capture_output=True, env={**os.environ, **env}
    )
    return perf_counter() - begin
