"""Trials: runs of ways on samples and on the whole table, with an emergency brake."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.table_models import recode
from shoal.algorithms.auto import Auto
from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.base.stopwatch import Stopwatch
from shoal.flow.auto_select.ways import Way, label, listed
from shoal.losses._alterations import alterations
from shoal.losses.mean import Mean
from shoal.measures.tried import Tried
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

OVERHEAD = 1.0  # seconds that a run takes besides its work, on a small table
BRAKE = 4  # times the seconds, as slow as the default was here, after which nothing more is tried
SOON = 10  # seconds below which the brake is not set, as the smallest samples are tried anyway


class Late(Exception):
    """The brake was pulled."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a way publishes of the whole table."""

    lost: float  # percent
    rank: int  # of equals the lower one is better: the default, or what the sample had first
    way: Way
    recoding: Recoding
    rng: np.random.Generator  # where randomness continues


class Trials:
    """What was tried, and what came of it."""

    def __init__(self, table: Table, plan: Plan, progress: Progress, watch: Stopwatch) -> None:
        self.table, self.plan, self.progress, self.watch = table, plan, progress, watch
        # Without a seed randomness comes from the operating system, once for all that is tried.
        self.seed = secrets.randbits(128) if plan.seed is None else plan.seed
        self.seconds = (
            plan.algorithm.seconds if isinstance(plan.algorithm, Auto) else Auto().seconds
        )
        self.brake = float("inf")  # seconds of the clock at which nothing more is tried
        self.yardstick = Mean() if plan.loss.is_auto else plan.loss
        self.tried: list[Tried] = []
        self.notes: list[str] = []
        self.stopped: list[Way] = []  # by the clock, on the sample
        self.unseen: list[Way] = []  # what the clock did not let begin there
        self.known: dict[Way, float] = {}  # what ways lost on the whole table
        self.best: Found | None = None  # what lost least on the whole table
        self.error: ShoalError | None = None

    @property
    def too_late(self) -> bool:
        """Whether the brake was pulled."""
        return self.watch.seconds > self.brake

    def set_brake(self, begin: float, expected: float) -> None:
        """Set the brake by what took so long since `begin` and should have taken `expected`.

        Everything is as slow as that was, so that a busy machine tries the same.
        """
        now = self.watch.seconds
        slow = max(1.0, (now - begin) / (expected + OVERHEAD))
        self.brake = now + BRAKE * max(self.seconds, SOON) * slow

    def on_sample(self, part: Table, way: Way, place: int, total: int) -> float:
        """What a way loses on a sample."""
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        if begin > self.brake:
            self.unseen.append(way)
            return lost
        rng = np.random.default_rng(self.seed)
        report = self._within(place, total)
        try:
            recoding = recode(way.algorithm, part, self.plan.models, way.loss, rng, report)
            (lost,) = alterations(part, recoding, [self.yardstick])
        except ShoalError as error:
            reason = str(error)
        except Late:
            reason = self._stopped_after(begin)
            self.stopped.append(way)
        self._record(way, "sample", part.rows, lost, begin, reason)
        return lost

    def on_table(self, way: Way, rank: int, brake: bool) -> None:
        """Run a way on the whole table, and keep its recoding if none lost less."""
        rng = np.random.default_rng(self.seed)
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        table = way.variant.table
        report = self._until_brake() if brake else self.progress
        try:
            recoding = recode(way.algorithm, table, self.plan.models, way.loss, rng, report)
            (lost,) = alterations(table, recoding, [self.yardstick])
            self.known[way] = lost
            self._keep(Found(lost, rank, way, recoding, rng))
        except ShoalError as error:
            reason = str(error)
            self.error = self.error or error
        except Late:
            reason = self._stopped_after(begin)
            self.note_clock(str(way), f"was {reason} on the whole table")
        self._record(way, "table", self.table.rows, lost, begin, reason)

    def note_samples(self) -> None:
        """Note what the clock kept from being tried on the sample."""
        for ways, what in (
            (self.stopped, "was stopped on the sample"),
            (self.unseen, "was not tried on the sample"),
        ):
            if ways:
                self.note_clock(listed(ways), what)

    def note_clock(self, ways: str, what: str) -> None:
        """Note what the clock decided."""
        self.notes.append(
            f"the clock decided: {ways} {what}, as it took far longer than estimated for "
            f"{self.seconds:g} seconds; on another machine the choice may differ"
        )

    def _keep(self, found: Found) -> None:
        """Keep one recoding only, the best: each takes memory."""
        both = [found] if self.best is None else [self.best, found]
        self.best = min(both, key=lambda one: (round(one.lost, 9), one.rank))

    def _within(self, place: int, total: int) -> Progress:
        """Progress of one of the runs on samples."""
        until, furthest = self._until_brake(), 0.0

        def report(stage: str, share: float) -> None:  # noqa: ARG001 (they are all trying)
            nonlocal furthest
            furthest = max(furthest, min(share, 1.0))
            until("trying", (place + furthest) / total)

        self.progress("trying", place / total)
        return report

    def _until_brake(self) -> Progress:
        """Progress that ends a run when the brake is pulled."""

        def report(stage: str, share: float) -> None:
            if self.too_late:
                raise Late
            self.progress(stage, share)

        return report

    def _stopped_after(self, begin: float) -> str:
        return f"stopped after {self.watch.seconds - begin:.1f} seconds"

    def _record(self, way: Way, on: str, rows: int, lost: float, begin: float, reason: str) -> None:
        seconds = round(self.watch.seconds - begin, 6)
        known = None if lost == float("inf") else lost
        name = label(way.algorithm)
        self.tried.append(
            Tried(name, way.loss.name, on, rows, known, seconds, reason, free=way.variant.free)
        )
