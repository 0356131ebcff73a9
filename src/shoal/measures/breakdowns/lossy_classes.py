"""Lossy classes: those whose records have lost most, as they are published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.hierarchies.values import text
from shoal.measures.breakdowns.telling_apart import class_order
from shoal.table.published_table import Published


@dataclass(frozen=True)
class LossyClass:
    """A class: what is published, how many have it, and what they have lost."""

    number: int  # counted from the smallest class, which is 1
    published: dict[str, str | None]  # None is a missing value
    records: int
    people: int
    loss: float  # percent, average over its records
    # The most frequent value of each sensitive column, and its share of the records in percent.
    surest: dict[str, tuple[str | None, float]]


def class_numbers(seen: Published) -> Longs:
    """The number of each class, counted from the smallest one, which is 1; int64[classes]."""
    number = np.empty(len(seen.classes), np.int64)
    number[class_order(seen)] = np.arange(1, len(number) + 1)
    return number


def lossy_classes(
    seen: Published, lost: Floats, weight: Longs | None = None, most: int = 20
) -> list[LossyClass]:
    """The classes that lose most, the worst first; of equal ones the largest.

    `lost` is the share that each row of the release has lost, and `weight` how many records it
    stands for; None: one.
    """
    classes, of_row = seen.classes, seen.class_of_row
    total = np.bincount(of_row, lost if weight is None else lost * weight, len(classes))
    mean = 100.0 * total / np.bincount(of_row, weight, len(classes))
    number = class_numbers(seen)
    worst = np.lexsort((-classes.size, -np.round(mean, 9)))[:most]
    return [
        LossyClass(
            int(number[one]),
            _published(seen, one),
            int(classes.size[one]),
            int(classes.people[one]),
            float(mean[one]),
            _surest(seen, one),
        )
        for one in worst.tolist()
    ]


def _published(seen: Published, one: int) -> dict[str, str | None]:
    codes = seen.codes[seen.classes.first[one]]
    return {
        name: None if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, codes, strict=True)
    }


def _surest(seen: Published, one: int) -> dict[str, tuple[str | None, float]]:
    found: dict[str, tuple[str | None, float]] = {}
    for name, histogram in seen.classes.histograms.items():
        pairs = slice(histogram.start[one], histogram.start[one + 1])
        place = int(np.argmax(histogram.count[pairs]))
        value = histogram.column.values[histogram.value[pairs][place]]
        share = 100.0 * float(histogram.share[pairs][place])
        found[name] = (None if value is None else text(value), share)
    return found
