"""Labels that several sections share."""

from __future__ import annotations

from shoal.base.wording import short

DESCRIBED = 12  # quasi-identifiers that are shown of a class


def on(name: str, column: str | None) -> str:
    """A model or attack, with the column that it is about."""
    return name if column is None else f"{name}, on {short(column)}"
