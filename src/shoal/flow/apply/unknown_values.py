"""Values of a new table that the hierarchies of a recoding lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal.base.arrays import Bools
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.table.alike import alike
from shoal.table.coded_columns import coded, person_codes
from shoal.table.roles import Column, columns_with_role, linking_columns


class Unknown(NamedTuple):
    """Values of a column that its hierarchy lacks."""

    rows: Bools  # bool[n], the records that have one
    values: list[Any]


def unknown_values(frame: Frame, plan: Plan) -> dict[str, Unknown]:
    """The columns with values that their hierarchy lacks."""
    found = {}
    for name in [
        *columns_with_role(plan.columns, "quasi"),
        *columns_with_role(plan.columns, "sensitive"),
    ]:
        hierarchy = plan.columns[name].hierarchy
        if hierarchy is None:
            continue
        codes, values = coded(frame, name, plan.missing_of(name))
        strange = np.array([*(not hierarchy.knows(value) for value in values), False])
        if strange.any() and plan.columns[name].role == "sensitive":  # perhaps spelled differently
            known = {alike(v) for v, one in zip(values, strange[:-1], strict=True) if not one}
            for i in np.flatnonzero(strange[:-1]).tolist():
                strange[i] = alike(values[i]) not in known
        if strange.any():
            unknown = [value for value, one in zip(values, strange[:-1], strict=True) if one]
            found[name] = Unknown(strange[codes], unknown)
    return found


def rows_of_their_people(unknown: Mapping[str, Unknown], frame: Frame, plan: Plan) -> Bools:
    """The records with unknown values, and all records of the same people; bool[n]."""
    strange = np.zeros(frame.height, np.bool_)
    for one in unknown.values():
        strange |= one.rows
    for name in linking_columns(plan.columns):
        people = person_codes(frame, name, plan.missing_of(name))
        lost = np.zeros(int(people.max()) + 1, np.bool_)
        lost[people[strange]] = True
        strange = lost[people]
    return strange


def readable(columns: Mapping[str, Column], unknown: Mapping[str, Unknown]) -> dict[str, Column]:
    """The columns, without hierarchies that lack some of the sensitive values."""
    return {
        name: column.changed(hierarchy=None)
        if column.role == "sensitive" and name in unknown
        else column
        for name, column in columns.items()
    }
