"""Recode a table part by part, and exchange records between parts afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from threading import get_ident

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.parts.borders import Borders, below
from shoal.algorithms._shared.parts.cuts import (
    EVEN,
    Cuts,
    Parting,
    as_classes,
    choose_cuts,
    part_of,
    sample_size,
    sampled,
    united,
)
from shoal.algorithms._shared.parts.joined import Joined
from shoal.algorithms._shared.parts.part_task import PartFound, PartTask, rng_of
from shoal.algorithms._shared.requirements import check_reachable
from shoal.base.arrays import Longs
from shoal.base.progress import Progress
from shoal.base.threads import in_threads
from shoal.losses import Loss
from shoal.models import Model, min_class_size
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


def recode_in_parts(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    parting: Parting,
) -> Recoding:
    """Cut a table without a person column, recode each part, and put them together."""
    check_reachable(table, models)
    seed = int(rng.integers(1 << 63))
    cuts = cuts_of(algorithm, table, models, loss, seed, progress, parting)
    if cuts.parts == 1:
        return algorithm.recode(table, models, loss, rng_of(seed, 0), progress)
    number = part_of(cuts, table.codes)
    rows = [np.flatnonzero(number == part) for part in range(cuts.parts)]
    if parting.shared and max(map(len, rows)) > EVEN * len(number):
        # One thread would work on the largest part alone.
        return algorithm.recode(table, models, loss, rng_of(seed, 0), progress)
    joined = Joined(table)
    task = PartTask.of(algorithm, table, models, loss, seed)
    for mine, found in zip(rows, _found(task, table, rows, progress, parting), strict=True):
        joined.add_part(mine, task.recoding(found))
    if parting.shared:
        return joined.recoding()  # few classes would have had tuples of several parts
    borders = Borders(algorithm, table, models, loss, joined)
    most = parting.limit or max(len(mine) for mine in rows)
    for done, (cut, parts) in enumerate(reversed([*enumerate(below(cuts))])):  # the lowest first
        report = _share_of(progress, "exchanging between parts", done, len(cuts.column))
        both = np.sort(np.concatenate([rows[part] for part in parts]))
        borders.exchange(both, most, rng_of(seed, cuts.parts + cut), report)
        progress("exchanging between parts", (done + 1) / len(cuts.column))
    return joined.recoding()


def cuts_of(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    seed: int,
    progress: Progress,
    parting: Parting,
) -> Cuts:
    """Where to cut a table that is in memory, so that every part can satisfy the models."""
    tuples = len(table.codes)
    sample = sampled(table, sample_size(algorithm, tuples, parting, min_class_size(models)))
    rng = np.random.default_rng(seed)

    def report(stage: str, share: float) -> None:  # noqa: ARG001 (all stages choose cuts)
        progress("choosing cuts", share)

    cuts = choose_cuts(sample, tuples, parting, algorithm, models, loss, rng, report)
    classes = as_classes(table, part_of(cuts, table.codes), cuts.parts)
    return united(cuts, classes, models)


def _found(
    task: PartTask, table: Table, rows: Sequence[Longs], progress: Progress, parting: Parting
) -> Iterator[PartFound]:
    """What is found in each part: elsewhere, by threads at the same time, or one by one."""
    if parting.elsewhere is not None:
        parts = [task.rows(table, part, mine) for part, mine in enumerate(rows)]
        yield from parting.elsewhere(task, parts, progress)
        return
    if parting.shared:
        yield from _shared(task, table, rows, progress)
        return
    for part, mine in enumerate(rows):
        report = _share_of(progress, "recoding parts", part, len(rows))
        yield task.run(task.rows(table, part, mine), report)
        progress("recoding parts", (part + 1) / len(rows))


def _shared(
    task: PartTask, table: Table, rows: Sequence[Longs], progress: Progress
) -> list[PartFound]:
    """Recode parts at the same time; only the calling thread reports the progress of all."""
    caller, total = get_ident(), sum(map(len, rows))
    done = [0.0] * len(rows)  # tuples of each part

    def show() -> None:
        progress("recoding parts", sum(done) / total)

    def report(part: int, _: str, share: float) -> None:
        done[part] = share * len(rows[part])
        if get_ident() == caller:
            show()

    def run(part: int) -> PartFound:
        own = _share_of(partial(report, part), "", 0, 1)
        found = task.run(task.rows(table, part, rows[part]), own)
        report(part, "", 1.0)
        return found

    largest_first = sorted(range(len(rows)), key=lambda part: -len(rows[part]))
    found = dict(zip(largest_first, in_threads(run, largest_first, show), strict=True))
    show()
    return [found[part] for part in range(len(rows))]


def _share_of(progress: Progress, name: str, part: int, parts: int) -> Progress:
    """The progress of all parts, given that of one.

    How many stages it has is not known: each of them gets half of what is left.
    """
    stages: list[str] = []
    furthest = 0.0

    def report(stage: str, share: float) -> None:
        nonlocal furthest
        if stage not in stages:
            stages.append(stage)
        left = 0.5 ** stages.index(stage)
        furthest = max(furthest, 1 - left + left / 2 * min(share, 1.0))
        progress(name, (part + furthest) / parts)

    return report
