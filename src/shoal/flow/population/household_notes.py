"""Notes on households: what is counted, and what may still link the members of one."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable, preview
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.table.coded_columns import coded_as_text
from shoal.table.roles import UNCHANGED, columns_with_role, household_apart
from shoal.table.samples.households import household_codes


def households_counted(frame: Frame, plan: Plan) -> list[str]:
    """Report where households are counted, and where people are."""
    names = [name for name in columns_with_role(plan.columns, "household") if name in frame.names]
    if household_apart(plan.columns) is not None:
        return [
            f"each member of a household ({name!r}) is generalized by itself: "
            "household-k-anonymity counts households, and all other requirements, risks and "
            "attacks count people"
            for name in names
        ]
    return [
        f"members of a household ({name!r}) are linked, and hidden together: what is said of "
        "people by the requirements, risks and attacks counts households"
        for name in names
    ]


def members_linked(frame: Frame, plan: Plan, keep_order: bool) -> list[str]:
    """Report what links members whose household numbers are not published."""
    home = household_apart(plan.columns)
    homes = household_codes(frame, plan.columns, plan.missing_values)
    if home is None or homes is None:
        return []
    notes = [
        f"the household numbers ({home!r}) are not in the release: household-k-anonymity was "
        "verified with them before they were dropped"
    ]
    if keep_order:
        notes.append(
            "the records are in the order of the original: if the members of a household were "
            "adjacent there, they still are, which links them as a household number would"
        )
    shared = [
        name
        for name, column in plan.columns.items()
        if column.role in ("sensitive", *UNCHANGED)
        and column.publish
        and _is_shared(frame, plan, name, homes)
    ]
    if shared:
        notes.append(
            f"the members of each household have the same value of {preview(shared)}, which is "
            "not generalized: rare values link them as a household number would; drop what is "
            "not needed, or make it a quasi-identifier"
        )
    return notes


def without_households(frame: Frame, plan: Plan, asked: Plan) -> tuple[Plan, list[str]]:
    """The plan without requirements that count households which the table lacks, and notes on them.

    Numbers that a release never has were counted when it was made. Others are missing: an error.
    `asked` is the plan with all columns, also those that a database does not count.
    """
    lacking = [
        name for name in columns_with_role(asked.columns, "household") if name not in frame.names
    ]
    left_out = [model.name for model in plan.models if model.needs_household_column]
    if not lacking or not left_out:
        return plan, []
    name = lacking[0]
    if asked.columns[name].publish:
        raise BadTable(
            f"{left_out[0]} counts households, and the table has no column {name!r}: audit a table "
            "that has it, or remove the requirement from the plan"
        )
    kept = [model for model in plan.models if not model.needs_household_column]
    return plan.changed(models=kept), [
        f"{left_out[0]} was not measured: it counts households, and the table has no column "
        f"{name!r}, which the plan does not publish; it was verified when the release was made"
    ]


def _is_shared(frame: Frame, plan: Plan, name: str, homes: Longs) -> bool:
    """Whether members of the same household always have the same value, and others do not."""
    codes = coded_as_text(frame, name, plan.missing_of(name))[0]
    low = np.full(int(homes.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(len(low), -2)
    np.minimum.at(low, homes, codes)
    np.maximum.at(high, homes, codes)
    several = np.bincount(homes, minlength=len(low)) > 1
    return bool(several.any() and (low == high)[several].all() and low.min() < high.max())
