"""Codes that stand for missing values: 99 next to ages, -8 next to years, N next to numbers."""

from __future__ import annotations

import re

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.flow.draft.facts import Facts, plain_words
from shoal.hierarchies.values import text

NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
NEGATIVE = [float(-one) for one in (*range(1, 10), 99, 999, 9999)]
PADDED = "[0-9]{2}|[0-9]{3}"
PEAK = 5  # records with a code, if it is known by its frequency
WORDS = 5  # different words among numbers
NUMBERS = 0.5  # share of the records that have a number, if the others are words among them
_MISSING = re.compile(
    r"[.?-]|n|na|n/a|null|missing|unknown|unspecified|refused|declined|"
    r"(not|no) [a-z ]*(stated|applicable|known|available|ascertained|answer|answered|recorded|"
    r"reported|specified|universe|data|response)[a-z ]*|don'?t know|k\.?\s?a\.?|keine angabe"
)


def missing_codes(facts: Facts) -> list[str]:
    """The values of a column that are proposed as missing, in the order of the table."""
    if not facts.distinct:
        return []
    # A label of one letter is an answer: N stands for no.
    labels = facts.labels.items()
    if labelled := [code for code, label in labels if len(label) > 1 and means_missing(label)]:
        there = {text(value) for value in facts.values}
        return [code for code in labelled if code in there]
    is_padded = facts.share(PADDED) == 1
    if not is_padded and facts.words_at_first > WORDS:
        return []
    found = _padded(facts) if is_padded else facts.as_numbers
    strange = np.flatnonzero(np.isnan(found))
    numbers = found[~np.isnan(found)]
    words = _words_among(facts, strange) if len(numbers) else None
    if words is None:
        return []
    counts = facts.counts[~np.isnan(found)]
    codes = np.isin(found, [*_negative(numbers), *_nines(numbers, counts)])
    return [*words, *(text(facts.values[int(i)]) for i in np.flatnonzero(codes))]


def _padded(facts: Facts) -> Floats:
    """Codes of two or three digits as numbers, also with leading zeros: 01, 02, 99."""
    return np.array([float(text(value)) for value in facts.values])


def means_missing(word: str) -> bool:
    """Whether a word or a label says that there is no value.

    >>> means_missing("N"), means_missing("Not stated"), means_missing("Norway")
    (True, True, False)
    """
    return _MISSING.fullmatch(word.strip().lower()) is not None or (
        _MISSING.fullmatch(plain_words(word)) is not None
    )


def words_among_numbers(facts: Facts) -> list[str]:
    """A few words in a column of numbers that do not say whether they mean missing."""
    if facts.words_at_first > WORDS:
        return []
    strange = np.flatnonzero(np.isnan(facts.as_numbers))
    if not 0 < len(strange) <= WORDS or len(strange) == facts.distinct:
        return []
    share = 1 - facts.counts[strange].sum() / facts.filled
    words = [text(facts.values[int(i)]) for i in strange]
    has_digits = any(re.search("[0-9]", word) for word in words)
    return words if share >= NUMBERS and not has_digits else []


def _words_among(facts: Facts, strange: Longs) -> list[str] | None:
    """Words for missing among numbers; None: the column does not consist of numbers."""
    if len(strange) > WORDS:
        return None
    words = [text(facts.values[int(i)]) for i in strange]
    if not all(map(means_missing, words)):
        return None
    share = facts.counts[strange].sum() / facts.filled
    return words if share <= 1 - NUMBERS or facts.distinct - len(words) > 2 * WORDS else None


def _negative(numbers: Floats) -> list[float]:
    """Negative codes, if all others are positive: an amount below zero is no code."""
    negative = numbers[numbers < 0]
    others = len(numbers) - len(negative)
    if not 0 < len(negative) < others or not np.isin(negative, NEGATIVE).all():
        return []
    # Answers from -2 to 2 have no gap; several codes have one.
    scale = len(negative) > 1 and len(numbers) == numbers.max() - numbers.min() + 1
    return [] if scale else negative.tolist()


def _nines(numbers: Floats, counts: Longs) -> list[float]:
    """9, 99 or 999, if it is the largest value and apart from all others.

    98 and 97 may be next to it, as one code says "does not know" and another one "refused"; 88 may
    be alone. A code that is close to the values must be far more frequent than those next to it.
    """
    order = np.argsort(numbers, kind="stable")
    values, often = numbers[order], counts[order]
    often, values = often[values >= 0], values[values >= 0]
    if len(values) < 3:
        return []
    digits = len(f"{values[-1]:.0f}")
    known = _codes_of(digits)
    first = len(values)  # of the codes among the values
    while first > 2 and values[first - 1] in known:
        first -= 1
    starts = range(first, len(values))  # all of them are codes, or only the largest
    return next((values[i:].tolist() for i in starts if _are_codes(values, often, i)), [])


def _codes_of(digits: int) -> set[float]:
    """The codes for missing of a column whose largest value has so many digits."""
    if digits > len(NINES):
        return set()
    nines = NINES[digits - 1]
    return {nines, nines - 1, nines - 2} | {nines * digit / 9 for digit in (6, 7, 8) if digits > 1}


def _are_codes(values: Floats, often: Longs, first: int) -> bool:
    """Whether the values from a place on, all of which could be codes for missing, are such."""
    largest, code, below = values[-1], values[first], values[first - 1]
    spread = below - values[max(0, first - 3)] + 1
    several, nines = first < len(values) - 1, largest in NINES
    stands_out = bool(often[first:].min() > often[max(0, first - 2) : first].max())
    if largest <= NINES[0]:  # 8 is next to 9, and 7 may be by chance
        if not nines or first < 3:
            return False
        if several:  # 1 to 5 without a gap, then 8 and 9
            return bool(code - below >= 3 and below - values[0] == first - 1)
        return bool(below <= 6) or (values[0] == 0 and _ends_in_a_peak(often, first))
    # As many digits as the others need, or more; the others end well below.
    apart = largest / 1000 <= below <= 0.8 * code and code - below > 3 * spread
    if apart and (nines or stands_out):
        return True
    return bool(nines and code - below >= 2 and _ends_in_a_peak(often, first))


def _ends_in_a_peak(often: Longs, first: int) -> bool:
    """Whether the last values are much more frequent than those before, which have become rare.

    Numbers end like this if they have a code: there are few people of 95 years, and many of "99".
    """
    peak, rare = int(often[first:].min()), int(often[max(0, first - 3) : first].max())
    return first >= 6 and peak >= max(PEAK, 3 * rare) and 10 * rare <= int(often[:first].max())
