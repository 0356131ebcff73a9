"""Draw who is published as which row, so that each of k possible rows has the same probability."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Bools, Longs
from shoal.base.pace import parts
from shoal.kernels.matching.regular import match_regular


def draw_rows(person: Longs, row: Longs, k: int, rng: np.random.Generator) -> Longs:
    """The row of each person, int64[n], from all pairs of a person and a row with that member.

    Every person is in k pairs, and so is every row. The result is a perfect matching that has each
    pair with a probability of exactly 1/k:

    - If k is even, the pairs are split into two halves in which everybody has k/2 pairs, and one of
      them is chosen by a fair coin (Euler split).
    - If k is odd, one perfect matching is taken out. It is chosen with the probability 1/k, and
      else one of the rest, in which everybody has k - 1 pairs.

    By induction each pair has the probability 1/k, whatever halves and matchings there are. They
    are random too, so that somebody who knows the row of one person knows little more about the
    others, where the pairs leave a choice. Connected components are drawn independently.
    """
    n = len(person) // k
    found = np.full(n, -1, np.int64)
    while k > 1:
        if k % 2:
            matched = _perfect_matching(person, row, rng)
            part = components(person, row)
            chosen = (rng.integers(k, size=int(part.max()) + 1) == 0)[part]
            final = matched & chosen
            found[person[final]] = row[final]
            left = ~matched & ~chosen
            k -= 1
        else:
            left = _half(person, row, rng)
            k //= 2
        person, row = person[left], row[left]
        if not len(person):
            return found
    found[person] = row
    return found


def _half(person: Longs, row: Longs, rng: np.random.Generator) -> Bools:
    """Half of the pairs of everybody; each pair with the probability 1/2.

    The pairs of each person are joined two by two, and those of each row. These joints form
    cycles in which every other pair belongs to the same half. A coin per cycle chooses the half.
    """
    by_person, by_row = _partners(person, rng), _partners(row, rng)
    side = _orbits(by_row[by_person])  # every other pair of a cycle
    other = side[by_person]
    coin = rng.integers(2, size=int(side.max()) + 1).astype(bool)
    return np.asarray((side < other) == coin[np.minimum(side, other)])


def _partners(end: Longs, rng: np.random.Generator) -> Longs:
    """Another pair of the same person or row for each pair, at random."""
    order = np.lexsort((rng.random(len(end)), end))
    partner = np.empty(len(end), np.int64)
    partner[order[0::2]], partner[order[1::2]] = order[1::2], order[0::2]
    return partner


def _orbits(image: Longs) -> Longs:
    """The cycle of a permutation that each element is in."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(image)
    graph = csr_array((np.ones(n, np.int8), image, np.arange(n + 1)), shape=(n, n))
    label: Longs = connected_components(graph, directed=False)[1].astype(np.int64)
    return label


def components(person: Longs, row: Longs) -> Longs:
    """The connected component that each pair is in."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows, row = np.unique(row, return_inverse=True)
    people, person = np.unique(person, return_inverse=True)
    m = len(people) + len(rows)
    ones = np.ones(len(person), np.int8)
    graph = csr_array((ones, (person, len(people) + row)), shape=(m, m))
    label: Longs = connected_components(graph, directed=False)[1].astype(np.int64)
    return label[person]


def _perfect_matching(person: Longs, row: Longs, rng: np.random.Generator) -> Bools:
    """Which pairs are in some perfect matching; there is one if all have equally many pairs."""
    people = len(np.unique(person))
    order = np.argsort(person, kind="stable")
    rows, number = np.unique(row, return_inverse=True)
    of_person = number[order].reshape(people, -1)
    held, holder = np.full(people, -1, np.int64), np.full(len(rows), -1, np.int64)
    step = np.empty(people, np.int64)
    for begin, stop in parts(people):
        match_regular(of_person, begin, stop, rng, held, holder, step)
    found = np.zeros(of_person.shape, np.bool_)
    found[np.arange(people), held] = True
    matched = np.empty(len(person), np.bool_)
    matched[order] = found.ravel()
    return matched
