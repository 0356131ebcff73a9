"""The forms of the kinds of hierarchies: from fields to the setting of a plan, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.base.errors import BadInput, brief
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import CalendarStep, is_day
from shoal.plan import Plan
from shoal.table.roles import naming

KINDS = (
    "ranges", "borders", "dates", "prefixes", "groups", "free_ranges", "free_sets", "flat",
)  # fmt: skip
GROUPS = ("tree", "levels", "parents", "csv")  # hierarchies that list values
STEPS = ("hour", "day", "week", "month", "quarter", "year", "5 years", "decade", "century")
Fields = Sequence[tuple[str, str]]


def kind_of(hierarchy: Hierarchy | None) -> str:
    """The kind of the page that a hierarchy is."""
    if hierarchy is None:
        return "flat"
    return "groups" if hierarchy.name in GROUPS else hierarchy.name


def setting_of(fields: Fields) -> Any:
    """The setting that a form states."""
    form = dict(fields)
    match form.get("kind"):
        case "ranges":
            start = numbers(form.get("start", ""))
            more = {"start": start[0]} if start else {}
            return {"ranges": numbers(form.get("widths", "")), **more}
        case "borders":
            levels = [_borders(text) for name, text in fields if name == "level"]
            return {"borders": [level for level in levels if level]}
        case "prefixes":
            keep, length = numbers(form.get("keep", "")), numbers(form.get("length", ""))
            return {"prefixes": keep or True, **({"length": length[0]} if length else {})}
        case "dates":
            return {"dates": _steps([text for name, text in fields if name == "step"], form)}
        case "free_ranges":
            ends = {end: numbers(form.get(end, "")) for end in ("low", "high")}
            return {"free_ranges": True, **{end: one[0] for end, one in ends.items() if one}}
        case "free_sets":
            return {"free_sets": True}
        case "flat":
            return {"flat": True}
    raise BadInput("choose one of the kinds of hierarchies")


def numbers(text: str) -> list[int | float]:
    """Numbers in a field, with commas or blanks between them.

    >>> numbers("5, 10 20.5"), numbers("")
    ([5, 10, 20.5], [])
    """
    found: list[int | float] = []
    for word in re.findall(r"[^\s,;]+", text):
        try:
            found.append(int(word) if re.fullmatch(r"[+-]?[0-9]{1,300}", word) else float(word))
        except ValueError:
            raise BadInput(
                f"{brief(word)} is not a number; write numbers such as 5, 10, 20 or 0.5, with "
                "commas between them"
            ) from None
    return found


def _borders(text: str) -> list[Any]:
    """The borders of a level, numbers or dates, in their order."""
    words = re.findall(r"[^\s,;]+", text)
    if words and all(map(is_day, words)) and all("-" in word for word in words):
        return sorted(words)
    return sorted(numbers(text))


def _steps(chosen: Sequence[str], form: Mapping[str, str]) -> list[str]:
    """Calendar steps from fine to coarse, with a number of years if one is given."""
    years = numbers(form.get("years", ""))
    steps = [*chosen, *(f"{one} years" for one in years)]
    return sorted(dict.fromkeys(steps), key=lambda name: _size(CalendarStep.of(name)))


def _size(step: CalendarStep) -> int:
    return step.months * 31 + step.days


def with_hierarchy(plan: Plan, name: str, setting: Any) -> Plan:
    """The plan with another hierarchy for a column."""
    with naming(name):
        hierarchy = None if setting is None else Hierarchy.of(setting)
        column = plan.columns[name].changed(hierarchy=hierarchy)
    return plan.changed(columns={**plan.columns, name: column})


def shown_settings(hierarchy: Hierarchy | None, start: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields of each form contain: the setting in use, or one to begin with."""
    now = {} if hierarchy is None or kind_of(hierarchy) == "groups" else hierarchy.setting()
    ranges, dates = {**(start.get("ranges") or {})}, {**(start.get("dates") or {})}
    if "ranges" in now:
        ranges = now
    if "dates" in now:
        dates = now
    keep = now.get("prefixes", True)
    steps = list(dates.get("dates", ()))
    return {
        "widths": listed(ranges.get("ranges", ())),
        "start": listed([ranges["start"]] if "start" in ranges else ()),
        "levels": [listed(level) for level in now.get("borders") or start.get("borders") or ()],
        "keep": "" if keep is True else listed(keep),
        "length": listed([now["length"]] if "length" in now else ()),
        "steps": [step for step in steps if step in STEPS],
        "years": listed([step.split()[0] for step in steps if step not in STEPS]),
        "low": listed([now["low"]] if "low" in now else ()),
        "high": listed([now["high"]] if "high" in now else ()),
    }


def listed(numbers: Sequence[Any]) -> str:
    """Numbers as a field has them."""
    return ", ".join(map(str, numbers))
