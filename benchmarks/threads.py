"""Threads: recoding 1,000,000 mixed records of Adult by one thread and by two, in turns.

A ratio of times means something on a quiet machine only. The share of the processor time that
threads can share does not depend on others, and limits the ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter, thread_time

import numpy as np

from benchmarks.tables import mixed
from benchmarks.tables import plan as built_in
from shoal.algorithms._shared.parts.cuts import Parting
from shoal.algorithms._shared.recode import recode as recode_with
from shoal.algorithms.peel import Peel
from shoal.base.threads import Task, Team, limited
from shoal.io.frames import open_frame
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table, encode
from shoal.table.recoding import Recoding

ROWS, K, GOAL, TURNS = 1_000_000, 10, 1.6, 3


def run() -> list[dict]:
    table = encode(open_frame(mixed(ROWS)), built_in(K).columns)
    recode(table, 2)  # loads the kernels
    times: dict[int, list[float]] = {1: [], 2: []}
    found = {}
    for _ in range(TURNS):
        for threads, seconds in times.items():
            begin = perf_counter()
            found[threads] = recode(table, threads)
            seconds.append(perf_counter() - begin)
    assert np.array_equal(found[1].codes(), found[2].codes())
    one, two = min(times[1]), min(times[2])
    share = shared(table)
    what = f"peel, {ROWS:,} mixed records, k = {K}: two threads compared with one"
    return [
        {"what": what, "shoal": two, "one thread": one, "ratio": one / two, "goal": f"≥ {GOAL}"},
        {
            "what": f"share of it that threads can share; at most {1 / (1 - share / 2):.2f} times",
            "percent": 100 * share,
            "goal": "",
        },
    ]


def recode(table: Table, threads: int) -> Recoding:
    """Recode the table with this number of threads."""
    with limited(threads):
        rng = np.random.default_rng(0)
        parting = Parting(shared=True)  # as by default, with enough memory
        return recode_with(Peel(), table, [KAnonymity(k=K)], NLLM(), rng, parting=parting)


def shared(table: Table) -> float:
    """The share of the processor time of one thread that is work for several."""
    inside, depth, before = 0.0, 0, Team.run

    def timed(self: Team, tasks: Iterable[Task], idle: Callable[[], None] | None = None) -> None:
        nonlocal inside, depth
        begin = thread_time()
        depth += 1
        before(self, tasks, idle)
        depth -= 1
        if not depth:  # the work of a part contains work for several threads, too
            inside += thread_time() - begin

    Team.run = timed  # type: ignore[method-assign]
    try:
        begin = thread_time()
        recode(table, 1)
        return inside / (thread_time() - begin)
    finally:
        Team.run = before  # type: ignore[method-assign]
