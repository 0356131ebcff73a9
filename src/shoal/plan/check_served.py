"""Check that an algorithm can do what a plan asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal import catalog
from shoal.algorithms import DEFAULT, Algorithm
from shoal.base.errors import BadPlan, WayOut, preview
from shoal.models import Model
from shoal.plan.check_limits import check_limits
from shoal.plan.sampling_fractions import OPTION, check_fractions, stated
from shoal.table.roles import (
    free_columns,
    household_apart,
    linking_columns,
    microaggregated_columns,
)

if TYPE_CHECKING:
    from shoal.plan.plan import Plan


def check_served(plan: Plan) -> None:
    """Raise an error unless the algorithm supports every model, and every limit can be judged."""
    if not plan.models:
        raise BadPlan(
            "the plan has no requirements; add a model, for example k-anonymity"
        ).offering(WayOut("add", "k-anonymity", {"k": 5}))
    if plan.algorithm.own_command:
        raise BadPlan(
            f"the algorithm {plan.algorithm.name} publishes two tables, and here is one; use "
            f"{plan.algorithm.own_command}, or choose another algorithm"
        ).offering(WayOut("algorithm", DEFAULT))
    if plan.linked and (persons := linking_columns(plan.columns)):
        model = next(m.name for m in plan.models if m.linkage)
        role = plan.columns[persons[0]].role
        raise BadPlan(
            f"{model} is about records, and the plan "
            f"has a {role} column; drop that column if each record may stand for a person, or "
            "choose another model"
        ).offering(WayOut("remove", model), WayOut("role", persons[0], "drop"))
    _check_apart(plan)
    _check_population(plan)
    check_fractions(plan)
    _check_microaggregated(plan)
    _check_free(plan)
    _check_parts(plan)
    check_limits(plan)
    lost = [model for model in plan.models if not plan.algorithm.serves(model)]
    if not lost:
        return
    whole = [n for n in catalog.algorithms.decided if _served_by(n, plan.models)]
    if not whole and _served_by_some(lost[0]):
        others = [m.key for m in plan.models if m is not lost[0]]
        raise BadPlan(
            f"the algorithm {plan.algorithm.name} does not support {lost[0].key}, and no "
            f"algorithm supports it together with {' and '.join(others)}; remove one of them"
        ).offering(*(WayOut("remove", model.key) for model in plan.models))
    raise BadPlan(
        f"the algorithm {plan.algorithm.name} does not support {lost[0].key}; "
        f"these do: {', '.join(whole) or 'none yet'}"
    ).offering(*_algorithms(whole), WayOut("remove", lost[0].key))


def _check_apart(plan: Plan) -> None:
    """Raise an error if members are generalized each by itself, and nothing counts households."""
    home = household_apart(plan.columns)
    if home is not None and not any(model.needs_household_column for model in plan.models):
        raise BadPlan(
            f"the members of a household ({home!r}) are generalized each by itself, and no "
            "requirement counts households: people who look the same could all be of one "
            "household; add household-k-anonymity, or remove together = false"
        ).offering(WayOut("add", "household-k-anonymity", {"k": 5}))


def _check_population(plan: Plan) -> None:
    """Raise an error if a model counts people of a population, and the plan names none."""
    needing = [model for model in plan.models if model.needs_population]
    if not needing:
        return
    model = needing[0].key
    if plan.population.data is None:
        other = ", or a sampling_fraction for k-map, by which it is estimated"
        size = f" ({stated(plan.population)} does not count for it)" if plan.population else ""
        ways = [WayOut("remove", model)]
        if model == "k-map" and plan.population.fraction is not None:
            ways.insert(0, WayOut("set", model, {OPTION: plan.population.fraction}))
        raise BadPlan(
            f"{model} counts people of the population, and the plan has no table of it{size}; add "
            f'one, as in [population] data = "people.csv"{other if model == "k-map" else ""}'
        ).offering(*ways)
    if plan.population.incomplete and (strict := [m.key for m in needing if m.needs_everybody]):
        raise BadPlan(
            f"{strict[0]} with low above 0 needs everybody of the table in the population; give a "
            "population that has them, without incomplete = true, or leave out low"
        ).offering(WayOut("remove", strict[0]))
    if plan.attackers:
        raise BadPlan(
            f"{model} together with several attackers is not supported yet; remove [[attackers]] "
            f"or {model}"
        ).offering(WayOut("attackers"), WayOut("remove", model))


def _check_microaggregated(plan: Plan) -> None:
    """Raise an error if numbers of classes are asked for where classes are not what they seem."""
    names = microaggregated_columns(plan.columns)
    if not names:
        return
    if plan.linked:
        model = next(m.name for m in plan.models if m.linkage)
        raise BadPlan(
            f"column {names[0]!r} has microaggregate, which publishes a number per class, and "
            f"{model} is satisfied without classes; choose k-anonymity, or remove microaggregate"
        )
    needing = [model.key for model in plan.models if model.needs_population]
    if needing:
        raise BadPlan(
            f"{needing[0]} counts the people of the population whom a value covers, and the "
            f"numbers of column {names[0]!r} do not state what they cover; remove microaggregate "
            f"or {needing[0]}"
        ).offering(WayOut("remove", needing[0]))
    if plan.attackers:
        raise BadPlan(
            f"column {names[0]!r} has microaggregate: its number differs between records that look "
            "alike to an attacker who knows only some of the columns; remove microaggregate or "
            "[[attackers]]"
        ).offering(WayOut("attackers"))


def _check_free(plan: Plan) -> None:
    """Raise an error if there are free ranges or sets, but algorithm or loss needs trees."""
    free = free_columns(plan.columns)
    if free and not plan.algorithm.free:
        able = [
            name
            for name, kind in catalog.algorithms.decided.items()
            if issubclass(kind, Algorithm) and kind.free
        ]
        raise BadPlan(
            f"the algorithm {plan.algorithm.name} needs trees, and {preview(free)} may be "
            f"published as free ranges or sets; these support them: {', '.join(able)}"
        ).offering(*_algorithms(able))
    if free and plan.loss.needs_trees:
        raise BadPlan(
            f"the loss {plan.loss.name} is about edges of trees, and {preview(free)} may be "
            "published as free ranges or sets; choose another loss, or give these columns trees"
        )


def _algorithms(names: Sequence[str]) -> list[WayOut]:
    """Other algorithms, the default first."""
    return [WayOut("algorithm", name) for name in sorted(names, key=lambda one: one != DEFAULT)]


def _check_parts(plan: Plan) -> None:
    """Raise an error if the plan asks for parts that it cannot have."""
    if plan.parts in ("auto", 1):
        return
    why = ""
    if persons := linking_columns(plan.columns):
        why = f"a person column ({persons[0]!r}): the records of a person must stay together"
    elif not plan.algorithm.works_in_parts:
        why = f"the algorithm {plan.algorithm.name}, which needs the whole table"
    if why:
        raise BadPlan(f"parts = {plan.parts} is not possible with {why}; set parts = 1")


def _served_by_some(model: Model) -> bool:
    return any(_served_by(name, [model]) for name in catalog.algorithms.decided)


def _served_by(name: str, models: Sequence[Model]) -> bool:
    algorithm: Any = catalog.algorithms[name]()
    return all(algorithm.serves(model) for model in models)
