"""Addresses of the page Look: everything that is chosen there is in its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from shoal.studio.tasks.look._view import ONLY, ORDERS, Asked

LONGEST = 300  # characters of a value
NAMES = {"class_": "class"}  # of fields whose name is a word of Python


@dataclass(frozen=True)
class Addresses:
    """Makes links to what is shown now, with something changed."""

    base: str
    asked: Asked
    usual: Asked  # what is shown if an address says nothing

    @staticmethod
    def of(base: str, given: Mapping[str, str], attacker: int = 0) -> Addresses:
        """What an address asks for; what makes no sense is ignored. `attacker` is the usual one."""
        asked = Asked(
            page=_whole(given, "page") or 1,
            order=_one_of(given, "order", ORDERS),
            only=_one_of(given, "only", ONLY),
            class_=_whole(given, "class"),
            attacker=_whole(given, "attacker", least=0, usual=attacker) or 0,
            column=given.get("column", "")[:LONGEST],
            value=given.get("value", "")[:LONGEST] if given.get("column") else "",
            person=_whole(given, "person"),
            row=_whole(given, "row"),
        )
        return Addresses(base, asked, Asked(attacker=attacker))

    def at(self, page: int) -> Addresses:
        """The same on another page: the one that has the chosen row, or the last one."""
        return replace(self, asked=replace(self.asked, page=page))

    def __call__(self, to: str = "", **changed: Any) -> str:
        """The address with these choices instead; `to` is a place of the page."""
        given = self.fields(**changed)
        query = f"?{urlencode(given)}" if given else ""
        return f"{self.base}{query}{f'#{to}' if to else ''}"

    def fields(self, **changed: Any) -> dict[str, Any]:
        """The same as fields of a form."""
        asked = replace(self.asked, **changed)
        if "page" not in changed and asked.key != self.asked.key:
            asked = replace(asked, page=1)
        return {
            NAMES.get(one.name, one.name): getattr(asked, one.name)
            for one in fields(asked)
            if getattr(asked, one.name) != getattr(self.usual, one.name)
        }

    @property
    def is_filtered(self) -> bool:
        """Whether only some rows are shown."""
        asked = self.asked
        return bool(asked.only != "all" or asked.class_ is not None or asked.value or asked.person)

    @property
    def all(self) -> str:
        """The address that shows all rows, in the same order."""
        return self(only="all", class_=None, column="", value="", person=None)


def _whole(
    given: Mapping[str, str], name: str, least: int = 1, usual: int | None = None
) -> int | None:
    text = given.get(name, "")
    found = int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else -1
    return found if found >= least else usual


def _one_of(given: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    return given[name] if given.get(name) in known else known[0]
