"""How large the crowds are in which people hide, and what shows beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.published import Published

Longs = npt.NDArray[np.int64]

SIZES = 10  # steps of crowds, if they differ by less than FAR
FAR = 100


@dataclass(frozen=True)
class SizeFact:
    """Classes of about the same number of people, or people with about as many possible rows."""

    fewest: int
    most: int
    classes: int
    rows: int


def sizes(people: Longs, rows: Longs, often: Longs | None = None) -> list[SizeFact]:
    """Classes by their number of people, in equal steps, or growing ones if they differ much.

    `often` says how many classes there are of each, if not one.

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
        SizeFact(int(fewest), min(int(most), high), int(number), int(held))
        for fewest, most, number, held in zip(
            starts, np.append(starts[1:] - 1, high), classes, records, strict=True
        )
    ]


def candidate_sizes(candidates: tuple[tuple[int, int], ...]) -> list[SizeFact]:
    """People by the number of rows that could be theirs."""
    rows, people = np.array(candidates, np.int64).T
    return sizes(rows, people, people)


@dataclass(frozen=True)
class VisitFact:
    """What the number of rows of a person gives away, beside the class."""

    k: int  # the crowd that was asked for
    alone: int  # people who are the only one of their class with their number of rows
    below: int  # people of whom there are fewer than k with their class and number of rows
    most: int  # rows of the person who has most of them


def visits(seen: Published, k: int) -> VisitFact | None:
    """Count whom class and number of rows together leave in a small crowd.

    None where no person has several rows. Somebody whose rows are in several classes is told by
    the number of rows in each of them.
    """
    if seen.people is None or seen.crowd == seen.rows:
        return None
    label = seen.classes.label
    pair, rows = np.unique(seen.people * len(seen.classes) + label, return_counts=True)
    person, place = pair // len(seen.classes), pair % len(seen.classes)
    _, sign = np.unique(place * (int(rows.max()) + 1) + rows, return_inverse=True)
    several = np.flatnonzero(np.bincount(person, minlength=seen.crowd)[person] > 1)
    own = np.full(seen.crowd, -1, np.int64)
    own[person] = sign
    if len(several):
        signs: dict[int, list[int]] = {}
        for one in several:
            signs.setdefault(int(person[one]), []).append(int(sign[one]))
        known: dict[tuple[int, ...], int] = {}
        for who, listed in signs.items():
            own[who] = len(pair) + known.setdefault(tuple(listed), len(known))
    _, which, crowd = np.unique(own, return_inverse=True, return_counts=True)
    return VisitFact(
        k=k,
        alone=int((crowd[which] == 1).sum()),
        below=int((crowd[which] < k).sum()),
        most=int(np.bincount(seen.people).max()),
    )
