"""When no search can lose less: a few tuples, of which all partitions are tried, or a bound."""

from __future__ import annotations

import numpy as np

from shoal.algorithms._shared.cells import NONE, cheapest_cells, no_cells
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.base.arrays import Longs

FEW = 10  # tuples at most whose partitions are all tried: 29,524 pairs of a set and a part of it
SMALL = 2_000  # tuples at most for which the cheapest cell of each is searched for …
LOOKS = 2_000  # … with so many looks at tuples for each


def best_of_all(problem: PeelingProblem) -> Longs | None:
    """The best classes of whole tuples, if there are few tuples; None if there are too many.

    The best partition of a set is the best class of its first tuple and the best partition of the
    rest; sets are numbers, one bit for each tuple.
    """
    n, start = len(problem.start), problem.start
    if n > FEW:
        return None
    member = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1  # which tuples are in each set
    sets, tuples = np.nonzero(member)
    wide = closures(problem.layout.shapes, problem.lattice.vector[tuples], sets)
    keeps = np.zeros(1 << n, np.int64)
    keeps[sets] = kept(problem.layout.trees, wide)
    whole = np.where(member @ start.people >= problem.k, keeps * (member @ start.size), -1).tolist()
    most, chosen = [0] + [-1] * ((1 << n) - 1), [0] * (1 << n)  # -1: not possible
    for many in range(1, 1 << n):
        first = many & -many
        part = rest = many ^ first
        while True:  # all parts of the rest, with the first tuple
            one = part | first
            if whole[one] >= 0 and most[many ^ one] >= 0:
                total = whole[one] + most[many ^ one]
                if total > most[many]:
                    most[many], chosen[many] = total, one
            if part == 0:
                break
            part = (part - 1) & rest
    label, left = np.zeros(n, np.int64), (1 << n) - 1
    while left:
        label[member[chosen[left]] > 0] = (left & -left).bit_length() - 1
        left ^= chosen[left]
    return label


def is_best(problem: PeelingProblem, label: Longs) -> bool:
    """Whether these classes are known to lose as little as possible, by a quick bound.

    There are too few people for two classes, or nothing is lost, or every record of a small table
    loses only what it must: what the cheapest cell costs that covers it and k people.
    """
    n, own = len(problem.start), problem.lattice.own[:, -1]
    if int(problem.start.people.sum()) < 2 * problem.k:
        return True
    lost = int((own * problem.start.size).sum()) + problem.lost(label)
    if lost == 0 or n > SMALL:
        return lost == 0
    best, highest = no_cells(problem.lattice, problem.k), int(own.max())
    looks = cheapest_cells(problem.lattice, best, highest, highest, LOOKS * n, lambda: None)
    if looks >= LOOKS * n or (best.cost >= NONE).any():
        return False
    return lost == int((best.cost * problem.start.size).sum())
