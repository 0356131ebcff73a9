"""Preview: what a plan would publish, on the sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.base.errors import BrokenPromise, CannotReach
from shoal.base.progress import Progress
from shoal.base.stopwatch import stopwatch
from shoal.flow.estimate.estimator import Estimator, closed
from shoal.io.frames import open_frame
from shoal.plan import Plan
from shoal.studio.tasks._facts import ReleaseFacts, facts_of
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.sample import sampled_rows
from shoal.table.roles import Column, free_columns

# Records of a first estimate, where the whole sample takes longer than a second; fewer if it takes
# even longer. A fifth of the records takes less than half of the time.
QUICK, QUICKER = 1_000, 400
SLOW = 0.5  # seconds that an algorithm may take on the sample, as estimated
TOOK, TOOK_LONG = 1.0, 2.0  # seconds that a preview of the same kind took the last time


def run(
    held: Held, progress: Progress, sample: str, plan: str, rows: int, full: bool = False
) -> ReleaseFacts:
    """Anonymize the sample; `rows` is the number of records of the whole table.

    Where that takes long, a part of the sample comes first, unless it must be `full`. What a part
    cannot satisfy says nothing about the table: then the whole sample is tried.
    """
    if held.get("sample") != sample:
        with pa.OSFile(sample, "rb") as file:
            held["table"] = pa.ipc.open_file(file).read_all()
        held["sample"], held["estimators"], held["took"] = sample, {}, {}
    asked = Plan.load(plan)
    small = plain(asked).changed(seed=asked.seed or 1)
    table: pa.Table = held["table"]
    part = table
    if not full and table.num_rows > 2 * QUICK and is_slow(held, small, table.num_rows):
        part = _part(held, small, first_rows(held, small))
    sampled = part.num_rows < rows
    estimator = held["estimators"].setdefault(part.num_rows, Estimator(part, quick=sampled))
    try:
        with stopwatch() as watch:  # kernels are loaded only once
            release = estimator.release(small, progress, asked)
    except BrokenPromise as error:
        if part is not table:
            return run(held, progress, sample, plan, rows, full=True)
        if isinstance(error, CannotReach) and table.num_rows < rows:
            raise _on_the_sample(error, table.num_rows, rows) from None
        raise
    if part is table:
        held["took"][_kind(small)] = watch.seconds
    facts = facts_of(release, asked, sampled=sampled)
    return replace(facts, extra={**facts.extra, "more": table.num_rows - part.num_rows})


def _on_the_sample(error: CannotReach, sampled: int, rows: int) -> CannotReach:
    """The same of a sample: the table has more people and values, so that it may be reached."""
    return CannotReach(
        error.model,
        error.best,
        f"{error.model} cannot be reached on the sample of {sampled:,} records, so that there is "
        f"no estimate; compute it on all {rows:,} records, or relax it",
    ).offering(*(way for way in error.ways if way.action == "remove"))


def is_slow(held: Held, plan: Plan, rows: int) -> bool:
    """Whether the whole sample takes longer than anybody wants to wait for a slider.

    The first time it does: kernels are loaded, and the sample is encoded.
    """
    if rows not in held["estimators"]:
        return True
    if took := held["took"].get(_kind(plan)):
        return bool(took > TOOK)
    able = closed(plan)
    return able.linked or able.algorithm.work(rows, bool(free_columns(able.columns))) > SLOW


def first_rows(held: Held, plan: Plan) -> int:
    """How many records of the sample are shown first."""
    return QUICKER if held["took"].get(_kind(plan), 0.0) > TOOK_LONG else QUICK


def _kind(plan: Plan) -> str:
    """What the time depends on: methods, not thresholds."""
    return repr((plan.algorithm.setting(), plan.loss.name, [one.key for one in plan.models]))


def _part(held: Held, plan: Plan, most: int) -> pa.Table:
    """Some records of the sample; people stay whole."""
    table: pa.Table = held["table"]
    rows = sampled_rows(open_frame(table), plan, most)
    return table.take(pa.array(np.asarray(rows)))


def plain(plan: Plan) -> Plan:
    """The plan for the sample, which is in canonical form already, and in memory."""
    columns = {name: _canonical(column) for name, column in plan.columns.items()}
    return plan.changed(columns=columns, read={})


def _canonical(column: Column) -> Column:
    return column.changed(decimal=None, thousands=None, percent=False, date_format=None)
