"""Chains: Markov chains that sample perfect matchings."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

import numpy as np

from shoal.attacks._matches import Matches
from shoal.base.arrays import Floats, Longs
from shoal.base.pace import INTERVAL, Pace
from shoal.base.progress import Progress
from shoal.kernels.matching.matchings import (
    BLOCK,
    Counts,
    Focus,
    State,
    begin_counts,
    end_counts,
    sweep,
)

CHAINS = 2  # so that one can judge what the other one found

T = TypeVar("T")


class Chain:
    """A Markov chain over the perfect matchings of the sampled components."""

    def __init__(self, graph: Matches, rng: np.random.Generator) -> None:
        self.graph, self.sides = graph, graph.sides
        self.stop = Event()
        self.sweeps = 0
        self.pace = Pace()  # shared by all runs: a small graph is swept many times at once
        pair = np.repeat(np.arange(graph.pairs), graph.given[: graph.pairs])  # int64[n]
        n, classes = len(pair), graph.sampled[1]
        holder = np.argsort(graph.group[pair], kind="stable").astype(np.int32)
        held = np.empty(n, np.int32)
        held[holder] = np.arange(n)
        people, published = self.sides
        self.state = State(
            seats=np.stack(
                [published.group, holder, people.group[holder], np.full(n, -1, np.int32)], 1
            ),
            held=held,
            clock=np.zeros(1, np.int64),
            random=rng.integers(2**64, size=1, dtype=np.uint64),
            place=np.zeros(classes, np.int32),
            path=np.zeros(classes + 1, np.int32),
            numbers=np.arange(n, dtype=np.int32),
            asked=np.zeros(BLOCK, np.int32),
        )
        self.focus = Focus(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self.records = graph.originals[graph.of_original[: graph.pairs]]

    def look_closer(self, pair: Longs) -> None:
        """From now on, records in these pairs make more requests.

        Moves must not depend on the present matching, so the pairs must be those of other samples.
        """
        people, published = self.sides
        o, g = np.zeros(len(people.heads), np.bool_), np.zeros(len(published.heads), np.bool_)
        o[self.graph.of_original[pair]] = g[self.graph.group[pair]] = True
        both = np.flatnonzero(o[people.group]), np.flatnonzero(g[published.group])
        self.focus = Focus(*(each.astype(np.int32) for each in both))

    def burn_in(self, times: int) -> None:
        """Sweep without counting, to get away from the first matching."""
        self._sweep(times, Counts(False, np.zeros(0, np.int64), np.zeros((0, 2), np.int64)))

    def run(self, times: int) -> tuple[Floats, Longs]:
        """Sweep; the share of time that a record spent in each pair, and its number of visits."""
        n, pairs = len(self.state.held), len(self.records)
        counts = Counts(True, np.zeros(n, np.int64), np.zeros((pairs, 2), np.int64))
        since = int(self.state.clock[0])
        begin_counts(self.sides[0], self.state, counts)
        self._sweep(times, counts)
        end_counts(self.state, counts)
        time, visits = counts.seen.T
        return time / (self.records * (self.state.clock[0] - since)), visits

    def _sweep(self, times: int, counts: Counts) -> None:
        """Sweep in short parts, so that progress is shown and Ctrl-C works in between."""
        before, at = self.sweeps, np.zeros(2, np.int64)
        records = len(self.state.held)  # each is a step of a sweep
        while at[1] < times and not self.stop.is_set():
            steps = at[0] + at[1] * records
            sweep(*self.sides, self.state, counts, self.focus, at, times, self.pace.begin())
            self.pace.end(int(at[0] + at[1] * records - steps))
            self.sweeps = before + int(at[1])


def sampled(
    graph: Matches,
    seed: int,
    sweeps: tuple[int, int],
    closer: tuple[float, int],
    look: Callable[[Chain], T],
    progress: Progress,
) -> list[T]:
    """What `look` finds in each chain after burn-in; it sweeps itself.

    `sweeps`: of the burn-in, and of `look`. From then on chains look closer at pairs of more than
    the first of `closer`, at one in so many originals at most.
    """
    burn_in, all_sweeps = sweeps[0], sum(sweeps)

    def begin(chain: Chain) -> Floats:
        chain.burn_in(burn_in // 2)
        return chain.run(burn_in - burn_in // 2)[0]

    def report(done: float) -> None:
        progress("sampling", done)

    chains = [Chain(graph, rng) for rng in np.random.default_rng(seed).spawn(CHAINS)]
    # Where a chain looks closer was found by the other one, and so does not depend on it.
    first = _run_together(begin, chains, all_sweeps, report)
    for chain, share in zip(chains, reversed(first), strict=True):
        chain.look_closer(graph.most_likely(share, *closer))
    return _run_together(look, chains, all_sweeps, report)


def _run_together(
    job: Callable[[Chain], T],
    chains: list[Chain],
    sweeps: int,
    report: Callable[[float], None],
) -> list[T]:
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
