"""How sensitive values are spread over the classes of a release."""

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

WORST = 3  # classes that are shown of each sensitive column
VALUES = 7  # sensitive values that are shown of them
TELLING = ("homogeneity", "skewness")  # attacks whose classes are shown before any others


@dataclass(frozen=True)
class ClassFact:
    """A class as it is published, and how its sensitive values are spread."""

    published: dict[str, str]
    rows: int
    people: int
    distance: float  # variational distance from the table, 0 to 1
    attacks: list[str]  # that succeed in it, and whether by rows alone where there are people
    shares: list[float]  # of the values of its SensitiveFact, in percent


@dataclass(frozen=True)
class SensitiveFact:
    """A sensitive column: its values in the whole table, and in the classes that tell most."""

    column: str
    distinct: int
    values: list[str]
    others: int  # values that are not listed; their shares come last, if rows are counted
    by_people: bool  # whether shares are of the people who have a value, not of the rows
    shares: list[float]  # in the whole table, in percent
    hit: int  # classes in which an attack succeeds
    worst: list[ClassFact]


def sensitive_facts(seen: Published) -> list[SensitiveFact]:
    """The sensitive columns of a table."""
    return [_sensitive(seen, one) for one in seen.classes.histograms.values()]


def _sensitive(seen: Published, histogram: Histogram) -> SensitiveFact:
    """The classes that tell most of a person's value, and in which values that shows."""
    held = seen.classes.holdings.get(histogram.column.name)
    distance = _distance(histogram, held)  # float64[classes]
    hits = _hits(histogram, held)
    hit = np.logical_or.reduce([np.zeros(len(histogram), np.bool_), *hits.values()])
    gain = _gain(histogram)  # float64[classes]
    counted = histogram
    if held is not None:
        by_people = held.histogram(of_people=True)
        gain = np.maximum(gain, _gain(by_people))
        order = _selective_order(histogram, hit, gain, distance)[:WORST]
        # Shares of people, unless the first class stands out by its rows alone.
        if not hit[order[0]] or any(hits[name][order[0]] for name in TELLING):
            counted = by_people
    else:
        order = _selective_order(histogram, hit, gain, distance)[:WORST]
    overall = counted.overall
    shares = np.zeros((len(order), len(overall)))  # float64[worst, values]
    for i, one in enumerate(order):
        pairs = slice(counted.start[one], counted.start[one + 1])
        shares[i, counted.value[pairs]] = counted.share[pairs]
    change = np.abs(shares - overall).max(axis=0)
    known = np.flatnonzero(histogram.total)
    telling = known[np.argsort(-change[known], kind="stable")][:VALUES]
    telling = telling[np.argsort(-overall[telling], kind="stable")]
    others = len(known) - len(telling)
    together = others and counted is histogram  # shares of people do not add up

    def listed(share: npt.NDArray[np.float64]) -> list[float]:
        some = [100 * float(share[value]) for value in telling]
        return [*some, max(0.0, round(100 - sum(some), 9))] if together else some

    values = histogram.column.values
    return SensitiveFact(
        column=histogram.column.name,
        distinct=len(known),
        values=[MISSING if values[v] is None else text(values[v]) for v in telling],
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


def _distance(histogram: Histogram, held: PersonValues | None) -> npt.NDArray[np.float64]:
    """How far each class is from the table, by rows or by what people have: the worse counts."""
    by_rows = distances.equal(histogram)
    if held is None:
        return by_rows
    return np.maximum(by_rows, distances.equal(held.histogram(of_people=False)))


def _hits(histogram: Histogram, held: PersonValues | None) -> dict[str, npt.NDArray[np.bool_]]:
    """In which classes each telling attack succeeds; apart where it does so by rows alone."""
    hits = {}
    for name in TELLING:
        attack = catalog.attacks[name]()
        assert isinstance(attack, SensitiveAttack)
        hits[name] = by_rows = attack.victims(histogram)
        if held is not None:
            hits[name] = among = attack.among_people(held)
            hits[f"{name} (of rows)"] = by_rows & ~among
    return hits


def _gain(histogram: Histogram) -> npt.NDArray[np.float64]:
    """By how much the likeliest value of each class is likelier than in the table."""
    gain: npt.NDArray[np.float64] = np.maximum.reduceat(
        histogram.share - histogram.overall[histogram.value], histogram.start[:-1]
    )
    return gain


def _selective_order(
    histogram: Histogram,
    hit: npt.NDArray[np.bool_],
    gain: npt.NDArray[np.float64],
    distance: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Classes in which an attack succeeds first, those with the likeliest value before others.

    The rest by their distance from the table, which is large in every small class.
    """
    telling = np.where(hit, gain, distance)
    return np.lexsort((-histogram.size, -np.round(telling, 9), ~hit))


def _published(seen: Published, row: int) -> dict[str, str]:
    """The quasi-identifiers of a row, as they are published."""
    return {
        name: MISSING if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, seen.codes[row], strict=True)
    }
