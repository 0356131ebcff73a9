"""Attacks: what somebody who has the published table can still find out.

Internal: the catalog finds what stands here.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from shoal.base.arrays import Bools, Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import Setting
from shoal.table.match_graph import MatchGraph
from shoal.table.person_values import PersonValues
from shoal.table.published_table import Published
from shoal.table.sensitive import Histogram


class Attack(Setting):
    """A way to learn about people from a published table."""

    @abstractmethod
    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """What the attack finds: named numbers, and nothing that names a person.

        With the graph of original and release, people are sought among the records that could be
        theirs rather than in classes.
        """


class LinkageAttack(Attack):
    """A way to find people's records for somebody who knows all quasi-identifiers."""

    def run(
        self,
        published: Published,  # noqa: ARG002
        linkage: MatchGraph | None = None,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """What the attack finds, or nothing where there is no original."""
        return {} if linkage is None else self.run_on(linkage, progress)

    @abstractmethod
    def run_on(self, linkage: MatchGraph, progress: Progress = silent) -> dict[str, Any]:
        """What the attack finds in the graph of original and release: named numbers."""


class SensitiveAttack(Attack):
    """A way to learn somebody's sensitive value without finding the row.

    A finding is kept for each sensitive column by its name: the `classes` in which the attack
    succeeds, their `records`, what `percent` of all records that is, and what is told about the
    way. Classes are not named: the table may be an original, whose values must not be shown.

    Where the table tells whose each row is, a class is judged twice, by its rows and by its people,
    as models do (SensitiveModel): it is enough that the attack succeeds in one of the two ways.
    Then the finding also has the `people` who have a record in these classes, what
    `people_percent` of all people that is, and in how many classes the attack succeeds each way.
    """

    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What the attack finds in each sensitive column."""
        classes = published.classes if linkage is None else linkage.views["matches"]
        records = None if linkage is None else linkage.original.size
        return {
            name: self.finding(histogram, records, classes.holdings.get(name))
            for name, histogram in classes.histograms.items()
        }

    def finding(
        self, histogram: Histogram, records: Longs | None = None, held: PersonValues | None = None
    ) -> dict[str, Any]:
        """What the attack finds in one sensitive column.

        `records` is how many records each class stands for, if not those that it holds; `held`
        tells which values people have, where the table tells whose each row is.
        """
        victims = self.victims(histogram)
        if held is None:
            return {**toll(histogram, victims, records), **self.details(histogram, records)}
        among = self.among_people(held)
        return {
            **toll(histogram, victims | among, records),
            **people_toll(held, victims | among),
            "classes_by_rows": int(victims.sum()),
            "classes_by_people": int(among.sum()),
            **self.details(histogram, records, held),
        }

    @abstractmethod
    def victims(self, histogram: Histogram) -> Bools:
        """In which classes the attack succeeds, bool[classes]."""

    @abstractmethod
    def among_people(self, held: PersonValues) -> Bools:
        """In which classes the attack succeeds by looking at people, bool[classes]."""

    def details(
        self,
        histogram: Histogram,  # noqa: ARG002
        records: Longs | None = None,  # noqa: ARG002
        held: PersonValues | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What else is worth knowing about the column, by name."""
        return {}


def toll(histogram: Histogram, victims: Bools, records: Longs | None = None) -> dict[str, Any]:
    """How many classes and records these are."""
    size = histogram.size if records is None else records
    found = int(size[victims].sum())
    return {
        "classes": int(victims.sum()),
        "records": found,
        "percent": 100.0 * found / int(size.sum()),
    }


def people_toll(held: PersonValues, victims: Bools) -> dict[str, Any]:
    """How many people these classes have; somebody who is in several of them counts once."""
    people = held.in_classes(victims)
    return {"people": people, "people_percent": 100.0 * people / held.crowd}


def distinct(histogram: Histogram) -> Longs:
    """Different values of each class, int64[classes]; missing is a value like the others."""
    return np.diff(histogram.start)
