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


def covered_people(population, vectors):
    """For each vector the people of the population all of whose records it covers.

    The records of a person are published linked, with the same values. So these values can only be
    somebody's whose records they all cover.
    """
    rows = len(population.codes)
    whose = list(range(rows)) if population.people is None else population.people.tolist()
    return [
        {who for who in whose if all(i in inside for i in range(rows) if whose[i] == who)}
        for inside in covered_rows(population, vectors)
    ]


def fitting_people(population, vectors):
    """The people who could be somebody whose records were published with these vectors.

    One of the vectors covers each of their records, and each of the vectors covers one of these.
    """
    rows = len(population.codes)
    whose = list(range(rows)) if population.people is None else population.people.tolist()
    each = covered_rows(population, vectors)
    found = set()
    for who in whose:
        mine = {i for i in range(rows) if whose[i] == who}
        if mine <= set().union(*each) and all(mine & one for one in each):
            found.add(who)
    return found


def k_map_level(own, people):
    """The fewest people of the population whom a class covers; at least its own people."""
    return min(max(f, len(one)) for f, one in zip(own, people, strict=True))


def presence_level(own, people, everybody, low, incomplete):
    """The largest presence of anybody; infinite if that of somebody is, or may be, below `low`."""
    if incomplete and low > 0:  # it is not known how many people are missing
        return inf
    worst = 0.0
    for person in everybody:
        mine = [c for c, one in enumerate(people) if person in one]
        if len(mine) > 1:
            presence = 1.0 if low == 0 else inf
        elif mine:
            presence = own[mine[0]] / max(own[mine[0]], len(people[mine[0]]))
        else:
            presence = 0.0
        worst = max(worst, presence if presence >= low * (1 - 1e-9) else inf)
    for f, one in zip(own, people, strict=True):  # people of the table whom the population lacks
        if len(one) < f:
            worst = max(worst, 1.0)
    return worst
