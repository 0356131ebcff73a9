"""Search: which candidates are tried in which order, and which one is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.key_sets import recode_for
from shoal.algorithms._shared.parts.part_task import MapParts
from shoal.base.progress import Progress, silent
from shoal.base.stopwatch import Stopwatch, stopwatch
from shoal.base.wording import listed, many
from shoal.flow.auto_select.candidates import (
    Candidate,
    Candidates,
    Encoded,
    Variant,
    label,
    list_candidates,
)
from shoal.flow.auto_select.trials import Found, Trials
from shoal.flow.choose_parts import parting_of
from shoal.measures.tried import Tried
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.table.weighted import Weighted

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
    table: Table,
    plan: Plan,
    progress: Progress = silent,
    encoded: Encoded | None = None,
    elsewhere: MapParts | None = None,
) -> Recoded:
    """Choose what is published of each record, after choosing what the plan leaves open.

    The result is the same as that of the chosen plan, run with the same seed. `encoded` makes the
    table of another plan; without it the hierarchies do not change. `elsewhere` recodes parts.
    """
    if not (plan.algorithm.is_auto or plan.loss.is_auto):
        rng = np.random.default_rng(plan.seed)
        recoding = recode_for(
            plan.algorithm,
            table,
            plan.models,
            plan.loss,
            rng,
            progress,
            parting_of(plan, elsewhere),
            plan.known,
            plan.suppression,
        )
        return Recoded(plan, table, recoding, rng, [], [])
    with stopwatch() as watch:  # compiling kernels on a first run is not counted
        return CandidateSearch(table, plan, progress, watch, encoded).run()


def sample(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """About this many rows of a table, with all rows of the people that they belong to.

    The order of the rows does not matter.
    """
    table = Weighted(table).table(together=False)
    people = table.person_count
    drawn = rng.permutation(people)[: max(1, round(people * rows / table.rows))]
    if table.people is None:
        return table.take(np.sort(drawn))
    return table.take(np.flatnonzero(np.isin(table.people, drawn)))


class CandidateSearch:
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
        self.candidates = Candidates(table, plan, encoded)
        self.trials = Trials(table, plan, progress, watch)
        self.score: dict[Candidate, float] = {}  # losses on the sample

    def run(self) -> Recoded:
        """The default on the whole table, the others on samples, the best of them on the table."""
        self.run_defaults()
        ranked = self.on_samples()
        self.on_the_table(ranked)
        best = self.trials.best
        if best is None:
            assert self.trials.error is not None
            raise self.trials.error
        candidate = best.candidate
        plan = candidate.variant.plan.changed(algorithm=candidate.algorithm, loss=candidate.loss)
        chosen = label(candidate.algorithm), candidate.loss.name, "table", candidate.variant.free
        tried = [
            replace(one, chosen=(one.algorithm, one.loss, one.on, one.free) == chosen)
            for one in self.trials.tried
        ]
        notes = [self._why(best), *_only_for(best), *_suppressing(best), *self.trials.notes]
        return Recoded(plan, candidate.variant.table, best.recoding, best.rng, tried, notes)

    def run_defaults(self) -> None:
        """Run the default without a limit; its time shows how fast this machine is now."""
        begin, defaults = self.trials.watch.seconds, self.candidates.defaults
        for place, candidate in enumerate(defaults):
            self.trials.on_table(candidate, place - len(defaults), False)
        self.trials.set_brake(begin, sum(candidate.work(self.table.rows) for candidate in defaults))

    def on_samples(self) -> list[Candidate]:
        """All candidates, the lowest loss on a sample first; those that failed come last."""
        score, rows, candidates = self.score, self._sample_rows(), self.candidates
        parts = {
            one: sample(one.table, rows, np.random.default_rng([self.trials.seed, rows]))
            for one in candidates.variants
        }
        if rows == self.table.rows:  # what was run on the table need not run again
            known = self.trials.known
            score |= {one: known.get(one, float("inf")) for one in candidates.defaults}
        more = len(candidates.losses) - 1
        total = len(candidates.first) + more * min(BEST, len(candidates.first))

        def try_all(those: list[Candidate]) -> None:
            for candidate in those:
                if candidate not in score:
                    part = parts[candidate.variant]
                    score[candidate] = self.trials.on_sample(part, candidate, len(score), total)

        # Fast ones first: if the brake stops the search, most candidates have been tried.
        try_all(sorted(candidates.first, key=lambda candidate: candidate.work(rows)))
        best = sorted(candidates.first, key=lambda candidate: round(score[candidate], 9))[:BEST]
        able = [one for one in best if score[one] < float("inf")]
        try_all([candidates.guided(one, loss) for one in able for loss in candidates.losses[1:]])
        self.trials.note_samples()
        return sorted(score, key=lambda candidate: round(score[candidate], 9))

    def on_the_table(self, ranked: list[Candidate]) -> None:
        """Run the finalists, the fastest first; others only while there is no release."""
        rows, trials = self.table.rows, self.trials
        first = sorted(self.finalists(ranked), key=lambda candidate: candidate.work(rows))
        late: list[Candidate] = []
        for candidate in first:
            if trials.too_late and trials.best is not None:
                late.append(candidate)
            else:
                trials.on_table(candidate, ranked.index(candidate), trials.best is not None)
        for candidate in ranked:
            run = candidate in first or candidate in self.candidates.defaults
            if trials.best is None and not run:
                trials.on_table(candidate, ranked.index(candidate), False)
        if late:
            trials.note_clock(list_candidates(late), "not run on the whole table")

    def finalists(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates to run on the whole table in addition to the default, as time allows."""
        rows, defaults = self.table.rows, self.candidates.defaults
        done = [candidate for candidate in ranked if self.score[candidate] < float("inf")]
        if self._sample_rows() == rows:  # the sample was the table
            return [candidate for candidate in done[:1] if candidate not in defaults]
        left = self.trials.seconds * (1 - SHARE)
        chosen: list[Candidate] = []
        expensive: list[Candidate] = []
        for candidate in (one for one in _two_algorithms_first(done) if one not in defaults):
            if len(chosen) == FINALISTS:
                break
            work = candidate.work(rows)
            if work > left:
                expensive.append(candidate)
            else:
                chosen.append(candidate)
                left -= work
        if expensive:
            seconds = f"{self.trials.seconds:g} seconds"
            self.trials.notes.append(
                f"not run on the whole table, as the estimated work exceeds {seconds}: "
                f"{list_candidates(expensive)}"
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
        work = sorted(candidate.work(rows) for candidate in self.candidates.first)
        return sum(work) + (len(self.candidates.losses) - 1) * sum(work[-BEST:])

    def _why(self, best: Found) -> str:
        """What was chosen, and by how much it is better."""
        candidate, rows = best.candidate, self.table.rows
        by = "mean of the seven metrics" if self.plan.loss.is_auto else self.plan.loss.name
        tried = self.trials.tried
        parts = [one for one in tried if one.on == "sample"]
        full = [one for one in tried if one.on == "table" and one.lost is not None]
        sampled = f"{many(len(parts), 'candidate')} on {parts[0].rows:,} rows and " if parts else ""
        free = (
            "; columns without a hierarchy are published as free ranges or sets: give them "
            "hierarchy = { flat = true } to publish their values unchanged or not at all"
            if candidate.variant.free
            else ""
        )
        return (
            f"auto chose {candidate}: {best.lost:.2f} % lost ({by}){self._compared(candidate)}; it "
            f"tried {sampled}{many(len(full), 'candidate')} on all "
            f"{rows:,}; the plan of this release names what was chosen{free}"
        )

    def _compared(self, candidate: Candidate) -> str:
        """The losses of the next best candidate and of the default."""
        mine = label(candidate.algorithm), candidate.loss.name, candidate.variant.free
        rest = [  # on the whole table: on a sample everything loses more
            one
            for one in self.trials.tried
            if one.rows == self.table.rows and (one.algorithm, one.loss, one.free) != mine
        ]
        said = ""
        for one in sorted((r for r in rest if r.lost is not None), key=lambda r: r.lost or 0)[:1]:
            said = f"; next {one.words}, {one.lost:.2f} %"
        default, known = self.candidates.defaults[0], self.trials.known
        if candidate not in self.candidates.defaults and default in known:
            said += f"; the default, {default}, {known[default]:.2f} %"
        return said


def _suppressing(best: Found) -> list[str]:
    """Warn if the chosen algorithm suppressed records, which nobody asked for."""
    gone = int((best.recoding.record == SUPPRESSED).sum())
    if not gone:
        return []
    return [
        f"{best.candidate.algorithm.name}, which auto chose, suppresses "
        f"{gone:,} of {many(len(best.recoding.record), 'record')}; name an algorithm in the plan "
        "that publishes all of them if counts made from the release must be complete"
    ]


def _only_for(best: Found) -> list[str]:
    """Say why an algorithm was chosen that is not advised, and what is."""
    algorithm, models = best.candidate.algorithm, best.candidate.variant.plan.models
    if algorithm.rather is None:
        return []
    return [
        f"auto tries {algorithm.name} only because the plan asks for "
        f"{listed([model.key for model in models])}; {algorithm.rather} usually loses less for the "
        "same certainty of an attacker: consider asking for that instead"
    ]


def _two_algorithms_first(done: list[Candidate]) -> list[Candidate]:
    """The same order, but the best candidate of a second algorithm comes second.

    There should not be three guiding losses of one algorithm among the finalists.
    """
    leaders: dict[tuple[Algorithm, Variant], Candidate] = {}
    for candidate in done:
        leaders.setdefault((candidate.algorithm, candidate.variant), candidate)
    two = list(leaders.values())[:2]
    return two + [candidate for candidate in done if candidate not in two]
