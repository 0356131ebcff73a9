"""Class sizes: how many classes have how many people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Longs

SIZES = 10  # steps of equal width, if sizes differ by less than FAR
FAR = 100


@dataclass(frozen=True)
class SizeFact:
    """Classes with a similar number of people, or people with as many possible records."""

    fewest: int
    most: int
    classes: int
    rows: int


def sizes(people: Longs, rows: Longs, often: Longs | None = None) -> list[SizeFact]:
    """Classes by their number of people, in equal steps, or in growing ones if they differ much.

    `often` is the number of classes of each, if not one.

    >>> found = sizes(np.array([2, 3, 2]), np.array([2, 3, 2]))
    >>> [(size.fewest, size.most, size.classes, size.rows) for size in found]
    [(2, 2, 2, 4), (3, 3, 1, 3)]
    >>> [(size.fewest, size.most) for size in sizes(np.array([7, 300]), np.array([7, 300]))]
    [(7, 9), (10, 19), (20, 49), (50, 99), (100, 199), (200, 300)]
    """
    low, high = int(people.min()), int(people.max())
    if high - low < FAR:
        wide = next(step for step in (1, 2, 5, 10) if (high - low) // step < SIZES)
        starts = np.arange(low, high + 1, wide)
    else:
        steps = [step * 10**power for power in range(18) for step in (1, 2, 5)]
        starts = np.array([low, *(step for step in steps if low < step <= high)])
    place = np.searchsorted(starts, people, side="right") - 1
    classes = np.bincount(place, often, minlength=len(starts))
    records = np.bincount(place, rows, minlength=len(starts))
    return [
        SizeFact(int(fewest), min(int(most), high), int(number), int(size))
        for fewest, most, number, size in zip(
            starts, np.append(starts[1:] - 1, high), classes, records, strict=True
        )
    ]


def candidate_sizes(candidates: tuple[tuple[int, int], ...]) -> list[SizeFact]:
    """People by their number of possible records."""
    rows, people = np.array(candidates, np.int64).T
    return sizes(rows, people, people)
