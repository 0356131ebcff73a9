"""Classes that are given up so that a new table satisfies a model about the whole table."""

from __future__ import annotations

import numpy as np

from shoal.algorithms._shared.requirements import mean_risk
from shoal.base.arrays import Longs
from shoal.flow.apply.placing import Placement
from shoal.models import TableModel


def classes_to_give_up(model: TableModel, placed: Placement) -> Longs:
    """Classes whose risk is too high, and no more in this order than are needed.

    Classes whose records can all move to more general ones go first. (A record is suppressed all
    the same if the only class that it could move to is given up with its own.) Among them and
    among the others the smallest go first: these have the highest risk. If nobody can move, no
    choice of classes that satisfies average-risk suppresses fewer people: the m smallest have the
    fewest people and the highest risk of any m. For share-at-risk classes are indivisible pieces,
    and the last one may be larger than needed: the people who are suppressed in excess are fewer
    than the largest class at risk can have.
    """
    used, people = placed.people(placed.record)
    risky = ~model.holds_each(model.risk(people))
    used, people = used[risky], people[risky]
    moves = placed.can_move(used)
    if moves.any():
        order = used[moves][np.argsort(people[moves], kind="stable")]
        if not _holds(model, placed, order):
            # Moving them all is not enough. Half of them, the least general, move first: their
            # records may be what the more general ones lack.
            return np.sort(order)[: (len(order) + 1) // 2]
        return order[: _fewest(model, placed, order)]
    order = np.lexsort((-used, people))  # of equally small ones those that preserve least
    used, people = used[order], people[order]
    if not _holds(model, placed, used):  # as some records moved, and are alone there
        return used[: (len(used) + 1) // 2]
    needed = _fewest(model, placed, used)
    spared = _spared(model, placed, used[:needed], people[:needed])
    return spared if _holds(model, placed, spared) else used[:needed]


def _holds(model: TableModel, placed: Placement, given_up: Longs) -> bool:
    """Whether the model is satisfied without these classes, by people who are left."""
    people = placed.people(placed.without(given_up))[1]
    return bool(len(people)) and model.holds(mean_risk(model, people))


def _fewest(model: TableModel, placed: Placement, order: Longs) -> int:
    """How many classes, in this order, must go; all of them are enough, and none is too few."""
    few, enough = 0, len(order)
    while enough - few > 1:
        middle = (few + enough) // 2
        if _holds(model, placed, order[:middle]):
            enough = middle
        else:
            few = middle
    return enough


def _spared(model: TableModel, placed: Placement, classes: Longs, people: Longs) -> Longs:
    """The classes without those that need not go, the largest first; nobody moves."""
    everyone = placed.people(placed.record)[1]
    total = float(model.total(everyone).sum() - model.total(people).sum())
    left = int(everyone.sum() - people.sum())
    goes = np.ones(len(classes), np.bool_)
    adds = model.total(people)
    for i in range(len(classes) - 1, -1, -1):
        if model.holds((total + adds[i]) / (left + people[i])):
            total, left, goes[i] = total + adds[i], left + int(people[i]), False
    return classes[goes]
