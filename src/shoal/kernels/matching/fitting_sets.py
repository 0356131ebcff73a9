"""How many people could have each of several sets of published vectors.

Somebody could have a set if one of its vectors covers each of their records, and each of its
vectors covers one of them. To begin with, all who have a record under the rarest vector of the set
are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.base.pace import parts
from shoal.kernels import lean_kernel


class Sides(NamedTuple):
    """Rows, their vectors and their people, from all sides: x has the items from start[x]."""

    vector_start: Any  # int64[vectors + 1]
    vector_row: Any  # the rows that a vector covers
    row_start: Any  # int64[rows + 1]
    row_vector: Any  # the vectors that cover a row
    holder_start: Any  # int64[rows + 1]
    holder: Any  # the people who have a row
    person_start: Any  # int64[people + 1]
    person_row: Any  # the rows that a person has
    weight: Any  # int64[people], how many people each stands for


def count_fitting_sets(start: Any, member: Any, sides: Sides) -> Any:
    """The people who could have each set, int64[sets]; set s has member[start[s]:start[s + 1]]."""
    found = np.zeros(len(start) - 1, np.int64)
    # The last set that each vector was in, and that each person was looked at for.
    wanted = np.full(len(sides.vector_start) - 1, -1, np.int64)
    seen = np.full(len(sides.weight), -1, np.int64)
    hit = np.zeros(len(wanted), np.int64)  # the last look that met each vector
    looks = np.zeros(1, np.int64)
    for begin, stop in parts(len(found)):
        some_fitting(start, member, sides, begin, stop, found, wanted, seen, hit, looks)
    return found


@lean_kernel
def some_fitting(start, member, sides, begin, stop, found, wanted, seen, hit, looks):
    """The same for the sets from `begin` to `stop`."""
    vector_start, holder_start = sides.vector_start, sides.holder_start
    for s in range(begin, stop):
        if start[s] == start[s + 1]:
            continue
        rarest = member[start[s]]
        for i in range(start[s], start[s + 1]):
            v = member[i]
            wanted[v] = s
            rows = vector_start[v + 1] - vector_start[v]
            if rows < vector_start[rarest + 1] - vector_start[rarest]:
                rarest = v
        many = start[s + 1] - start[s]
        for i in range(vector_start[rarest], vector_start[rarest + 1]):
            row = sides.vector_row[i]
            for k in range(holder_start[row], holder_start[row + 1]):
                person = sides.holder[k]
                if seen[person] == s:
                    continue
                seen[person] = s
                looks[0] += 1
                if _fits(sides, person, s, many, wanted, hit, looks[0]):
                    found[s] += sides.weight[person]


@lean_kernel
def _fits(sides, person, s, many, wanted, hit, look):
    """Whether a vector of set s covers each record of a person, and each of `many` covers one."""
    met = 0
    for i in range(sides.person_start[person], sides.person_start[person + 1]):
        row, is_covered = sides.person_row[i], False
        for k in range(sides.row_start[row], sides.row_start[row + 1]):
            v = sides.row_vector[k]
            if wanted[v] != s:
                continue
            is_covered = True
            if hit[v] != look:
                hit[v] = look
                met += 1
        if not is_covered:
            return False
    return met == many
