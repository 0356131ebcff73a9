"""Exposure: what a table discloses to a reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from shoal import catalog
from shoal.attacks import Attack, SensitiveAttack
from shoal.attacks._unchanged import Unchanged
from shoal.base.progress import Progress, silent
from shoal.hierarchies.values import text
from shoal.measures.beliefs import Belief, beliefs
from shoal.measures.breakdowns.crowds import Crowds, crowds
from shoal.measures.record_counts import RowCount, row_count
from shoal.measures.risks import Risks, risks
from shoal.table.alike import places_alike
from shoal.table.encode import Table
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published

NOT_PUBLISHED = "(not published)"


class Success(NamedTuple):
    """On whom an attack succeeds most."""

    share: float | None  # of the people; None: it could not be tried, or means nothing
    column: str | None  # the sensitive column, if it is about one


@dataclass(frozen=True)
class Exposure:
    """Classes, risks and the result of each attack."""

    rows: int
    people: int
    classes: int
    smallest_class: int
    average_class_size: float
    risks: Risks
    attacks: dict[str, dict[str, Any]]
    # With a linkage model: pairs (matching records, people with so many), fewest first.
    candidates: tuple[tuple[int, int], ...] = ()
    row_count: RowCount | None = None  # None: the records of a person cannot be counted
    # How certain a sensitive value is within a class, by column; empty without classes.
    beliefs: Mapping[str, Belief] = field(default_factory=dict)
    crowds: Crowds = ()  # among how many people each person is hidden

    @property
    def linked(self) -> bool:
        """Whether it was measured with a linkage model: then there are no classes."""
        return bool(self.candidates)

    @property
    def weighed(self) -> bool:
        """Whether probabilities are known: the matches of a person may differ in theirs."""
        return not self.linked or "matching" in self.attacks

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return {
            "rows": self.rows,
            "people": self.people,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class_size": self.average_class_size,
            "risks": self.all_risks(),
            "attacks": self.attacks,
        }

    def all_risks(self) -> dict[str, Any]:
        """The risks by the names of the JSON file: probabilities, and risk by record count."""
        counted = None if self.row_count is None else self.row_count.as_dict()
        return {**self.risks_by_name(), "row_count": counted}

    def risks_by_name(self) -> dict[str, float | None]:
        """The risks by name; None if the probabilities of the matches are not known."""
        risks = self.risks.as_dict()
        if not self.weighed:
            risks["average"] = None
            if self.smallest_class > 1:  # a single match is certain
                risks["prosecutor"] = None
            if risks["journalist"] is None:  # then the marketer risk is the average
                risks["marketer"] = None
        return risks

    @property
    def highest_risk(self) -> float | None:
        """The re-identification risk of the most exposed person; None: not known."""
        return self.risks_by_name()["prosecutor"]

    @property
    def average_risk(self) -> float | None:
        """The average over people, as a person with many records counts once, or over records."""
        risks = self.risks_by_name()
        mean = risks.get("average_over_people")
        return risks["average"] if mean is None else mean

    @property
    def inference(self) -> float:
        """The largest share of people on whom an attack on sensitive values succeeds."""
        tried = [
            name for name, kind in catalog.attacks.items() if issubclass(kind, SensitiveAttack)
        ]
        return max((self.success(name).share or 0.0 for name in tried), default=0.0)

    def success(self, name: str) -> Success:
        """The share of people on whom an attack succeeds, on the column where that is most."""
        attack = catalog.attacks[name]()
        assert isinstance(attack, Attack)
        worst = Success(None, None)
        for column, found in attack.parts(self.attacks.get(name, {})):
            if not self.is_telling(attack, column):
                continue
            share = attack.share_of_people(found)
            if share is None:  # that it finds nothing elsewhere does not make up for it
                return Success(None, column)
            if worst.share is None or share / 100 > worst.share:
                worst = Success(share / 100, column)
        return worst

    def is_telling(self, attack: Attack, column: str | None) -> bool:
        """Whether a success means something: with too few values an attack succeeds anywhere."""
        known = self.beliefs.get(column or "")
        if known is None or not isinstance(attack, SensitiveAttack):
            return True
        return known.distinct >= attack.min_values

    def showing(self, published: Published) -> Exposure:
        """The same without sensitive values that the published table does not have."""
        known = {one.name: one.values for one in published.sensitive}
        attacks = {
            name: {key: _shown(found, known.get(key, ())) for key, found in findings.items()}
            for name, findings in self.attacks.items()
        }
        return replace(self, attacks=attacks, beliefs={})  # beliefs name values


def _shown(found: Any, known: Sequence[Any]) -> Any:
    """The result of an attack on a column, with its value as published, or withheld."""
    if not isinstance(found, dict) or not isinstance(found.get("value"), str):
        return found
    (place,) = places_alike([found["value"]], known)
    return found | {"value": text(known[place]) if place >= 0 else NOT_PUBLISHED}


def expose(
    published: Published,
    population: Table | None = None,
    linkage: MatchGraph | None = None,
    progress: Progress = silent,
    k: int = 0,
    unchanged: Unchanged | None = None,
) -> Exposure:
    """Measure a table from the view of a reader, who may have a table of the population.

    With the graph of original and release the attacker knows the quasi-identifiers of all people
    in the table. The candidates of a person are then the matching records. These need not be
    equally likely: the attack `matching` finds their probabilities. `k` is the required class
    size; 0: the one that is reached. `unchanged` has the columns that are published unchanged.
    """
    found = {}
    for name, kind in catalog.attacks.items():
        attack = kind()
        assert isinstance(attack, Attack)
        result = attack.run(published, linkage, progress, unchanged)
        if result or not attack.needs_original:
            found[name] = result
    smallest = _smallest(published, linkage)
    return Exposure(
        rows=published.rows,
        people=published.person_count,
        classes=len(published.classes),
        smallest_class=smallest,
        average_class_size=published.rows / len(published.classes),
        risks=_weighed(risks(published, population, linkage), found.get("matching", {})),
        attacks=found,
        candidates=_distribution(linkage),
        crowds=crowds(published, linkage),
        row_count=row_count(published, k or smallest) if linkage is None else None,
        beliefs=beliefs(published) if linkage is None else {},
    )


def _weighed(counted: Risks, matching: dict[str, Any]) -> Risks:
    """The risks, with the sampled probabilities of matches that are not equally likely.

    The most likely of n records has at least 1/n, whatever the sample says.
    """
    largest, mean, error = (
        matching.get(key) or 0.0
        for key in ("largest_probability", "mean_largest_probability", "error")
    )
    largest = min(1.0, largest + 3.0 * error)  # rather too high than too low
    average = max(counted.average, mean)
    return replace(
        counted,
        prosecutor=max(counted.prosecutor, largest),
        average=average,
        marketer=average if counted.journalist is None else counted.marketer,
    )


def _distribution(linkage: MatchGraph | None) -> tuple[tuple[int, int], ...]:
    """Pairs (candidates, people with so many)."""
    if linkage is None:
        return ()
    rows, people = np.unique(linkage.candidates, return_counts=True)
    return tuple(zip(rows.tolist(), people.tolist(), strict=True))


def _smallest(published: Published, linkage: MatchGraph | None) -> int:
    """Candidates of the most exposed person."""
    return published.classes.smallest if linkage is None else int(linkage.matches.min())
