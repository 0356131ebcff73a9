"""An order of people that follows from their records alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from shoal.base.arrays import Ints, Longs
from shoal.base.threads import in_threads
from shoal.kernels.sorting import MIXER, mix_rows

Hashes = npt.NDArray[np.uint64]

AT_A_TIME = 100_000  # rows per task of a thread


def sorted_people(people: Longs, unit: Longs, others: Longs | None = None) -> Longs:
    """The records person by person, int64[n]; `unit` numbers the values of each record.

    People are sorted by their first value, then by how many records they have, then by a hash (128
    bits) of all of them; those with equal hashes have the same records. Their `others`, a number
    of further values of each record, decide between those.

    >>> sorted_people(np.array([0, 0, 1, 2]), np.array([5, 2, 7, 1])).tolist()
    [3, 1, 0, 2]
    """
    numbers = [unit] if others is None else [unit, others]
    by_person = np.lexsort((*reversed(numbers), people))
    who = people[by_person]
    start = np.flatnonzero(np.diff(who, prepend=-1))
    many = np.diff(np.append(start, len(who)))
    place = (np.arange(len(who)) - np.repeat(start, many)).astype(np.uint64)
    keys = []
    for number in numbers:
        what = number[by_person]
        keys += [what[start], many]
        for seed in (1, 2):
            mixed = _mix(what.astype(np.uint64) * MIXER ^ _mix(place + np.uint64(seed)))
            keys.append(np.add.reduceat(mixed, start))
    rank = np.empty(len(start), np.int64)
    rank[np.lexsort(keys[::-1])] = np.arange(len(start))
    return by_person[np.argsort(np.repeat(rank, many), kind="stable")]


def mixed(columns: Ints) -> Hashes:
    """A hash of each column of int32[q, n], uint64[n]; the same everywhere."""
    many = columns.shape[1]
    number = np.empty(many, np.uint64)
    cuts = [*range(0, many, AT_A_TIME), many]
    in_threads(lambda piece: mix_rows(columns, *piece, number), pairwise(cuts))
    return number


def _mix(number: Hashes) -> Hashes:
    """A hash of each number, uint64[n]."""
    for shift in (30, 27, 31):
        number = (number ^ (number >> np.uint64(shift))) * MIXER
    found: Hashes = number ^ (number >> np.uint64(29))
    return found
