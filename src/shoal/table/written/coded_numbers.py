"""Numbers that stay numbers: rounded, and cut off at the top and at the bottom.

Both are done before anything else, so that a release, its models and its attacks know only the
numbers that are published. Doing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadTable, preview
from shoal.base.wording import number
from shoal.hierarchies.values import ROOT, exact_number, number_of, shown
from shoal.io.frames import Frame
from shoal.table.roles import Column, missing_words

HALF = Fraction(1, 2)
UNCODED = "uncoded"  # the key by which a frame knows the one that it was made from


def coded_columns(columns: Mapping[str, Column]) -> dict[str, Column]:
    """The columns of which a plan rounds numbers, or cuts them off."""
    return {name: one for name, one in columns.items() if one.codes_numbers}


def with_coded_numbers(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str]
) -> Frame:
    """The same table with numbers as they may be published."""
    new = {}
    for name, column in coded_columns(columns).items():
        if name in frame.names:
            words = missing_words(columns, name, missing_values)
            new[name] = _coded(name, column, frame.column(name), words)
    if not new:
        return frame
    made = frame.replaced(new)
    made.memo |= {(UNCODED, name): uncoded(frame, name) for name in new}
    return made


def uncoded(frame: Frame, name: str) -> Frame:
    """The table with the numbers of a column as they were before they were coded.

    Only while a run or an audit lasts: to measure how much the coding hides.
    """
    before = frame.memo.get((UNCODED, name), frame)
    assert isinstance(before, Frame)
    return before


def with_uncoded(frame: Frame, source: Frame) -> Frame:
    """A part of the columns of a table, with what is known of its numbers before the coding."""
    for name in frame.names:
        if (UNCODED, name) in source.memo:
            frame.memo[UNCODED, name] = source.memo[UNCODED, name]
    return frame


def coded(value: Fraction, column: Column) -> Fraction:
    """A number as it may be published: rounded, halves up, and cut off.

    >>> column = Column(role="other", bottom=20, top=80, round=10)
    >>> [int(coded(Fraction(age), column)) for age in (3, 24, 25, 79, 96)]
    [20, 20, 30, 80, 80]
    """
    if column.round is not None:
        step = exact_number(column.round)
        value = floor(value / step + HALF) * step
    if column.top is not None:
        value = min(value, exact_number(column.top))
    if column.bottom is not None:
        value = max(value, exact_number(column.bottom))
    return value


def check_coded(frame: Frame, columns: Mapping[str, Column]) -> None:
    """Raise an error unless every number of a release is as it may be published."""
    for name, column in coded_columns(columns).items():
        if name not in frame.names:
            continue
        for value in frame.column(name).unique().to_pylist():
            found = number_of(value)
            if found is not None and coded(found, column) != found:
                raise BadTable(
                    f"column {name!r} would publish the number {shown(found)}, which top, bottom "
                    "or round in the plan does not allow; nothing is released"
                )


def coding_of(column: Column) -> list[str]:
    """What the published numbers of a column stand for; empty if they are not coded.

    >>> coding_of(Column(role="other", top=90, round=5))
    ['rounded to multiples of 5', '90 stands for 90 or more']
    """
    parts = []
    if column.round is not None:
        parts.append(f"rounded to multiples of {number(column.round)}")
    if column.top is not None:
        parts.append(f"{number(column.top)} stands for {number(column.top)} or more")
    if column.bottom is not None:
        parts.append(f"{number(column.bottom)} stands for {number(column.bottom)} or less")
    return parts


def words_for(name: str, column: Column) -> str:
    """How the numbers of a column are published, in a sentence."""
    return f"numbers of {name!r} are coded before publication: {', '.join(coding_of(column))}"


def _coded(
    name: str, column: Column, cells: pa.Array | pa.ChunkedArray, words: Sequence[str]
) -> pa.Array:
    """The cells of a column with coded numbers, of the same type if it can have them."""
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if pa.types.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    kind = whole.type
    packed = whole.dictionary_encode()
    values = packed.dictionary.to_pylist()
    strange = [
        value
        for value in values
        if number_of(value) is None
        and value is not None
        and not _is_nan(value)
        and str(value) not in (*words, ROOT)
    ]
    if strange:
        raise BadTable(
            f"column {name!r} has top, bottom or round, and values that are no numbers: "
            f"{preview(strange)}; list them under missing_values if they mean missing, or remove "
            "these settings"
        )
    made = [_as_before(value, column, kind) for value in values]
    fractions = any(isinstance(one, float) for one in made) and pa.types.is_integer(kind)
    new = _typed(name, made, pa.float64() if fractions else kind)
    return new.take(packed.indices)


def _typed(name: str, values: list[object], kind: pa.DataType) -> pa.Array:
    """Values as an array of this type, or of a wider one: 127 rounded to tens is no int8."""
    for wider in (kind, None):
        try:
            return pa.array(values, wider)
        except (pa.ArrowInvalid, OverflowError):
            continue
    raise BadTable(
        f"column {name!r} has numbers of the type {kind} that it cannot hold any more when they "
        "are coded by top, bottom or round; give the column a wider type, or remove these settings"
    )


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


def _as_before(value: object, column: Column, kind: pa.DataType) -> object:
    """A coded value in the type of its column; a value that did not change stays as written."""
    found = number_of(value)
    if found is None:
        return value
    now = coded(found, column)
    if now == found:
        return value
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return shown(now)
    if pa.types.is_integer(kind):
        return int(now) if now.denominator == 1 else float(now)
    return float(now) if pa.types.is_floating(kind) else Decimal(shown(now))
