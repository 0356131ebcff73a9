"""Chains: Markov chains that sample perfect matchings."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any

import numpy as np

from shoal.attacks._matches import Matches
from shoal.base.arrays import Floats, Longs
from shoal.base.pace import INTERVAL, Pace
from shoal.kernels.matching.matchings import (
    EVERYTHING,
    NOTHING,
    WATCHED,
    Counts,
    State,
    begin_counts,
    end_counts,
    sweep,
)


class Chain:
    """A Markov chain over the perfect matchings of the sampled components."""

    def __init__(self, graph: Matches, rng: np.random.Generator) -> None:
        self.sides, self.rng = graph.sides, rng
        self.stop = Event()
        self.sweeps = 0
        self.pace = Pace()  # shared by all runs: a small graph is swept many times at once
        pair = np.repeat(np.arange(graph.pairs), graph.given[: graph.pairs])  # int64[n]
        n = len(pair)
        holder = np.argsort(graph.group[pair], kind="stable").astype(np.int32)
        held = np.empty(n, np.int32)
        held[holder] = np.arange(n)
        self.state = State(
            holder=holder,
            held=held,
            clock=np.zeros(1, np.int64),
            place=np.zeros(n, np.int32),
            path=np.zeros(n, np.int32),
            wish=np.zeros(n, np.int32),
        )
        self.originals = graph.originals[: graph.sampled[0]]
        self.of_pair = graph.of_original[: graph.pairs]

    def burn_in(self, times: int) -> None:
        """Sweep without counting, to get away from the first matching."""
        none = np.zeros(0, np.int64)
        self._sweep(times, Counts(NOTHING, none.astype(np.int32), none, none, none))

    def run(self, times: int, watched: Longs | None = None) -> tuple[Floats, Longs]:
        """Sweep; the share of time that a record spent in each pair, and its number of visits.

        If a class is `watched` for each original, int64[originals], only of these pairs.
        """
        records = self.originals if watched is not None else self.originals[self.of_pair]
        counts = Counts(
            EVERYTHING if watched is None else WATCHED,
            np.zeros(0, np.int32) if watched is None else watched.astype(np.int32),
            np.zeros(len(self.state.held), np.int64),
            np.zeros(len(records), np.int64),
            np.zeros(len(records), np.int64),
        )
        since = int(self.state.clock[0])
        begin_counts(*self.sides, self.state, counts)
        self._sweep(times, counts)
        end_counts(*self.sides, self.state, counts)
        return counts.time / (records * (self.state.clock[0] - since)), counts.visits

    def _sweep(self, times: int, counts: Counts) -> None:
        """Sweep in short parts, so that progress is shown and Ctrl-C works in between."""
        before, at = self.sweeps, np.zeros(2, np.int64)
        records = len(self.sides[0].group)  # each is a step of a sweep
        while at[1] < times and not self.stop.is_set():
            steps = at[0] + at[1] * records
            sweep(*self.sides, self.state, counts, at, times, self.pace.begin(), self.rng)
            self.pace.end(int(at[0] + at[1] * records - steps))
            self.sweeps = before + int(at[1])


def run_together(
    job: Callable[[Chain], tuple[Floats, Longs]],
    chains: list[Chain],
    sweeps: int,
    report: Callable[[float], None],
) -> Any:
    """Run chains in parallel; each has its own random numbers, so their order does not matter.

    `report` is called with the share of the sweeps that is done.
    """
    with ThreadPoolExecutor(len(chains)) as pool:
        try:
            jobs = [pool.submit(job, chain) for chain in chains]
            while wait(jobs, timeout=INTERVAL).not_done:
                report(min(1.0, min(chain.sweeps for chain in chains) / sweeps))
            return [job.result() for job in jobs]
        except BaseException:  # Ctrl-C: stop the others too
            for chain in chains:
                chain.stop.set()
            raise
