"""What models require of classes: whether it can be reached, and which classes satisfy it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from shoal.base.arrays import Bools, Longs
from shoal.base.errors import CannotReach, WayOut
from shoal.models import LinkageModel, Model, TableModel, min_class_size
from shoal.models._beliefs import BeliefModel
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes

# From the class that each starting class is in now: which of the classes with these numbers pass.
Judge = Callable[[Longs, Longs], Bools]


def k_and_others(models: Sequence[Model]) -> tuple[int, list[Model]]:
    """The k of k-anonymity, which kernels count by themselves, and the other requirements.

    An estimated k-map is k-anonymity with the class size that is enough.
    """
    counted = [isinstance(one, KAnonymity | KMap) and one.only_class_size for one in models]
    both = list(zip(models, counted, strict=True))
    k = min_class_size(model for model, by_kernel in both if by_kernel)
    return k, [model for model, by_kernel in both if not by_kernel]


def all_satisfied(models: Sequence[Model], classes: Classes) -> Bools:
    """Which classes satisfy all of these models, bool[classes]."""
    passes = np.ones(len(classes), np.bool_)
    for model in models:
        passes &= model.satisfied(classes)
    return passes


def check_reachable(table: Table, models: Sequence[Model]) -> None:
    """Raise an error if the whole table as one class violates a model: no partition does better."""
    others = [model for model in models if not isinstance(model, KAnonymity)]
    for model in models:
        if table.person_count < model.hidden_among and not model.linkage:
            asked = f"{model.size_option}={model.hidden_among}"
            best = table.person_count
            if model.required == model.hidden_among:  # of members of households it may be fewer
                best = min(best, int(model.reached(table.as_one_class())))
            raise CannotReach(
                model.key,
                best,
                f"{model.key} with {asked} cannot be reached: the table has {table.person_count} "
                f"{'person' if table.person_count == 1 else 'people'}; "
                f"{_instead(str(model.size_option), best)}",
            ).offering(*_ways_out(model, best))
    if not others:
        return
    whole = table.as_one_class()
    for model in others:
        if not model.satisfied(whole).all():
            raise _cannot_reach(model, model.reached(whole))


def check_linked(table: Table, models: Iterable[Model]) -> None:
    """Raise an error if even equal records violate a model about original and release together."""
    rows = table.rows
    for model in models:
        if isinstance(model, BeliefModel) and not model.is_possible(rows):
            raise _cannot_reach(model, 1.0 / rows)
        if isinstance(model, LinkageModel) and model.k > rows:
            raise CannotReach(
                model.key,
                rows,
                f"{model.key} with k={model.k} cannot be reached: the table has {rows} rows; "
                f"the best k possible is {rows}: use that, or add rows",
            ).offering(WayOut("set", model.key, {"k": rows}), WayOut("remove", model.key))


def _cannot_reach(model: Model, best: float) -> CannotReach:
    """The error for a model of which this is the best level possible."""
    error = CannotReach(model.key, best, model.out_of_reach(best))
    return error.offering(*model.ways_out(best))


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
