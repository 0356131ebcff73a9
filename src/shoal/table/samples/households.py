"""Households: the records of each, and values that all of its members share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable, brief
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.table.coded_columns import coded_as_text, person_codes
from shoal.table.roles import Column, columns_with_role, missing_words


def household_codes(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> Longs | None:
    """The household of each record, int64[n]; None: the table has no household column."""
    return _numbers(frame, columns, missing_values, "household")


def own_persons(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> Longs | None:
    """The person of each record, int64[n]; None: the table has no person column."""
    return _numbers(frame, columns, missing_values, "person")


def _numbers(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str], role: str
) -> Longs | None:
    for name in columns_with_role(columns, role):  # type: ignore[arg-type]
        if name in frame.names:
            return person_codes(frame, name, missing_words(columns, name, missing_values))
    return None


def check_households(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> None:
    """Raise an error for a household with two values of a column that it should share.

    A person must not belong to two households either.
    """
    homes = household_codes(frame, columns, missing_values)
    if homes is None:
        return
    shared = [name for name, column in columns.items() if column.of_household]
    for name in shared:
        if name in frame.names:
            codes, values = coded_as_text(frame, name, missing_words(columns, name, missing_values))
            pair = _differing(homes, codes.astype(np.int64))
            if pair is not None:
                one, other = (
                    "missing" if codes[i] < 0 else brief(text(values[codes[i]])) for i in pair
                )
                raise BadTable(
                    f"column {name!r}: a household has two values, {one} and {other} "
                    f"({_rows(frame, pair)}), and the plan says of_household = true; correct the "
                    "table, or remove of_household from the plan"
                )
    people = own_persons(frame, columns, missing_values)
    if people is not None and (pair := _differing(people, homes)) is not None:
        raise BadTable(
            f"a person belongs to two households ({_rows(frame, pair)}): members of a household "
            "are hidden together; give each household its own person numbers, or correct the table"
        )


def household_sizes(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> Longs | None:
    """The members of each record's household that are in the table, int64[n]; None: no numbers.

    With a person column people are counted, otherwise records.
    """
    homes = household_codes(frame, columns, missing_values)
    if homes is None:
        return None
    people = own_persons(frame, columns, missing_values)
    if people is None:
        return np.bincount(homes)[homes]
    size = int(people.max(initial=-1)) + 1
    return np.bincount(np.unique(homes * size + people) // max(size, 1))[homes]


def _differing(group: Longs, value: Longs) -> tuple[int, int] | None:
    """Two records of a group with different values, the first such pair; None: there is none."""
    first = np.full(int(group.max()) + 1, -1, np.int64)
    at, place = np.unique(group, return_index=True)
    first[at] = place
    wrong = np.flatnonzero(value != value[first[group]])
    return None if not len(wrong) else (int(first[group[wrong[0]]]), int(wrong[0]))


def _rows(frame: Frame, pair: tuple[int, int]) -> str:
    if not frame.numbered:
        return "in different records"
    one, other = sorted(frame.row_number(place) for place in pair)
    return f"rows {one} and {other}"
