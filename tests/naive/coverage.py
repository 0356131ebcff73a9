"""Whom published vectors cover in a population: every pair is compared, by labels."""

from __future__ import annotations

from math import inf

from shoal.hierarchies.free_values import FreeTree


def labels_above(tree, node):
    """The labels that a value can be published with, its own included."""
    found = {tree.labels[node]}
    while node != 0:
        node = int(tree.parent[node])
        found.add(tree.labels[node])
    return found


def covers(tree, label, node):
    """Whether a published label covers an original value."""
    if label in labels_above(tree, node):
        return True
    if not isinstance(tree, FreeTree) or node == 0:
        return False
    if label is not None and label.startswith("["):
        if node > len(tree.numbers):  # a missing value is in no range
            return False
        low, high = (float(end) for end in label.strip("[]").split(", "))
        return low <= float(tree.numbers[node - 1]) <= high
    if label is not None and label.startswith("{"):
        cover = tree.cover(label)
        return isinstance(cover, tuple) and node in cover
    return False


def covered_rows(population, vectors):
    """For each vector of labels the set of rows of the population that it covers."""
    return [
        {
            i
            for i, row in enumerate(population.codes.tolist())
            if all(covers(t, v, c) for t, v, c in zip(population.trees, vector, row, strict=True))
        }
        for vector in vectors
    ]


def k_map_level(own, rows):
    """The fewest people of the population whom a class covers; at least its own people."""
    return min(max(f, len(one)) for f, one in zip(own, rows, strict=True))


def presence_level(own, rows, everybody, low, incomplete):
    """The largest presence of anybody; infinite if that of somebody is, or may be, below `low`."""
    if incomplete and low > 0:  # it is not known how many people are missing
        return inf
    worst = 0.0
    for person in range(everybody):
        mine = [c for c, one in enumerate(rows) if person in one]
        if len(mine) > 1:
            presence = 1.0 if low == 0 else inf
        elif mine:
            presence = own[mine[0]] / max(own[mine[0]], len(rows[mine[0]]))
        else:
            presence = 0.0
        worst = max(worst, presence if presence >= low * (1 - 1e-9) else inf)
    for f, one in zip(own, rows, strict=True):  # people of the table whom the population lacks
        if len(one) < f:
            worst = max(worst, 1.0)
    return worst
