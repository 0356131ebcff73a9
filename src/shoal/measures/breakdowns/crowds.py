"""Crowds: among how many people each person is hidden, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.table.equivalence_classes import of_people
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published

STEPS = (1, 2, 3, 5, 10, 20, 50, 100)  # the fewest people of each step
Crowds = tuple[tuple[int, int], ...]  # pairs (people who look alike, people hidden among so many)


@dataclass(frozen=True)
class CrowdFact:
    """People who are hidden among a similar number of people: how many, before and after."""

    fewest: int
    most: int | None  # None: any number
    before: int
    after: int


def crowds(published: Published, linkage: MatchGraph | None = None) -> Crowds:
    """Among how many people each person is hidden; without classes, the possible records."""
    each, weight = published.classes.candidates, published.weight
    if linkage is not None:
        each, weight = linkage.candidates, None
    elif published.people is not None:
        each, weight = of_people(each, published.people), published.person_weight
    size, place = np.unique(each, return_inverse=True)
    people = np.bincount(place, weight, len(size)).astype(np.int64)
    return tuple(zip(size.tolist(), people.tolist(), strict=True))


def crowd_facts(before: Crowds, after: Crowds, k: int) -> list[CrowdFact]:
    """People by steps of what they are hidden among; k begins a step, as nobody may be below it.

    >>> crowd_facts(((1, 7), (4, 4)), ((11, 11),), 11)
    ... # doctest: +NORMALIZE_WHITESPACE
    [CrowdFact(fewest=1, most=1, before=7, after=0), CrowdFact(fewest=2, most=2, before=0, after=0),
     CrowdFact(fewest=3, most=4, before=4, after=0), CrowdFact(fewest=5, most=9, before=0, after=0),
     CrowdFact(fewest=10, most=10, before=0, after=0),
     CrowdFact(fewest=11, most=None, before=0, after=11)]
    """
    largest = max(size for size, _ in (*before, *after))
    starts = sorted({*STEPS, *([k] if 1 < k < STEPS[-1] else [])})
    starts = [start for start in starts if start <= largest]
    ends: list[int | None] = [*(start - 1 for start in starts[1:]), None]
    return [
        CrowdFact(start, end, _within(before, start, end), _within(after, start, end))
        for start, end in zip(starts, ends, strict=True)
    ]


def _within(found: Crowds, fewest: int, most: int | None) -> int:
    return sum(many for size, many in found if fewest <= size and (most is None or size <= most))


def middle(found: Crowds) -> int:
    """Half of the people are hidden among at least so many.

    >>> middle(((1, 3), (5, 5)))
    5
    """
    pairs: Sequence[tuple[int, int]] = sorted(found, reverse=True)
    half, seen = sum(many for _, many in pairs) / 2, 0
    for size, many in pairs:
        seen += many
        if seen >= half:
            return size
    raise ValueError("there are no people")
