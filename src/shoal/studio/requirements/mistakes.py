"""Mistakes: where on the page an error belongs, and the ways out as buttons."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import BadPlan, ShoalError, WayOut
from shoal.plan import Plan
from shoal.plan.ways_out import CHANGES, resolved
from shoal.studio.wording import Wording

# The places of the page that can show a mistake, besides "model-0", "model-1" and so on.
PLACES = ("add", "population", "attackers", "limits", "about", "method", "columns", "preview")
MOST = 9  # buttons
ALGORITHMS = 2  # of them about an algorithm: the list in the fold for experts has all


@dataclass(frozen=True)
class Button:
    """A way out: what a form sends, and the key of its text with what is filled in."""

    action: str
    target: str
    value: str  # JSON
    text: str
    filled: dict[str, str]

    def words(self, t: Wording) -> str:
        """The text of the button; a limit has the name that the page gives it."""
        if self.action != "limit":
            return t(self.text, **self.filled)
        attack = self.target.removeprefix("attacks.")
        named = t.maybe(f"limits.{self.target}", self.target)
        name = t("limits.attack", name=attack) if attack != self.target else named
        return t(self.text, **self.filled | {"target": name})


@dataclass(frozen=True)
class Mistake:
    """An error at its place."""

    place: str
    text: str
    buttons: tuple[Button, ...] = ()
    typed: dict[str, str] | None = None  # what was entered and refused


def mistake_of(
    error: ShoalError, plan: Plan, place: str = "", typed: dict[str, str] | None = None
) -> Mistake:
    """An error on the page of a plan; its place is found unless it is known."""
    place = place or place_of(error, plan)
    return Mistake(place, str(error), buttons_of(error, plan), typed)


def checked(plan: Plan) -> Mistake | None:
    """What is wrong with a plan, as far as it can be seen without the table; None: nothing."""
    try:
        plan.check_served()
    except ShoalError as error:
        return mistake_of(error, plan)
    return None


def place_of(error: ShoalError, plan: Plan) -> str:
    """Where a mistake is shown: at what its ways out change, or at what its text names first."""
    said = str(error)
    if "[limits]" in said:
        return "limits"
    if "attacker" in said and "requires" not in said and not said.startswith("the table"):
        return "attackers"
    for way in error.ways:
        if way.action in ("set", "remove"):
            for i, model in enumerate(plan.models):
                if way.target in (model.key, model.name):
                    return f"model-{i}"
        if way.action in ("accept", "role", "hide"):
            return "columns"
    if error.ways and error.ways[0].action == "add":
        return "add"
    for i, model in sorted(enumerate(plan.models), key=lambda one: -len(one[1].key)):
        if said.startswith((model.key, model.name)):
            return f"model-{i}"
    if any(way.action in ("algorithm", "suppression") for way in error.ways):
        return "method"
    words = ("the algorithm", plan.algorithm.name, "the loss", plan.loss.name, "parts", "weights")
    return "method" if said.startswith(words) else "preview"


def buttons_of(error: ShoalError, plan: Plan) -> tuple[Button, ...]:
    """The ways out that lead to another plan, as buttons."""
    found: list[Button] = []
    for way in dict.fromkeys(_hashable(way) for way in error.ways):
        given = WayOut(way[0], way[1], json.loads(way[2]))  # type: ignore[arg-type]
        try:
            resolved(plan, given)
        except ShoalError:
            continue
        if way[0] == "algorithm" and sum(one.action == way[0] for one in found) >= ALGORITHMS:
            continue
        found.append(Button(way[0], way[1], way[2], *_words(given)))
    return tuple(found[:MOST])


def _hashable(way: WayOut) -> tuple[str, str, str]:
    return way.action, way.target, json.dumps(way.value)


def _words(way: WayOut) -> tuple[str, dict[str, str]]:
    """The key of the text of a button, and what is filled in."""
    filled = {"target": way.target, "value": "" if way.value is None else _shown(way.value)}
    if way.action == "role":
        return f"ways.{way.value}", filled
    if way.action == "limit" and way.value is None:
        return "ways.no_limit", filled
    return f"ways.{way.action}", filled


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_shown(one)}" for name, one in value.items())
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def way_from(form: dict[str, str]) -> WayOut:
    """The way out that a button sends."""
    action, target = form.get("action", ""), form.get("target", "")
    if action not in CHANGES:
        raise BadPlan("this button is not known; reload the page")
    try:
        value = json.loads(form.get("value") or "null")
    except ValueError:
        raise BadPlan("this button is not known; reload the page") from None
    if action in ("set", "add") and not isinstance(value, dict):
        raise BadPlan("this button is not known; reload the page")
    return WayOut(action, target, value)  # type: ignore[arg-type]
