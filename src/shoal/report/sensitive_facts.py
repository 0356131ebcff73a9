"""How sensitive values are spread over the classes of a release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal import catalog, distances
from shoal.attacks import SensitiveAttack
from shoal.histogram import Histogram
from shoal.published import Published
from shoal.report.words import MISSING
from shoal.values import text

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
    attacks: list[str]  # that succeed in it
    shares: list[float]  # of the values of its SensitiveFact, in percent


@dataclass(frozen=True)
class SensitiveFact:
    """A sensitive column: its values in the whole table, and in the classes that tell most."""

    column: str
    distinct: int
    values: list[str]
    others: int  # values that are not listed; their shares come last
    shares: list[float]  # in the whole table, in percent
    hit: int  # classes in which an attack succeeds
    worst: list[ClassFact]


def sensitive_facts(seen: Published) -> list[SensitiveFact]:
    """The sensitive columns of a table."""
    return [_sensitive(seen, one) for one in seen.classes.histograms.values()]


def _sensitive(seen: Published, histogram: Histogram) -> SensitiveFact:
    """The classes that tell most of a person's value, and in which values that shows."""
    distance = distances.equal(histogram)  # float64[classes]
    hits = _hits(seen, histogram)
    hit = np.logical_or.reduce([np.zeros(len(histogram), np.bool_), *hits.values()])
    order = _telling_first(histogram, hit, distance)[:WORST]
    overall = histogram.overall
    shares = np.zeros((len(order), len(overall)))  # float64[worst, values]
    for i, one in enumerate(order):
        pairs = slice(histogram.start[one], histogram.start[one + 1])
        shares[i, histogram.value[pairs]] = histogram.share[pairs]
    change = np.abs(shares - overall).max(axis=0)
    held = np.flatnonzero(histogram.total)
    telling = held[np.argsort(-change[held], kind="stable")][:VALUES]
    telling = telling[np.argsort(-overall[telling], kind="stable")]
    others = len(held) - len(telling)

    def listed(share: npt.NDArray[np.float64]) -> list[float]:
        some = [100 * float(share[value]) for value in telling]
        return [*some, max(0.0, round(100 - sum(some), 9))] if others else some

    values = histogram.column.values
    return SensitiveFact(
        column=histogram.column.name,
        distinct=len(held),
        values=[MISSING if values[v] is None else text(values[v]) for v in telling],
        others=others,
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


def _hits(seen: Published, histogram: Histogram) -> dict[str, npt.NDArray[np.bool_]]:
    """In which classes each telling attack succeeds."""
    held = seen.classes.holdings.get(histogram.column.name)
    hits = {}
    for name in TELLING:
        attack = catalog.attacks[name]()
        assert isinstance(attack, SensitiveAttack)
        hits[name] = attack.succeeds(histogram, held)
    return hits


def _telling_first(
    histogram: Histogram, hit: npt.NDArray[np.bool_], distance: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Classes in which an attack succeeds first, those with the likeliest value before others.

    The rest by their distance from the table, which is large in every small class.
    """
    gain = np.maximum.reduceat(
        histogram.share - histogram.overall[histogram.value], histogram.start[:-1]
    )
    telling = np.where(hit, gain, distance)
    return np.lexsort((-histogram.size, -np.round(telling, 9), ~hit))


def _published(seen: Published, row: int) -> dict[str, str]:
    """The quasi-identifiers of a row, as they are published."""
    return {
        name: MISSING if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, seen.codes[row], strict=True)
    }
