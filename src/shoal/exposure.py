"""Exposure: what a table gives away to somebody who has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal import catalog
from shoal.attacks import Attack
from shoal.columns import Table
from shoal.published import Published
from shoal.risks import Risks, risks


@dataclass(frozen=True)
class Exposure:
    """Classes, risks and what each attack finds."""

    rows: int
    people: int
    classes: int
    smallest_class: int
    average_class_size: float
    risks: Risks
    attacks: dict[str, dict[str, Any]]


def expose(published: Published, population: Table | None = None) -> Exposure:
    """Measure a table as its reader sees it, who may have a table of the whole population."""
    found = {}
    for name, kind in catalog.attacks.items():
        attack = kind()
        assert isinstance(attack, Attack)
        found[name] = attack.run(published)
    return Exposure(
        rows=published.rows,
        people=published.crowd,
        classes=len(published.classes),
        smallest_class=published.classes.smallest,
        average_class_size=published.rows / len(published.classes),
        risks=risks(published, population),
        attacks=found,
    )
