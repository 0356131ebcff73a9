"""Compare: algorithms, values of k and guiding losses on one table."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.base.errors import BadPlan, ShoalError, preview
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.base.wording import listed
from shoal.comparing.comparison import MEAN, Comparison, Line, Unfinished
from shoal.comparing.isolated_run import WARMING, Apart, Failed, Here, Measured
from shoal.flow.auto_select.candidates import label
from shoal.flow.opening import open_table
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.losses import Loss
from shoal.losses.mean import Mean
from shoal.measures.bounds.key_set_bound import lower_bound_for
from shoal.measures.bounds.lower_bound import Bound, scoped, without_classes
from shoal.measures.bounds.model_bound import covered_by_bound
from shoal.models import Model, min_class_size, min_factor
from shoal.plan import Plan
from shoal.table.encode import Table, encode

SAMPLE = 300  # records of the warm-up, which compiles the kernels before a run is measured
NOT_RUN = "interrupted before it finished"
# The share of a run that is done when each step of the flow begins, estimated.
BEGINS = {
    "read": 0.0,
    "encode": 0.02,
    "recode": 0.05,
    "decode": 0.85,
    "verify": 0.9,
    "attack": 0.95,
}


def compare(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    read: Reading | Mapping[str, Any] | None = None,
    k: int | Iterable[int] | None = None,
    algorithms: Iterable[Any] | None = None,
    losses: Iterable[Any] | None = None,
    limit: float | None = None,
    apart: bool = True,
    progress: Progress = silent,
) -> Comparison:
    """Run algorithms × k × guiding losses on one table, each through the same flow.

    `algorithms` and `losses` are given by name, as mappings or as objects; by default all
    algorithms that support the plan, and the plan's loss and k. A run that takes longer than
    `limit` seconds is stopped. The runs share one separate process, one after the other, each after
    its kernels were compiled; with `apart=False` they run in this process, and memory is not
    measured. `read` says how the file is read where that differs from the plan. An interrupt raises
    `Unfinished`, a KeyboardInterrupt whose `comparison` has the finished runs.

    >>> import pyarrow as pa
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ...     seed=1,
    ... )
    >>> people = pa.table({"age": [31, 38, 52, 57], "sex": ["f", "f", "m", "m"]})
    >>> compare(people, plan, k=[2, 4], algorithms=["gaa"], apart=False)
    Comparison of 2 runs on 4 records
      k = 2: best gaa, loss 16.2 % (nllm)
      k = 4: best gaa, loss 100.0 % (nllm)
    """
    plan = Plan.of(plan).with_reading(read)
    if plan.limits:  # a run beyond them is still worth comparing
        plan = plan.changed(limits={})
    if limit is not None and (limit <= 0 or not apart):
        raise BadPlan("a limit needs a number of seconds above 0, and runs in a separate process")
    plan = plan if plan.seed is not None else plan.with_seed(secrets.randbelow(2**31))
    plans = with_ks(plan, k)
    guides = _made(catalog.losses, losses, plan.loss) or [plan.loss]
    methods = _made(catalog.algorithms, algorithms, plan.algorithm) or serving(plan)
    progress("read", 0.0)
    frame = open_table(table, plan)
    progress("encode", 0.0)
    encoded = encode(frame, plan.columns, plan.missing, plan.missing_values)
    one_guide = len(guides) == 1 and not guides[0].is_auto
    yardstick: Loss = guides[0] if one_guide else Mean()
    source = table if isinstance(table, str | Path) else frame.native
    asked = [
        _Asked(size, name, one.changed(algorithm=method, loss=guide))
        for size, one in plans.items()
        for name, guide in zip(_names(guides), guides, strict=True)
        for method in methods
    ]
    lines: list[Line] = []
    bounds: dict[int, Bound] = {}

    def found(finished: bool) -> Comparison:
        by = yardstick.name if one_guide else MEAN
        left = [one.line(None, NOT_RUN) for one in asked[len(lines) :]]
        known = {size: bounds.get(size, Bound(None, NOT_RUN, size)) for size in plans}
        return Comparison(
            lines=sorted([*lines, *left], key=lambda line: (line.k, round(line.lost(by), 9))),
            yardstick=by,
            rows=encoded.rows,
            people=encoded.person_count,
            bounds=known,
            notes=[*_notes(lines, apart), *_bound_notes(known)],
            seed=plan.seed or 0,
            finished=finished,
        )

    trial = Apart(source, _sample(frame, plan)) if apart else Here(source, _sample(frame, plan))
    try:
        for one in asked:
            lines.append(_run(one, trial, limit, _named(progress, one, len(lines), len(asked))))
        for size, bound in lower_bounds(encoded, plans, yardstick, progress):
            bounds[size] = bound
    except KeyboardInterrupt:
        if not any(line.found for line in lines):
            raise
        raise Unfinished(found(finished=False)) from None
    finally:
        trial.close()
    return found(finished=True)


def lower_bounds(
    table: Table, plans: Mapping[int, Plan], loss: Loss, progress: Progress = silent
) -> Iterator[tuple[int, Bound]]:
    """Per k, the lower bound on a loss in percent, or why there is none."""
    # By the people that every class needs, and the other models.
    known: dict[tuple[int, tuple[Model, ...]], Bound] = {}
    for k, plan in plans.items():
        factor = min_factor(plan.models)
        if plan.linked and factor == 1:
            name = next(model.name for model in plan.models if model.linkage)
            reason = f"{name} does not form classes, and the bound is about classes"
            yield k, scoped(Bound(None, reason, k), plan.models)
            continue
        people = factor if plan.linked else min_class_size(plan.models)
        rest = tuple(model for model in plan.models if covered_by_bound(table, model))
        rest = () if plan.linked else rest
        if (people, rest) not in known:
            with limited(plan.threads):
                known[people, rest] = _lower_bound(table, k, people, loss, progress, plan)
        found = known[people, rest]
        yield k, scoped(without_classes(found) if plan.linked else found, plan.models)


def _lower_bound(
    table: Table,
    k: int,
    people: int,
    loss: Loss,
    progress: Progress,
    plan: Plan,
) -> Bound:
    step = f"proving a lower bound, k = {k:,}"
    progress(step, 0.0)
    try:
        bound = lower_bound_for(
            table,
            people,
            loss,
            progress=lambda _, share: progress(step, share),
            known=plan.known,
            models=plan.models,
        )
    except ShoalError as error:  # the same error that the runs had
        return Bound(None, str(error), people)
    return bound


def with_ks(plan: Plan, k: int | Iterable[int] | None) -> dict[int, Plan]:
    """The plan for each k, set in every model that has a k; by default the plan as it is."""
    own = [model for model in plan.models if model.size_option]
    if not own:
        required = ", ".join(model.key for model in plan.models) or "nothing"
        raise BadPlan(
            f"the plan requires {required}, which has no k to compare by; add k-anonymity to its "
            "models, for example { name = 'k-anonymity', k = 5 }"
        )
    if k is None:
        return {max(model.hidden_among for model in own): plan}
    given = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    if not given:
        raise BadPlan("give at least one k")
    wrong = [one for one in given if not isinstance(one, int | np.integer) or one is True]
    if wrong:
        raise BadPlan(f"k must be whole numbers, for example k=[5, 10]; got {preview(wrong)}")
    asked = sorted({int(one) for one in given})
    return {
        size: plan.changed(
            models=[_with_k(model, size) if model in own else model for model in plan.models]
        )
        for size in asked
    }


def from_words(k: str | None, algorithms: str | None, losses: str | None) -> dict[str, Any]:
    """The arguments of `compare` from the texts of the command line.

    >>> from_words("2,5", "gaa,gaa:weight=unit,sequential:passes=3", None)["algorithms"]
    ['gaa', {'name': 'gaa', 'weight': 'unit'}, {'name': 'sequential', 'passes': 3}]
    """
    asked: dict[str, Any] = {}
    if k is not None:
        try:
            asked["k"] = [int(word) for word in _words(k)]
        except ValueError:
            raise BadPlan(f"k is a list of whole numbers, as in --k 2,5,10; got {k!r}") from None
    if algorithms is not None:
        asked["algorithms"] = [method_of(word) for word in _words(algorithms)]
    if losses is not None:
        asked["losses"] = _words(losses)
    return asked


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",") if word.strip()]


def method_of(word: str) -> Any:
    """An algorithm or a model with options, such as `gaa:strategy=S4:weight=unit`."""
    name, *options = word.split(":")
    if not options:
        return name
    setting: dict[str, Any] = {"name": name}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise BadPlan(f"an option needs a value, as in gaa:weight=unit; got {word!r}")
        try:
            setting[key] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            setting[key] = value  # a plain word
    return setting


def _with_k(model: Model, k: int) -> Model:
    assert model.size_option is not None
    kept = {field: getattr(model, field) for field in type(model).model_fields}
    return type(model)(**{**kept, model.size_option: k})


def serving(plan: Plan) -> list[Algorithm]:
    """All algorithms that support a plan, its own one with the options of the plan."""
    able = []
    for name in catalog.algorithms.decided:
        one = plan if name == plan.algorithm.name else plan.changed(algorithm=name)
        with suppress(BadPlan):
            one.check_served()
            able.append(one.algorithm)
    if not able:
        plan.check_served()  # raises the reason
    return able


def _made(registry: catalog.Registry, given: Iterable[Any] | None, own: Any) -> list[Any]:
    """The given entries, each once; the plan's own one, given by name, keeps its options."""
    if given is None:
        return []
    if isinstance(given, str | Mapping):
        given = [given]
    made = [own if one == own.name else registry.make(one) for one in given]
    if not made:
        raise BadPlan(f"give at least one {registry.one}; there are {', '.join(registry)}")
    return list({str(one.setting()): one for one in made}.values())


def _sample(frame: Frame, plan: Plan) -> Any:
    """A few records from the whole table, without columns that are derived from all of them."""
    rows = np.unique(np.linspace(0, frame.height - 1, SAMPLE).astype(np.int64))
    derived = [name for name, column in plan.columns.items() if column.derive]
    return frame.rebuild(rows, {}, drop=derived).native


@dataclass(frozen=True)
class _Asked:
    """A run to be done."""

    k: int
    guide: str  # the name of its guiding loss
    plan: Plan

    def line(self, found: Measured | None, reason: str) -> Line:
        """The line of the comparison for its result, or for the reason that there is none."""
        method = self.plan.algorithm
        return Line(self.k, label(method), self.guide, method.options(), found, reason)


def _run(one: _Asked, trial: Here | Apart, limit: float | None, progress: Progress) -> Line:
    """Run one plan; an error becomes the reason that there is no result."""
    try:
        one.plan.check_served()
        return one.line(trial.run(one.plan, progress, limit), "")
    except (Failed, BadPlan) as error:
        return one.line(None, str(error))


def _named(progress: Progress, one: _Asked, place: int, runs: int) -> Progress:
    """Progress of one run as a part of all runs."""
    name = f"{label(one.plan.algorithm)}, k = {one.k:,}, guided by {one.guide}"
    return within_run(progress, f"run {place + 1} of {runs}: {name}", place, runs)


def within_run(progress: Progress, step: str, place: int, runs: int) -> Progress:
    """Progress of the run at this place as a part of all runs, under the name of a step."""
    furthest = 0.0

    def report(stage: str, share: float) -> None:
        nonlocal furthest
        if stage == WARMING:
            progress(f"{step}: {WARMING}", (place + furthest) / runs)
            return
        furthest = max(furthest, BEGINS.get(stage, BEGINS["recode"] + 0.8 * share))
        progress(step, (place + furthest) / runs)

    report("read", 0.0)
    return report


def _names(guides: Sequence[Loss]) -> list[str]:
    """The names of guiding losses, numbered where only their options differ."""
    names = [guide.name for guide in guides]
    return [
        name if names.count(name) == 1 else f"{name} {names[:i].count(name) + 1}"
        for i, name in enumerate(names)
    ]


def _notes(lines: Sequence[Line], apart: bool) -> list[str]:
    """Notes for the reader."""
    notes = []
    done = [(line, line.found) for line in lines if line.found is not None]
    if any(found.linked for _, found in done):
        notes.append(
            "for releases without classes, the smallest class is the smallest number of possible "
            "records of a person"
        )
    for reason in dict.fromkeys(found.cold for _, found in done if found.cold):
        names = preview(
            dict.fromkeys(line.algorithm for line, found in done if found.cold == reason)
        )
        notes.append(
            f"a warm-up on {SAMPLE} records failed for {names} ({reason}); runs during which "
            "kernels were compiled were repeated and measured then"
        )
    if not apart:
        notes.append("all runs shared this process, so memory was not measured")
    return notes


def _bound_notes(bounds: Mapping[int, Bound]) -> list[str]:
    """What lower bounds cover; why there is none, or why one is not tight."""
    partial = {k: b for k, b in bounds.items() if b.percent is not None and not b.complete}
    same: dict[str, list[int]] = {}
    for k, bound in partial.items():
        same.setdefault(bound.scope_of_each_k, []).append(k)
    scopes = [
        f"the proven lower bound of k = {ks[0]:,} is {bounds[ks[0]].scope}"
        if len(ks) == 1
        else f"the proven lower bound of k = {listed([f'{k:,}' for k in ks])} is {scope}"
        for scope, ks in same.items()
    ]
    reasons: dict[tuple[bool, str], list[str]] = {}
    for k, bound in bounds.items():
        if bound.reason:
            reasons.setdefault((bound.percent is None, bound.reason), []).append(f"{k:,}")
    return scopes + [
        f"{'no lower bound' if unknown else 'lower bound'} for k = {', '.join(ks)}: {reason}"
        for (unknown, reason), ks in reasons.items()
    ]
