"""Hitting sets as the paper has them, on plain sets (Algorithms 3 and 5, Wang 2018)."""

from __future__ import annotations

from itertools import combinations, product


def smallest(sets):
    """The size of the smallest set of values that meets every set, by trying all of them."""
    values = sorted(set().union(*sets))
    for size in range(len(values) + 1):
        for some in combinations(values, size):
            if all(set(some) & one for one in sets):
                return size
    raise AssertionError("somebody has no value")


def minimal(found):
    """Only those that hold no other one: the absorption law A + AB = A."""
    return {one for one in found if not any(other < one for other in found)}


def bhs(sets):
    """Minimal hitting sets, among them all smallest ones (Algorithm 3, BHS).

    Not all of them, as the paper says: where a value is in every item, line 7 returns that value
    alone and drops what hits the items without it.
    """
    items = minimal({frozenset(one) for one in sets})
    if not items:
        return {frozenset()}
    if len(items) == 1:
        return {frozenset({value}) for value in next(iter(items))}
    common = frozenset.intersection(*items)
    if common:
        return {frozenset({value}) for value in common}
    single = frozenset().union(*(one for one in items if len(one) == 1))
    rest = {one for one in items if len(one) > 1}
    if not rest:
        return {single}
    often = sorted(set().union(*rest))
    split = max(often, key=lambda value: sum(value in one for one in rest))
    with_it = {one | {split} for one in bhs({one for one in rest if split not in one})}
    without = bhs({one - {split} for one in rest}) if all(one - {split} for one in rest) else set()
    return {single | one for one in minimal(with_it | without)}


def add_person(found, values):
    """All minimal hitting sets after one more person (Algorithm 5, lines 1 to 5)."""
    if not found:
        return {frozenset({value}) for value in values}
    return minimal({one | {value} for one in found for value in values})


def reasoning_sets(people):
    """One record of each person, in every way (Def. 3.2): lists of sensitive values."""
    return product(*people)
