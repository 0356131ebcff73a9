"""Choose: settles what a plan leaves open, by trying what is promising.

Mauger et al. end by asking for a procedure that finds, from the table and its hierarchies, the
metric and the strategy that suit them best (Sec. 5, Mauger 2023). This one tries them. Every
algorithm that serves the plan runs on a sample of people, guided by one loss; the best of them
guided by all losses; and the best of those on the whole table. What loses least is kept: by the
mean of the seven metrics (Def. 9) where the loss is open too, else by the plan's loss.

How much is tried follows from estimates of work, which are the same on every machine, so that a
seed gives the same choice everywhere. The clock is a last resort, and what it decided is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.algorithms.auto import Auto
from shoal.algorithms.gaa import GAA
from shoal.columns import Table
from shoal.errors import SHOWN, BadPlan, ShoalError
from shoal.free import Covers
from shoal.losses import Floats, Loss, alteration
from shoal.losses.mean import Mean
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.published import Held
from shoal.quality import METRICS
from shoal.recoding import Recoding

SAMPLE, FEWEST = 4_000, 250  # rows of a sample, at the most and at the least
CROWDS = 20  # classes of k people that a sample must have room for
BEST, FINALISTS = 3, 3  # algorithms that are tried with all losses; runs on the whole table
SHARE = 1 / 3  # of the time that may go into samples
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
    return _Search(table, plan, progress).run()


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


def alterations(table: Table, recoding: Recoding, losses: Sequence[Loss]) -> list[float]:
    """Percent of alteration by each loss (Def. 7, Mauger 2023), before anything is decoded."""
    codes = recoding.codes()  # int32[n, q]; what is suppressed is all roots
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    after: list[Floats] = []
    for j, tree in enumerate(table.trees):
        covers = recoding.covers[j] if recoding.covers else Covers(tree)
        count = np.bincount(codes[:, j], minlength=tree.size + len(covers)).astype(np.float64)
        after.append(Held(count[: tree.size], count[tree.size :], covers).spread())
    return [alteration(loss.costs(table.domains), before, after) for loss in losses]


def sample(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """About so many rows of a table, with all rows of the people that they belong to."""
    drawn = rng.permutation(table.crowd)[: max(1, round(table.crowd * rows / table.rows))]
    if table.people is None:
        kept, people = np.sort(drawn), None
    else:
        kept = np.flatnonzero(np.isin(table.people, drawn))
        people = np.unique(table.people[kept], return_inverse=True)[1].astype(np.int64)
    sensitive = tuple(replace(one, codes=one.codes[kept]) for one in table.sensitive)
    codes = np.ascontiguousarray(table.codes[kept])
    return Table(table.names, table.trees, codes, people, table.exact, sensitive)


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

    def __init__(self, table: Table, plan: Plan, progress: Progress) -> None:
        self.table, self.plan, self.progress = table, plan, progress
        # Without a seed chance comes from the operating system, once for all that is tried.
        self.seed = secrets.randbits(128) if plan.seed is None else plan.seed
        self.seconds = (
            plan.algorithm.seconds if isinstance(plan.algorithm, Auto) else Auto().seconds
        )
        self.tried: list[Tried] = []
        self.notes: list[str] = []
        self.yardstick = Mean() if plan.loss.undecided else plan.loss
        self.losses = _losses(plan)
        self.algorithms = candidates(plan, table)
        self.found: tuple[float, _Way, Recoding, np.random.Generator] | None = None
        self.error: ShoalError | None = None

    def run(self) -> Recoded:
        """Samples first, then the whole table."""
        ranked = self._on_samples()
        self._on_the_table(ranked)
        if self.found is None:
            assert self.error is not None
            raise self.error
        _, way, recoding, rng = self.found
        plan = self.plan.changed(algorithm=way.algorithm, loss=way.loss)
        kept = label(way.algorithm), way.loss.name, "table"
        tried = [
            replace(one, chosen=(one.algorithm, one.loss, one.on) == kept) for one in self.tried
        ]
        return Recoded(plan, recoding, rng, tried, [self._why(way), *self.notes])

    def _on_samples(self) -> list[_Way]:
        """All ways, those first that lost least on a sample; those that failed come last."""
        rows = self._sample_rows()
        part = sample(self.table, rows, np.random.default_rng([self.seed, rows]))
        score: dict[_Way, float] = {}
        first = [_Way(algorithm, self.losses[0]) for algorithm in self.algorithms]
        more = len(self.losses) - 1
        total = len(first) + more * min(BEST, len(first))
        for way in first:
            score[way] = self._try(part, way, len(score) / total)
        best = sorted(first, key=score.__getitem__)[:BEST]
        for way in [_Way(one.algorithm, loss) for one in best for loss in self.losses[1:]]:
            score[way] = self._try(part, way, len(score) / total)
        return sorted(score, key=lambda way: round(score[way], 9))

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

    def _try(self, part: Table, way: _Way, share: float) -> float:
        """What a way loses on a sample."""
        self.progress("trying", share)
        rng = np.random.default_rng(self.seed)
        begin = perf_counter()
        lost, reason = float("inf"), ""
        try:
            recoding = way.algorithm.recode(part, self.plan.models, way.loss, rng)
            (lost,) = alterations(part, recoding, [self.yardstick])
        except ShoalError as error:
            reason = str(error)
        self._tell(way, "sample", part.rows, lost, begin, reason)
        return lost

    def _on_the_table(self, ranked: list[_Way]) -> None:
        """Run the finalists; more only as long as there is no release."""
        over = perf_counter() + self.seconds  # compiling was done on the sample
        first = self._finalists(ranked)
        for way in [*first, *(way for way in ranked if way not in first)]:
            if self.found is None:
                self._run(way, None)
            elif way not in first:
                break
            elif perf_counter() > over:
                self._clock(way, f"had not begun when {self.seconds:g} seconds were over")
            else:
                self._run(way, over)

    def _finalists(self, ranked: list[_Way]) -> list[_Way]:
        """The ways to run on the table, as far as their work fits in by estimate."""
        rows = self.table.rows
        if any(one.rows == rows for one in self.tried):
            return ranked[:1]  # the sample was the table
        leaders: dict[Algorithm, _Way] = {}
        for way in ranked:
            leaders.setdefault(way.algorithm, way)
        two = list(leaders.values())[:2]  # not three guides of one algorithm
        order = two + [way for way in ranked if way not in two]
        left = self.seconds * (1 - SHARE)
        chosen: list[_Way] = []
        dear: list[_Way] = []
        for way in order:
            work = way.algorithm.work(rows)
            if len(chosen) == FINALISTS:
                break
            if work <= left:
                chosen.append(way)
                left -= work
            else:
                dear.append(way)
        if dear:
            self.notes.append(
                f"by estimate there was no time in {self.seconds:g} seconds to try on the whole "
                f"table: {_some(dear)}"
            )
        if not chosen:
            quickest = min(ranked, key=lambda way: way.algorithm.work(rows))
            return [quickest]
        return chosen

    def _run(self, way: _Way, over: float | None) -> None:
        """Run a way on the whole table, and keep it if it is the best so far."""
        rng = np.random.default_rng(self.seed)
        begin = perf_counter()
        lost, reason = float("inf"), ""
        try:
            recoding = way.algorithm.recode(
                self.table, self.plan.models, way.loss, rng, self._until(over)
            )
            (lost,) = alterations(self.table, recoding, [self.yardstick])
            if self.found is None or round(lost, 9) < round(self.found[0], 9):
                self.found = lost, way, recoding, rng
        except ShoalError as error:
            reason = str(error)
            self.error = self.error or error
        except _Late:
            reason = f"stopped after {perf_counter() - begin:.1f} seconds"
            self._clock(way, f"was {reason}")
        self._tell(way, "table", self.table.rows, lost, begin, reason)

    def _until(self, over: float | None) -> Progress:
        """Progress that ends a run when its time is over."""
        if over is None:
            return self.progress

        def tell(stage: str, share: float) -> None:
            if perf_counter() > over:
                raise _Late
            self.progress(stage, share)

        return tell

    def _clock(self, way: _Way, what: str) -> None:
        self.notes.append(
            f"the clock decided: {way} {what}; on another machine the choice may differ"
        )

    def _tell(self, way: _Way, on: str, rows: int, lost: float, begin: float, reason: str) -> None:
        seconds = round(perf_counter() - begin, 6)
        known = None if lost == float("inf") else lost
        self.tried.append(
            Tried(label(way.algorithm), way.loss.name, on, rows, known, seconds, reason)
        )

    def _why(self, way: _Way) -> str:
        """What was chosen, and by how much it is better."""
        assert self.found is not None
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
            f"auto chose {way}: {self.found[0]:.2f} % lost ({by}){beside}; it tried "
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
