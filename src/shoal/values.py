"""Single values: as text, as numbers, and when two of them mean the same."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from shoal.errors import BadHierarchy

ROOT = "*"
# Words that people write where they know nothing.
MISSING_WORDS = frozenset(
    {"?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "<NA>", "unknown", "Unknown"}
)
# A code such as 12e8888888 is no number that anybody means, and would take years to write out.
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]{0,400})(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,2})?")

_TYPED = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,2})?")


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
    """The exact number that a value is, or None when it is none.

    >>> number_of("0.1"), number_of(3), number_of("old"), number_of(True)
    (Fraction(1, 10), Fraction(3, 1), None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float | Decimal):
        return exact_number(value) if isfinite(value) else None
    if isinstance(value, str) and _TYPED.fullmatch(value.strip()):
        return Fraction(value.strip())
    return None


def range_of(label: object) -> tuple[Fraction, Fraction] | None:
    """The ends of a range that is written as a label, or None when it is none.

    >>> range_of("[30, 40)")
    (Fraction(30, 1), Fraction(40, 1))
    """
    parts = str(label)[1:-1].split(", ")
    if not (isinstance(label, str) and label[:1] == "[" and label[-1:] == ")" and len(parts) == 2):
        return None
    low, high = number_of(parts[0]), number_of(parts[1])
    return None if low is None or high is None or low >= high else (low, high)


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
