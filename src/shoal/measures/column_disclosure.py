"""Column disclosure: how many people a column published unchanged would make unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from shoal.io.frames import Frame
from shoal.table.coded_columns import coded_as_text
from shoal.table.equivalence_classes import tally
from shoal.table.published_table import Published
from shoal.table.roles import UNCHANGED, Column, columns_with_role, missing_words, other_columns

BAD = 0.05  # the share of unique people from which on the user is warned
MANY = 50  # values from which on a sensitive column singles out people rather than groups


@dataclass(frozen=True)
class ColumnDisclosure:
    """What a column would disclose to an attacker who knows it and the quasi-identifiers."""

    values: int  # distinct values, including missing
    alone: int  # people who would be unique by class and values

    def as_dict(self) -> dict[str, int]:
        """The numbers by the names of the JSON file."""
        return asdict(self)


def if_known(
    frame: Frame,
    columns: Mapping[str, Column],
    published: Published,
    missing_values: Sequence[str] = (),
    linked: bool = True,
) -> dict[str, ColumnDisclosure]:
    """Measure each other and sensitive column of a table as if attackers knew it.

    If the records of a person are `linked` by a published number, a person is unique if no other
    person has records with all of their classes and values. Otherwise a person is unique if one
    of their records is.
    """
    found: dict[str, ColumnDisclosure] = {}
    names = [*other_columns(columns), *columns_with_role(columns, "sensitive")]
    names = [name for name in names if name in frame.names]
    if not names:
        return found
    label, people = published.class_of_row.astype(np.int32), published.person_of_row
    for name in names:
        codes, values = coded_as_text(frame, name, missing_words(columns, name, missing_values))
        classes = tally(np.stack([label, codes], axis=1), people, weight=frame.weight)
        if people is None or linked:
            alone = classes.candidates == 1
        else:
            alone = classes.people[classes.label] == 1
        # A row that stands for several records is not alone: each one here is one record.
        who = np.flatnonzero(alone) if people is None else np.unique(people[alone])
        found[name] = ColumnDisclosure(len(values) + bool((codes < 0).any()), len(who))
    return found


def describe(one: ColumnDisclosure, name: str, people: int) -> str:
    """A sentence about one column.

    >>> describe(ColumnDisclosure(9, 4), "income", 7).split(". ")[1]
    'If an attacker knew it, 4 of 7 people would be unique'
    """
    values = "1 value" if one.values == 1 else f"{one.values:,} different values"
    return (
        f"{name} is not generalized and has {values}. If an attacker knew it, {one.alone:,} of "
        f"{people:,} people would be unique"
    )


def worth_warning(
    known: Mapping[str, ColumnDisclosure], columns: Mapping[str, Column], people: int
) -> list[str]:
    """The columns that deserve a warning, the worst first."""
    names = [
        name
        for name, one in known.items()
        if one.alone > BAD * people and (columns[name].role in UNCHANGED or one.values > MANY)
    ]
    return sorted(names, key=lambda name: -known[name].alone)
