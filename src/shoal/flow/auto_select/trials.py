"""Trials: runs of candidates on samples and on the whole table, with an emergency brake."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.key_sets import recode_for
from shoal.algorithms.auto import Auto
from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.base.stopwatch import Stopwatch
from shoal.flow.auto_select.candidates import Candidate, label, list_candidates
from shoal.flow.choose_parts import parting_of
from shoal.losses._alterations import alterations
from shoal.losses.mean import Mean
from shoal.measures.tried import Tried
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

OVERHEAD = 1.0  # seconds of a run on a small table, in addition to its work
BRAKE = 4  # multiple of the allowed seconds after which nothing more is tried
SOON = 10  # seconds that are always allowed, as the smallest samples are tried anyway


class Late(Exception):
    """The brake stopped the search."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a candidate publishes of the whole table."""

    lost: float  # percent
    rank: int  # among equals the lower wins: the default, then the order on the sample
    candidate: Candidate
    recoding: Recoding
    rng: np.random.Generator  # continues the random sequence of the run


class Trials:
    """What was tried, with the results."""

    def __init__(self, table: Table, plan: Plan, progress: Progress, watch: Stopwatch) -> None:
        self.table, self.plan, self.progress, self.watch = table, plan, progress, watch
        # Without a seed the operating system gives one, the same for everything that is tried.
        self.seed = secrets.randbits(128) if plan.seed is None else plan.seed
        self.seconds = (
            plan.algorithm.seconds if isinstance(plan.algorithm, Auto) else Auto().seconds
        )
        self.brake = float("inf")  # seconds of the clock at which nothing more is tried
        self.yardstick = Mean() if plan.loss.is_auto else plan.loss
        self.tried: list[Tried] = []
        self.notes: list[str] = []
        self.stopped: list[Candidate] = []  # by the brake, on the sample
        self.unseen: list[Candidate] = []  # not begun there because of the brake
        self.known: dict[Candidate, float] = {}  # losses on the whole table
        self.best: Found | None = None  # the lowest loss on the whole table
        self.error: ShoalError | None = None

    @property
    def too_late(self) -> bool:
        """Whether the brake stops the search."""
        return self.watch.seconds > self.brake

    def set_brake(self, begin: float, expected: float) -> None:
        """Set the brake, given what began at `begin` and should have taken `expected` seconds.

        If that took longer, the brake allows as much longer, so that a busy machine tries the same.
        """
        now = self.watch.seconds
        slow = max(1.0, (now - begin) / (expected + OVERHEAD))
        self.brake = now + BRAKE * max(self.seconds, SOON) * slow

    def on_sample(self, part: Table, candidate: Candidate, place: int, total: int) -> float:
        """The loss of a candidate on a sample."""
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        if begin > self.brake:
            self.unseen.append(candidate)
            return lost
        rng = np.random.default_rng(self.seed)
        report = self._within(place, total)
        try:
            # In a sample fewer people look alike, so that more must be suppressed than may be.
            algorithm = candidate.algorithm.suppressing(self.plan.suppression)
            recoding = recode_for(
                algorithm, part, self.plan.models, candidate.loss, rng, report,
                known=self.plan.known,
            )  # fmt: skip
            (lost,) = alterations(part, recoding, [self.yardstick])
        except ShoalError as error:
            reason = str(error)
        except Late:
            reason = self._stopped_after(begin)
            self.stopped.append(candidate)
        self._record(candidate, "sample", part.rows, lost, begin, reason)
        return lost

    def on_table(self, candidate: Candidate, rank: int, brake: bool) -> None:
        """Run a candidate on the whole table, and store its recoding if no other lost less."""
        rng = np.random.default_rng(self.seed)
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        table = candidate.variant.table
        report = self._until_brake() if brake else self.progress
        try:
            recoding = recode_for(
                candidate.algorithm, table, self.plan.models, candidate.loss, rng, report,
                parting_of(self.plan), self.plan.known, self.plan.suppression,
            )  # fmt: skip
            (lost,) = alterations(table, recoding, [self.yardstick])
            self.known[candidate] = lost
            self._keep(Found(lost, rank, candidate, recoding, rng))
        except ShoalError as error:
            reason = str(error)
            self.error = self.error or error
        except Late:
            reason = self._stopped_after(begin)
            self.note_clock(str(candidate), f"{reason} on the whole table")
        self._record(candidate, "table", self.table.rows, lost, begin, reason)

    def note_samples(self) -> None:
        """Note what the brake stopped on the sample."""
        for candidates, what in (
            (self.stopped, "stopped on the sample"),
            (self.unseen, "not tried on the sample"),
        ):
            if candidates:
                self.note_clock(list_candidates(candidates), what)

    def note_clock(self, candidates: str, what: str) -> None:
        """Note what the brake stopped, or did not let begin."""
        self.notes.append(
            f"{what}, as the search took far longer than estimated for {self.seconds:g} seconds: "
            f"{candidates}; on another machine the choice may differ"
        )

    def _keep(self, found: Found) -> None:
        """Store only the best recoding, as each takes memory."""
        both = [found] if self.best is None else [self.best, found]
        self.best = min(both, key=lambda one: (round(one.lost, 9), one.rank))

    def _within(self, place: int, total: int) -> Progress:
        """Progress of one of the runs on samples."""
        until, furthest = self._until_brake(), 0.0

        def report(stage: str, share: float) -> None:  # noqa: ARG001 (all stages are trials)
            nonlocal furthest
            furthest = max(furthest, min(share, 1.0))
            until("trying", (place + furthest) / total)

        self.progress("trying", place / total)
        return report

    def _until_brake(self) -> Progress:
        """Progress that ends a run when the brake stops the search."""

        def report(stage: str, share: float) -> None:
            if self.too_late:
                raise Late
            self.progress(stage, share)

        return report

    def _stopped_after(self, begin: float) -> str:
        return f"stopped after {self.watch.seconds - begin:.1f} seconds"

    def _record(
        self, candidate: Candidate, on: str, rows: int, lost: float, begin: float, reason: str
    ) -> None:
        seconds = round(self.watch.seconds - begin, 6)
        known = None if lost == float("inf") else lost
        name, free = label(candidate.algorithm), candidate.variant.free
        self.tried.append(
            Tried(name, candidate.loss.name, on, rows, known, seconds, reason, free=free)
        )
