"""Naive twin of the view of an attacker: on lists of records, one person after the other."""

from __future__ import annotations

from collections import Counter
from itertools import combinations


def same(one, other):
    return all(other[name] == value for name, value in one.items())


def people(records, who):
    return len({who[i] for i in records})


def left(records, who, key):
    """For each person: among how many people a record with the rarest of their keys leaves them."""
    found = {}
    for i in records:
        alike = {who[j] for j in records if key(j) == key(i)}
        found[who[i]] = min(found.get(who[i], len(alike)), len(alike))
    return found


def knowledge(records, who, key, required):
    """fewest, most, alone, below."""
    each = left(records, who, key).values()
    return (
        min(each),
        max(each),
        sum(one == 1 for one in each),
        sum(one < required for one in each),
    )


def secrets(records, who, values):
    """How many people have each value, as pairs, the most frequent first."""
    pairs = Counter(value for _, value in {(who[i], values[i]) for i in records})
    return sorted(pairs.items(), key=lambda p: (-p[1], p[0] is None, p[0] or ""))


def enough(records, who, columns, most, person=None):
    """The sizes of the smallest sets of columns that leave at most so many people; 0: none."""
    for size in range(1, len(columns) + 1):
        for chosen in combinations(columns, size):
            found = left(records, who, lambda i, c=chosen: tuple(columns[n][i] for n in c))
            if (min(found.values()) if person is None else found[person]) <= most:
                return size
    return 0
