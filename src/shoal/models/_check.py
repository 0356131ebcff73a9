"""A requirement that was measured on a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from shoal.base.notebook import HtmlRows
from shoal.base.wording import number


@dataclass(frozen=True)
class Check:
    """One requirement, measured on the table that would be published."""

    model: str
    column: str | None
    required: float
    reached: float
    holds: bool
    direction: str = "at least"  # how a level that is enough relates to the required one
    options: Mapping[str, Any] = field(default_factory=dict)  # of the model, without its column
    besides: tuple[str, ...] = ()  # the options that are not the required level
    attacker: str | None = None  # for whom the level is worst, of several; None: there is only one

    @property
    def asked(self) -> str:
        """What is required, in words."""
        return f"{self.direction} {number(self.required)}"

    @property
    def key(self) -> str:
        """The model, its column, and the options besides the required level, as people read it.

        >>> both = {"share": 0.1, "threshold": 0.1}
        >>> Check("share-at-risk", None, 0.1, 0.1, True, "at most", both, ("threshold",)).key
        'share-at-risk (threshold = 0.1)'
        """
        more = {name: self.options[name] for name in self.besides}
        others = [f"{name} = {_shown(value)}" for name, value in more.items() if value is not None]
        column = "" if self.column is None else f" [{self.column}]"
        return f"{self.model}{column}" + (f" ({', '.join(others)})" if others else "")

    def as_dict(self) -> dict[str, Any]:
        """The check by the names of the JSON file."""
        found = {**asdict(self), "reached": finite(self.reached)}
        del found["besides"]  # for the screen
        if self.attacker is None:  # there is only one
            del found["attacker"]
        return found


def requirement_rows(checks: Iterable[Check]) -> HtmlRows:
    """Checks as a table for notebooks."""
    rows = [
        [one.key, one.asked, number(one.reached), "satisfied" if one.holds else "violated"]
        for one in checks
    ]
    return ["requirement", "required", "reached", ""], rows


def _shown(value: Any) -> str:
    """An option as people read it."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value) if plain else str(value)


def finite(level: float) -> float | None:
    """A level as JSON can write it, which has no infinity: None if no number is enough."""
    return level if isfinite(level) else None
