"""Sampling fractions: of the population and of models about it, which are about the same table."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

from shoal import catalog
from shoal.base.errors import BadPlan, WayOut
from shoal.models import Model
from shoal.plan.population import Population

if TYPE_CHECKING:
    from shoal.plan.plan import Plan

OPTION = "sampling_fraction"


def with_fraction(given: Any, population: Population | None) -> Any:
    """A model of a plan file, with the fraction of the population if it needs one and has none.

    A model that can do without, as k-map, is left as it is: there the fraction is a choice.
    """
    if not isinstance(given, Mapping) or OPTION in given:
        return given
    name = str(given.get("name"))
    kind = catalog.models.get(name)
    if kind is None or OPTION not in kind.model_fields:
        return given
    needed = [option for option, field in kind.model_fields.items() if field.is_required()]
    if OPTION not in needed:
        return given
    if population is not None and population.fraction is not None:
        return {**given, OPTION: population.fraction}
    if any(option not in given for option in needed if option != OPTION):
        return given  # whatever names all of them
    no_fraction = f", and {stated(population)} is no fraction of it" if population else ""
    raise BadPlan(
        f"{name} needs {OPTION}, the share of the population that is in the table{no_fraction}; "
        f"state it with the model, as in {OPTION} = 0.1, or as fraction under [population]. It is "
        "the number of people in the table divided by those in the population: by size, or by the "
        "sum of the weights (shoal audit shows it)"
    )


def stated(population: Population) -> str:
    """What a plan says of the size of the population."""
    if population.fraction is not None:
        return f"fraction = {population.fraction:g} under [population]"
    return f"size = {population.size:,} under [population]"


def fraction_of(model: Model) -> float | None:
    """The sampling fraction that a model states."""
    found: float | None = getattr(model, OPTION, None)
    return found


def check_fractions(plan: Plan) -> None:
    """Raise an error if the sampling fractions of a plan differ."""
    found = [(one, share) for one in plan.models if (share := fraction_of(one)) is not None]
    if not found:
        return
    first, share = found[0]
    place = f"{first.key} has {OPTION} = {share:g}"
    if plan.population.fraction is not None:
        share = plan.population.fraction
        place = f"[population] has fraction = {share:g}"
    for model, other in found:
        if isclose(share, other, rel_tol=1e-9):
            continue
        ways = [WayOut("set", model.key, {OPTION: share}), WayOut("remove", model.key)]
        alone = sum(one.key == model.key for one in plan.models) == 1
        raise BadPlan(
            f"{place}, and {model.key} has {OPTION} = {other:g}: a table has one sampling "
            "fraction; state the same in both places"
        ).offering(*(ways if alone else []))
