"""Single values: as text, as numbers, and when two of them are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from shoal.base.errors import BadHierarchy, brief, preview
from shoal.base.settings import DIGITS
from shoal.hierarchies.how_written import how_written
from shoal.io.native.values import text as text  # the form that hierarchies use

ROOT = "*"
# Words that people write for missing values.
MISSING_WORDS = frozenset(
    {"?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "<NA>", "unknown", "Unknown"}
)
# A code such as 12e8888888 is not meant as a number, and would take years to write out. Exponents
# of floats have up to three digits, and a float written out has up to some 400 digits.
_POWER = "([eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]{0,400})(\.[0-9]{1,400})?" + _POWER)
_TYPED = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})" + _POWER)
_TRUTH = {"True": "true", "False": "false"}  # as Python and as arrow write them
LARGEST = 10**DIGITS
# Such numbers written out in labels, and ends of ranges around them.
_WRITTEN = re.compile(r"-?[0-9]{1,2000}(\.[0-9]{1,2000})?")


def plain(label: str) -> str:
    """A label in normal form: no blanks around it, no trailing zeros, true for True.

    Leading zeros have a meaning: 02139 is a postcode, 2139 is not.

    >>> plain(" 17.0 "), plain("02139"), plain("1.50"), plain("True")
    ('17', '02139', '1.5', 'true')
    """
    label = label.strip()
    return text(Decimal(label)) if _NUMBER.fullmatch(label) else _TRUTH.get(label, label)


def number_of(value: object) -> Fraction | None:
    """The exact number of a value; None if it is not a number, or has too many digits.

    >>> number_of("0.1"), number_of(3), number_of("old"), number_of(True)
    (Fraction(1, 10), Fraction(3, 1), None, None)
    """
    if isinstance(value, bool):
        return None
    number = None
    if isinstance(value, int):
        number = Fraction(value)
    elif isinstance(value, float | Decimal):
        number = exact_number(value) if isfinite(value) else None
    elif isinstance(value, str) and _TYPED.fullmatch(value.strip()):
        number = Fraction(value.strip())
    return number if number is not None and abs(number) < LARGEST else None


def is_long_number(value: object) -> bool:
    """Whether it is a number with too many digits.

    >>> is_long_number("1" * 301), is_long_number("1" * 300), is_long_number("old")
    (True, False, False)
    """
    if isinstance(value, str):
        number = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?(e\+?[0-9]+)?", value.strip().lower())
        return number is not None and number_of(value) is None
    return isinstance(value, int) and not isinstance(value, bool) and number_of(value) is None


def not_numbers(kind: str, strange: list[object], others: Iterable[object] = ()) -> BadHierarchy:
    """The error for values that are not in any range, with advice; `others` are."""
    large = [value for value in strange if is_long_number(value)]
    if large:
        begin = [f"{text(value)[:20]}…" for value in large]
        return BadHierarchy(
            f"{kind} need numbers of at most {DIGITS} digits before the point, and the column "
            f"has longer ones: {preview(begin)}; if they are codes, give the column another "
            "hierarchy, for example prefixes or flat"
        )
    hint = "; for dates use the hierarchy dates" if isinstance(strange[0], date) else ""
    if any(isinstance(value, str) and re.search("[0-9][,.' %]", value) for value in strange):
        advice = how_written([*others, *strange], "decimal = ','")
        hint = f"; if they are numbers, {advice}"
    return BadHierarchy(
        f"{kind} need numbers, but the column has {preview(strange)}{hint}; give the column "
        "another hierarchy, or, if they mean missing, list them under missing_values"
    )


def end_of(written: str) -> Fraction | None:
    """The number at an end of a range, as `shown` writes it; None if it is not a number."""
    return Fraction(written) if _WRITTEN.fullmatch(written) else number_of(written)


def range_of(label: object) -> tuple[Fraction, Fraction] | None:
    """The ends of a range from its label; None if it is not a range.

    >>> range_of("[30, 40)")
    (Fraction(30, 1), Fraction(40, 1))
    """
    parts = str(label)[1:-1].split(", ")
    if not (isinstance(label, str) and label[:1] == "[" and label[-1:] == ")" and len(parts) == 2):
        return None
    low, high = end_of(parts[0]), end_of(parts[1])
    return None if low is None or high is None or low >= high else (low, high)


def exact_number(number: float | Decimal | Fraction) -> Fraction:
    """The decimal number: 0.1 is a tenth, not the nearest binary fraction."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise BadHierarchy(f"ranges need numbers, got {number!r}")
    if isinstance(number, int):
        return Fraction(number)
    if not isfinite(number):
        raise BadHierarchy(f"ranges need numbers that are finite, got {number}")
    return Fraction(str(number))


def setting_number(number: float | Decimal | Fraction) -> Fraction:
    """The same for a number in a plan; an error if a plan file cannot store it exactly."""
    exact = exact_number(number)
    if abs(exact) >= LARGEST or (exact.denominator != 1 and _as_float(exact) is None):
        raise BadHierarchy(
            f"a plan file cannot store {brief(number)} exactly; write a number of at most 15 digits"
        )
    return exact


def simple(number: Fraction) -> int | float:
    """The number as a plan file writes it."""
    return int(number) if number.denominator == 1 else float(number)


def _as_float(number: Fraction) -> str | None:
    """The number as Python writes it; None if a float does not represent it exactly."""
    try:
        written = str(float(number))
    except OverflowError:
        return None
    return written if "inf" not in written and Fraction(written) == number else None


def shown(number: Fraction) -> str:
    """The number as labels write it, with all digits.

    >>> shown(Fraction("0.99999999999999999999")), shown(Fraction("2.50")), shown(Fraction(-7))
    ('0.99999999999999999999', '2.5', '-7')
    """
    if number.denominator == 1:
        return str(number.numerator)
    if (written := _as_float(number)) is not None:
        return written
    # A decimal fraction p / q, where q is a product of twos and fives: the larger exponent is the
    # number of decimal places.
    rest, places = number.denominator, {2: 0, 5: 0}
    for prime in places:
        while rest % prime == 0:
            rest, places[prime] = rest // prime, places[prime] + 1
    if rest != 1:
        raise BadHierarchy(f"{number} cannot be written as a decimal number; use one that can")
    many = max(places.values())
    digits = str(abs(number.numerator) * 10**many // number.denominator).rjust(many + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-many]}.{digits[-many:]}"
