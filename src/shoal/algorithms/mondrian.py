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
from shoal.losses._alterations import alterations
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import Recoding

ROUNDED = 9  # digits of a percentage; what differs by less is equal


class Mondrian(Algorithm):
    """Cuts the table into parts, again and again, as long as all of them satisfy the models.

    LeFevre, DeWitt, Ramakrishnan 2006, who cut the column that is widest. Here a part is cut along
    the column by which the loss falls most (of several the first): where the column has a tree,
    along the branches of the value that covers the part. Branches that fail stay together, and
    with what is as general as that value; if that fails too, the smallest branch joins it. Free
    ranges are cut where both sides have most people, so at the median; free sets the same, values
    that most people have first; missing values are cut off before. In the end each part is
    published as the least values that cover it.

    With `strict` cuts what has the same value stays together. With `relaxed` ones the median may
    be divided if less is lost by that, and where failing branches lack people, some of the other
    branches join them, the nearest first. Rows that are equal in all columns stay together. By
    default (`auto`) the table is cut both ways, and what loses less is kept; of equals `strict`.
    """

    name: ClassVar[str] = "mondrian"
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
        rng: np.random.Generator,  # noqa: ARG002 (nothing is left to chance)
        progress: Progress = silent,
    ) -> Recoding:
        """Cut as long as it can be done."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        start = tally(table.unified, table.people, table.sensitive if others else ())
        space = Space.of(table, loss, np.arange(len(table.trees)))
        judge = judge_by(others, start)
        ways = [False, True] if self.cuts == "auto" else [self.cuts == "relaxed"]
        found = []
        for place, relaxed in enumerate(ways):
            cutting = Cutting(space, start, k, relaxed, judge)
            cutting.cut([np.arange(len(start))], _part(progress, place, len(ways)))
            found.append(cutting.recoding())
        if len(found) == 1:
            return found[0]
        # By the loss itself: the cuts were weighed by integers, which may round it (`exact`).
        lost = [round(alterations(table, one, [loss])[0], ROUNDED) for one in found]
        return found[lost.index(min(lost))]


def _part(progress: Progress, place: int, total: int) -> Progress:
    """Progress of one of several runs, as a share of all of them."""
    return lambda stage, share: progress(stage, (place + share) / total)
