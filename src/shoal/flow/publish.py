"""The second half of the flow: a recoding becomes a frame, is verified, and then a release."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from time import perf_counter

import numpy as np

from shoal.base.progress import Progress
from shoal.base.version import __version__
from shoal.flow.audit import merged_notes, people_notes
from shoal.flow.release import Release
from shoal.io.frames import Frame
from shoal.measures.column_disclosure import if_known
from shoal.measures.exposure import expose
from shoal.measures.information_loss import discernibility, measure
from shoal.measures.record_counts import min_class_size_asked
from shoal.measures.utility import utility_of
from shoal.measures.verify import verify
from shoal.plan import Plan
from shoal.table.encode import Table, columns_with_role
from shoal.table.match_graph import link
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import SUPPRESSED, Recoding, decode


def publish(
    frame: Frame,
    plan: Plan,
    original: Table,
    recoding: Recoding,
    rng: np.random.Generator,
    keep_order: bool,
    clock: Clock,
    whole: Published | None = None,
) -> Release:
    """Decode, verify, and measure what is gained and lost; an error if a promise is broken.

    `whole` is the table before, where some of its rows are neither in the frame nor in `original`.
    """
    left_out = 0 if whole is None else whole.rows - original.rows
    suppressed = recoding.suppressed + left_out
    clock.start("decode")
    released, people = decode(frame, plan.columns, original, recoding, rng, keep_order)
    clock.start("verify")
    published = read_published(released, plan.columns, plan.missing_values, people)
    linkable = _published_part(original, recoding) if plan.linked else None
    linkage = None if linkable is None else link(linkable, published)
    checks = verify(published, plan.models, linkage)
    clock.start("attack")
    quality = measure(original, published, plan.loss, recoding)
    tell = clock.progress
    utility = utility_of(
        original, published, quality, plan.models, watch=lambda share: tell("attack", share / 2)
    )
    tell("attack", 0.5)
    k = min_class_size_asked(plan.models)
    after = expose(published, linkage=linkage, progress=clock.progress, k=k)
    tell("attack", 0.6)
    if whole is None:
        whole = read_published(frame, plan.columns, plan.missing_values)
    tell("attack", 0.7)
    before = expose(whole, k=k).showing(published)
    tell("attack", 0.9)
    if people is not None:
        after = replace(after, row_count=None)  # nobody can count them in the release
    linked = people is None  # by the numbers that are published
    known = if_known(released, plan.columns, published, plan.missing_values, linked)
    clock.stop()

    return Release(
        frame=released.native,
        plan=plan,
        checks=checks,
        quality=quality,
        utility=utility,
        before=before,
        after=after,
        rows=original.rows + left_out,
        published=published.rows,
        suppressed=suppressed,
        discernibility=discernibility(published.classes, suppressed),
        seconds=clock.seconds,
        notes=[
            *people_notes(frame, plan),
            *merged_notes(published),
            *_not_in_it(plan, keep_order),
            *utility.notes(original.rows),
        ],
        keep_order=keep_order,
        original=linkable,
        person_of_record=people,
        if_known={} if plan.linked else known,
        made=datetime.now().astimezone(),
        seed=plan.seed,
        version=__version__,
    )


def _not_in_it(plan: Plan, keep_order: bool) -> list[str]:
    """Say it where the release holds no person numbers, and what may still tell them."""
    notes = []
    for name in columns_with_role(plan.columns, "person"):
        if not plan.columns[name].publish:
            notes.append(
                f"the person numbers ({name!r}) are not in the release: people were counted by "
                "them, every promise was verified with them, and then they were left out"
            )
            if keep_order:
                notes.append(
                    "the rows stand in the order of the original: where the rows of a person "
                    "stood side by side they still do, which tells who has which rows as a number "
                    "would"
                )
    return notes


def _published_part(original: Table, recoding: Recoding) -> Table:
    """What is linked with the release: an attacker may know who was left out of it."""
    if not recoding.suppressed:
        return original
    return original.take(np.flatnonzero(recoding.record != SUPPRESSED))


class Clock:
    """Seconds spent in each step of the flow, told to the progress callback as they begin."""

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self.progress = progress
        self._step = ""
        self._since = 0.0

    def start(self, step: str) -> None:
        """Begin a step, and end the one before."""
        self.stop()
        self._step, self._since = step, perf_counter()
        self.progress(step, 0.0)

    def stop(self) -> None:
        """End the step at hand."""
        if self._step:
            self.seconds[self._step] = round(perf_counter() - self._since, 6)
            self.progress(self._step, 1.0)
        self._step = ""
