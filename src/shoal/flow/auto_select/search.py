"""Search: which candidates are tried in which order, and which one is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.table_models import recode as recode_with
from shoal.base.progress import Progress, silent
from shoal.base.stopwatch import Stopwatch, stopwatch
from shoal.base.wording import many
from shoal.flow.auto_select.trials import Found, Trials
from shoal.flow.auto_select.ways import Encoded, Variant, Way, Ways, label, list_ways
from shoal.measures.tried import Tried
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

SAMPLE, FEWEST = 4_000, 250  # rows of a sample, at the most and at the least
CLASSES = 20  # classes of k people that a sample must have room for
BEST = 3  # algorithms that are tried with all losses
FINALISTS = 3  # runs on the whole table in addition to the default
SHARE = 1 / 3  # of the work that may go into samples


@dataclass(frozen=True, eq=False)
class Recoded:
    """What will be published, by a plan that leaves nothing open."""

    plan: Plan
    table: Table  # encoded by that plan, whose hierarchies may differ from those of the given one
    recoding: Recoding
    rng: np.random.Generator  # continues the random sequence of the run
    tried: list[Tried]
    notes: list[str]


def recode(
    table: Table, plan: Plan, progress: Progress = silent, encoded: Encoded | None = None
) -> Recoded:
    """Choose what is published of each record, after choosing what the plan leaves open.

    The result is the same as that of the chosen plan, run with the same seed. `encoded` makes the
    table of another plan; without it the hierarchies do not change.
    """
    if not (plan.algorithm.is_auto or plan.loss.is_auto):
        rng = np.random.default_rng(plan.seed)
        recoding = recode_with(plan.algorithm, table, plan.models, plan.loss, rng, progress)
        return Recoded(plan, table, recoding, rng, [], [])
    with stopwatch() as watch:  # compiling kernels on a first run is not counted
        return Search(table, plan, progress, watch, encoded).run()


def sample(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """About this many rows of a table, with all rows of the people that they belong to."""
    people = table.person_count
    drawn = rng.permutation(people)[: max(1, round(people * rows / table.rows))]
    if table.people is None:
        return table.take(np.sort(drawn))
    return table.take(np.flatnonzero(np.isin(table.people, drawn)))


class Search:
    """One search for the best candidate."""

    def __init__(
        self,
        table: Table,
        plan: Plan,
        progress: Progress,
        watch: Stopwatch,
        encoded: Encoded | None = None,
    ) -> None:
        self.table, self.plan = table, plan
        self.ways = Ways(table, plan, encoded)
        self.trials = Trials(table, plan, progress, watch)
        self.score: dict[Way, float] = {}  # what each way lost on the sample

    def run(self) -> Recoded:
        """The default on the whole table, the others on samples, the best of them on the table."""
        self.run_defaults()
        ranked = self.on_samples()
        self.on_the_table(ranked)
        best = self.trials.best
        if best is None:
            assert self.trials.error is not None
            raise self.trials.error
        way = best.way
        plan = way.variant.plan.changed(algorithm=way.algorithm, loss=way.loss)
        chosen = label(way.algorithm), way.loss.name, "table", way.variant.free
        tried = [
            replace(one, chosen=(one.algorithm, one.loss, one.on, one.free) == chosen)
            for one in self.trials.tried
        ]
        notes = [self._why(best), *_suppressing(best), *self.trials.notes]
        return Recoded(plan, way.variant.table, best.recoding, best.rng, tried, notes)

    def run_defaults(self) -> None:
        """Run the default without a limit; its time shows how fast this machine is now."""
        begin, defaults = self.trials.watch.seconds, self.ways.defaults
        for place, way in enumerate(defaults):
            self.trials.on_table(way, place - len(defaults), False)
        self.trials.set_brake(begin, sum(way.work(self.table.rows) for way in defaults))

    def on_samples(self) -> list[Way]:
        """All candidates, the lowest loss on a sample first; those that failed come last."""
        score, rows, ways = self.score, self._sample_rows(), self.ways
        parts = {
            one: sample(one.table, rows, np.random.default_rng([self.trials.seed, rows]))
            for one in ways.variants
        }
        if rows == self.table.rows:  # what was run on the table need not run again
            score |= {way: self.trials.known.get(way, float("inf")) for way in ways.defaults}
        more = len(ways.losses) - 1
        total = len(ways.first) + more * min(BEST, len(ways.first))

        def try_all(those: list[Way]) -> None:
            for way in those:
                if way not in score:
                    part = parts[way.variant]
                    score[way] = self.trials.on_sample(part, way, len(score), total)

        # Fast ones first: if the brake stops the search, most candidates have been tried.
        try_all(sorted(ways.first, key=lambda way: way.work(rows)))
        best = sorted(ways.first, key=lambda way: round(score[way], 9))[:BEST]
        able = [one for one in best if score[one] < float("inf")]
        try_all([ways.guided(one, loss) for one in able for loss in ways.losses[1:]])
        self.trials.note_samples()
        return sorted(score, key=lambda way: round(score[way], 9))

    def on_the_table(self, ranked: list[Way]) -> None:
        """Run the finalists, the fastest first; others only while there is no release."""
        rows, trials = self.table.rows, self.trials
        first = sorted(self.finalists(ranked), key=lambda way: way.work(rows))
        late: list[Way] = []
        for way in first:
            if trials.too_late and trials.best is not None:
                late.append(way)
            else:
                trials.on_table(way, ranked.index(way), trials.best is not None)
        for way in ranked:
            if trials.best is None and way not in first and way not in self.ways.defaults:
                trials.on_table(way, ranked.index(way), False)
        if late:
            trials.note_clock(list_ways(late), "not run on the whole table")

    def finalists(self, ranked: list[Way]) -> list[Way]:
        """The candidates to run on the whole table in addition to the default, as time allows."""
        rows, defaults = self.table.rows, self.ways.defaults
        done = [way for way in ranked if self.score[way] < float("inf")]
        if self._sample_rows() == rows:  # the sample was the table
            return [way for way in done[:1] if way not in defaults]
        left = self.trials.seconds * (1 - SHARE)
        chosen: list[Way] = []
        expensive: list[Way] = []
        for way in (one for one in _two_algorithms_first(done) if one not in defaults):
            if len(chosen) == FINALISTS:
                break
            work = way.work(rows)
            if work > left:
                expensive.append(way)
            else:
                chosen.append(way)
                left -= work
        if expensive:
            seconds = f"{self.trials.seconds:g} seconds"
            self.trials.notes.append(
                f"not run on the whole table, as the estimated work exceeds {seconds}: "
                f"{list_ways(expensive)}"
            )
        return chosen

    def _sample_rows(self) -> int:
        """Rows of the sample: as many as the time allows by estimate."""
        rows = max(SAMPLE, CLASSES * self._k() * self.table.rows // self.table.person_count)
        while rows > FEWEST and self._sample_work(rows) > SHARE * self.trials.seconds:
            rows //= 2
        return min(rows, self.table.rows)

    def _k(self) -> int:
        return max(
            (model.hidden_among for model in self.plan.models if model.size_option), default=2
        )

    def _sample_work(self, rows: int) -> float:
        work = sorted(way.work(rows) for way in self.ways.first)
        return sum(work) + (len(self.ways.losses) - 1) * sum(work[-BEST:])

    def _why(self, best: Found) -> str:
        """What was chosen, and by how much it is better."""
        way, rows = best.way, self.table.rows
        by = "mean of the seven metrics" if self.plan.loss.is_auto else self.plan.loss.name
        tried = self.trials.tried
        parts = [one for one in tried if one.on == "sample"]
        full = [one for one in tried if one.on == "table" and one.lost is not None]
        sampled = f"{_times(len(parts))} on {parts[0].rows:,} rows and " if parts else ""
        free = (
            "; columns without a hierarchy are published as free ranges or sets: give them "
            "hierarchy = { flat = true } to publish their values unchanged or not at all"
            if way.variant.free
            else ""
        )
        return (
            f"auto chose {way}: {best.lost:.2f} % lost ({by}){self._compared(way)}; it tried "
            f"{sampled}{_times(len(full))} on all "
            f"{rows:,}; the plan of this release names what was chosen{free}"
        )

    def _compared(self, way: Way) -> str:
        """The losses of the next best candidate and of the default."""
        mine = label(way.algorithm), way.loss.name, way.variant.free
        rest = [  # on the whole table: on a sample everything loses more
            one
            for one in self.trials.tried
            if one.rows == self.table.rows and (one.algorithm, one.loss, one.free) != mine
        ]
        said = ""
        for one in sorted((r for r in rest if r.lost is not None), key=lambda r: r.lost or 0)[:1]:
            said = f"; next {one.words}, {one.lost:.2f} %"
        default, known = self.ways.defaults[0], self.trials.known
        if way not in self.ways.defaults and default in known:
            said += f"; the default, {default}, {known[default]:.2f} %"
        return said


def _suppressing(best: Found) -> list[str]:
    """Warn if the chosen algorithm suppressed records, which nobody asked for."""
    gone = int((best.recoding.record == SUPPRESSED).sum())
    if not gone:
        return []
    return [
        f"{best.way.algorithm.name}, which auto chose, suppresses "
        f"{gone:,} of {many(len(best.recoding.record), 'record')}; name an algorithm in the plan "
        "that publishes all of them if counts made from the release must be complete"
    ]


def _two_algorithms_first(done: list[Way]) -> list[Way]:
    """The same order, but the best candidate of a second algorithm comes second.

    There should not be three guiding losses of one algorithm among the finalists.
    """
    leaders: dict[tuple[Algorithm, Variant], Way] = {}
    for way in done:
        leaders.setdefault((way.algorithm, way.variant), way)
    two = list(leaders.values())[:2]
    return two + [way for way in done if way not in two]


def _times(many: int) -> str:
    return "one way" if many == 1 else f"{many} ways"
