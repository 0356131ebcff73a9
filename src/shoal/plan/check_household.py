"""Whether the plan says enough about households, and nothing that they do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.base.errors import did_you_mean
from shoal.models import Model
from shoal.table.roles import Column, columns_with_role, counts_households


def check_household(columns: Mapping[str, Column], models: Sequence[Model] = ()) -> None:
    """Raise an error for values of households without one, and for persons that stay linked."""
    homes = columns_with_role(columns, "household")
    counting = [model.name for model in models if model.needs_household_column]
    if counting and not homes:
        raise ValueError(
            f"needs a household column for {counting[0]}: give the role household to the column "
            "that numbers the households"
        )
    own = [name for name, column in columns.items() if column.of_household]
    if own and not homes:
        derive = columns[own[0]].derive
        setting = f'derive = "{derive}"' if derive else "of_household = true"
        raise ValueError(
            f"says {setting} for {own[0]!r}, and has no household column: give the "
            "role household to the column that numbers the households"
        )
    derived = [name for name, column in columns.items() if column.derive]
    if len(derived) > 1:
        raise ValueError(
            f"has several columns with derive ({', '.join(derived)}); one is enough, as "
            "household-composition says the size, too"
        )
    if counting and not counts_households(columns):
        raise ValueError(
            f"has {counting[0]}, and nothing hides how many members a household has: add a column "
            '{ role = "quasi", derive = "household-size" }, or generalize each member by itself, '
            f"with publish = false and together = false for {homes[0]!r}"
        )
    for name in derived:
        ages = columns[name].ages
        if ages is not None and ages not in columns:
            raise ValueError(
                f"has no column {ages!r}, which {name!r} names for the ages"
                f"{did_you_mean(ages, list(columns))}"
            )
    for home in homes:
        for name in columns_with_role(columns, "person"):
            if columns[home].together and columns[name].publish and not columns[home].publish:
                raise ValueError(
                    f"publishes the persons ({name!r}), and not their households ({home!r}), "
                    "which are counted: set publish = false for both, or for none of them"
                )
