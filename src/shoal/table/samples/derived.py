"""Derived columns: the size of each household, or how many adults and children live there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import SHOWN, BadTable, brief, preview
from shoal.hierarchies.values import number_of, text
from shoal.io.frames import Frame
from shoal.table.coded_columns import coded
from shoal.table.roles import Column, missing_words
from shoal.table.samples.households import household_codes, household_sizes, own_persons

ADULT = 18  # from this age on, unless the plan states another one


def with_derived(
    frame: Frame,
    columns: Mapping[str, Column],
    missing_values: Sequence[str] = (),
    again: bool = False,
) -> Frame:
    """The same table with what the plan derives of its households.

    What it has already must be right, unless it is computed `again`.
    """
    for name, column in columns.items():
        if column.derive is None:
            continue
        sizes = household_sizes(frame, columns, missing_values)
        if sizes is None:  # a release without household numbers
            continue
        if name in frame.names and not again:
            check_derived(frame, columns, missing_values)
        elif column.derive == "household-size":
            frame = frame.replaced({name: pa.array(sizes)})
        elif column.ages in frame.names:
            found = household_compositions(frame, columns, column, missing_values)
            frame = frame.replaced({name: found})
    return frame


def household_compositions(
    frame: Frame, columns: Mapping[str, Column], column: Column, missing_values: Sequence[str]
) -> pa.Array:
    """How many adults and children are in each record's household, as a text per record.

    A person counts once, by the highest age of all records of the person.
    """
    homes = household_codes(frame, columns, missing_values)
    assert homes is not None
    assert column.ages is not None
    kind = _kinds(frame, columns, column, missing_values)  # 0: unknown, 1: child, 2: adult
    people = own_persons(frame, columns, missing_values)
    if people is None:
        people = np.arange(len(homes))
    highest, home = np.zeros(int(people.max()) + 1, np.int64), np.zeros(len(homes), np.int64)
    np.maximum.at(highest, people, kind)
    home[people] = homes  # a person belongs to one household
    of_person = home[: len(highest)]
    counts = np.bincount(of_person * 3 + highest, minlength=3 * (int(homes.max()) + 1))
    each, place = np.unique(counts.reshape(-1, 3), axis=0, return_inverse=True)
    words = pa.array([composition(*one) for one in each.tolist()])
    return words.take(pa.array(place.reshape(-1)[homes]))


def composition(unknown: int, children: int, adults: int) -> str:
    """The members of a household in words.

    >>> composition(0, 1, 2), composition(1, 0, 1)
    ('2 adults, 1 child', '1 adult, 1 of unknown age')
    """
    parts = []
    if adults:
        parts.append(f"{adults} adult{'s' * (adults > 1)}")
    if children:
        parts.append(f"{children} {'children' if children > 1 else 'child'}")
    if unknown:
        parts.append(f"{unknown} of unknown age")
    return ", ".join(parts)


def members_of(words: str) -> int | None:
    """How many members these words name; None: they are of another kind.

    >>> members_of("2 adults, 1 child"), members_of("large")
    (3, None)
    """
    parts = [
        re.fullmatch(r"(\d+) (adults?|child|children|of unknown age)", one)
        for one in words.split(", ")
    ]
    return None if None in parts else sum(int(one[1]) for one in parts if one is not None)


def check_derived(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> None:
    """Raise an error if a table states other sizes of households than it has.

    A composition must name as many members: the ages themselves may be generalized.
    """
    for name, column in columns.items():
        sizes = household_sizes(frame, columns, missing_values) if column.derive else None
        if sizes is None or name not in frame.names:
            continue
        codes, values = coded(frame, name, ())
        read = members_of if column.derive == "household-composition" else number_of
        known = [read(text(value)) for value in values]
        stated = np.array([*known, None], object)[codes]
        wrong = np.flatnonzero(stated != sizes)
        if len(wrong):
            place = int(wrong[0])
            said = "missing" if codes[place] < 0 else brief(text(values[codes[place]]))
            where = f" (row {frame.row_number(place)})" if frame.numbered else ""
            raise BadTable(
                f"column {name!r} is {said} where a household has {sizes[place]} in the table"
                f"{where}, and the plan says derive = {column.derive!r}; remove the column from "
                "the table, or derive from the plan"
            )


def _kinds(
    frame: Frame, columns: Mapping[str, Column], column: Column, missing_values: Sequence[str]
) -> Longs:
    """Whether each record is of an adult (2), a child (1) or of unknown age (0), int64[n]."""
    assert column.ages is not None
    codes, values = coded(frame, column.ages, missing_words(columns, column.ages, missing_values))
    ages = [number_of(value) for value in values]
    if strange := [text(v) for v, age in zip(values, ages, strict=True) if age is None]:
        raise BadTable(
            f"column {column.ages!r} has ages that are no numbers: {preview(strange[:SHOWN])}; "
            "derive = 'household-composition' counts adults and children by them. Correct them, or "
            "list words for missing under missing_values"
        )
    border = ADULT if column.adult is None else column.adult
    kinds = [2 if age is not None and age >= border else 1 for age in ages]
    found: Longs = np.array([*kinds, 0], np.int64)[codes]
    return found
