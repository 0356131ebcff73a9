"""The flow: read → encode → recode → decode → verify → release."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from shoal.audit import people_notes
from shoal.choose import recode
from shoal.columns import encode
from shoal.exposure import expose
from shoal.frames import open_frame
from shoal.linkage import link
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.published import look_at
from shoal.quality import discernibility, measure
from shoal.recoding import decode
from shoal.release import Release
from shoal.utility import utility_of
from shoal.verify import verify
from shoal.version import __version__


def anonymize(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    keep_order: bool | None = None,
    progress: Progress = silent,
) -> Release:
    """Turn a table about people into one that can be published.

    >>> import pyarrow as pa
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ... )
    >>> people = pa.table({"age": [31, 38, 52, 57], "sex": ["f", "f", "m", "m"]})
    >>> sorted(anonymize(people, plan).frame["age"].to_pylist())
    ['[30, 40)', '[30, 40)', '[50, 60)', '[50, 60)']
    """
    clock = _Clock(progress)
    plan = Plan.of(plan)
    plan.check_served()
    keep_order = plan.keep_order if keep_order is None else keep_order

    clock.start("read")
    frame = open_frame(table)
    clock.start("encode")
    original = encode(frame, plan.columns, plan.missing, plan.missing_values)
    clock.start("recode")
    recoded = recode(original, plan, progress)
    plan, recoding = recoded.plan, recoded.recoding  # a plan that leaves nothing open
    clock.start("decode")
    released = decode(frame, plan.columns, original, recoding, recoded.rng, keep_order)
    clock.start("verify")
    published = look_at(released, plan.columns, plan.missing_values)
    linkage = link(original, published) if plan.linked else None
    checks = verify(published, plan.models, linkage)
    clock.start("attack")
    quality = measure(original, published, plan.loss, recoding)
    utility = utility_of(original, published, quality, plan.models)
    after = expose(published, linkage=linkage, progress=progress)
    before = expose(look_at(frame, plan.columns, plan.missing_values)).showing(published)
    clock.stop()

    return Release(
        frame=released.native,
        plan=plan,
        checks=checks,
        quality=quality,
        utility=utility,
        before=before,
        after=after,
        rows=original.rows,
        published=published.rows,
        suppressed=recoding.suppressed,
        discernibility=discernibility(published.classes, recoding.suppressed),
        seconds=clock.seconds,
        notes=[
            *people_notes(frame, plan),
            *recoded.notes,
            *plan.algorithm.notes(plan.seed),
            *utility.notes(original.rows),
        ],
        keep_order=keep_order,
        original=original if plan.linked else None,
        made=datetime.now().astimezone(),
        seed=plan.seed,
        version=__version__,
        tried=recoded.tried,
    )


class _Clock:
    """Seconds spent in each step of the flow, told to the progress callback as they begin."""

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._step = ""
        self._since = 0.0

    def start(self, step: str) -> None:
        self.stop()
        self._step, self._since = step, perf_counter()
        self._progress(step, 0.0)

    def stop(self) -> None:
        if self._step:
            self.seconds[self._step] = round(perf_counter() - self._since, 6)
            self._progress(self._step, 1.0)
        self._step = ""
