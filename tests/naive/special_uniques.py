"""The naive twin of special uniques: all sets of columns, record by record."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod


def minimal_uniques(rows, most):
    """For each row all minimal sets of columns on which it is unique."""
    columns = range(len(rows[0]))
    found = [[] for _ in rows]
    for size in range(1, min(most, len(rows[0])) + 1):
        for some in combinations(columns, size):
            counts = Counter(tuple(row[j] for j in some) for row in rows)
            for i, row in enumerate(rows):
                is_unique = counts[tuple(row[j] for j in some)] == 1
                if is_unique and not any(set(one) < set(some) for one in found[i]):
                    found[i].append(some)
    return found


def score(sets, most):
    """Σ Π_{i=m}^{M−1} (M − i)."""
    return sum(prod(most - i for i in range(len(one), most)) for one in sets)


def dis_scores(rows, most, fraction):
    """The score of each row as its part of the probability that a unique match is correct."""
    counts = Counter(map(tuple, rows))
    unique, pairs = (sum(many == size for many in counts.values()) for size in (1, 2))
    scores = [score(sets, most) for sets in minimal_uniques(rows, most)]
    if not sum(scores):
        return [0.0 for _ in rows]
    correct = unique * fraction / (unique * fraction + 2 * pairs * (1 - fraction))
    return [min(1.0, one * unique / sum(scores) * correct) for one in scores]


def average_risk(rows, some):
    values = [tuple(row[j] for j in some) for row in rows]
    counts = Counter(values)
    return sum(1 / counts[value] for value in values) / len(rows)
