"""Beliefs: how sure an attacker who knows a person's class can be of the sensitive value.

Models bound various measures of disclosure. Here the disclosure of the published classes itself is
measured: the share of a value in the whole table (the belief before), compared with its lowest and
highest share in any class (the belief after).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.hierarchies.values import text
from shoal.models import Model
from shoal.table.published_table import Published
from shoal.table.sensitive import Histogram


@dataclass(frozen=True)
class ValueBelief:
    """A value: its share of the whole table, and its lowest and highest share in a class."""

    value: str | None  # None is the missing value
    overall: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Belief:
    """What the classes of a table reveal about one sensitive column."""

    counted_by: str  # "people" with a person column, else "records"
    distinct: int  # number of values in the whole table
    surest: ValueBelief  # the value with the highest share in any class
    commonest: ValueBelief
    rarest: ValueBelief

    def as_dict(self) -> dict[str, Any]:
        """The beliefs by the names of the JSON file."""
        return asdict(self)


@dataclass(frozen=True)
class Certainty:
    """A value of a sensitive column, and how sure of it an attacker can become."""

    column: str
    kinds: tuple[str, ...]  # why it is of interest: most frequent, rarest, most certain
    belief: ValueBelief
    allowed: float | None  # the highest share that the requirements allow; None: no bound known
    by_people: bool


def certainties(measured: Mapping[str, Belief], models: Iterable[Model]) -> list[Certainty]:
    """The most frequent, the rarest and the most certain value of each sensitive column."""
    models = list(models)
    found = []
    for column, one in measured.items():
        by_people = one.counted_by == "people"
        gains = [model.max_share_gain for model in models if model.about == column]
        # The definition bounds shares of records, and people may have several values each.
        known = [gain for gain in gains if gain is not None and not by_people]
        values: dict[str | None, tuple[list[str], ValueBelief]] = {}
        for kind, value in (
            ("most frequent", one.commonest), ("rarest", one.rarest), ("most certain", one.surest),
        ):  # fmt: skip
            values.setdefault(value.value, ([], value))[0].append(kind)
        for kinds, value in values.values():
            allowed = min(1.0, value.overall + min(known)) if known else None
            found.append(Certainty(column, tuple(kinds), value, allowed, by_people))
    return found


def beliefs(published: Published) -> Mapping[str, Belief]:
    """The beliefs about each sensitive column, by its name."""
    found = {}
    for name, histogram in published.classes.histograms.items():
        person_values = published.classes.person_values.get(name)
        counted = histogram if person_values is None else person_values.histogram(of_people=True)
        found[name] = _belief(counted, "records" if person_values is None else "people")
    return found


def _belief(histogram: Histogram, counted_by: str) -> Belief:
    """From the shares of each value in each class."""
    values = histogram.column.values
    highest = np.zeros(len(values))
    np.maximum.at(highest, histogram.value, histogram.share)
    lowest = np.ones(len(values))
    np.minimum.at(lowest, histogram.value, histogram.share)
    classes = np.bincount(histogram.value, minlength=len(values))
    lowest[classes < len(histogram)] = 0.0  # a class does not have the value
    # Ties go to the first value as text. Values that do not occur in this table do not count.
    there = sorted(
        np.flatnonzero(histogram.total).tolist(),
        key=lambda v: (values[v] is None, text(values[v])),
    )

    def of(v: int) -> ValueBelief:
        overall = float(histogram.overall[v])
        name = None if values[v] is None else text(values[v])
        return ValueBelief(name, overall, float(lowest[v]), float(highest[v]))

    return Belief(
        counted_by=counted_by,
        distinct=len(there),
        # Of several values that a class is sure of, the one that was least likely before.
        surest=of(max(there, key=lambda v: (round(float(highest[v]), 12), -histogram.total[v]))),
        commonest=of(max(there, key=lambda v: int(histogram.total[v]))),
        rarest=of(min(there, key=lambda v: int(histogram.total[v]))),
    )
