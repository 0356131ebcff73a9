"""Microaggregation as it is defined, on lists; slow and obvious."""

from __future__ import annotations

from fractions import Fraction


def number(values, how):
    """What a class publishes, not rounded; None if a value is missing."""
    if None in values:
        return None
    exact = sorted(Fraction(str(value)) for value in values)
    if how == "mean":
        return sum(exact) / len(exact)
    middle = exact[(len(exact) - 1) // 2], exact[len(exact) // 2]
    return sum(middle) / 2


def variance_lost(before, after):
    """SSE / SST."""
    mean = sum(before) / len(before)
    lost = sum((a - b) ** 2 for a, b in zip(before, after, strict=True))
    return lost / sum((a - mean) ** 2 for a in before)
