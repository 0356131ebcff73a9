"""What models require of classes: whether it can be reached, and which classes satisfy it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.base.arrays import Bools, Longs
from shoal.base.errors import CannotReach, WayOut
from shoal.models import Model, TableModel
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes

# From the class that each starting class is in now: which of the classes with these numbers pass.
Judge = Callable[[Longs, Longs], Bools]


def k_and_others(models: Sequence[Model]) -> tuple[int, list[Model]]:
    """The k of k-anonymity, which kernels count by themselves, and the other requirements."""
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    return k, [model for model in models if not isinstance(model, KAnonymity)]


def all_satisfied(models: Sequence[Model], classes: Classes) -> Bools:
    """Which classes satisfy all of these models, bool[classes]."""
    passes = np.ones(len(classes), np.bool_)
    for model in models:
        passes &= model.satisfied(classes)
    return passes


def check_reachable(table: Table, models: Sequence[Model]) -> None:
    """Raise an error if the whole table as one class violates a model: no partition does better."""
    _, others = k_and_others(models)
    for model in models:
        if table.person_count < model.hidden_among and not model.linkage:
            asked = f"{model.size_option}={model.hidden_among}"
            raise CannotReach(
                model.key,
                table.person_count,
                f"{model.key} with {asked} cannot be reached: the table has {table.person_count} "
                f"{'person' if table.person_count == 1 else 'people'}; "
                f"{_instead(str(model.size_option), table.person_count)}",
            ).offering(*_ways_out(model, table.person_count))
    if not others:
        return
    whole = table.as_one_class()
    for model in others:
        if not model.satisfied(whole).all():
            best = model.reached(whole)
            raise CannotReach(model.key, best, model.out_of_reach(best)).offering(
                *model.ways_out(best)
            )


def _ways_out(model: Model, people: int) -> list[WayOut]:
    """The best size that a table of so few people can have, or none."""
    removed = WayOut("remove", model.key)
    if people < 2:
        return [removed]
    return [WayOut("set", model.key, {str(model.size_option): people}), removed]


def _instead(option: str, people: int) -> str:
    """What to require of a table with too few people."""
    if people < 2:
        return "nobody can be hidden in it; add people"
    return f"the best {option} possible is {people}: ask for that, or add people"


def judge_by(models: Sequence[Model], start: Classes) -> Judge | None:
    """A function that says which merged classes satisfy these models; None if there are none."""

    def judge(into: Longs, ids: Longs) -> Bools:
        return all_satisfied(models, start.merged(into, ids))

    return judge if models else None


def mean_risk(model: TableModel, people: Longs) -> float:
    """The level of a table whose classes have so many people."""
    return model.level_of(people)


def too_risky(models: Sequence[TableModel], people: Longs) -> int:
    """How many classes, sorted from small to large, must go until the others satisfy the models.

    The smallest have the highest risk, so that the mean falls with each that goes.
    """
    rest = np.cumsum(people[::-1])[::-1]
    most = 0
    for model in models:
        level = np.cumsum(model.total(people)[::-1])[::-1] / rest
        fine = model.holds_each(level)
        most = max(most, int(np.argmax(fine)) if fine.any() else len(people))
    return most
