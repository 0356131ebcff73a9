"""Class sizes: how many people are hidden among how many, in a few groups."""

from __future__ import annotations

from collections.abc import Sequence

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)  # where groups begin


def class_sizes(crowds: Sequence[tuple[int, int]]) -> list[tuple[int, int | None, int]]:
    """The first and the last size of each group, and the people in it; None: no last one.

    >>> class_sizes([(1, 4), (6, 12), (7, 7), (25, 25)])
    [(1, 1, 4), (2, 2, 0), (3, 4, 0), (5, 9, 19), (10, 19, 0), (20, 49, 25)]
    """
    if not crowds:
        return []
    smallest, largest = min(size for size, _ in crowds), max(size for size, _ in crowds)
    found: list[tuple[int, int | None, int]] = []
    for low, high in zip(EDGES, (*EDGES[1:], None), strict=True):
        if low <= largest and (high is None or high > smallest):
            people = sum(n for size, n in crowds if size >= low and (high is None or size < high))
            found.append((low, None if high is None else high - 1, people))
    return found
