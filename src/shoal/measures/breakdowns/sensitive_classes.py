"""Sensitive classes: the distribution of sensitive values in the most revealing classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal import catalog
from shoal.attacks import SensitiveAttack
from shoal.base.wording import MISSING
from shoal.hierarchies.values import text
from shoal.models import _distances as distances
from shoal.table.person_values import PersonValues
from shoal.table.published_table import Published
from shoal.table.sensitive import Histogram

WORST = 3  # classes per sensitive column
VALUES = 7  # sensitive values of these classes


@dataclass(frozen=True)
class ClassFact:
    """A class as it is published, and the distribution of its sensitive values."""

    published: dict[str, str]
    rows: int
    people: int
    distance: float  # variational distance from the table, 0 to 1
    attacks: list[str]  # that succeed in it; with a person column, whether by records alone
    shares: list[float]  # of the values of its SensitiveFact, in percent


@dataclass(frozen=True)
class SensitiveFact:
    """A sensitive column: its values in the whole table and in the most revealing classes."""

    column: str
    distinct: int
    values: list[str]
    others: int  # values that are not listed; their shares come last, if records are counted
    by_people: bool  # whether shares are of the people who have a value, not of the records
    shares: list[float]  # in the whole table, in percent
    hit: int  # classes in which an attack succeeds
    worst: list[ClassFact]


def sensitive_facts(seen: Published) -> list[SensitiveFact]:
    """The sensitive columns of a table."""
    return [_sensitive(seen, one) for one in seen.classes.histograms.values()]


def _sensitive(seen: Published, histogram: Histogram) -> SensitiveFact:
    """The classes that reveal most about a person's value, and the values that show it."""
    person_values = seen.classes.person_values.get(histogram.column.name)
    distance = _distance(histogram, person_values)  # float64[classes]
    hits = _hits(histogram, person_values)
    hit = np.logical_or.reduce([np.zeros(len(histogram), np.bool_), *hits.values()])
    gain = _gain(histogram)  # float64[classes]
    counted = histogram
    if person_values is not None:
        by_people = person_values.histogram(of_people=True)
        gain = np.maximum(gain, _gain(by_people))
        order = _revealing_first(histogram, hit, gain, distance)[:WORST]
        # Shares of people, unless the first class stands out by its records alone.
        if not hit[order[0]] or any(hits[name][order[0]] for name in shown_attacks()):
            counted = by_people
    else:
        order = _revealing_first(histogram, hit, gain, distance)[:WORST]
    overall = counted.overall
    shares = np.zeros((len(order), len(overall)))  # float64[worst, values]
    for i, one in enumerate(order):
        pairs = slice(counted.start[one], counted.start[one + 1])
        shares[i, counted.value[pairs]] = counted.share[pairs]
    change = np.abs(shares - overall).max(axis=0)
    known = np.flatnonzero(histogram.total)
    revealing = known[np.argsort(-change[known], kind="stable")][:VALUES]
    revealing = revealing[np.argsort(-overall[revealing], kind="stable")]
    others = len(known) - len(revealing)
    together = others and counted is histogram  # shares of people do not add up

    def listed(share: npt.NDArray[np.float64]) -> list[float]:
        some = [100 * float(share[value]) for value in revealing]
        return [*some, max(0.0, round(100 - sum(some), 9))] if together else some

    values = histogram.column.values
    return SensitiveFact(
        column=histogram.column.name,
        distinct=len(known),
        values=[MISSING if values[v] is None else text(values[v]) for v in revealing],
        others=others,
        by_people=counted is not histogram,
        shares=listed(overall),
        hit=int(hit.sum()),
        worst=[
            ClassFact(
                published=_published(seen, int(seen.classes.first[one])),
                rows=int(histogram.size[one]),
                people=int(seen.classes.people[one]),
                distance=float(distance[one]),
                attacks=[name for name, where in hits.items() if where[one]],
                shares=listed(share),
            )
            for one, share in zip(order, shares, strict=True)
        ],
    )


def _distance(histogram: Histogram, person_values: PersonValues | None) -> npt.NDArray[np.float64]:
    """The distance of each class from the table, by records or by people: the larger one."""
    by_rows = distances.equal(histogram)
    if person_values is None:
        return by_rows
    return np.maximum(by_rows, distances.equal(person_values.histogram(of_people=False)))


def _hits(
    histogram: Histogram, person_values: PersonValues | None
) -> dict[str, npt.NDArray[np.bool_]]:
    """In which classes each attack succeeds; separately where it does so by records alone."""
    hits = {}
    for name, attack in shown_attacks().items():
        hits[name] = by_rows = attack.victims(histogram)
        if person_values is not None:
            hits[name] = among = attack.among_people(person_values)
            hits[f"{name} (of records)"] = by_rows & ~among
    return hits


def shown_attacks() -> dict[str, SensitiveAttack]:
    """The attacks whose classes are shown."""
    every = {name: kind() for name, kind in catalog.attacks.items()}
    return {
        name: attack
        for name, attack in every.items()
        if isinstance(attack, SensitiveAttack) and attack.class_words
    }


def _gain(histogram: Histogram) -> npt.NDArray[np.float64]:
    """The largest gain of a value's share from the table to each class."""
    gain: npt.NDArray[np.float64] = np.maximum.reduceat(
        histogram.share - histogram.overall[histogram.value], histogram.start[:-1]
    )
    return gain


def _revealing_first(
    histogram: Histogram,
    hit: npt.NDArray[np.bool_],
    gain: npt.NDArray[np.float64],
    distance: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Classes in which an attack succeeds first, by the largest gain of a value's share.

    The others by their distance from the table, which is large in every small class.
    """
    revealing = np.where(hit, gain, distance)
    return np.lexsort((-histogram.size, -np.round(revealing, 9), ~hit))


def _published(seen: Published, row: int) -> dict[str, str]:
    """The published quasi-identifiers of a record."""
    return {
        name: MISSING if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, seen.codes[row], strict=True)
    }
