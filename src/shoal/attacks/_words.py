"""Words for what attacks find: labels and units of numbers, and how severe a success is."""

from __future__ import annotations

from typing import Literal, NamedTuple

from shoal.base.wording import number, percent, short

Severity = Literal["certain", "likely", "if_more_is_known"]  # the most severe first
Criterion = Literal["singling out", "linkability", "inference"]  # of WP216
Unit = Literal["", "percent", "share", "points"]


class Label(NamedTuple):
    """What a value that an attack finds means, and its unit.

    >>> Label("records in these classes", linked="people").show(1200)
    '1,200'
    >>> Label("its share of the class", unit="share").show(0.25)
    '25\\xa0%'
    """

    words: str
    linked: str = ""  # the same for a release without classes; empty: as `words`
    unit: Unit = ""  # a plain number or text, percent, a share from 0 to 1, percentage points

    def show(self, value: object) -> str:
        """The value as a reader sees it."""
        if value is None:
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, int | float):
            return short(value)
        match self.unit:
            case "percent":
                return percent(value)
            case "share":
                return percent(100 * value)
            case "points":
                return number(round(100 * value, 1))
        return number(value)
