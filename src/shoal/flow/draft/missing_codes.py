"""Codes that stand for missing values: 99 next to ages, -8 next to years, N next to numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.flow.draft.facts import Facts, number_in, plain_words
from shoal.hierarchies.values import text

NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
NEGATIVE = frozenset(float(-one) for one in (*range(1, 10), 99, 999, 9999))
WORDS = 5  # different words among numbers
NUMBERS = 0.5  # share of the records that have a number, if the others are words among them
_MISSING = re.compile(
    r"[.?-]|n|na|n/a|null|missing|unknown|unspecified|refused|declined|"
    r"(not|no) [a-z ]*(stated|applicable|known|available|ascertained|answer|answered|recorded|"
    r"reported|specified|universe|data|response)[a-z ]*|don'?t know|k\.?\s?a\.?|keine angabe"
)


def missing_codes(facts: Facts) -> list[str]:
    """The values of a column that are proposed as missing, in the order of the table."""
    if not facts.values:
        return []
    # A label of one letter is an answer: N stands for no.
    labels = facts.labels.items()
    if labelled := [code for code, label in labels if len(label) > 1 and means_missing(label)]:
        there = {text(value) for value in facts.values}
        return [code for code in labelled if code in there]
    found = [number_in(value) for value in facts.values]
    strange = [i for i, one in enumerate(found) if one is None]
    numbers = [one for one in found if one is not None]
    if not numbers:
        return []
    words = _words_among(facts, strange)
    if words is None:
        return []
    codes = {*_negative(numbers), *_nines(numbers)}
    own = [text(value) for value, one in zip(facts.values, found, strict=True) if one in codes]
    return [*words, *own]


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
    found = [number_in(value) for value in facts.values]
    strange = [i for i, one in enumerate(found) if one is None]
    if not strange or len(strange) > WORDS or len(strange) == len(found):
        return []
    share = 1 - facts.counts[strange].sum() / facts.filled
    words = [text(facts.values[i]) for i in strange]
    has_digits = any(re.search("[0-9]", word) for word in words)
    return words if share >= NUMBERS and not has_digits else []


def _words_among(facts: Facts, strange: Sequence[int]) -> list[str] | None:
    """Words for missing among numbers; None: the column does not consist of numbers."""
    words = [text(facts.values[i]) for i in strange]
    if len(words) > WORDS or not all(map(means_missing, words)):
        return None
    share = facts.counts[list(strange)].sum() / facts.filled
    return words if share <= 1 - NUMBERS or len(facts.values) - len(words) > 2 * WORDS else None


def _negative(numbers: Sequence[float]) -> list[float]:
    """Negative codes, if all others are positive: an amount below zero is no code."""
    negative = [one for one in numbers if one < 0]
    others = [one for one in numbers if one >= 0]
    known = all(one in NEGATIVE for one in negative)
    # Answers from -2 to 2 have no gap; several codes have one.
    scale = len(negative) > 1 and len(numbers) == max(numbers) - min(numbers) + 1
    return negative if known and not scale and len(others) > len(negative) else []


def _nines(numbers: Sequence[float]) -> list[float]:
    """9, 99 or 999, if it is the largest value and apart from all others."""
    largest = max(numbers)
    others = [one for one in numbers if 0 <= one < largest]
    if largest not in NINES or len(others) < 2:
        return []
    below = max(others)
    if largest == 9.0:  # 8 is next to it, and 7 may be by chance
        return [largest] if below <= 6 and len(others) >= 3 else []
    # As many digits as the others need, or more; the others end well below.
    apart = below <= 0.8 * largest and below >= largest / 1000
    gaps = sorted(others)[-3:]
    return [largest] if apart and largest - below > 3 * (gaps[-1] - gaps[0] + 1) else []
