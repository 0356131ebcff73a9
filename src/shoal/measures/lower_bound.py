"""How low the loss of a k-anonymous release can be at all: a proven lower bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shoal.algorithms._shared.cells import (
    NONE,
    cheapest_cells,
    common_falls,
    make_lattice,
    no_cells,
)
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Longs
from shoal.base.errors import preview
from shoal.base.progress import Progress, silent
from shoal.kernels.search.cells import Lattice
from shoal.losses import Loss, costs_of
from shoal.losses._integer_costs import LARGEST, exact_costs
from shoal.models import Model
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.models.ir_k_anonymity import IRKAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally

# Looks at tuples, of which a core takes about 120 million in a second. A release is given LEAST
# and EACH: on 1,000,000 rows mixed from Adult (224,123 tuples) that is about as much time as the
# whole run takes. There 190 million looks find what each record loses alone (0.880 %), 424 million
# more raise it to 1.151 %, the next 648 million to 1.262 %; `peel` loses 1.620 %.
MOST_LOOKS = 1_500_000_000
IN_PROPORTION = None  # LEAST looks, and EACH for every different tuple
LEAST = 400_000_000
EACH = 4_000
GAIN = 0.01  # what is gained at the least by looking through all cells once more


@dataclass(frozen=True)
class Bound:
    """A loss that no k-anonymous release can go below, in percent of alteration."""

    percent: float | None  # None: skipped
    reason: str = ""  # why it was skipped, or why it may be lower than it could be
    k: int = 0  # people that a class has at the least
    covers: tuple[str, ...] = ()  # the requirements that it accounts for, by their keys
    covers_partly: tuple[str, ...] = ()  # those of which it accounts for the class size alone
    does_not_cover: tuple[str, ...] = ()  # those that it does not account for

    @property
    def complete(self) -> bool:
        """Whether it accounts for everything that is required."""
        return not (self.covers_partly or self.does_not_cover)

    @property
    def scope(self) -> str:
        """Which requirements it accounts for and which not, in words that go next to the number.

        >>> Bound(0.9, k=5, covers=("k-anonymity",), does_not_cover=("t-closeness[pay]",)).scope
        'for k-anonymity (k = 5) alone; it does not account for t-closeness[pay]'
        """
        if self.percent is None:
            return ""
        accounted = [f"{name} (k = {self.k:,})" for name in self.covers]
        if len(self.covers) > 1:  # each may have a k of its own; the bound is for the greatest
            accounted = [*self.covers]
            accounted[-1] += f" (classes of at least {self.k:,} people)"
        if self.covers_partly:
            accounted = [*self.covers, f"the class size that {_list(self.covers_partly)} requires"]
            accounted[-1] += f" (at least {self.k:,} people)"
        if not accounted:
            accounted = [f"classes of at least {self.k:,} people"]
        rest = [*self.does_not_cover, *(f"the rest of {name}" for name in self.covers_partly)]
        lacking = f" alone; it does not account for {_list(rest)}" if rest else ""
        return f"for {_list(accounted)}{lacking}"

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file; `percent` is the older name of `value`."""
        found = {"value": self.percent, **asdict(self), "scope": self.scope}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def scoped(bound: Bound, models: Sequence[Model]) -> Bound:
    """The same bound, with which of these requirements it accounts for; of none if skipped."""
    if bound.percent is None:
        return bound
    whole, partly, none = [], [], []
    for model in models:
        if isinstance(model, KAnonymity | IRKAnonymity):
            whole.append(model.key)
        elif min_class_size([model]) > 1:
            partly.append(model.key)
        else:
            none.append(model.key)
    whole, partly, none = (list(dict.fromkeys(keys)) for keys in (whole, partly, none))
    return replace(
        bound, covers=tuple(whole), covers_partly=tuple(partly), does_not_cover=tuple(none)
    )


def min_class_size(models: Sequence[Model]) -> int:
    """The people that every class has if these promises hold; 1: nothing is promised about it."""
    crowds = [
        model.l if isinstance(model, EIRLDiversity) else getattr(model, "k", 1)
        for model in models
        if not model.linkage
    ]
    return max(crowds, default=1)


def lower_bound(
    table: Table, k: int, loss: Loss, most: int | None = MOST_LOOKS, progress: Progress = silent
) -> Bound:
    """What no release of a table can lose less than in which every class has k people.

    It takes `most` looks at tuples, which are counted: the same table has the same bound on every
    machine, however busy. With `IN_PROPORTION` there are more for a large table.
    """
    return replace(_lower_bound(table, k, loss, most, progress), k=k)


def _lower_bound(table: Table, k: int, loss: Loss, most: int | None, progress: Progress) -> Bound:
    """What records lose at least: each by the cheapest cell, then all of them together.

    In a k-anonymous release every record is published as a cell that covers rows of at least k
    people, so none can lose less than by the cheapest one. (Somebody with rows in several tuples
    of a cell is counted there several times: the bound may be lower for it, and still holds.)
    """
    if table.crowd < k:
        return Bound(None, f"the table has {table.crowd} people, fewer than k={k}")
    if table.free:
        # A free set loses less than the root, which is all that a flat tree knows of it.
        return Bound(None, f"{preview(table.free)} may be published as free ranges or sets")
    for domain, cost in zip(table.domains, costs_of(loss, table.domains), strict=True):
        if (cost[domain.tree.parent] > cost + 1e-12).any():
            found = f"by {loss.name} a wider value of {domain.name!r} can cost less"
            return Bound(None, f"{found}, so no bound is known")
    start = tally(table.codes, table.people)
    costs = exact_costs(loss, table.domains, table.rows)
    rows = Table(table.names, table.trees, table.codes, None, table.exact)
    layout = Layout.of(rows, start, costs)
    vector = layout.arranged(table.codes[start.first])
    rank = np.lexsort(vector.T[::-1])  # neighbours lie together in memory
    size, people, vector = start.size[rank], start.people[rank], vector[rank].copy(order="C")
    lattice = make_lattice(layout, vector, people)
    possible = int((lattice.own[:, -1] * size).sum())
    if possible == 0:
        return Bound(0.0)
    if most is None:
        most = LEAST + EACH * len(vector)
    known, left = _each_alone(lattice, k, most, progress)
    lost = float((known * size).sum())
    if left > 0:
        lost = _together(lattice, size, known, k, left, progress)
    progress("bounding", 1.0)
    if left > 0:
        return Bound(100.0 * lost / possible)
    if lost == 0:
        return Bound(None, "it would take too long: too many cells cover k people")
    reason = "the search was stopped; records that are dear may count too little"
    return Bound(100.0 * lost / possible, reason)


def _each_alone(lattice: Lattice, k: int, most: int, progress: Progress) -> tuple[Longs, int]:
    """What each tuple loses by the cheapest cell that covers k people, and the looks left."""
    n = len(lattice.vector)
    best, each = no_cells(lattice, k), np.arange(n)
    known = np.zeros(n, np.int64)
    for ceiling in _ceilings(int(lattice.own[:, -1].max())):
        tell = partial(progress, "bounding", int((best.cost < NONE).sum()) / (2 * n))
        tell()
        most -= cheapest_cells(lattice, best, each, ceiling, int(NONE), most, tell)
        if most <= 0:
            break  # a cell that was found now need not be the cheapest
        known = np.minimum(best.cost, ceiling)  # whoever has none yet pays more
        best.need[best.cost < NONE] = NONE  # and whoever has one looks no further
    return known, most


def _together(
    lattice: Lattice, size: Longs, known: Longs, k: int, most: int, progress: Progress
) -> float:
    """What all records lose at least, given what each of them does: a dual of the best release.

    Let cap[r] be such that in every cell that covers k people the k lowest caps have a mean of no
    less than what the cell keeps. Then the members of any class of k and more keep no more than
    the sum of their caps: a class lies in a cell, and its mean cap is no less than that of the k
    lowest there. So the sum of all caps is more than any release keeps. To begin with a cap is
    what the record keeps by its cheapest cell. Where the k lowest have more than the cell keeps,
    all of them may fall by the difference, each by the least of its cells; that is repeated while
    it gains. No cap falls below zero, so a suppressed record, which keeps nothing, is counted
    right. Who stands apart gains most: it pays for those that it needs as company.
    """
    highest = int(lattice.own[:, -1].max())
    fine = max(1, LARGEST // (4 * int(size.sum()) * highest))  # a mean is no whole number
    fine_lattice = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
    own = fine_lattice.own[:, -1]
    cap = own - known * fine
    lost, left = int(((own - cap) * size).sum()), most
    while True:
        tell = partial(progress, "bounding", 1 - left / (2 * most))
        fall, looks = common_falls(fine_lattice, size, cap, k, left, tell)
        left -= looks
        if left <= 0:
            break  # a fall may be too deep
        cap -= fall
        more = int((fall * size).sum())
        lost += more
        if more <= GAIN * lost:
            break
    return lost / fine


def _ceilings(highest: int) -> list[int]:
    """Rising ceilings up to the highest: what is found below one need not be sought again."""
    found = [highest]
    while found[-1] > highest // 256:
        found.append(found[-1] // 2)
    return found[::-1]
