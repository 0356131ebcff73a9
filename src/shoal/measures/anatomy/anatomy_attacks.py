"""Attacks on the two tables of an anatomy: what is learned about a person of the table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.measures.anatomy.two_tables import TwoTables

MOST_RULED_OUT = 20  # values that an attacker rules out, at the most that is listed


@dataclass(frozen=True)
class AnatomyAttacks:
    """What an attacker learns who knows the quasi-identifiers of a person of the table.

    Quasi-identifiers are exact. So that attacker sees whether somebody with them is in the table,
    which nothing here measures: it is certain.
    """

    surest: float  # probability of the likeliest sensitive value, for the person it is highest for
    average: float  # the same on average over all people
    unique: float  # share of the people whose quasi-identifiers nobody else has: they are found
    linkage: float  # average probability that the right record is found
    homogeneous: float  # share of the people in groups of one sensitive value
    # Probability of the likeliest value, in the group where it is highest, for an attacker who
    # knows of 0, 1, 2, … values that the person does not have them; up to certainty.
    ruled_out: tuple[float, ...]
    values_to_certainty: int  # so many values ruled out make the attacker certain, in some group

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        return {**asdict(self), "membership": 1.0, "ruled_out": list(self.ruled_out)}


def attack(seen: TwoTables) -> AnatomyAttacks:
    """Attack two tables."""
    many = np.bincount(seen.vector)  # int64[vectors], records that have each
    best = _beliefs(seen, many)
    alone = np.diff(seen.start) == 1  # bool[groups]
    return AnatomyAttacks(
        surest=float(best.max()),
        average=float((best * many).sum() / many.sum()),
        unique=float((many == 1).sum() / many.sum()),
        linkage=float(len(many) / many.sum()),
        homogeneous=float(seen.size[alone].sum() / many.sum()),
        ruled_out=_ruled_out(seen),
        values_to_certainty=int(np.diff(seen.start).min()) - 1,
    )


def _beliefs(seen: TwoTables, many: Longs) -> Floats:
    """The probability of the likeliest value of each vector, float64[vectors].

    Of the records with a person's quasi-identifiers each may be that person's. The probability of
    a value is its share of the group, on average over those records.
    """
    groups = len(seen.start) - 1
    pair, often = np.unique(seen.vector * groups + seen.group, return_counts=True)
    vector, group = np.divmod(pair, groups)
    at, width = seen.pairs_of(group)
    base = len(seen.values) + 2  # codes of values and of a missing one
    key = np.repeat(vector, width) * base + seen.value[at] + 1
    known, place = np.unique(key, return_inverse=True)
    belief = np.bincount(place, seen.share[at] * np.repeat(often / many[vector], width))
    best: Floats = np.zeros(len(many))
    np.maximum.at(best, known // base, belief)
    return best


def _ruled_out(seen: TwoTables) -> tuple[float, ...]:
    """The surest guess after 0, 1, 2, … values of a group were ruled out (Machanavajjhala 2007).

    It is surest of the most frequent value if the next most frequent ones are ruled out.
    """
    order = np.lexsort((-seen.count, seen.of_pair))
    count, first = seen.count[order], seen.start[:-1]
    taken = np.cumsum(count)
    taken -= np.repeat(taken[first] - count[first], np.diff(seen.start))  # within each group
    most, found = count[first], []
    for known in range(MOST_RULED_OUT):
        last = np.minimum(first + known, seen.start[1:] - 1)
        found.append(float((most / (most + seen.size - taken[last])).max()))
        if found[-1] >= 1:
            break
    return tuple(found)
