"""Compare: algorithms, crowds and guiding losses side by side on one table."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.bound import lower_bound
from shoal.choose import label
from shoal.columns import Table, encode
from shoal.comparison import MEAN, Comparison, Line
from shoal.errors import BadPlan
from shoal.frames import Frame, open_frame
from shoal.losses import Loss
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.trial import Failed, Task, run_apart, run_here

SAMPLE = 300  # rows on which everything is compiled before it is measured
# The share of a run that is done when each step of the flow begins, about.
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
    k: int | Iterable[int] | None = None,
    algorithms: Iterable[Any] | None = None,
    losses: Iterable[Any] | None = None,
    limit: float | None = None,
    apart: bool = True,
    progress: Progress = silent,
) -> Comparison:
    """Run algorithms × k × guiding losses on one table, each through the same flow.

    `algorithms` and `losses` are given by name, as mappings or as objects; by default all
    algorithms that serve the plan, and the plan's loss and k. A run that takes longer than
    `limit` seconds is stopped. Each run has a process of its own, after everything was compiled;
    with `apart=False` all of them share this one, and memory is not measured.

    >>> import pyarrow as pa
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ...     seed=1,
    ... )
    >>> people = pa.table({"age": [31, 38, 52, 57], "sex": ["f", "f", "m", "m"]})
    >>> compare(people, plan, k=[2, 4], algorithms=["gaa"], apart=False)
    Comparison of 2 runs on 4 rows
      k = 2: best gaa, 16.2 % lost (nllm)
      k = 4: best gaa, 100.0 % lost (nllm)
    """
    plan = Plan.of(plan)
    if limit is not None and (limit <= 0 or not apart):
        raise BadPlan("a limit is a number of seconds above 0, for runs in their own processes")
    plan = plan if plan.seed is not None else plan.with_seed(secrets.randbelow(2**31))
    crowds = with_ks(plan, k)
    guides = _made(catalog.losses, losses, plan.loss)
    methods = _made(catalog.algorithms, algorithms, plan.algorithm) or serving(plan)
    guides = guides or [plan.loss]
    progress("read", 0.0)
    frame = open_frame(table)
    progress("encode", 0.0)
    encoded = encode(frame, plan.columns, plan.missing, plan.missing_values)
    one_guide = len(guides) == 1 and not guides[0].undecided
    yardstick = guides[0].name if one_guide else MEAN
    source = table if isinstance(table, str | Path) else frame.native
    asked = [
        (crowd, one.changed(algorithm=method, loss=guide))
        for crowd, one in crowds.items()
        for guide in guides
        for method in methods
    ]
    runner = _Runner(source, _sample(frame), apart, limit, progress, len(asked))
    runner.warm_up([one for crowd, one in asked if crowd == min(crowds)])
    lines = [runner.line(crowd, one, i / len(asked)) for i, (crowd, one) in enumerate(asked)]
    lines.sort(key=lambda line: (line.k, round(line.lost(yardstick), 9)))  # a tie: as asked
    return Comparison(
        lines=lines,
        yardstick=yardstick,
        rows=encoded.rows,
        people=encoded.crowd,
        bounds=lower_bounds(encoded, plan, list(crowds), yardstick),
        notes=_notes(lines, apart),
        seed=plan.seed or 0,
    )


def lower_bounds(table: Table, plan: Plan, ks: Sequence[int], yardstick: str) -> dict[int, float]:
    """Per k, the percent that every release of this table loses at least; empty: not known."""
    if plan.linked:
        return {}
    loss = plan.loss if plan.loss.name == yardstick else catalog.losses.make(yardstick)
    assert isinstance(loss, Loss)
    found = {k: lower_bound(table, k, loss).percent for k in ks}
    return {k: percent for k, percent in found.items() if percent is not None}


def with_ks(plan: Plan, k: int | Iterable[int] | None) -> dict[int, Plan]:
    """The plan for each k: every model that has a k gets it; by default the plan's own."""
    own = [model for model in plan.models if "k" in type(model).model_fields]
    if not own:
        promises = ", ".join(model.key for model in plan.models) or "nothing"
        raise BadPlan(
            f"the plan promises {promises}, which has no k to compare by; add k-anonymity to its "
            "models, for example { name = 'k-anonymity', k = 5 }"
        )
    if k is None:
        return {max(getattr(model, "k") for model in own): plan}  # noqa: B009 (not all have it)
    asked = sorted({k} if isinstance(k, int) else set(k))
    if not asked:
        raise BadPlan("give at least one k")
    return {
        crowd: plan.changed(
            models=[_with_k(model, crowd) if model in own else model for model in plan.models]
        )
        for crowd in asked
    }


def from_words(k: str | None, algorithms: str | None, losses: str | None) -> dict[str, Any]:
    """What the command line asks for, as `compare` takes it.

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
        asked["algorithms"] = [_method(word) for word in _words(algorithms)]
    if losses is not None:
        asked["losses"] = _words(losses)
    return asked


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",") if word.strip()]


def _method(word: str) -> Any:
    """An algorithm with options, as `gaa:strategy=S4:weight=unit`."""
    name, *options = word.split(":")
    if not options:
        return name
    setting: dict[str, Any] = {"name": name}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise BadPlan(f"an option has a value, as in gaa:weight=unit; got {word!r}")
        try:
            setting[key] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            setting[key] = value  # a plain word
    return setting


def _with_k(model: Any, k: int) -> Any:
    kept = {field: getattr(model, field) for field in type(model).model_fields}
    return type(model)(**{**kept, "k": k})


def serving(plan: Plan) -> list[Algorithm]:
    """All algorithms that can keep the promises of a plan, the plan's own as it stands there."""
    able = []
    for name in catalog.algorithms.decided:
        one = plan if name == plan.algorithm.name else plan.changed(algorithm=name)
        with suppress(BadPlan):
            one.check_served()
            able.append(one.algorithm)
    if not able:
        plan.check_served()  # says why
    return able


def _made(shelf: catalog.Shelf, given: Iterable[Any] | None, own: Any) -> list[Any]:
    """What was asked for, each once; by its bare name the plan's own keeps its options."""
    if given is None:
        return []
    if isinstance(given, str | Mapping):
        given = [given]
    made = [own if one == own.name else shelf.make(one) for one in given]
    if not made:
        raise BadPlan(f"give at least one {shelf.one}; there are {', '.join(shelf)}")
    return list({str(one.setting()): one for one in made}.values())


def _sample(frame: Frame) -> Any:
    """A few rows from all over the table."""
    rows = np.unique(np.linspace(0, frame.height - 1, SAMPLE).astype(np.int64))
    return frame.rebuild(rows, {}, drop=()).native


@dataclass(frozen=True)
class _Runner:
    """Runs plans on one table, and makes a line of each."""

    table: Any
    sample: Any
    apart: bool
    limit: float | None
    progress: Progress
    runs: int

    def warm_up(self, plans: Sequence[Plan]) -> None:
        """Compile all that will run, once for all processes: they share what is compiled."""
        self.progress("compiling what is not compiled yet", 0.0)
        if self.apart:
            with suppress(Failed):
                run_apart(Task(self.sample, plans))

    def line(self, k: int, plan: Plan, done: float) -> Line:
        """Run one plan; what stands in its way becomes the reason."""
        name, part = label(plan.algorithm), 1 / self.runs
        step = f"run {round(done / part) + 1} of {self.runs}: {name}, k = {k}"
        furthest = 0.0

        def tell(stage: str, share: float) -> None:
            nonlocal furthest
            furthest = max(furthest, BEGINS.get(stage, BEGINS["recode"] + 0.8 * share))
            self.progress(step, done + part * furthest)

        tell("read", 0.0)
        found, reason = None, ""
        try:
            plan.check_served()
            task = Task(self.sample, [plan], self.table, plan)
            found = run_apart(task, tell, self.limit) if self.apart else run_here(task, tell)
        except (Failed, BadPlan) as error:
            reason = str(error)
        return Line(k, name, plan.loss.name, plan.algorithm.options(), found, reason)


def _notes(lines: Sequence[Line], apart: bool) -> list[str]:
    """What the reader should know besides."""
    notes = []
    if any(line.found is not None and line.found.linked for line in lines):
        notes.append(
            "without classes the smallest class is the fewest rows that could be a person's"
        )
    if not apart:
        notes.append("all runs shared one process, so memory was not measured")
    return notes
