"""Attacks: what an attacker can learn from the published table, one attack per file.

An attack carries its own words: what the attacker knows, when it succeeds, and what each of its
findings means. Internal: the catalog finds the attacks here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from shoal.attacks._unchanged import Unchanged
from shoal.attacks._words import Criterion, Label, Severity, Unit
from shoal.base.arrays import Bools, Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import Setting
from shoal.base.wording import percent, sentence, short
from shoal.table.match_graph import MatchGraph
from shoal.table.person_values import PersonValues
from shoal.table.published_table import Published
from shoal.table.sensitive import Histogram


class Attack(Setting):
    """A way to learn about people from a published table.

    `linked` releases are measured on the graph of original and release: they have no classes, but
    possible records for each person.
    """

    # How sure the attacker is where the attack succeeds; None: a success is no finding by itself.
    severity: ClassVar[Severity | None] = "likely"
    count_key: ClassVar[str] = "records"  # the finding that counts on how many it succeeds
    share_key: ClassVar[str] = "percent"  # the finding that gives their share, in percent
    # The finding that gives the share of people; without it a record is a person.
    people_share_key: ClassVar[str] = "people_percent"
    labels: ClassVar[Mapping[str, Label]] = {}  # the words for each finding, by its key
    criterion: ClassVar[Criterion] = "singling out"  # of WP216 that it bears on
    needs_original: ClassVar[bool] = False  # without one it finds nothing, and is not reported
    # What is true of the people on whom it succeeds, as the end of a sentence; empty: not said.
    in_short: ClassVar[str] = ""

    @abstractmethod
    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,
        unchanged: Unchanged | None = None,
    ) -> dict[str, Any]:
        """What the attack finds: named numbers, and nothing that identifies a person.

        With the graph of original and release, people are looked for among their possible records
        rather than in classes. `unchanged` has the columns that are published unchanged; None: they
        are not at hand.
        """

    def about(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the attacker knows and does, in a sentence."""
        return sentence(self.summary())

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds, in a sentence; `people`: where there is a person column."""
        return ""

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:
        """The result in a sentence, for a summary; only where the attack succeeds."""
        on = "" if column is None else f" on {short(column)}"
        whom = "people" if linked else "records"
        return f"The attack {self.name}{on} succeeds for {self.share(found)} of the {whom}."

    def detail(self, found: Mapping[str, Any]) -> str:  # noqa: ARG002
        """The most important detail of a result, in a few words."""
        return ""

    def advice(self, column: str | None) -> str:  # noqa: ARG002
        """What to do if it succeeds on too many people, as the end of a message."""
        return "a larger k may lower it"

    def judged(self, found: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Whether the attack could be tried, so that a share of 0 means something."""
        return True

    def share(self, found: Mapping[str, Any]) -> str:
        """The share of records, or people, on which the attack succeeds."""
        share = found.get(self.share_key)
        return percent(share) if isinstance(share, int | float) and self.judged(found) else "–"

    def parts(self, results: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
        """The findings about the whole table, if any, and those about each column."""
        flat = {key: value for key, value in results.items() if not isinstance(value, dict)}
        if flat:
            yield None, flat
        for key, value in results.items():
            if isinstance(value, dict):
                yield key, value

    def those(self, found: Mapping[str, Any]) -> str:
        """On whom the attack succeeds, as the beginning of a sentence: people first, as in limits.

        >>> from shoal.attacks.homogeneity import Homogeneity
        >>> found = {"percent": 16.7, "people_percent": 10.8}
        >>> Homogeneity().those(found).replace("\\xa0", " ")
        '10.8 % of the people (16.7 % of the records)'
        """
        people, records = found.get(self.people_share_key), f"{self.share(found)} of the records"
        if not isinstance(people, int | float):
            return records
        return f"{percent(people)} of the people ({records})"

    def share_of_people(self, found: Mapping[str, Any]) -> float | None:
        """The percent of the people on whom it succeeds; None: it could not be tried."""
        share = found.get(self.people_share_key, found.get(self.share_key))
        return share if isinstance(share, int | float) and self.judged(found) else None

    def label(self, key: str) -> Label:
        """The words for one finding.

        >>> from shoal.attacks.homogeneity import Homogeneity
        >>> Homogeneity().label("classes").words, Homogeneity().label("another_number").words
        ('classes in which it succeeds', 'another number')
        """
        if key in self.labels:
            return self.labels[key]
        unit: Unit = "percent" if "percent" in key.split("_") else ""
        return Label(short(key.replace("_", " ")), unit=unit)


class LinkageAttack(Attack):
    """A way to find people's records, for an attacker who knows all quasi-identifiers."""

    criterion: ClassVar[Criterion] = "linkability"
    needs_original: ClassVar[bool] = True

    def run(
        self,
        published: Published,  # noqa: ARG002
        linkage: MatchGraph | None = None,
        progress: Progress = silent,
        unchanged: Unchanged | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What the attack finds, or nothing if there is no original."""
        return {} if linkage is None else self.run_on(linkage, progress)

    @abstractmethod
    def run_on(self, linkage: MatchGraph, progress: Progress = silent) -> dict[str, Any]:
        """What the attack finds in the graph of original and release: named numbers."""


class SensitiveAttack(Attack):
    """A way to learn a person's sensitive value without finding the record.

    There is one finding per sensitive column, by its name: the `classes` in which the attack
    succeeds, their `records`, what `percent` of all records that is, and details of the attack.
    Classes are not named: the table may be an original, whose values must not be shown.

    With a person column, a class is judged twice, by its records and by its people, as models do
    (SensitiveModel): the attack succeeds if it succeeds in one of the two ways. Then the finding
    also has the `people` who have a record in these classes, what `people_percent` of all people
    that is, and in how many classes the attack succeeds each way.
    """

    criterion: ClassVar[Criterion] = "inference"
    # What is true of the classes in which it succeeds; empty: the report does not show them.
    class_words: ClassVar[str] = ""
    min_values: ClassVar[int] = 1  # with fewer different values in a column, success means nothing
    labels: ClassVar[Mapping[str, Label]] = {
        "classes": Label(
            "classes in which it succeeds", "different combinations of values of these people"
        ),
        "records": Label("records in these classes", "people on whom it succeeds"),
        "percent": Label("… as a share of all records", "… as a share of all people", "percent"),
        "people": Label("people who have a record in these classes", "people on whom it succeeds"),
        "people_percent": Label("… as a share of all people", unit="percent"),
        "classes_by_rows": Label("classes in which it succeeds, counted by records"),
        "classes_by_people": Label("classes in which it succeeds, counted by people"),
    }

    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,  # noqa: ARG002
        unchanged: Unchanged | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What the attack finds in each sensitive column."""
        classes = published.classes if linkage is None else linkage.views["matches"]
        records = None if linkage is None else linkage.original.size
        return {
            name: self.finding(histogram, records, classes.person_values.get(name))
            for name, histogram in classes.histograms.items()
        }

    def finding(
        self,
        histogram: Histogram,
        records: Longs | None = None,
        person_values: PersonValues | None = None,
    ) -> dict[str, Any]:
        """What the attack finds in one sensitive column.

        `records` is the number of records that each class represents, if not its own;
        `person_values` has the values of each person, if there is a person column.
        """
        victims = self.victims(histogram)
        if person_values is None:
            return {**toll(histogram, victims, records), **self.details(histogram, records)}
        among = self.among_people(person_values)
        return {
            **toll(histogram, victims | among, records),
            **people_toll(person_values, victims | among),
            "classes_by_rows": int(victims.sum()),
            "classes_by_people": int(among.sum()),
            **self.details(histogram, records, person_values),
        }

    def advice(self, column: str | None) -> str:
        """A model for the column."""
        about = "the sensitive columns" if column is None else repr(column)
        return f"a stricter model about {about}, such as t-closeness, may lower it"

    @abstractmethod
    def victims(self, histogram: Histogram) -> Bools:
        """In which classes the attack succeeds, bool[classes]."""

    @abstractmethod
    def among_people(self, person_values: PersonValues) -> Bools:
        """In which classes the attack succeeds when people are counted, bool[classes]."""

    def details(
        self,
        histogram: Histogram,  # noqa: ARG002
        records: Longs | None = None,  # noqa: ARG002
        person_values: PersonValues | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Further findings about the column, by name."""
        return {}


def toll(histogram: Histogram, victims: Bools, records: Longs | None = None) -> dict[str, Any]:
    """The number of these classes, and of their records."""
    size = histogram.size if records is None else records
    found = int(size[victims].sum())
    return {
        "classes": int(victims.sum()),
        "records": found,
        "percent": 100.0 * found / int(size.sum()),
    }


def people_toll(person_values: PersonValues, victims: Bools) -> dict[str, Any]:
    """The number of people in these classes; a person in several of them counts once."""
    people = person_values.in_classes(victims)
    return {"people": people, "people_percent": 100.0 * people / person_values.person_count}


def distinct(histogram: Histogram) -> Longs:
    """Different values of each class, int64[classes]; missing is a value like the others."""
    return np.diff(histogram.start)
