"""History: plans that can be undone and redone."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

MOST = 200  # steps that are kept
MOST_BYTES = 10_000_000  # of all of them: a plan may contain large hierarchies
MOST_TEXT = 200_000  # characters of plans that are compared for a few words on a button
Place = tuple[str, ...]  # of a setting, as in ("columns", "age", "role")
NAMED = ("algorithm", "name")
LONGEST = 40  # characters of a value


@dataclass
class History:
    """Texts of plans, in the order in which they were made."""

    texts: list[str] = field(default_factory=list)
    place: int = -1  # of the current one

    @property
    def text(self) -> str:
        """The current plan."""
        return self.texts[self.place]

    @property
    def version(self) -> str:
        """What changes with every step: a page that shows another one is out of date."""
        return f"{self.place}-{hash(self.text) & 0xFFFFFFFF:08x}"

    def add(self, text: str) -> None:
        """Make a step; what was undone is forgotten."""
        if self.texts and text == self.text:
            return
        self.texts = _newest([*self.texts[: self.place + 1], text])
        self.place = len(self.texts) - 1

    @property
    def can_undo(self) -> bool:
        """Whether there is a step before."""
        return self.place > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a step after."""
        return self.place < len(self.texts) - 1

    @property
    def undo_words(self) -> str:
        """What undo changes; "" if there is nothing to undo."""
        return step_words(self.text, self.texts[self.place - 1]) if self.can_undo else ""

    @property
    def redo_words(self) -> str:
        """What redo changes; "" if there is nothing to redo."""
        return step_words(self.text, self.texts[self.place + 1]) if self.can_redo else ""

    def undo(self) -> None:
        """Go back one step, if there is one."""
        self.place -= self.can_undo

    def redo(self) -> None:
        """Go forward one step, if there is one."""
        self.place += self.can_redo


def _newest(texts: list[str]) -> list[str]:
    """The last texts that are not too many and not too large; at least one step can be undone."""
    size, kept = 0, 0
    for text in reversed(texts[-MOST:]):
        size += len(text.encode())
        if size > MOST_BYTES and kept >= 2:
            break
        kept += 1
    return texts[-kept:]


@lru_cache(maxsize=16)
def step_words(now: str, then: str) -> str:
    """What a step from one plan to another changes: the first setting, and how many more.

    >>> step_words("seed = 1", "suppression = 0.1")
    'seed: 1 → – (+1)'
    >>> step_words("[columns]\\nage = { role = 'quasi' }", "[columns]\\nage = { role = 'drop' }")
    'age role: quasi → drop'
    """
    if len(now) + len(then) > MOST_TEXT:
        return ""
    try:
        old, new = (dict(_settings(tomllib.loads(one))) for one in (now, then))
    except tomllib.TOMLDecodeError:
        return ""
    places = [one for one in dict.fromkeys([*old, *new]) if old.get(one) != new.get(one)]
    # A draft leaves the algorithm open; any step states it, and is about something else.
    stated = [one for one in places if one == NAMED and None in (old.get(one), new.get(one))]
    places = [one for one in places if one not in stated] or places
    if not places:
        return ""
    return _words(places, old, new)


def _words(places: list[Place], old: dict[Place, Any], new: dict[Place, Any]) -> str:
    first = places[0]
    entry = first[:2]
    inside = [one for one in places if one[:2] == entry]
    for sign, elsewhere in (("+", old), ("−", new)):  # a whole entry comes or goes
        if len(first) > 2 and not any(one[:2] == entry for one in elsewhere):
            return f"{sign} {first[1]}{_more(len(places) - len(inside))}"
    what = " ".join(first[1:] if len(first) > 1 else first)
    more, values = _more(len(places) - 1), [old.get(first), new.get(first)]
    if any(isinstance(one, dict | list) for one in values):  # too long for a button
        return what + more
    return f"{what}: {_brief(values[0])} → {_brief(values[1])}{more}"


def _more(many: int) -> str:
    return f" (+{many})" if many else ""


def _settings(plan: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    """The settings of a plan with their places; those of a column or a requirement one by one."""
    for name, value in plan.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = {_named(one, i): one for i, one in enumerate(value)}
        if not isinstance(value, dict):
            yield (name,), value
            continue
        for key, inside in value.items():
            if isinstance(inside, dict):
                yield from (((name, key, part), one) for part, one in inside.items())
            else:
                yield (name, key), inside


def _named(entry: dict[str, Any], place: int) -> str:
    about = entry.get("column")
    return f"{entry.get('name', place + 1)}" + (f" ({about})" if about else "")


def _brief(value: Any) -> str:
    said = "–" if value is None else str(value)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
