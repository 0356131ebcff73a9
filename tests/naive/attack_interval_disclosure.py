"""The naive twin of interval-disclosure: number by number, on lists; None is no number."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt


def rank(number, originals):
    """The mean rank of a number among the originals."""
    below = sum(other < number for other in originals)
    return below + Fraction(sum(other == number for other in originals), 2)


def find(before, after, p=Fraction(5, 100)):
    originals = [one for one in before if one is not None]
    many = len(originals)
    mean = Fraction(sum(originals), many)
    squares = sum((one - mean) ** 2 for one in originals)
    deviation = sqrt(squares / (many - 1)) if many > 1 else 0.0
    ranks = deviations = 0
    for old, new in zip(before, after, strict=True):
        if old is None or new is None:
            continue
        ranks += abs(rank(old, originals) - rank(new, originals)) <= p * many
        deviations += abs(old - new) <= float(p) * deviation
    return {
        "numbers": many,
        "records": ranks,
        "percent": 100 * ranks / many,
        "records_by_deviation": deviations,
        "percent_by_deviation": 100 * deviations / many,
    }
