"""Choose: settles what a plan leaves open, by trying what is promising.

Mauger et al. end by asking for a procedure that finds, from the table and its hierarchies, the
metric and the strategy that suit them best (Sec. 5, Mauger 2023). This one tries them. Every
algorithm that serves the plan runs on a sample of people, guided by one loss; the best of them
guided by all losses; and the best of those on the whole table. What loses least is kept: by the
mean of the seven metrics (Def. 9) where the loss is open too, else by the plan's loss.

How much is tried follows from estimates of work, which are the same on every machine, and from a
clock that begins with the search: a run that lasts too long is ended, and what the samples took
says what there is time for on the table. As long as the clock ends and leaves out nothing, a seed
gives the same choice everywhere; otherwise a note says that it depends on the machine's speed. The
one run that nothing ends is the one that is to bring the first release: there must be one.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.algorithms.auto import Auto
from shoal.algorithms.gaa import GAA
from shoal.columns import Table
from shoal.errors import SHOWN, BadPlan, ShoalError
from shoal.losses import Loss
from shoal.losses.mean import Mean
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.published import alterations
from shoal.quality import METRICS
from shoal.recoding import Recoding
from shoal.stopwatch import Stopwatch, stopwatch

SAMPLE, FEWEST = 4_000, 250  # rows of a sample, at the most and at the least
CROWDS = 20  # classes of k people that a sample must have room for
BEST, FINALISTS = 3, 3  # algorithms that are tried with all losses; runs on the whole table
SHARE = 1 / 3  # of the time that may go into samples by estimate
MOST = 1 / 2  # of the time that may go into samples by the clock
PART = 1 / 4  # of the time that is left for samples, which one run on them may take, or else
OVER = 4  # times its estimate
STRATEGIES: tuple[Literal["S2", "S3", "S4", "S6", "S7"], ...] = (
    "S2",
    "S3",
    "S4",
    "S6",
    "S7",
)  # S5 loses nearly everything (Sec. 4.3, Mauger 2023)


@dataclass(frozen=True)
class Tried:
    """One thing that was tried, and what it lost."""

    algorithm: str  # its name, and the options that differ from the default
    loss: str  # the guiding loss
    on: str  # "sample" or "table"
    rows: int
    lost: float | None  # percent; None: it did not come to an end
    seconds: float
    reason: str = ""  # why it did not
    chosen: bool = False

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Recoded:
    """What will be published, by a plan that leaves nothing open."""

    plan: Plan
    recoding: Recoding
    rng: np.random.Generator  # where chance goes on
    tried: list[Tried]
    notes: list[str]


def recode(table: Table, plan: Plan, progress: Progress = silent) -> Recoded:
    """Choose what is published of each record; choose first how, where the plan leaves it open.

    The result is the same as that of the plan which was chosen, run with the same seed.
    """
    if not (plan.algorithm.undecided or plan.loss.undecided):
        rng = np.random.default_rng(plan.seed)
        recoding = plan.algorithm.recode(table, plan.models, plan.loss, rng, progress)
        return Recoded(plan, recoding, rng, [], [])
    with stopwatch() as watch:  # compiling kernels on a first run is not counted
        return _Search(table, plan, progress, watch).run()


def label(algorithm: Algorithm) -> str:
    """The name of an algorithm, and the options that differ from the default.

    >>> label(GAA(weight="unit"))
    'gaa weight=unit'
    """
    chosen = {key: value for key, value in algorithm.setting().items() if key != "name"}
    return " ".join([algorithm.name, *(f"{key}={value}" for key, value in chosen.items())])


def candidates(plan: Plan, table: Table) -> list[Algorithm]:
    """The algorithms that serve a plan; gaa also with the strategies that look at a column."""
    if not plan.algorithm.undecided:
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
    """The time is over."""


@dataclass(frozen=True, eq=False)
class _Way:
    """An algorithm and a guiding loss."""

    algorithm: Algorithm
    loss: Loss

    def __str__(self) -> str:
        return f"{label(self.algorithm)} guided by {self.loss.name}"


class _Search:
    """One search: what is tried, in which order, and what was found."""

    def __init__(self, table: Table, plan: Plan, progress: Progress, watch: Stopwatch) -> None:
        self.table, self.plan, self.progress, self.watch = table, plan, progress, watch
        # Without a seed chance comes from the operating system, once for all that is tried.
        self.seed = secrets.randbits(128) if plan.seed is None else plan.seed
        self.seconds = (
            plan.algorithm.seconds if isinstance(plan.algorithm, Auto) else Auto().seconds
        )
        self.tried: list[Tried] = []
        self.notes: list[str] = []
        self.score: dict[_Way, float] = {}  # what each way lost on the sample
        self.stopped: list[_Way] = []  # by the clock, on the sample
        self.unseen: list[_Way] = []  # what the clock did not let begin there
        self.spent: dict[_Way, float] = {}  # seconds that a way took on the sample, or at the least
        self.yardstick = Mean() if plan.loss.undecided else plan.loss
        self.losses = _losses(plan)
        self.algorithms = candidates(plan, table)
        self.found: list[tuple[float, int, _Way, Recoding, np.random.Generator]] = []
        self.error: ShoalError | None = None

    def run(self) -> Recoded:
        """Samples first, then the whole table."""
        ranked = self._on_samples()
        self._on_the_table(ranked)
        if not self.found:
            assert self.error is not None
            raise self.error
        _, _, way, recoding, rng = self._best
        plan = self.plan.changed(algorithm=way.algorithm, loss=way.loss)
        kept = label(way.algorithm), way.loss.name, "table"
        tried = [
            replace(one, chosen=(one.algorithm, one.loss, one.on) == kept) for one in self.tried
        ]
        return Recoded(plan, recoding, rng, tried, [self._why(way), *self.notes])

    @property
    def _best(self) -> tuple[float, int, _Way, Recoding, np.random.Generator]:
        """What lost least on the table; of equals what was better on the sample."""
        return min(self.found, key=lambda one: (round(one[0], 9), one[1]))

    def _on_samples(self) -> list[_Way]:
        """All ways, those first that lost least on a sample; those that failed come last."""
        score, rows = self.score, self._sample_rows()
        part = sample(self.table, rows, np.random.default_rng([self.seed, rows]))
        first = [_Way(algorithm, self.losses[0]) for algorithm in self.algorithms]
        more = len(self.losses) - 1
        total = len(first) + more * min(BEST, len(first))
        # What is quick goes first: if the time runs out, most of it has been seen.
        for way in sorted(first, key=lambda way: way.algorithm.work(rows)):
            score[way] = self._try(part, way, len(score), total)
        best = sorted(first, key=lambda way: round(score[way], 9))[:BEST]
        able = [one for one in best if score[one] < float("inf")]
        for way in [_Way(one.algorithm, loss) for one in able for loss in self.losses[1:]]:
            score[way] = self._try(part, way, len(score), total)
        self._tell_of_samples()
        return sorted(score, key=lambda way: round(score[way], 9))

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
        work = sorted(algorithm.work(rows) for algorithm in self.algorithms)
        return sum(work) + (len(self.losses) - 1) * sum(work[-BEST:])

    def _try(self, part: Table, way: _Way, place: int, total: int) -> float:
        """What a way loses on a sample; it may take a part of the time that is left for samples."""
        begin = self.watch.seconds
        left = MOST * self.seconds - begin
        lost, reason = float("inf"), ""
        if left <= 0 and place > 0:
            self.unseen.append(way)
            return lost
        rng = np.random.default_rng(self.seed)
        most = max(PART * left, min(left, OVER * way.algorithm.work(part.rows)), 0.0)
        tell = self._within(begin + most, place, total)
        try:
            recoding = way.algorithm.recode(part, self.plan.models, way.loss, rng, tell)
            (lost,) = alterations(part, recoding, [self.yardstick])
        except ShoalError as error:
            reason = str(error)
        except _Late:
            reason = self._stopped(begin)
            self.stopped.append(way)
        self.spent[way] = self.watch.seconds - begin
        self._tell(way, "sample", part.rows, lost, begin, reason)
        return lost

    def _within(self, over: float, place: int, total: int) -> Progress:
        """Progress of one of the runs on samples."""
        until, furthest = self._until(over), 0.0

        def tell(stage: str, share: float) -> None:  # noqa: ARG001 (they are all trying)
            nonlocal furthest
            furthest = max(furthest, min(share, 1.0))
            until("trying", (place + furthest) / total)

        self.progress("trying", place / total)
        return tell

    def _on_the_table(self, ranked: list[_Way]) -> None:
        """Run the finalists, the quickest first; others only as long as there is no release."""
        first = self._finalists(ranked)
        hurry = sum(map(self._expected, first)) > self.seconds - self.watch.seconds
        # With time for all of them the order is the same on every machine.
        rows = self.table.rows
        soon = sorted(first, key=self._expected if hurry else lambda way: way.algorithm.work(rows))
        late: list[_Way] = []
        for way in [*soon, *(way for way in ranked if way not in first)]:
            if not self.found:
                self._run(way, ranked.index(way), None)
            elif way not in first:
                break
            elif self.watch.seconds + self._expected(way) > self.seconds:
                late.append(way)
            else:
                self._run(way, ranked.index(way), self.seconds)
        if late:
            self._clock(_some(late), "was not run on the whole table")

    def _expected(self, way: _Way) -> float:
        """Seconds that a way takes on the table: by estimate, or more if the sample took more."""
        work = way.algorithm.work(self.table.rows)
        part = next(one.rows for one in self.tried[::-1] if one.on == "sample")
        return max(work, self.spent.get(way, 0.0) * work / way.algorithm.work(part))

    def _finalists(self, ranked: list[_Way]) -> list[_Way]:
        """The ways to run on the table, as far as there is time for them."""
        rows = self.table.rows
        done = [way for way in ranked if self.score[way] < float("inf")]
        if done and self.tried[-1].rows == rows:
            return done[:1]  # the sample was the table
        leaders: dict[Algorithm, _Way] = {}
        for way in done:
            leaders.setdefault(way.algorithm, way)
        two = list(leaders.values())[:2]  # not three guides of one algorithm
        order = two + [way for way in done if way not in two]
        work_left = time_left = self.seconds * (1 - SHARE)
        chosen: list[_Way] = []
        dear: list[_Way] = []
        slow: list[_Way] = []
        for way in order:
            if len(chosen) == FINALISTS:
                break
            work, expected = way.algorithm.work(rows), self._expected(way)
            if work > work_left:
                dear.append(way)
            elif expected > time_left:
                slow.append(way)
            else:
                chosen.append(way)
                work_left -= work
                time_left -= expected
        if dear:
            self.notes.append(
                f"by estimate there was no time in {self.seconds:g} seconds to try on the whole "
                f"table: {_some(dear)}"
            )
        if slow:
            self._clock(_some(slow), "was too slow on the sample for the whole table")
        return chosen or [min(ranked, key=self._expected)]

    def _run(self, way: _Way, rank: int, over: float | None) -> None:
        """Run a way on the whole table, and keep what comes of it."""
        rng = np.random.default_rng(self.seed)
        begin = self.watch.seconds
        lost, reason = float("inf"), ""
        try:
            recoding = way.algorithm.recode(
                self.table, self.plan.models, way.loss, rng, self._until(over)
            )
            (lost,) = alterations(self.table, recoding, [self.yardstick])
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

    def _until(self, over: float | None) -> Progress:
        """Progress that ends a run when its time is over."""
        if over is None:
            return self.progress

        def tell(stage: str, share: float) -> None:
            if self.watch.seconds > over:
                raise _Late
            self.progress(stage, share)

        return tell

    def _clock(self, ways: str, what: str) -> None:
        self.notes.append(
            f"the clock decided, for {self.seconds:g} seconds: {ways} {what}; this depends on the "
            "speed of the machine, and on another one the choice may differ"
        )

    def _tell(self, way: _Way, on: str, rows: int, lost: float, begin: float, reason: str) -> None:
        seconds = round(self.watch.seconds - begin, 6)
        known = None if lost == float("inf") else lost
        self.tried.append(
            Tried(label(way.algorithm), way.loss.name, on, rows, known, seconds, reason)
        )

    def _why(self, way: _Way) -> str:
        """What was chosen, and by how much it is better."""
        lost = self._best[0]
        by = "mean of the seven metrics" if self.plan.loss.undecided else self.plan.loss.name
        parts = [one for one in self.tried if one.on == "sample"]
        full = [one for one in self.tried if one.on == "table" and one.lost is not None]
        mine = label(way.algorithm), way.loss.name
        rest = [  # on as many rows: on a sample everything loses more
            one
            for one in self.tried
            if one.rows == self.table.rows and (one.algorithm, one.loss) != mine
        ]
        beside = ""
        for one in sorted((r for r in rest if r.lost is not None), key=lambda r: r.lost or 0)[:1]:
            beside = f"; next {one.algorithm} guided by {one.loss}, {one.lost:.2f} %"
        return (
            f"auto chose {way}: {lost:.2f} % lost ({by}){beside}; it tried "
            f"{_times(len(parts))} on {parts[0].rows:,} rows and {_times(len(full))} on all "
            f"{self.table.rows:,}; the plan of this release names what was chosen"
        )


def _some(ways: Sequence[_Way]) -> str:
    told = ", ".join(map(str, ways[:SHOWN]))
    return told if len(ways) <= SHOWN else f"{told} and {len(ways) - SHOWN} more ways"


def _times(many: int) -> str:
    return "one way" if many == 1 else f"{many} ways"


def _losses(plan: Plan) -> list[Loss]:
    """The guiding losses to try, first the one with which algorithms are compared."""
    if not plan.loss.undecided:
        return [plan.loss]
    made = [Mean(), *(catalog.losses.make(name) for name in METRICS)]
    return [loss for loss in made if isinstance(loss, Loss)]
