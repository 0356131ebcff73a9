"""How low the loss of a k-anonymous release can be at all: a proven lower bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shoal.algorithms._cells import NONE, cheapest_cells, make_lattice, no_cells
from shoal.algorithms.gaa import flat_trees, index_order
from shoal.classes import tally
from shoal.columns import Table
from shoal.errors import some
from shoal.exact import exact_costs
from shoal.losses import Loss
from shoal.models import Model
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.progress import Progress, silent

MOST = 1_500_000_000  # looks at tuples, about ten seconds


@dataclass(frozen=True)
class Bound:
    """A loss that no k-anonymous release can go below, in percent of alteration."""

    percent: float | None  # None: skipped
    reason: str = ""  # why it was skipped, or why it may be lower than it could be
    k: int = 0  # people that a class has at the least

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        return asdict(self)


def crowd_of(models: Sequence[Model]) -> int:
    """The people that every class has if these promises hold; 1: nothing is promised about it."""
    crowds = [
        model.l if isinstance(model, EIRLDiversity) else getattr(model, "k", 1)
        for model in models
        if not model.linkage
    ]
    return max(crowds, default=1)


def lower_bound(
    table: Table, k: int, loss: Loss, most: int = MOST, progress: Progress = silent
) -> Bound:
    """What no release of a table can lose less than in which every class has k people."""
    return replace(_lower_bound(table, k, loss, most, progress), k=k)


def _lower_bound(table: Table, k: int, loss: Loss, most: int, progress: Progress) -> Bound:
    """The sum, over the records, of the cheapest cell that covers the record and k people.

    In a k-anonymous release every record is published as a cell that covers rows of at least k
    people, so none can lose less. (Somebody with rows in several tuples of a cell is counted
    there several times: the bound may be lower for it, and still holds.)
    """
    if table.crowd < k:
        return Bound(None, f"the table has {table.crowd} people, fewer than k={k}")
    if table.free:
        # A free set loses less than the root, which is all that a flat tree knows of it.
        return Bound(None, f"{some(table.free)} may be published as free ranges or sets")
    for domain, cost in zip(table.domains, loss.costs(table.domains), strict=True):
        if (cost[domain.tree.parent] > cost + 1e-12).any():
            return Bound(None, f"a wider value of {domain.name!r} can cost less in {loss.name}")
    start = tally(table.codes, table.people)
    costs = exact_costs(loss, table.domains, table.rows)
    rows = Table(table.names, table.trees, table.codes, None, table.exact)
    order = index_order(rows, start, costs)
    vector = np.ascontiguousarray(table.codes[start.first][:, order])
    lattice = make_lattice(table, flat_trees(rows, costs, order), order, vector, start.people)
    best = no_cells(lattice, k)
    possible = int((lattice.own[:, -1] * start.size).sum())
    if possible == 0:
        return Bound(0.0)
    each = np.arange(len(start))
    known = np.zeros(len(start), np.int64)  # what each record loses at least
    for ceiling in _ceilings(int(lattice.own[:, -1].max())):
        share = int((best.cost < NONE).sum()) / len(start)
        tell = partial(progress, "bounding", share)
        tell()
        most -= cheapest_cells(lattice, best, each, ceiling, int(NONE), most, tell)
        if most <= 0:
            break  # a cell that was found now need not be the cheapest
        known = np.minimum(best.cost, ceiling)  # whoever has none yet pays more
        best.need[best.cost < NONE] = NONE  # and whoever has one looks no further
    progress("bounding", 1.0)
    percent = 100.0 * int((known * start.size).sum()) / possible
    if most > 0:
        return Bound(percent)
    if percent == 0:
        return Bound(None, "it would take too long: too many cells cover k people")
    return Bound(percent, "the search was stopped; records that are dear may count too little")


def _ceilings(highest: int) -> list[int]:
    """Rising ceilings up to the highest: what is found below one need not be sought again."""
    found = [highest]
    while found[-1] > highest // 256:
        found.append(found[-1] // 2)
    return found[::-1]
