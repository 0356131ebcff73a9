"""Recode a table part by part, and exchange records between parts afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.parts.borders import Borders, below
from shoal.algorithms._shared.parts.cuts import (
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
from shoal.losses import Loss
from shoal.models import Model
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
    joined = Joined(table)
    task = PartTask.of(algorithm, table, models, loss, seed)
    for mine, found in zip(rows, _found(task, table, rows, progress, parting), strict=True):
        joined.add_part(mine, task.recoding(found))
    borders = Borders(algorithm, table, models, loss, joined)
    most = parting.limit or max(len(mine) for mine in rows)
    for done, (cut, parts) in enumerate(reversed([*enumerate(below(cuts))])):  # the lowest first
        report = _share_of(progress, "exchanging between parts", done, len(cuts.column))
        both = np.sort(np.concatenate([rows[part] for part in parts]))
        borders.exchange(both, most, rng_of(seed, cuts.parts + cut), report)
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
    sample = sampled(table, sample_size(algorithm))
    rng = np.random.default_rng(seed)
    tuples = len(table.codes)

    def report(stage: str, share: float) -> None:  # noqa: ARG001 (all stages choose cuts)
        progress("choosing cuts", share)

    cuts = choose_cuts(sample, tuples, parting, algorithm, models, loss, rng, report)
    classes = as_classes(table, part_of(cuts, table.codes), cuts.parts)
    return united(cuts, classes, models)


def _found(
    task: PartTask, table: Table, rows: Sequence[Longs], progress: Progress, parting: Parting
) -> Iterator[PartFound]:
    """What is found in each part, one after the other or elsewhere."""
    if parting.elsewhere is not None:
        parts = [task.rows(table, part, mine) for part, mine in enumerate(rows)]
        yield from parting.elsewhere(task, parts, progress)
        return
    for part, mine in enumerate(rows):
        report = _share_of(progress, "recoding parts", part, len(rows))
        yield task.run(task.rows(table, part, mine), report)


def _share_of(progress: Progress, name: str, part: int, parts: int) -> Progress:
    """The progress of all parts, given that of one."""
    furthest = 0.0

    def report(stage: str, share: float) -> None:  # noqa: ARG001 (all stages are one)
        nonlocal furthest
        furthest = max(furthest, min(share, 1.0))
        progress(name, (part + furthest) / parts)

    return report
