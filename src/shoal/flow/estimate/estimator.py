"""Estimator: what plans would publish of a small table that stays in memory, again and again.

For programs that show what a change of the plan costs. It is the flow of `anonymize` with three
differences: the table is encoded once as long as its columns stay the same, counting queries are
not answered, and where the plan leaves a choice open, its default is taken and nothing is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from shoal import catalog
from shoal.base.clock import Clock
from shoal.base.errors import BadPlan
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.flow.apply.fitted import Fitted
from shoal.flow.assistant import compiling_together
from shoal.flow.auto_select.search import recode
from shoal.flow.estimate.known_population import KnownPopulation
from shoal.flow.opening import open_table
from shoal.flow.publish import Origin, publish
from shoal.flow.release import Release
from shoal.models.delta_presence import DeltaPresence
from shoal.plan import Plan
from shoal.table.encode import Table, encode

OPEN = (
    "The plan leaves the algorithm open. This is what the default loses: the run tries others, and "
    "keeps the one that loses least"
)
PRESENCE = (
    "A presence is the share of the population that is in the table, and a sample of the table has "
    "fewer people. With all records the presence is higher, and more is generalized"
)


class Estimator:
    """Makes releases of one table by different plans."""

    def __init__(self, table: Any, quick: bool = False) -> None:
        """`table` is a frame in memory.

        `quick`: algorithms may try less than in a run, as for a sample, which differs from its
        table by far more.
        """
        self._table, self._quick = table, quick
        self._encoded: tuple[str, Table] | None = None  # with the columns that it was encoded by
        self._population = KnownPopulation()

    def release(
        self, plan: Plan, progress: Progress = silent, written: Plan | None = None
    ) -> Release:
        """The release that a plan would make; its limits are not checked.

        `written` is the plan that says how the population is written, if another one.
        """
        notes = [OPEN] if plan.algorithm.is_auto or plan.loss.is_auto else []
        if self._quick and any(isinstance(model, DeltaPresence) for model in plan.models):
            notes.append(PRESENCE)
        plan = closed(plan).changed(limits={}, engine="memory", parts=1)
        plan.check_served()
        clock = Clock(progress)
        with limited(plan.threads):
            clock.start("read")
            frame = open_table(self._table, plan)
            with compiling_together(frame, plan, progress):
                clock.start("encode")
                original = self._population.add(self._table_of(frame, plan), plan, written or plan)
                clock.start("recode")
                quick = plan.changed(algorithm=plan.algorithm.quick()) if self._quick else plan
                recoded = recode(original, quick, progress)
                origin = Origin(
                    fitted=partial(Fitted.of, plan, original, recoded.recoding),
                    original_sha256=None,
                    notes=[*notes, *_notes(plan, recoded.recoding.notes)],
                )
                return publish(
                    frame, plan, original, recoded.recoding, recoded.rng, plan.keep_order, clock,
                    origin, answered=False,
                )  # fmt: skip

    def _table_of(self, frame: Any, plan: Plan) -> Table:
        """The coded table; it depends on the columns alone."""
        columns = {name: one.setting_in() for name, one in plan.columns.items()}
        key = repr((columns, plan.missing, plan.missing_values))
        if self._encoded is None or self._encoded[0] != key:
            self._encoded = None  # not two of them at the same time
            table = encode(frame, plan.columns, plan.missing, plan.missing_values)
            self._encoded = key, table
        return self._encoded[1]


def closed(plan: Plan) -> Plan:
    """The plan with the defaults of what it leaves open.

    >>> k = {"name": "k-anonymity", "k": 2}
    >>> plan = Plan(columns={"age": "quasi"}, models=[k], algorithm="auto", loss="auto")
    >>> closed(plan).algorithm.name, closed(plan).loss.name
    ('peel', 'nllm')
    """
    if plan.loss.is_auto:
        plan = plan.changed(loss=type(plan).model_fields["loss"].default)
    if not plan.algorithm.is_auto:
        return plan
    plain = Plan(columns=plan.columns, models=plan.models)
    for name in (plain.algorithm.name, *catalog.algorithms.decided):
        chosen = plan.changed(algorithm=name)
        with suppress(BadPlan):
            chosen.check_served()
            return chosen
    plan.check_served()  # raises the reason
    return plan


def _notes(plan: Plan, recoding: Sequence[str]) -> list[str]:
    return [*plan.algorithm.notes(plan.seed), *recoding]
