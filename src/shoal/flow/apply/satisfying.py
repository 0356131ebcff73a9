"""Satisfying: classes of a recoding are given up until a new table satisfies all models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.errors import NotHeld
from shoal.base.progress import Progress
from shoal.flow.apply.giving_up import classes_to_give_up
from shoal.flow.apply.placing import Placement
from shoal.hierarchies.free_values import Covers
from shoal.measures.verify import of_rows, seen_in_all_ways
from shoal.models import Model, TableModel
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.match_graph import link
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, Recoding


class Satisfied(NamedTuple):
    """A recoding that satisfies all requirements, and what it took."""

    recoding: Recoding
    broken: dict[str, int]  # suppressed records, by the model that their last class violated
    moved: int  # records in a more general class than the first that covers them
    classes: int  # classes that are not published as they would violate a requirement


def satisfy_models(plan: Plan, placed: Placement, progress: Progress) -> Satisfied:
    """Give up classes that violate a requirement, until those that are left satisfy all of them.

    The records of such a class go to the next one that covers them, and are suppressed if there
    is none. Each round gives up half of the failing classes, the least general: their records may
    be what the more general ones lack. With linkage models single records fail, and are
    suppressed. Models about the whole table come last, and no more is given up than they need.
    """
    at_first = placed.record
    why = np.full(placed.table.rows, -1)  # the model that the last class of the record violated
    used: tuple[Covers, ...] = tuple(placed.covers) if any(map(len, placed.covers)) else ()
    most = 0  # records that fail at first
    while True:
        recoding = Recoding(placed.vectors, placed.record, used)
        violated = _violated(plan, placed.table, recoding)  # int64[published], -1: none
        rows = placed.published
        fails = rows[violated >= 0]
        most = max(most, len(fails), 1)
        progress("requirements", 1.0 - len(fails) / most)
        if not len(fails):
            break
        why[fails] = violated[violated >= 0]
        if plan.linked:
            placed.suppress(fails)
        else:
            placed.give_up(_given_up(plan.models[why[fails[0]]], placed, fails))
        if (placed.record == SUPPRESSED).all():
            raise _nothing_left(plan, why)
    gone = (placed.record == SUPPRESSED) & (at_first != SUPPRESSED)
    moved = int(((placed.record != at_first) & (placed.record != SUPPRESSED)).sum())
    return Satisfied(recoding, _counted(plan, why[gone]), moved, int((~placed.alive).sum()))


def _given_up(model: Model, placed: Placement, fails: Longs) -> Longs:
    """The classes to give up in this round."""
    if isinstance(model, TableModel):
        return classes_to_give_up(model, placed)
    failing = np.unique(placed.record[fails])
    return failing[: (len(failing) + 1) // 2]


def _nothing_left(plan: Plan, why: Longs) -> NotHeld:
    """The error if no class can be published."""
    models = [plan.models[i] for i in np.unique(why[why >= 0])]
    keys = " and ".join(dict.fromkeys(model.key for model in models))
    if all(isinstance(model, TableModel) for model in models):
        what = f"whichever classes of the recoding are published, this table would exceed {keys}"
    else:
        what = f"no class of the recoding satisfies {keys} in this table"
    return NotHeld(
        f"{what}: too few of its records are alike; apply the recoding to more records at once, "
        "or anonymize this table by itself"
    )


def _counted(plan: Plan, why: Longs) -> dict[str, int]:
    """How many records are suppressed because of each model, by its key."""
    often = np.bincount(why, minlength=len(plan.models))
    counted: dict[str, int] = {}
    for model, many in zip(plan.models, often.tolist(), strict=True):
        if many:
            counted[model.key] = counted.get(model.key, 0) + many
    return counted


def _violated(plan: Plan, table: Table, recoding: Recoding) -> Longs:
    """The first model that the class of each published record violates, or -1; int64[published].

    Models about the whole table are asked only if all others are satisfied.
    """
    published, part = preview_release(table, recoding)
    linkage = link(part, published) if plan.linked else None
    first = np.full(published.rows, -1)
    models = sorted(enumerate(plan.models), key=lambda one: isinstance(one[1], TableModel))
    for i, model in models:
        if isinstance(model, TableModel) and (first >= 0).any():
            break
        for classes in seen_in_all_ways(model, published, linkage):
            fails = ~of_rows(model, model.satisfied(classes), published, linkage)
            first[fails & (first < 0)] = i
    return first
