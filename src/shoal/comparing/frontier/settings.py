"""Settings: the values of k, l, t and the models that are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from shoal import catalog
from shoal.base.errors import BadPlan, preview
from shoal.base.wording import number
from shoal.models import Model
from shoal.plan import Plan

KS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)
LS = (2.0, 3.0, 4.0, 5.0, 6.0)
TS = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05)
ROOM = 10  # classes of k people for which a table must have room, if k is chosen here


@dataclass(frozen=True)
class TriedSetting:
    """The values of options, by name, and the models that are added to those of the plan."""

    options: tuple[tuple[str, float], ...]
    added: tuple[str, ...] = ()  # as people read them

    @property
    def label(self) -> str:
        """In words.

        >>> TriedSetting((("k", 5), ("t", 0.2)), ("p-sensitivity",)).label
        'k = 5, t = 0.2, with p-sensitivity'
        """
        words = [f"{name} = {number(value)}" for name, value in self.options]
        if self.added:
            words.append(f"with {' and '.join(self.added)}")
        return ", ".join(words) or "as in the plan"

    def value(self, name: str) -> float | None:
        """The value of an option; None: it is not varied."""
        return dict(self.options).get(name)


def option_of(model: Model, name: str) -> str | None:
    """What a model calls the option k, l or t; None: it has none."""
    if name == "k":
        return model.size_option or None
    return name if name in type(model).model_fields else None


def own_values(plan: Plan) -> dict[str, float]:
    """The k, l and t of a plan: the strictest, if several models have one."""
    found: dict[str, float] = {}
    for name, strictest in (("k", max), ("l", max), ("t", min)):
        given = [
            getattr(model, option)
            for model in plan.models
            if (option := option_of(model, name)) is not None
        ]
        if given:
            found[name] = strictest(given)
    return found


def tried_plans(
    plan: Plan,
    people: int,
    given: Mapping[str, Sequence[float] | None],
    added: Iterable[Any] = (),
) -> dict[TriedSetting, Plan]:
    """The plan of each setting, that of the plan itself among them.

    With values given, all of their combinations are tried. Otherwise each option of the plan is
    varied alone, the others being as in the plan. Each added model is tried as well.
    """
    if not plan.models:
        raise BadPlan("the plan has no requirements; add a model, for example k-anonymity")
    own = own_values(plan)
    asked = {name: list(values) for name, values in given.items() if values is not None}
    if unknown := [name for name in asked if name not in own]:
        raise BadPlan(
            f"no model of the plan has the option {preview(unknown)}; add one that has it, for "
            "example t-closeness for t"
        )
    if not own:
        names = ", ".join(model.key for model in plan.models)
        raise BadPlan(f"{names} has neither k nor l nor t to vary; add k-anonymity to the models")
    varied = _product(asked, own) if asked else _one_by_one(own, people)
    models = [catalog.models.make(one) for one in added]
    found = {}
    for options in varied:
        changed = plan.changed(models=[changed_model(model, options) for model in plan.models])
        found[TriedSetting(tuple(options.items()))] = changed
        for model in models:
            assert isinstance(model, Model)
            key = TriedSetting(tuple(options.items()), (_named(model),))
            found[key] = changed.changed(models=[*changed.models, model])
    return found


def _product(asked: Mapping[str, Sequence[float]], own: Mapping[str, float]) -> list[Any]:
    """The values of the plan, and all other combinations of the given ones."""
    names = list(asked)
    rows = [dict(zip(names, values, strict=True)) for values in product(*asked.values())]
    mine = {name: own[name] for name in names}
    return [mine, *(row for row in rows if row != mine)]


def _one_by_one(own: Mapping[str, float], people: int) -> list[dict[str, float]]:
    """Each option varied alone."""
    choices: dict[str, tuple[float, ...]] = {"k": KS, "l": LS, "t": TS}
    rows = [dict(own)]
    for name in own:
        for value in choices[name]:
            row = {**own, name: value}
            fits = name != "k" or value * ROOM <= people
            if fits and row not in rows:
                rows.append(row)
    return rows


def changed_model(model: Model, options: Mapping[str, float]) -> Model:
    """The same model with these values of the options that it has."""
    kept = {field: getattr(model, field) for field in type(model).model_fields}
    for name, value in options.items():
        option = option_of(model, name)
        if option is not None:
            kept[option] = _like(kept[option], value)
    return type(model)(**kept)


def _like(own: Any, value: float) -> Any:
    """A value of the type that the option has, so that l = 3 stays a whole number."""
    return int(value) if isinstance(own, int) and float(value).is_integer() else value


def _named(model: Model) -> str:
    """A model with its options, as people read it."""
    options = {name: one for name, one in model.options().items() if name != "column"}
    return f"{model.key} ({', '.join(f'{n} = {v}' for n, v in options.items())})"
