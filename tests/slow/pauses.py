"""How long the algorithms and attacks run without a pause in which Ctrl-C is noticed.

`python -m tests.slow.pauses [ROWS] [ALGORITHM …]`: a timer sends signals; the time from one that
Python sees to the next is how long it was somewhere else. Beside the clock on the wall counts the
time of the processor, as other programs may have taken the rest.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from shoal import Plan, anonymize, catalog
from shoal.base.errors import ShoalError
from shoal.models.k_anonymity import KAnonymity

TICK = 0.02


def _is_ours(file):
    """Whether to name a place in this file; kernels are all called through base/interrupt."""
    return "/shoal/" in file and not file.endswith(("/base/interrupt.py", "/kernels/__init__.py"))


class Gaps:
    """The longest times between two looks, and what was called then."""

    def __init__(self):
        self.last = time.perf_counter(), time.thread_time()
        self.wall, self.busy, self.where = 0.0, 0.0, ""

    def look(self, _, frame):
        now = time.perf_counter(), time.thread_time()
        wall, busy = now[0] - self.last[0], now[1] - self.last[1]
        self.last = now
        self.wall = max(self.wall, wall)
        if busy > self.busy:
            while frame and not _is_ours(frame.f_code.co_filename):
                frame = frame.f_back
            place = frame and f"{frame.f_code.co_filename.rsplit('/shoal/', 1)[1]}:{frame.f_lineno}"
            self.busy, self.where = busy, str(place)


@contextmanager
def gaps() -> Iterator[Gaps]:
    found = Gaps()
    before = signal.signal(signal.SIGALRM, found.look)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def table(rows):
    """Mixed columns: few values, many, nearly all different, and two sensitive ones."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(0, 95, rows),
            "zip": [f"{x:06d}" for x in rng.integers(0, 999_999, rows)],
            "sex": rng.choice(["f", "m"], rows),
            "job": rng.choice([f"job {i}" for i in range(200)], rows),
            "income": rng.integers(10_000, 300_000, rows),
            "ill": rng.choice(["a", "b", "c", "d"], rows, p=[0.7, 0.2, 0.07, 0.03]),
        }
    )


def plans(names):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 30]}},
        "zip": {"role": "quasi", "hierarchy": {"prefixes": [5, 4, 3, 2, 1]}},
        "sex": "quasi",
        "job": "quasi",
        "income": {"role": "quasi", "hierarchy": {"ranges": [100, 1_000, 10_000, 100_000]}},
        "ill": "sensitive",
    }
    for name in names:
        kind = catalog.algorithms[name]
        for more in ([], [{"name": "t-closeness", "column": "ill", "t": 0.25}]):
            first = "k-anonymity" if kind().serves(KAnonymity(k=2)) else "k-concealment"
            models = [{"name": first, "k": 10}, *more]
            try:
                plan = Plan(columns=columns, models=models, algorithm=name, loss="mean", seed=1)
                plan.check_served()
            except ShoalError:
                continue
            yield f"{name}{' + t-closeness' if more else ''}", plan


def main(rows, names):
    """Print the longest gaps of each algorithm; returns those beyond a second."""
    big, small, long = table(rows), table(400), []
    for name, plan in plans(names or catalog.algorithms.decided):
        begin = time.perf_counter()
        try:
            anonymize(small, plan)  # compiled before
            with gaps() as found:
                anonymize(big, plan)
        except ShoalError as error:
            print(f"{name}: {error}", flush=True)
            continue
        print(
            f"{name:30} {time.perf_counter() - begin:7.1f} s, longest without a pause: "
            f"{found.busy:.2f} s of the processor, {found.wall:.2f} s on the wall, {found.where}",
            flush=True,
        )
        if found.busy > 1.0:
            long.append(name)
    return long


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(bool(main(int(words[0]) if words else 300_000, words[1:])))
