"""Clusters by squared distance as they are defined, on lists; slow and obvious.

A unit is a list of coordinates. `costs` has 0 for a column of numbers, and for a column of
categories what two different ones are apart.
"""

from __future__ import annotations

from itertools import combinations, pairwise


def apart(one, other, costs):
    """The squared distance of two units."""
    return sum(
        (a - b) ** 2 if cost == 0 else (0.0 if a == b else cost)
        for a, b, cost in zip(one, other, costs, strict=True)
    )


def from_centre(unit, left, costs):
    """The squared distance from the centre of units; a category is a vector of zeros and a one."""
    total, many = 0.0, len(left)
    for j, cost in enumerate(costs):
        column = [one[j] for one in left]
        if cost == 0:
            total += (unit[j] - sum(column) / many) ** 2
        else:
            squares = sum((column.count(a) / many) ** 2 for a in set(column))
            total += cost / 2 * (1 - 2 * column.count(unit[j]) / many + squares)
    return total


def within(units, costs):
    """The sum of the squared distances from the centre of all units."""
    return sum(from_centre(unit, units, costs) for unit in units)


def mdav(units, costs, k, same=1e-9):
    """The clusters of MDAV (Domingo-Ferrer and Torra 2005), as lists of places.

    Raises an error where two distances are nearly the same and not equal: floats may disagree.
    """
    left, clusters = list(range(len(units))), []

    def farthest(distance):
        found = sorted((-distance(u), u) for u in left)
        _sure([-far for far, _ in found], same)
        return found[0][1]

    def gather(first):
        others = sorted((apart(units[first], units[u], costs), u) for u in left if u != first)
        _sure([far for far, _ in others], same)
        cluster = [first, *(u for _, u in others[: k - 1])]
        clusters.append(cluster)
        for u in cluster:
            left.remove(u)

    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        present = [units[u] for u in left]
        one = farthest(lambda u: from_centre(units[u], present, costs))  # noqa: B023
        gather(one)
        if two:
            gather(farthest(lambda u: apart(units[one], units[u], costs)))  # noqa: B023
    if left:
        clusters.append(left)
    return clusters


class Unsure(Exception):
    """Two distances are so near that rounding decides which is larger."""


def _sure(distances, same):
    rising = sorted(distances)
    if any(0 < b - a < same * (1 + abs(b)) for a, b in pairwise(rising)):
        raise Unsure


def lowest(units, costs, k):
    """The lowest sum of squares of any partition into groups of k or more, by trying all."""
    if not units:
        return 0.0
    best = float("inf")
    first, rest = units[0], units[1:]
    for size in range(k - 1, len(rest) + 1):
        if 0 < len(rest) - size < k:
            continue
        for chosen in combinations(range(len(rest)), size):
            group = [first, *(rest[i] for i in chosen)]
            others = [one for i, one in enumerate(rest) if i not in chosen]
            best = min(best, within(group, costs) + lowest(others, costs, k))
    return best


def lowest_cut(path, costs, k):
    """The lowest sum of squares of all ways to cut a path into runs of k or more."""
    if not path:
        return 0.0
    found = [
        within(path[:m], costs) + lowest_cut(path[m:], costs, k)
        for m in range(k, len(path) + 1)
        if m == len(path) or len(path) - m >= k
    ]
    return min(found)
