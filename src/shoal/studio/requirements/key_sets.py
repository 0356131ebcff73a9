"""Key sets as a form: a table with a row per attacker and a box per quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import BadPlan
from shoal.plan import Plan
from shoal.table.roles import columns_with_role

MOST = 20  # attackers


@dataclass(frozen=True)
class KeySet:
    """One attacker: a name, and the places of the columns that are known."""

    who: str
    knows: tuple[int, ...]


def key_sets_of(plan: Plan) -> list[KeySet]:
    """The attackers of a plan; []: one who knows everything."""
    quasi = columns_with_role(plan.columns, "quasi")
    return [
        KeySet(one.who or "", tuple(i for i, name in enumerate(quasi) if name in one.knows))
        for one in plan.attackers
    ]


def key_sets_from(fields: Sequence[tuple[str, str]]) -> list[KeySet]:
    """The attackers that a form has, in their order: `who-0`, `knows-0` with places, `who-1` …"""
    who: dict[int, str] = {}
    knows: dict[int, list[int]] = {}
    for name, value in fields:
        kind, _, place = name.partition("-")
        if kind in ("who", "knows") and place.isdecimal() and int(place) < MOST:
            if kind == "who":
                who[int(place)] = value.strip()
            elif value.isdecimal():
                knows.setdefault(int(place), []).append(int(value))
    return [KeySet(who[i], tuple(knows.get(i, []))) for i in sorted(who)]


def edited(sets: Sequence[KeySet], action: str, columns: int) -> list[KeySet]:
    """The attackers after a button: `add`, or `remove-2`.

    >>> edited([], "add", 2), edited([KeySet("a", (0,)), KeySet("b", (1,))], "remove-0", 2)
    ([KeySet(who='attacker 1', knows=(0, 1))], [KeySet(who='b', knows=(1,))])
    """
    kind, _, place = action.partition("-")
    if kind == "add":
        if len(sets) >= MOST:
            raise BadPlan(f"there are {MOST} attackers already")
        used = {one.who for one in sets}
        names = (f"attacker {i + 1}" for i in range(len(sets), 2 * MOST))
        return [*sets, KeySet(next(n for n in names if n not in used), tuple(range(columns)))]
    if kind == "remove" and place.isdecimal():
        return [one for i, one in enumerate(sets) if i != int(place)]
    return list(sets)


def attackers_of(plan: Plan, sets: Sequence[KeySet]) -> list[dict[str, Any]]:
    """The attackers as a plan has them."""
    quasi = columns_with_role(plan.columns, "quasi")
    made = []
    for one in sets:
        knows = [quasi[i] for i in sorted(set(one.knows)) if i < len(quasi)]
        made.append({"knows": knows, **({"who": one.who} if one.who else {})})
    return made
