"""Exposure: what a table gives away to somebody who has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal import catalog
from shoal.attacks import Attack, LinkageAttack
from shoal.columns import Table
from shoal.linkage import Linkage
from shoal.published import Published
from shoal.risks import Risks, risks
from shoal.values import text

NOT_PUBLISHED = "(not published)"


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

    def showing(self, published: Published) -> Exposure:
        """The same, without sensitive values that are not in the published table."""
        known = {one.name: {text(value) for value in one.values} for one in published.sensitive}
        attacks = {
            name: {key: _shown(found, known.get(key, set())) for key, found in findings.items()}
            for name, findings in self.attacks.items()
        }
        return replace(self, attacks=attacks)


def _shown(found: Any, known: set[str]) -> Any:
    """What an attack found in a column, with a value that is not published withheld."""
    if not isinstance(found, dict) or not isinstance(found.get("value"), str):
        return found
    return found if found["value"] in known else found | {"value": NOT_PUBLISHED}


def expose(
    published: Published, population: Table | None = None, linkage: Linkage | None = None
) -> Exposure:
    """Measure a table as its reader sees it, who may have a table of the whole population.

    With the graph of original and release it is measured as somebody sees it who knows the
    quasi-identifiers of everybody in it: the crowd of a person is then the records that could be
    that person's.
    """
    found = {}
    for name, kind in catalog.attacks.items():
        attack = kind()
        assert isinstance(attack, Attack)
        result = attack.run(published, linkage)
        if result or not isinstance(attack, LinkageAttack):
            found[name] = result
    return Exposure(
        rows=published.rows,
        people=published.crowd,
        classes=len(published.classes),
        smallest_class=_smallest(published, linkage),
        average_class_size=published.rows / len(published.classes),
        risks=risks(published, population, linkage),
        attacks=found,
    )


def _smallest(published: Published, linkage: Linkage | None) -> int:
    """Candidates of the most exposed person."""
    return published.classes.smallest if linkage is None else int(linkage.matches.min())
