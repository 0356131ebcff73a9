"""Whether the plan says enough about households, and nothing that they do not hold."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.table.roles import Column, columns_with_role


def check_household(columns: Mapping[str, Column]) -> None:
    """Raise an error for values of households without one, and for persons that stay linked."""
    homes = columns_with_role(columns, "household")
    own = [name for name, column in columns.items() if column.of_household]
    if own and not homes:
        raise ValueError(
            f"says of_household = true for {own[0]!r}, and has no household column: give the "
            "role household to the column that numbers the households"
        )
    if len([name for name, column in columns.items() if column.derive]) > 1:
        raise ValueError("has several columns with derive = 'household-size'; one is enough")
    for home in homes:
        for name in columns_with_role(columns, "person"):
            if columns[name].publish and not columns[home].publish:
                raise ValueError(
                    f"publishes the persons ({name!r}), and not their households ({home!r}), "
                    "which are counted: set publish = false for both, or for none of them"
                )
