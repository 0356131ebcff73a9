"""Search: run settings on a sample, and the promising ones on the whole table."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from shoal.base.errors import BadPlan, ShoalError
from shoal.base.progress import Progress, silent
from shoal.base.wording import percent
from shoal.comparing.compare import within_run
from shoal.comparing.frontier.advice import Place, compared, knee_of, undominated
from shoal.comparing.frontier.goal import Goal, goal_of, judged
from shoal.comparing.frontier.points import (
    RISK_WORDS,
    RISKS,
    Frontier,
    Point,
    Risk,
    UnfinishedFrontier,
)
from shoal.comparing.frontier.settings import TriedSetting, changed_model, own_values, tried_plans
from shoal.flow.anonymize import anonymize
from shoal.flow.opening import open_table
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.plan import Plan
from shoal.table.coded_columns import person_codes
from shoal.table.roles import columns_with_role, linking_columns

SAMPLE = 5_000  # people of the sample
RUNS = 8  # settings that are run on the whole table, besides that of the plan
Values = int | float | Iterable[int | float] | None


def frontier(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    read: Reading | Mapping[str, Any] | None = None,
    k: Values = None,
    l: Values = None,  # noqa: E741 (the field's own letter)
    t: Values = None,
    models: Iterable[Any] = (),
    risk: Risk | None = None,
    sample: int = SAMPLE,
    runs: int = RUNS,
    limits: bool = False,
    progress: Progress = silent,
) -> Frontier:
    """Loss against risk over k, l, t and models: on a sample first, then on the table.

    By default the k, l and t of the plan are varied one at a time; with values given, all of their
    combinations are tried. `models` are tried in addition to those of the plan. `runs` settings,
    the promising ones on the sample, are run on the whole table. With `limits`, the result names
    the setting that loses least within the limits of the plan, or, if they are about the loss
    alone, the safest one; k is then searched between the given values. `read` says how the file is
    read where that differs from the plan.

    >>> import pyarrow as pa
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10, 20, 40]}}},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ...     seed=1,
    ... )
    >>> people = pa.table({"age": [20 + i % 40 for i in range(200)]})
    >>> found = frontier(people, plan, k=[2, 5, 10])
    >>> [(point.setting.label, round(point.lost, 1)) for point in found.best]
    [('k = 2', 0.0), ('k = 10', 23.1)]
    """
    plan = Plan.of(plan).with_reading(read)
    plan.check_served()
    if risk is not None and risk not in RISKS:
        raise BadPlan(f"risk is one of {', '.join(RISKS)}, got {risk!r}")
    if runs < 1 or sample < 1:
        raise BadPlan("runs and sample are whole numbers of 1 or more")
    goal = goal_of(plan) if limits else None
    plan = plan if plan.seed is not None else plan.with_seed(secrets.randbelow(2**31))
    progress("read", 0.0)
    frame = open_table(table, plan)
    people = _people(frame, plan)
    given = {"k": _values("k", k), "l": _values("l", l), "t": _values("t", t)}
    plans = tried_plans(plan, people, given, models)
    by = risk or _default_risk(plan, plans)
    return _Search(frame, plan, plans, by, people, sample, runs, goal, progress).run()


@dataclass
class _Search:
    frame: Frame
    plan: Plan
    plans: dict[TriedSetting, Plan]
    by: Risk
    people: int
    sample: int
    runs: int
    goal: Goal | None
    progress: Progress
    points: list[Point] = field(default_factory=list)
    sample_rows: int = 0  # 0: there is no sample

    def run(self) -> Frontier:
        """All settings on the sample, then some of them on the table."""
        try:
            small = self._sampled()
            if small is not None:
                self.sample_rows = small.height
                self._run_all(list(self.plans), small.native, "sample")
            self._run_all(self._promising(), self.frame.native, "table")
            if self.goal is not None:
                self._between()
        except KeyboardInterrupt:
            if not any(one.on == "table" and one.lost is not None for one in self.points):
                raise
            raise UnfinishedFrontier(self._found(finished=False)) from None
        return self._found(finished=True)

    @property
    def own(self) -> TriedSetting:
        """The setting of the plan itself: the first one."""
        return next(iter(self.plans))

    def _sampled(self) -> Frame | None:
        """A sample of the people, with all of their records; None: the table is small."""
        if self.people <= 2 * self.sample:
            return None
        drawn = np.random.default_rng(self.plan.seed).permutation(self.people)[: self.sample]
        names = linking_columns(self.plan.columns)
        rows = np.sort(drawn)
        if names:
            who = person_codes(self.frame, names[0], self.plan.missing_of(names[0]))
            rows = np.flatnonzero(np.isin(who, drawn))
        return self.frame.rebuild(rows, {}, drop=())

    def _run_all(
        self, settings: Sequence[TriedSetting], table: Any, on: Literal["sample", "table"]
    ) -> None:
        for place, setting in enumerate(settings):
            step = f"{on}: {setting.label} ({place + 1} of {len(settings)})"
            progress = within_run(self.progress, step, place, len(settings))
            self.points.append(self._measured(setting, table, on, progress))

    def _measured(
        self, setting: TriedSetting, table: Any, on: Literal["sample", "table"], progress: Progress
    ) -> Point:
        """Run a setting; an error becomes the reason that there is no release."""
        began = perf_counter()
        asked = self.plans[setting]
        try:
            release = anonymize(table, asked.changed(limits={}), progress=progress)
        except ShoalError as error:
            return Point(setting, on, reason=str(error), seconds=perf_counter() - began)
        beyond = judged(release, asked)
        return Point(
            setting,
            on,
            lost=release.losses[asked.loss.name],
            average=release.after.average_risk,
            highest=release.after.highest_risk,
            inference=release.after.inference,
            suppressed=release.suppressed,
            seconds=perf_counter() - began,
            within=None if beyond is None else not beyond,
            beyond=tuple(beyond or ()),
        )

    def _promising(self) -> list[TriedSetting]:
        """The settings to run on the table: that of the plan, and the best on the sample.

        Of many, those spread over the frontier, its ends and its knee among them.
        """
        if not self.sample_rows:
            return list(self.plans)
        done = [one for one in self.points if one.lost is not None]
        places = [Place(one.risk(self.by), one.lost or 0.0) for one in done]
        best = undominated(places)
        chosen = {self.own}
        if best:
            knee = knee_of([places[i] for i in best])
            ends = np.linspace(0, len(best) - 1, min(self.runs, len(best))).round().astype(int)
            chosen |= {done[best[i]].setting for i in ends}
            if knee is not None:
                near = range(max(0, knee - 1), min(len(best), knee + 2))
                chosen |= {done[best[i]].setting for i in near}
        return [one for one in self.plans if one in chosen]

    def _between(self) -> None:
        """Search k between the tried ones, to within one, with the other options of the plan."""
        assert self.goal is not None
        own = own_values(self.plan)
        if "k" not in own:
            return
        while (k := self.goal.next_k(self._fits(own))) is not None:
            options = {**dict(self.own.options), "k": float(k)}
            setting = TriedSetting(tuple((name, _whole(value)) for name, value in options.items()))
            if setting in self.plans:
                break
            own_plan = self.plans[self.own]
            models = [changed_model(model, {"k": k}) for model in own_plan.models]
            self.plans[setting] = own_plan.changed(models=models)
            self._run_all([setting], self.frame.native, "table")

    def _fits(self, own: dict[str, float]) -> dict[int, bool]:
        """Whether each k that was run on the table, with the plan's other options, is within."""
        rest = {name: value for name, value in self.own.options if name != "k"}
        found = {}
        for one in self.points:
            options = dict(one.setting.options)
            k = options.pop("k", own["k"])
            if one.on == "table" and options == rest and not one.setting.added:
                found[int(k)] = bool(one.within)
        return found

    def _found(self, finished: bool) -> Frontier:
        found = Frontier(
            points=self.points,
            own=self.own,
            by=self.by,
            loss=self.plan.loss.name,
            rows=self.frame.height,
            sample_rows=self.sample_rows,
            advice=[],
            chosen=None,
            notes=self._notes(),
            seed=self.plan.seed or 0,
            finished=finished,
        )
        chosen = None if self.goal is None else self.goal.best(found.on_table, self.by)
        return replace(found, advice=_advice(found, self.goal, chosen), chosen=chosen)

    def _notes(self) -> list[str]:
        notes = []
        if self.sample_rows:
            notes.append(
                f"on a sample of {self.sample:,} people settings usually lose more than on the "
                "whole table; it shows which settings are worth running there"
            )
        left = [one for one in self.points if one.on == "table" and one.reason]
        notes += [f"{one.setting.label}: no release: {one.reason}" for one in left]
        return notes


def _advice(found: Frontier, goal: Goal | None, chosen: Point | None) -> list[str]:
    """What to do, in sentences."""
    sentences = []
    words = RISK_WORDS[found.by]
    own = next((one for one in found.on_table if found.is_own(one)), None)
    knee = found.knee
    if knee is not None and own is not None:
        if knee.setting == own.setting:
            sentences.append(
                f"The setting of the plan, {own.setting.label}, is the knee: more protection costs "
                "much more from there on."
            )
        else:
            sentences.append(_than(knee, own, found.by, words))
            sentences.append(f"{knee.setting.label} is the knee of the frontier.")
    elif own is not None:
        sentences.append(
            f"{_NO_KNEE[len(found.best) > 2]} {own.setting.label} loses "
            f"{percent(own.lost or 0.0)}, and the {words} is {percent(100 * own.risk(found.by))}."
        )
    if own is not None and own not in found.best:
        better = min(
            (one for one in found.best if one.risk(found.by) <= own.risk(found.by)),
            key=lambda one: one.lost or 0.0,
        )
        if better not in (knee, own):
            sentences.append(_than(better, own, found.by, words))
    if goal is not None:
        sentences.append(goal.describe(chosen, found.by, words))
    return [sentence.replace("\xa0", " ") for sentence in sentences]


_NO_KNEE = (
    "There are too few settings to look for a knee.",
    "There is no knee: the loss rises evenly.",
)


def _than(one: Point, other: Point, by: Risk, words: str) -> str:
    return compared(
        one.setting.label,
        Place(one.risk(by), one.lost or 0.0),
        other.setting.label,
        Place(other.risk(by), other.lost or 0.0),
        words,
    )


def _default_risk(plan: Plan, plans: dict[TriedSetting, Plan]) -> Risk:
    """Re-identification, unless only l or t are varied."""
    ks = {one.value("k") for one in plans}
    sensitive = bool(columns_with_role(plan.columns, "sensitive"))
    return "inference" if len(ks) == 1 and len(plans) > 1 and sensitive else "average"


def _people(frame: Frame, plan: Plan) -> int:
    """How many people there are."""
    names = linking_columns(plan.columns)
    if not names or names[0] not in frame.names:
        return frame.height
    return int(person_codes(frame, names[0], plan.missing_of(names[0])).max()) + 1


def _values(name: str, given: Values) -> list[float] | None:
    """The values of an option, each once, sorted."""
    if given is None:
        return None
    values = list(given) if isinstance(given, Iterable) else [given]
    if not values:
        raise BadPlan(f"give at least one {name}")
    wrong = [one for one in values if isinstance(one, bool) or not isinstance(one, int | float)]
    if wrong:
        raise BadPlan(f"{name} must be numbers, for example {name}=[2, 5]; got {wrong[0]!r}")
    return sorted({_whole(float(one)) for one in values})


def _whole(value: float) -> float:
    """A whole number as such."""
    return int(value) if float(value).is_integer() else value
