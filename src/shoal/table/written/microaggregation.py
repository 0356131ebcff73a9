"""Microaggregation: within each class, a column of numbers is published as their mean or median.

All records of a class get the same number, so that the classes of the release are unions of the
classes that the algorithm formed: those that publish the same values become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, lcm, log10
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import BadTable, preview
from shoal.hierarchies.values import number_of, shown
from shoal.io.frames import Frame
from shoal.table.coded_columns import coded
from shoal.table.roles import Column, Microaggregate, microaggregated_columns, missing_words

DIGITS = 6  # of the span of a column, that a published number has at most behind the point
LARGEST = 2**62


def check_numbers(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str]
) -> None:
    """Raise an error unless all columns that are microaggregated have numbers."""
    for name in microaggregated_columns(columns):
        if name in frame.names:
            _numbers(frame, name, missing_words(columns, name, missing_values))


def class_numbers(
    frame: Frame, columns: Mapping[str, Column], name: str, words: Sequence[str], record: Longs
) -> pa.Array:
    """What each class publishes, in the type of the column; `record` is the class of each row.

    A class with a missing value publishes nothing (null): its number would be invented for some of
    its records. Rows of no class, below 0, are left out.
    """
    codes, numbers = _numbers(frame, name, words)
    how = columns[name].microaggregate
    assert how is not None
    found = aggregate(codes, numbers, record, how)
    places = decimal_places(numbers)
    rounded = [None if one is None else round(one, places) for one in found]
    kind = frame.column(name).type
    return _array(rounded, kind.value_type if pa.types.is_dictionary(kind) else kind)


def numbers_of_rows(frame: Frame, name: str, words: Sequence[str]) -> Floats:
    """The numbers of a column, float64[rows]; nan where there is none."""
    codes, values = coded(frame, name, words)
    numbers = [number_of(value) for value in values]
    known = [np.nan if one is None else float(one) for one in numbers]
    found: Floats = np.array([*known, np.nan])[codes]  # -1 is missing, and the last one
    return found


def aggregate(
    codes: Ints, numbers: Sequence[Fraction], record: Longs, how: Microaggregate
) -> list[Fraction | None]:
    """The exact mean or median of each class; None where a value is missing, or there is no row.

    `codes` are places among the numbers, -1 is missing.

    >>> numbers = [Fraction(1), Fraction(2), Fraction(6)]
    >>> codes, record = np.array([0, 1, 2, 2, -1, 0]), np.array([0, 0, 0, 1, 2, 2])
    >>> aggregate(codes, numbers, record, "mean")
    [Fraction(3, 1), Fraction(6, 1), None]
    >>> aggregate(codes, numbers, record, "median")
    [Fraction(2, 1), Fraction(6, 1), None]
    """
    many = int(record.max(initial=-1)) + 1
    inside = record >= 0
    lacks = np.bincount(record[inside & (codes < 0)], minlength=many) > 0
    inside &= codes >= 0
    unit, whole = _as_integers(numbers, len(record))
    place, label = codes[inside], record[inside]
    order = np.lexsort((whole[place], label))
    sorted_numbers = whole[place[order]]
    size = np.bincount(label, minlength=many)
    start = np.cumsum(size) - size
    found: list[Fraction | None] = [None] * many
    used = np.flatnonzero((size > 0) & ~lacks)
    if how == "mean":
        sums = np.add.reduceat(sorted_numbers, start[size > 0]) if len(place) else sorted_numbers
        total = dict(zip(np.flatnonzero(size > 0).tolist(), sums.tolist(), strict=True))
        for i in used.tolist():
            found[i] = Fraction(total[i], int(size[i]) * unit)
        return found
    low = sorted_numbers[start[used] + (size[used] - 1) // 2].tolist()
    high = sorted_numbers[start[used] + size[used] // 2].tolist()
    for i, one, other in zip(used.tolist(), low, high, strict=True):
        found[i] = Fraction(one + other, 2 * unit)
    return found


def decimal_places(numbers: Sequence[Fraction]) -> int:
    """The places behind the point of published numbers: those of the originals, but not too many.

    More would give away the exact sum of a class. None are beyond the first six digits of the
    span: a column that spans 0 to 1 gets five at most.

    >>> decimal_places([Fraction(3), Fraction(60)]), decimal_places([Fraction("2.25"), Fraction(9)])
    (0, 2)
    >>> decimal_places([Fraction("0.123456789"), Fraction(1)])
    6
    """
    own = max((_places(one) for one in numbers), default=0)
    span = max(numbers, default=Fraction(0)) - min(numbers, default=Fraction(0))
    if span == 0:
        return own
    return min(own, max(0, DIGITS - 1 - floor(log10(span))))


def words_for(name: str, column: Column) -> str:
    """How the numbers of a column are published, in a sentence."""
    return (
        f"{name!r} is published as the {column.microaggregate} of its class, rounded to the places "
        f"of the original, but to none beyond the first {DIGITS} digits of the difference between "
        "its largest and its smallest number; losses and their lower bound are those of the ranges "
        f"of the classes, which are not published; {_known_to_others(column)}"
    )


def _known_to_others(column: Column) -> str:
    """What somebody learns who knows all other records of a class."""
    if column.microaggregate == "mean":
        return (
            "an attacker who knows the numbers of all other records of a class can compute the "
            "last one, up to rounding"
        )
    return (
        "the median of an odd number of records is the exact number of one of them, and an "
        "attacker who knows all others can find out whether it is the last one's"
    )


def _numbers(frame: Frame, name: str, words: Sequence[str]) -> tuple[Ints, list[Fraction]]:
    """The place of each row's number, -1 where it is missing, and the different numbers."""
    codes, values = coded(frame, name, words)
    numbers = [number_of(value) for value in values]
    strange = [value for value, one in zip(values, numbers, strict=True) if one is None]
    if strange:
        raise BadTable(
            f"column {name!r} has microaggregate, and values that are no numbers: "
            f"{preview(strange)}; list them under missing_values if they mean missing, or remove "
            "microaggregate"
        )
    return codes, [one for one in numbers if one is not None]


def _as_integers(numbers: Sequence[Fraction], rows: int) -> tuple[int, Any]:
    """The numbers as multiples of a common unit 1 / n, so that sums are exact in any order."""
    unit = lcm(*(one.denominator for one in numbers))
    whole = [int(one * unit) for one in numbers]
    largest = max((abs(one) for one in whole), default=0)
    small = largest * max(rows, 1) < LARGEST
    return unit, np.array(whole, np.int64 if small else object)


def _places(number: Fraction) -> int:
    """Places behind the point of a decimal number."""
    places = 0
    while 10**places % number.denominator:
        places += 1
    return places


def _array(numbers: Sequence[Fraction | None], kind: pa.DataType) -> pa.Array:
    """Numbers in the type of a column."""
    if pa.types.is_integer(kind):
        return pa.array([None if one is None else int(one) for one in numbers], kind)
    if pa.types.is_floating(kind):
        return pa.array([None if one is None else float(one) for one in numbers], kind)
    written = [None if one is None else shown(one) for one in numbers]
    if pa.types.is_decimal(kind):
        return pa.array([None if one is None else Decimal(one) for one in written], kind)
    return pa.array(written, pa.string())
