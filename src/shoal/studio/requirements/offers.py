"""Offers: the models that can be added to a plan, and why others cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from shoal import catalog
from shoal.base.errors import BadPlan
from shoal.base.options import shapes_of
from shoal.models import Model, SensitiveModel, TableModel
from shoal.models._people import PeopleModel
from shoal.plan import Plan
from shoal.studio.requirements.fields import COLUMN
from shoal.table.roles import columns_with_role, counts_households, linking_columns

Group = Literal["identity", "values", "whole", "people", "records"]
GROUPS: tuple[Group, ...] = ("identity", "values", "whole", "people", "records")
Reason = Literal["", "sensitive", "person", "no-person", "attackers", "population", "household"]
FRACTION = "sampling_fraction"
FEWEST = 2  # values that a column needs, so that classes can have different ones


@dataclass(frozen=True)
class Offer:
    """A model that may be added, with usual options."""

    name: str
    group: Group
    columns: tuple[str, ...]  # that it can be about; (): it is about none
    reason: Reason  # why it cannot be added; "": it can
    model: Model  # with usual options
    estimable: bool = False  # whether a sampling fraction does instead of a population

    @property
    def linked(self) -> bool:
        """Whether releases that satisfy it have no classes."""
        return self.model.linkage


def group_of(kind: type[Model]) -> Group:
    """What a model is about, in the order in which people ask."""
    if issubclass(kind, PeopleModel) or kind.needs_person_column:
        return "people"
    if kind.linkage:
        return "records"
    if issubclass(kind, TableModel):
        return "whole"
    return "values" if issubclass(kind, SensitiveModel) else "identity"


def fitting_columns(plan: Plan, distinct: Mapping[str, int] | None = None) -> list[str]:
    """The sensitive columns, those with at least two values."""
    return [
        name
        for name in columns_with_role(plan.columns, "sensitive")
        if distinct is None or distinct.get(name, FEWEST) >= FEWEST
    ]


def offers(plan: Plan, distinct: Mapping[str, int]) -> dict[Group, list[Offer]]:
    """All models of the catalog by group; `distinct` has the number of values of each column."""
    found: dict[Group, list[Offer]] = {group: [] for group in GROUPS}
    for name, kind in catalog.models.items():
        assert issubclass(kind, Model)
        columns = tuple(fitting_columns(plan, distinct)) if COLUMN in shapes_of(kind) else ()
        offer = Offer(
            name,
            group_of(kind),
            columns,
            _reason(plan, kind, columns),
            made(name, columns[0] if columns else "…"),
        )
        if offer.model.needs_population and plan.population.data is None:
            fraction = FRACTION in shapes_of(kind)
            offer = replace(offer, reason="population", estimable=fraction)
        found[offer.group].append(offer)
    return {group: some for group, some in found.items() if some}


def _reason(plan: Plan, kind: type[Model], columns: Iterable[str]) -> Reason:
    persons = bool(linking_columns(plan.columns))
    if COLUMN in shapes_of(kind) and not list(columns):
        return "sensitive"
    if kind.needs_person_column and not persons:
        return "person"
    if kind.needs_household_column and not counts_households(plan.columns):
        return "household"
    if kind.linkage and persons:
        return "no-person"
    return "attackers" if kind.linkage and plan.attackers else ""


def made(name: str, column: str | None = None, fraction: float | None = None) -> Model:
    """A model with usual options; with a sampling fraction, if it can be estimated by one."""
    kind = catalog.models.named(name)
    shapes = shapes_of(kind)
    options = {
        option: shape.start
        for option, shape in shapes.items()
        if option != COLUMN and shape.required and shape.start is not None
    }
    if COLUMN in shapes:
        if not column:
            raise BadPlan(f"{name} is about a sensitive column; choose one")
        options[COLUMN] = column
    if fraction is not None and FRACTION in shapes:
        options[FRACTION] = fraction
    model = kind(**options)
    assert isinstance(model, Model)
    return model


def most_of(model: Model, people: int, distinct: Mapping[str, int]) -> dict[str, float]:
    """Ends of sliders that the table sets: there are not more people, nor more values."""
    most: dict[str, float] = {}
    if model.size_option:
        most[model.size_option] = people
    if model.about is not None and (values := distinct.get(model.about)):
        most |= dict.fromkeys(("l", "p"), values)
    return most
