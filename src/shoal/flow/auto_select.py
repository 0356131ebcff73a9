"""Choose: settles what a plan leaves open, by trying what is promising.

Mauger et al. end by asking for a procedure that finds, from the table and its hierarchies, the
metric and the strategy that suit them best (Sec. 5, Mauger 2023). This one tries them. What the
plan would run by default runs on the whole table, whatever it takes, and nothing that loses more
is ever returned. Every algorithm that serves the plan runs on a sample of people, guided by one
loss; the best of them guided by all losses; and the best of those on the whole table. Columns
without a hierarchy are tried as free ranges and sets as well. What loses least is kept: by the
mean of the seven metrics (Def. 9) where the loss is open too, else by the plan's loss.

How much is tried besides the default follows from estimates of work, which are the same on every
machine: so a seed gives the same choice everywhere, however busy the machine is. The clock is an
emergency brake, for a run that takes many times its estimate; it goes as slowly as the default
did here, and where it ended something a note says so.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.algorithms.auto import Auto
from shoal.algorithms.gaa import GAA
from shoal.base.errors import SHOWN, BadInput, BadPlan, ShoalError, preview
from shoal.base.progress import Progress, silent
from shoal.base.stopwatch import Stopwatch, stopwatch
from shoal.flow.freeing import free_names, freed
from shoal.losses import Loss
from shoal.losses._alterations import alterations
from shoal.losses.mean import Mean
from shoal.measures.information_loss import METRICS
from shoal.measures.tried import Tried
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

Encoded = Callable[[Plan], Table]

SAMPLE, FEWEST = 4_000, 250  # rows of a sample, at the most and at the least
CROWDS = 20  # classes of k people that a sample must have room for
BEST = 3  # algorithms that are tried with all losses
FINALISTS = 3  # runs on the whole table in addition to the default
SHARE = 1 / 3  # of the work that may go into samples
OVERHEAD = 1.0  # seconds that a run takes besides its work, on a small table
BRAKE = 4  # times the seconds, as slow as the default was here, after which nothing more is tried
SOON = 10  # seconds below which the brake is not set, as the smallest samples are tried anyway
STRATEGIES: tuple[Literal["S2", "S3", "S4", "S6", "S7"], ...] = (
    "S2",
    "S3",
    "S4",
    "S6",
    "S7",
)  # S5 loses nearly everything (Sec. 4.3, Mauger 2023)


@dataclass(frozen=True, eq=False)
class Recoded:
    """What will be published, by a plan that leaves nothing open."""

    plan: Plan
    table: Table  # by that plan: its hierarchies may be others than those of the plan before
    recoding: Recoding
    rng: np.random.Generator  # where chance goes on
    tried: list[Tried]
    notes: list[str]


def recode(
    table: Table, plan: Plan, progress: Progress = silent, encoded: Encoded | None = None
) -> Recoded:
    """Choose what is published of each record; choose first how, where the plan leaves it open.

    The result is the same as that of the plan which was chosen, run with the same seed. `encoded`
    makes the table of another plan; without it the hierarchies stay as they are.
    """
    if not (plan.algorithm.is_auto or plan.loss.is_auto):
        rng = np.random.default_rng(plan.seed)
        recoding = plan.algorithm.recode(table, plan.models, plan.loss, rng, progress)
        return Recoded(plan, table, recoding, rng, [], [])
    with stopwatch() as watch:  # compiling kernels on a first run is not counted
        return _Search(table, plan, progress, watch, encoded).run()


def label(algorithm: Algorithm) -> str:
    """The name of an algorithm, and the options that differ from the default.

    >>> label(GAA(weight="unit"))
    'gaa weight=unit'
    """
    chosen = {key: value for key, value in algorithm.setting().items() if key != "name"}
    return " ".join([algorithm.name, *(f"{key}={value}" for key, value in chosen.items())])


def candidates(plan: Plan, table: Table) -> list[Algorithm]:
    """The algorithms that serve a plan; gaa also with the strategies that look at a column."""
    if not plan.algorithm.is_auto:
        return [plan.algorithm]
    able, reasons = [], []
    for name in catalog.algorithms.decided:
        one = plan.changed(algorithm=name)
        try:
            one.check_served()
        except BadPlan as error:
            reasons.append(str(error))
        else:
            able.append(one.algorithm)
    if not able:
        raise BadPlan(f"auto finds no algorithm for this plan: {reasons[0]}")
    about = [model.about for model in plan.models if model.about is not None]
    if about and not table.free and any(isinstance(one, GAA) for one in able):
        able += [GAA(strategy=strategy, column=about[0]) for strategy in STRATEGIES]
    return able


def sample(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """About so many rows of a table, with all rows of the people that they belong to."""
    drawn = rng.permutation(table.crowd)[: max(1, round(table.crowd * rows / table.rows))]
    if table.people is None:
        return table.take(np.sort(drawn))
    return table.take(np.flatnonzero(np.isin(table.people, drawn)))


class _Late(Exception):
    """The brake was pulled."""


@dataclass(frozen=True, eq=False)
class _Variant:
    """The table by one of the plans: the plan as it is, or with free ranges and sets."""

    plan: Plan
    table: Table
    free: tuple[str, ...] = ()  # the columns that are free here and flat in the plan


@dataclass(frozen=True, eq=False)
class _Way:
    """An algorithm and a guiding loss, on one of the variants."""

    algorithm: Algorithm
    loss: Loss
    variant: _Variant

    def work(self, rows: int) -> float:
        """What so many rows take, by estimate."""
        return self.algorithm.work(rows, bool(self.variant.table.free))

    def __str__(self) -> str:
        free = (
            f" with free ranges or sets of {preview(self.variant.free)}"
            if self.variant.free
            else ""
        )
        return f"{label(self.algorithm)} guided by {self.loss.name}{free}"


class _Search:
    """One search: what is tried, in which order, and what was found."""

    def __init__(
        self, table: Table, plan: Plan, progress: Progress, watch: Stopwatch,
        encoded: Encoded | None = None,
    ) -> None:  # fmt: skip
        self.table, self.plan, self.progress, self.watch = table, plan, progress, watch
        # Without a seed chance comes from the operating system, once for all that is tried.
        self.seed = secrets.randbits(128) if plan.seed is None else plan.seed
        self.seconds = (
            plan.algorithm.seconds if isinstance(plan.algorithm, Auto) else Auto().seconds
        )
        self.brake = float("inf")  # seconds of the clock at which nothing more is tried
        self.tried: list[Tried] = []
        self.notes: list[str] = []
        self.score: dict[_Way, float] = {}  # what each way lost on the sample
        self.stopped: list[_Way] = []  # by the clock, on the sample
        self.unseen: list[_Way] = []  # what the clock did not let begin there
        self.yardstick = Mean() if plan.loss.is_auto else plan.loss
        self.losses = _losses(plan)
        own = _Variant(plan, table)
        able = candidates(plan, table)
        self.first = [_Way(one, self.losses[0], own) for one in able]
        self.first += self._freed_ways(encoded)
        self.defaults = self._default_ways(able)
        self.known: dict[_Way, float] = {}  # what ways lost on the whole table
        self.found: list[tuple[float, int, _Way, Recoding, np.random.Generator]] = []
        self.error: ShoalError | None = None

    def _freed_ways(self, encoded: Encoded | None) -> list[_Way]:
        """The algorithms that can publish flat columns as free ranges or sets."""
        if encoded is None or not self.plan.algorithm.is_auto:
            return []
        plan = freed(self.plan, self.table)
        if plan is None:
            return []
        try:
            table = encoded(plan)
            able = candidates(plan, table)
        except BadInput:  # no algorithm, or values of which there are no ranges or sets
            return []
        before = free_names(self.plan)
        names = tuple(name for name in free_names(plan) if name not in before)
        variant = _Variant(plan, table, names)
        return [_Way(one, self.losses[0], variant) for one in able]

    def _default_ways(self, able: list[Algorithm]) -> list[_Way]:
        """What the plan would run if it left nothing open; guided by the yardstick as well."""
        plain = Plan(columns=self.plan.columns, models=self.plan.models)
        named = [one for one in able if one.setting() == plain.algorithm.setting()]
        # Where the default cannot serve the plan, the quickest of those that can stands for it.
        algorithm = named[0] if named else min(able, key=lambda one: one.work(self.table.rows))
        losses = self.losses[:1]
        if self.plan.loss.is_auto:
            losses = losses + [one for one in self.losses if one.name == plain.loss.name]
        own = next(way for way in self.first if way.algorithm is algorithm)
        return [own, *(_Way(algorithm, loss, own.variant) for loss in losses[1:])]

    def run(self) -> Recoded:
        """The default on the whole table, the others on samples, the best of them on the table."""
        self._run_defaults()
        ranked = self._on_samples()
        self._on_the_table(ranked)
        if not self.found:
            assert self.error is not None
            raise self.error
        _, _, way, recoding, rng = self._best
        plan = way.variant.plan.changed(algorithm=way.algorithm, loss=way.loss)
        kept = label(way.algorithm), way.loss.name, "table", way.variant.free
        tried = [
            replace(one, chosen=(one.algorithm, one.loss, one.on, one.free) == kept)
            for one in self.tried
        ]
        notes = [self._why(way), *self.notes]
        return Recoded(plan, way.variant.table, recoding, rng, tried, notes)

    @property
    def _best(self) -> tuple[float, int, _Way, Recoding, np.random.Generator]:
        """What lost least on the table; of equals the default, or what the sample had first."""
        return min(self.found, key=lambda one: (round(one[0], 9), one[1]))

    def _run_defaults(self) -> None:
        """Run the default, which nothing ends; it shows how fast this machine is just now."""
        begin = self.watch.seconds
        for place, way in enumerate(self.defaults):
            self._run(way, place - len(self.defaults), False)
        now = self.watch.seconds
        expected = sum(way.work(self.table.rows) for way in self.defaults)
        slow = max(1.0, (now - begin) / (expected + OVERHEAD))
        # Everything is as slow as the default was, so that a busy machine tries the same.
        self.brake = now + BRAKE * max(self.seconds, SOON) * slow

    def _on_samples(self) -> list[_Way]:
        """All ways, those first that lost least on a sample; those that failed come last."""
        score, rows = self.score, self._sample_rows()
        parts = {
            way.variant: sample(way.variant.table, rows, np.random.default_rng([self.seed, rows]))
            for way in {one.variant: one for one in self.first}.values()
        }
        if rows == self.table.rows:  # what was run on the table need not run again
            score |= {way: self.known.get(way, float("inf")) for way in self.defaults}
        more = len(self.losses) - 1
        total = len(self.first) + more * min(BEST, len(self.first))
        # What is quick goes first: if the brake is pulled, most of it has been seen.
        for way in sorted(self.first, key=lambda way: way.work(rows)):
            if way not in score:
                score[way] = self._try(parts[way.variant], way, len(score), total)
        best = sorted(self.first, key=lambda way: round(score[way], 9))[:BEST]
        able = [one for one in best if score[one] < float("inf")]
        for way in [self._way(one, loss) for one in able for loss in self.losses[1:]]:
            if way not in score:
                score[way] = self._try(parts[way.variant], way, len(score), total)
        self._tell_of_samples()
        return sorted(score, key=lambda way: round(score[way], 9))

    def _way(self, like: _Way, loss: Loss) -> _Way:
        """The same way guided by another loss; one of the defaults, if it is one."""
        for way in self.defaults:
            if (way.algorithm, way.variant) == (like.algorithm, like.variant) and way.loss is loss:
                return way
        return _Way(like.algorithm, loss, like.variant)

    def _tell_of_samples(self) -> None:
        """Say what the clock kept from being tried on the sample."""
        for ways, what in (
            (self.stopped, "was stopped on the sample"),
            (self.unseen, "was not tried on the sample"),
        ):
            if ways:
                self._clock(_some(ways), what)

    def _sample_rows(self) -> int:
        """Rows of the sample: as many as the time allows by estimate."""
        rows = max(SAMPLE, CROWDS * self._k() * self.table.rows // self.table.crowd)
        while rows > FEWEST and self._sample_work(rows) > SHARE * self.seconds:
            rows //= 2
        return min(rows, self.table.rows)

    def _k(self) -> int:
        return max((getattr(model, "k", 2) for model in self.plan.models), default=2)

    def _sample_work(self, rows: int) -> float:
        work = sorted(way.work(rows) for way in self.first)
        return sum(work) + (len(self.losses) - 1) * sum(work[-BEST:])

    def _try(self, part: Table, way: _Way, place: int, total: int) -> float:
        """What a way loses on a sample."""
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        if begin > self.brake:
            self.unseen.append(way)
            return lost
        rng = np.random.default_rng(self.seed)
        tell = self._within(place, total)
        try:
            recoding = way.algorithm.recode(part, self.plan.models, way.loss, rng, tell)
            (lost,) = alterations(part, recoding, [self.yardstick])
        except ShoalError as error:
            reason = str(error)
        except _Late:
            reason = self._stopped(begin)
            self.stopped.append(way)
        self._tell(way, "sample", part.rows, lost, begin, reason)
        return lost

    def _within(self, place: int, total: int) -> Progress:
        """Progress of one of the runs on samples."""
        until, furthest = self._until_brake(), 0.0

        def tell(stage: str, share: float) -> None:  # noqa: ARG001 (they are all trying)
            nonlocal furthest
            furthest = max(furthest, min(share, 1.0))
            until("trying", (place + furthest) / total)

        self.progress("trying", place / total)
        return tell

    def _on_the_table(self, ranked: list[_Way]) -> None:
        """Run the finalists, the quickest first; others only as long as there is no release."""
        rows = self.table.rows
        first = sorted(self._finalists(ranked), key=lambda way: way.work(rows))
        late: list[_Way] = []
        for way in first:
            if self.watch.seconds > self.brake and self.found:
                late.append(way)
            else:
                self._run(way, ranked.index(way), bool(self.found))
        for way in ranked:
            if not self.found and way not in first and way not in self.defaults:
                self._run(way, ranked.index(way), False)
        if late:
            self._clock(_some(late), "was not run on the whole table")

    def _finalists(self, ranked: list[_Way]) -> list[_Way]:
        """The ways to run on the table besides the default, as far as there is time for them."""
        rows = self.table.rows
        done = [way for way in ranked if self.score[way] < float("inf")]
        if self._sample_rows() == rows:  # the sample was the table
            return [way for way in done[:1] if way not in self.defaults]
        leaders: dict[tuple[Algorithm, _Variant], _Way] = {}
        for way in done:
            leaders.setdefault((way.algorithm, way.variant), way)
        two = list(leaders.values())[:2]  # not three guides of one algorithm
        order = two + [way for way in done if way not in two]
        left = self.seconds * (1 - SHARE)
        chosen: list[_Way] = []
        dear: list[_Way] = []
        for way in order:
            if len(chosen) == FINALISTS:
                break
            if way in self.defaults:
                continue
            work = way.work(rows)
            if work > left:
                dear.append(way)
            else:
                chosen.append(way)
                left -= work
        if dear:
            self.notes.append(
                f"by estimate there was no time in {self.seconds:g} seconds to try on the whole "
                f"table: {_some(dear)}"
            )
        return chosen

    def _run(self, way: _Way, rank: int, brake: bool) -> None:
        """Run a way on the whole table, and keep what comes of it."""
        rng = np.random.default_rng(self.seed)
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        table = way.variant.table
        tell = self._until_brake() if brake else self.progress
        try:
            recoding = way.algorithm.recode(table, self.plan.models, way.loss, rng, tell)
            (lost,) = alterations(table, recoding, [self.yardstick])
            self.known[way] = lost
            self.found.append((lost, rank, way, recoding, rng))
            self.found = [self._best]  # a recoding takes memory
        except ShoalError as error:
            reason = str(error)
            self.error = self.error or error
        except _Late:
            reason = self._stopped(begin)
            self._clock(str(way), f"was {reason} on the whole table")
        self._tell(way, "table", self.table.rows, lost, begin, reason)

    def _stopped(self, begin: float) -> str:
        return f"stopped after {self.watch.seconds - begin:.1f} seconds"

    def _until_brake(self) -> Progress:
        """Progress that ends a run when the brake is pulled."""

        def tell(stage: str, share: float) -> None:
            if self.watch.seconds > self.brake:
                raise _Late
            self.progress(stage, share)

        return tell

    def _clock(self, ways: str, what: str) -> None:
        self.notes.append(
            f"the clock decided: {ways} {what}, as it took far longer than estimated for "
            f"{self.seconds:g} seconds; on another machine the choice may differ"
        )

    def _tell(self, way: _Way, on: str, rows: int, lost: float, begin: float, reason: str) -> None:
        seconds = round(self.watch.seconds - begin, 6)
        known = None if lost == float("inf") else lost
        name = label(way.algorithm)
        self.tried.append(
            Tried(name, way.loss.name, on, rows, known, seconds, reason, free=way.variant.free)
        )

    def _why(self, way: _Way) -> str:
        """What was chosen, and by how much it is better."""
        lost = self._best[0]
        by = "mean of the seven metrics" if self.plan.loss.is_auto else self.plan.loss.name
        parts = [one for one in self.tried if one.on == "sample"]
        full = [one for one in self.tried if one.on == "table" and one.lost is not None]
        mine = label(way.algorithm), way.loss.name, way.variant.free
        rest = [  # on as many rows: on a sample everything loses more
            one
            for one in self.tried
            if one.rows == self.table.rows and (one.algorithm, one.loss, one.free) != mine
        ]
        beside = ""
        for one in sorted((r for r in rest if r.lost is not None), key=lambda r: r.lost or 0)[:1]:
            beside = f"; next {one.words}, {one.lost:.2f} %"
        default = self.defaults[0]
        if way not in self.defaults and default in self.known:
            beside += f"; the default, {default}, {self.known[default]:.2f} %"
        sampled = f"{_times(len(parts))} on {parts[0].rows:,} rows and " if parts else ""
        free = (
            "; columns without a hierarchy are published as free ranges or sets: give them "
            "hierarchy = { flat = true } to publish their values as they are or not at all"
            if way.variant.free
            else ""
        )
        return (
            f"auto chose {way}: {lost:.2f} % lost ({by}){beside}; it tried "
            f"{sampled}{_times(len(full))} on all "
            f"{self.table.rows:,}; the plan of this release names what was chosen{free}"
        )


def _some(ways: Sequence[_Way]) -> str:
    told = ", ".join(map(str, ways[:SHOWN]))
    return told if len(ways) <= SHOWN else f"{told} and {len(ways) - SHOWN} more ways"


def _times(many: int) -> str:
    return "one way" if many == 1 else f"{many} ways"


def _losses(plan: Plan) -> list[Loss]:
    """The guiding losses to try, first the one with which algorithms are compared."""
    if not plan.loss.is_auto:
        return [plan.loss]
    made = [Mean(), *(catalog.losses.make(name) for name in METRICS)]
    return [loss for loss in made if isinstance(loss, Loss)]
