"""What kind of values a column has: by its values, and by its name where they do not show it."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from shoal.flow.draft.facts import FREE_TEXT, Facts
from shoal.flow.draft.name_words import (
    AGES,
    BIRTH,
    CATEGORIES,
    CATEGORY_STEMS,
    CODES,
    COMMUNITIES,
    COMMUNITY_STEMS,
)
from shoal.flow.draft.places import COUNTRY_NAMES, STATE_NAMES

Kind = Literal[
    "empty",
    "constant",
    "mail addresses",
    "phone numbers",
    "web addresses",
    "names of people",
    "free text",
    "dates",
    "spelled dates",
    "postcodes",
    "ICD codes",
    "diseases",
    "test results",
    "states",
    "countries",
    "bands",
    "ages",
    "numbers",
    "codes",
    "long codes",
    "community codes",
    "categories",
]
MOST = 0.9  # share of the values that must have a form; the others are typing errors
PLACES = 0.8  # of countries and states, which have many spellings
FEW = 20  # different whole numbers that may be codes
MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
PHONE = re.compile(
    r"(\+|00|\(?0)[0-9][0-9 ()/.-]{5,}[0-9]|\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}"
)
WEB = re.compile(
    r"https?://\S+|www\.\S+|[0-9]{1,3}(\.[0-9]{1,3}){3}|([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}"
)
# First and last name, in either order.
_CAPITAL = r"[^\W\d_a-z][\w'’.-]*"
PERSON = re.compile(
    rf"{_CAPITAL}( {_CAPITAL}){{1,3}}|{_CAPITAL}( {_CAPITAL})?, {_CAPITAL}( {_CAPITAL})?"
)
SOCIAL = re.compile(
    r"[0-9]{3}-[0-9]{2}-[0-9]{4}|[A-Z]{2}[0-9]{2} ?([0-9A-Z]{4} ?){3,7}[0-9A-Z]{1,4}"
)
# British, Dutch, Canadian, ZIP+4: they have letters or signs, so that they are no numbers.
POSTCODE = re.compile(
    r"[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}|[0-9]{4} ?[A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|"
    r"[0-9]{5}-[0-9]{4}"
)
# German municipalities: the state (01 to 16), the district and the community, 2 + 3 + 3 digits.
COMMUNITY = re.compile(r"(0[1-9]|1[0-6])[0-9]{6}")
SHORT_COMMUNITY = re.compile(r"([1-9]|1[0-6])[0-9]{6}")  # as a number, without the leading zero
ICD10 = re.compile(r"[A-TV-Z][0-9][0-9AB](\.?[0-9A-Z]{1,4})?")
ICD9 = re.compile(r"[0-9]{3}(\.[0-9]{1,2})?|[VE][0-9]{2,3}(\.[0-9]{1,2})?")
ICD9_LETTER = re.compile(r"[VE][0-9]{2,3}(\.[0-9]{1,2})?")
DISEASE = re.compile(
    r".*\b([a-z]*(itis|oma|emia|aemia|osis|pathy|plegia|algia)|cancer|tumou?r|disease|syndrome|"
    r"infection|disorder|fracture|diabetes|asthma|flu|influenza|hiv|aids|hypertension|pneumonia|"
    r"gout|stroke|infarction|depression|migraine|ulcer|heart failure|cold|covid(-19)?)\b.*",
    re.IGNORECASE,
)
RESULTS = frozenset("positive negative inconclusive normal abnormal pos neg reactive".split())


def kind_of(facts: Facts) -> Kind:
    """The kind of values of a column."""
    if not facts.distinct:
        return "empty"
    if facts.distinct == 1 and facts.filled == facts.rows and facts.rows > 1:
        return "constant"
    return _by_form(facts) or _by_order(facts)


def _by_form(facts: Facts) -> Kind | None:
    """The kinds that the form of the values gives away."""
    if any(MAIL.fullmatch(one) for one in facts.texts):
        return "mail addresses"
    if facts.share(WEB) >= MOST:
        return "web addresses"
    if facts.dates:
        return "dates"
    if facts.words & BIRTH and facts.numbers is None and facts.share(r"\D*[0-9].*[0-9].*") >= MOST:
        return "spelled dates"
    if facts.mostly_unlike and (facts.share(PHONE) >= MOST or facts.share(SOCIAL) >= MOST):
        return "phone numbers"
    if facts.share(POSTCODE) >= MOST or _is_postcode(facts):
        return "postcodes"
    if is_community_code(facts):
        return "community codes"
    if _is_icd(facts):
        return "ICD codes"
    if facts.distinct > 1 and facts.among(RESULTS) == 1:
        return "test results"
    if facts.distinct > 3 and facts.among(STATE_NAMES) >= PLACES:
        return "states"
    if facts.distinct > 3 and facts.among(COUNTRY_NAMES) >= PLACES:
        return "countries"
    if facts.numbers is None and facts.share(DISEASE) >= 0.5:
        return "diseases"
    if facts.numbers is None and facts.mostly_unlike:
        if facts.share(PERSON) >= MOST:
            return "names of people"
        if facts.mean_length > FREE_TEXT:
            return "free text"
    return None


def _by_order(facts: Facts) -> Kind:
    """Numbers, codes and categories."""
    if facts.numbers is not None:
        if facts.whole and is_category(facts):
            return "codes"
        if (
            facts.whole
            and facts.words & AGES
            and facts.numbers.min() >= 0
            and facts.numbers.max() < 125
        ):
            return "ages"
        return "numbers"
    if facts.distinct > 3 and facts.bands:
        return "bands"
    if facts.codes_of_one_length and facts.distinct > 20:
        return "long codes"
    return "categories"


def is_category(facts: Facts) -> bool:
    """Whether whole numbers stand for categories: by labels, by name, or by gaps among few."""
    if facts.measure:
        return facts.measure == "nominal"
    if facts.labels:
        there = set(facts.texts)
        return sum(code in there for code in facts.labels) >= 0.5 * facts.distinct
    if facts.distinct <= 100 and (
        facts.words & CATEGORIES or any(word.startswith(CATEGORY_STEMS) for word in facts.words)
    ):
        return True
    assert facts.numbers is not None
    numbers = np.unique(facts.numbers)
    if not 3 <= len(numbers) <= FEW or facts.filled < 100:
        return False
    # Few numbers out of many, at uneven steps: 1, 2, 3, 7, 12. Amounts are many, and counts have
    # no gaps in their lower half, where most records are.
    steps = np.diff(numbers)
    lower = steps[: max(2, len(steps) // 2)]
    return bool(lower.max() > 1 and len(np.unique(lower)) > 1)


def _is_postcode(facts: Facts) -> bool:
    """Whether the name says so, or the values are texts of five digits, some with zeros."""
    if facts.words & CODES:
        return True
    zeros = facts.numbers is None and facts.share(r"[0-9]{5}") == 1
    return zeros and facts.distinct > 20 and not facts.unlike


def is_community_code(facts: Facts) -> bool:
    """Whether the values are official codes of German communities.

    Texts show it by their form if several states or districts begin alike; numbers, which have lost
    their leading zeros, only together with the name of the column.
    """
    if facts.distinct < 3 or facts.unlike:
        return False
    named = bool(facts.words & COMMUNITIES) or any(
        word.startswith(COMMUNITY_STEMS) for word in facts.words
    )
    if facts.is_text and facts.share(COMMUNITY) == 1:
        districts = {one[:5] for one in facts.texts}
        return named or (facts.distinct > 20 and len(districts) <= 0.7 * len(facts.texts))
    return named and facts.whole and facts.share(SHORT_COMMUNITY) == 1


def _is_icd(facts: Facts) -> bool:
    """Whether the values are codes of diseases; numbers of three digits alone do not show it."""
    if facts.distinct < 10 or facts.unlike:
        return False
    if facts.share(ICD10) >= MOST:  # of several chapters; A001 to A999 are numbers of something
        return len({one[0] for one in facts.texts}) >= 3
    letters = facts.share(ICD9_LETTER)
    return letters > 0.005 and facts.share(ICD9) >= MOST and letters < MOST
