"""Settings of columns that are derived from others, such as the size of a household."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.table.allowed.at_most import EXACT, AtMost

EXACTLY = EXACT, AtMost.of(EXACT)  # as a plan file has it, and as a column does
COMPOSITION = "household-composition"


def with_derived_settings(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of a column, with those that follow from `derive`.

    What is derived is visible in other columns too, so that it is published exactly.
    """
    kind = given.get("derive")
    for name in ("ages", "adult"):
        if given.get(name) is not None and kind != COMPOSITION:
            raise ValueError(
                f"has {name}, which is for derive = {COMPOSITION!r}; remove it, or add derive"
            )
    if kind is None:
        return given
    if given.get("role") != "quasi":
        raise ValueError(
            f"can have derive only with the role quasi, not {given.get('role')}: who lives "
            "there knows it; remove it, or give the column the role quasi"
        )
    if given.get("hierarchy") is not None or given.get("at_most") not in (None, *EXACTLY):
        raise ValueError(
            "has derive and is generalized: the size of a household can be counted in the "
            "release, so that it is published exactly; remove hierarchy and at_most"
        )
    if kind == COMPOSITION and given.get("ages") is None:
        raise ValueError(
            f"has derive = {COMPOSITION!r}, and needs ages: the column with the ages of the "
            'members, as in ages = "age"'
        )
    return {**given, "at_most": EXACT, "of_household": True}
