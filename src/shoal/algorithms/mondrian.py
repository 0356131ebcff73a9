"""Mondrian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.cutting import Cutting
from shoal.algorithms._shared.requirements import check_reachable, judge_by, k_and_others
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.losses._alterations import least_altered
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class Mondrian(Algorithm):
    """Repeatedly cuts the table into parts, as long as all of them satisfy the models.

    LeFevre, DeWitt, Ramakrishnan 2006 cut the widest column. Here a part is cut along the column
    that reduces the loss most (among equals, the first). A column with a tree is cut along the
    branches of the value that covers the part. Branches that fail stay together with records as
    general as that value; if that group fails too, the smallest branch joins it. Free ranges are
    cut at the median number of people; so are free sets, with the most frequent values first.
    Missing values are separated before. Finally each part is published as the least general values
    that cover it.

    With `strict` cuts, records with the same value stay together. With `relaxed` cuts, records with
    the median value may be divided if that loses less, and if failing branches lack people, records
    of other branches join them, the nearest first. Records that are equal in all columns stay
    together. By default (`auto`) the table is cut both ways, and the result that loses less is
    used; if both lose the same, `strict`.
    """

    name: ClassVar[str] = "mondrian"
    counts_together: ClassVar[bool] = True
    pace: ClassVar[float] = 0.2
    cuts: Literal["auto", "strict", "relaxed"] = Field(
        default="auto",
        description="whether equal values stay together (strict) or may be divided (relaxed); auto "
        "tries both",
    )
    free: ClassVar[bool] = True

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (not random)
        progress: Progress = silent,
    ) -> Recoding:
        """Cut as long as the models allow it."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        start = table.tally(bool(others))
        space = Space.of(table, loss, np.arange(len(table.trees)))
        judge = judge_by(others, start)
        ways = [False, True] if self.cuts == "auto" else [self.cuts == "relaxed"]
        found = []
        for place, relaxed in enumerate(ways):
            cutting = Cutting(space, start, k, relaxed, judge)
            cutting.cut([np.arange(len(start))], _part(progress, place, len(ways)))
            found.append(cutting.recoding())
        return least_altered(table, found, loss)


def _part(progress: Progress, place: int, total: int) -> Progress:
    """Progress of one of several runs, as a share of all of them."""
    return lambda stage, share: progress(stage, (place + share) / total)
