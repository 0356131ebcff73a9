"""Ways out: a plan with the change that an error proposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shoal.base.errors import BadPlan, WayOut
from shoal.models import Model
from shoal.plan.limits import Limits
from shoal.plan.plan import Plan
from shoal.table.roles import Role, counts_households


def resolved(plan: Plan, way: WayOut) -> Plan:
    """The plan with one change; raises an error if the plan no longer has what it is about.

    >>> plan = Plan(columns={"age": "quasi", "ward": "other"})
    >>> resolved(plan, WayOut("accept", "ward")).accept
    ['ward']
    >>> resolved(plan, WayOut("role", "ward", "drop")).columns["ward"].role
    'drop'
    """
    return CHANGES[way.action](plan, way.target, way.value)


def with_role(plan: Plan, column: str, role: Role) -> Plan:
    """The plan with another role of a column; what only its old role allows is dropped."""
    if column not in plan.columns:
        raise BadPlan(f"the plan has no column {column!r} any more")
    keep = {} if role == "quasi" else {"importance": 1.0, "at_most": None}
    changed = plan.columns[column].changed(role=role, publish=True, together=True, **keep)
    columns = {**plan.columns, column: changed}
    models = [
        one
        for one in plan.models
        if (one.about != column or role == "sensitive")
        and (not one.needs_household_column or counts_households(columns))
    ]
    return plan.changed(columns=columns, models=models)


def _accept(plan: Plan, column: str, value: Any) -> Plan:  # noqa: ARG001
    return plan.changed(accept=list(dict.fromkeys([*plan.accept, column])))


def _hide(plan: Plan, column: str, value: Any) -> Plan:  # noqa: ARG001
    """A weight that is used, and not published."""
    if column not in plan.columns:
        raise BadPlan(f"the plan has no column {column!r} any more")
    changed = plan.columns[column].changed(publish=False)
    return plan.changed(columns={**plan.columns, column: changed})


def _algorithm(plan: Plan, name: str, value: Any) -> Plan:  # noqa: ARG001
    return plan.changed(algorithm=name)


def _set(plan: Plan, key: str, options: dict[str, Any]) -> Plan:
    place = _place(plan, key)
    old = plan.models[place]
    kept = {field: getattr(old, field) for field in type(old).model_fields}
    new = type(old)(**{**kept, **options})
    return plan.changed(models=[new if i == place else one for i, one in enumerate(plan.models)])


def _add(plan: Plan, name: str, options: dict[str, Any]) -> Plan:
    return plan.changed(models=[*plan.models, {"name": name, **options}])


def _remove(plan: Plan, key: str, value: Any) -> Plan:  # noqa: ARG001
    place = _place(plan, key)
    return plan.changed(models=[one for i, one in enumerate(plan.models) if i != place])


def _place(plan: Plan, key: str) -> int:
    """The requirement of this key, or the first of this name."""
    models: list[Model] = plan.models
    for place, model in enumerate(models):
        if key in (model.key, model.name):
            return place
    raise BadPlan(f"the plan does not require {key} any more")


def _limit(plan: Plan, name: str, value: Any) -> Plan:
    """Another limit, or none; a limit that a preset sets goes with the preset."""
    given = plan.limits.model_dump(exclude_defaults=True)
    kind, _, attack = name.partition(".")
    if attack:
        attacks = {one: share for one, share in plan.limits.attacks.items() if one != attack}
        given["attacks"] = attacks if value is None else {**attacks, attack: value}
    elif value is None:
        given.pop(kind, None)
        if Limits(**given).limit(kind) is not None:
            given.pop("preset")
    else:
        given[kind] = value
    return plan.changed(limits=Limits(**given))


def _suppression(plan: Plan, target: str, share: float) -> Plan:  # noqa: ARG001
    """The share that may be suppressed, where the plan states it: once."""
    own = plan.algorithm.largest_suppression
    if own is None:
        return plan.changed(suppression=share)
    options = {**plan.algorithm.setting(), "suppression": share}
    return plan.changed(algorithm=options, suppression=0.0)


def _attackers(plan: Plan, target: str, value: Any) -> Plan:  # noqa: ARG001
    return plan.changed(attackers=[])


CHANGES: dict[str, Callable[[Plan, str, Any], Plan]] = {
    "accept": _accept,
    "hide": _hide,
    "role": with_role,
    "algorithm": _algorithm,
    "set": _set,
    "add": _add,
    "remove": _remove,
    "limit": _limit,
    "suppression": _suppression,
    "attackers": _attackers,
}
