"""Key sets: a published table as each of several attackers sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shoal.plan.attackers import Attacker
from shoal.table.published_table import Published


class View(NamedTuple):
    """What one attacker sees: the classes are those of the columns that the attacker knows."""

    attacker: str | None  # what reports call the attacker; None: one who knows all columns
    published: Published


def views(published: Published, attackers: Sequence[Attacker]) -> list[View]:
    """The view of each attacker; without any, that of one who knows all quasi-identifiers."""
    if not attackers:
        return [View(None, published)]
    return [View(one.title, published.known_to(one.knows)) for one in attackers]
