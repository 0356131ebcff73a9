"""Single values: as text, as numbers, and when two of them mean the same."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from shoal.errors import BadHierarchy

ROOT = "*"
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def text(value: object) -> str:
    """A value as hierarchies write it: numbers alike whether they came as text or not.

    >>> text(17), text(17.0), text("17"), text(2.5), text(True)
    ('17', '17', '17', '2.5', 'True')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    if isinstance(value, Decimal):
        return text(int(value)) if value == value.to_integral() else str(value.normalize())
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)


def plain(label: str) -> str:
    """A label without what tells nothing: blanks around it, zeros after a decimal point.

    Leading zeros do tell something: 02139 is a postcode, 2139 is not.

    >>> plain(" 17.0 "), plain("02139"), plain("1.50")
    ('17', '02139', '1.5')
    """
    label = label.strip()
    return text(Decimal(label)) if _NUMBER.fullmatch(label) else label


def number_of(value: object) -> Fraction | None:
    """The exact number, or None for the root's label; anything else is an error."""
    if isinstance(value, bool):
        raise BadHierarchy("ranges need numbers, but the column holds True and False")
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float | Decimal):
        if not isfinite(value):
            raise BadHierarchy(f"{value!r} is no finite number; treat it as missing")
        return exact_number(value)
    if isinstance(value, str):
        try:
            return Fraction(value.strip()) if "/" not in value else _no_number(value)
        except ValueError:
            return None if value == ROOT else _no_number(value)
    return _no_number(value)


def _no_number(value: object) -> Fraction:
    hint = "; dates want the hierarchy dates" if isinstance(value, date) else ""
    raise BadHierarchy(
        f"ranges need numbers, but the column holds {value!r}{hint}; "
        "give the column another hierarchy, or list the value under `missing` in the plan"
    )


def exact_number(number: float | Decimal | Fraction) -> Fraction:
    """The number as it is written: 0.1 is a tenth, not the nearest binary fraction."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise BadHierarchy(f"ranges need numbers, got {number!r}")
    return Fraction(str(number))


def simple(number: Fraction) -> int | float:
    """The number as a plan file writes it."""
    return int(number) if number.denominator == 1 else float(number)


def shown(number: Fraction) -> str:
    """The number as a label writes it."""
    return text(simple(number))
