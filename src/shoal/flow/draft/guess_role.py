"""The role of one column, with the reason: by its values first, by its name second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from shoal.flow.draft.facts import Facts
from shoal.flow.draft.kinds import Kind, kind_of
from shoal.flow.draft.missing_codes import words_among_numbers
from shoal.flow.draft.name_words import (
    COUNTING,
    DIRECT,
    HOLDER,
    OUTCOMES,
    RECORDS,
    SENSITIVE,
    is_drug,
    is_household,
    is_person_number,
    is_sensitive,
    is_survey_weight,
    may_be_survey_weight,
)
from shoal.flow.draft.propose_hierarchy import propose_hierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.table.roles import Role

SPREAD = 100  # no body weighs so many times as much as another of its table
DIGITS = 4  # decimals that nobody weighs
FEW = 20  # values that cannot single people out in a table of 50 times as many records
IDENTIFIERS: dict[Kind, str] = {
    "mail addresses": "contains email addresses",
    "phone numbers": "phone or identity numbers",
    "web addresses": "addresses of web pages or devices",
    "names of people": "names of people",
    "free text": "free text, which may name people",
}
PROTECTED: dict[Kind, str] = {
    "ICD codes": "codes of diseases (ICD)",
    "diseases": "names of diseases",
    "test results": "results of tests",
}


@dataclass(frozen=True)
class Guess:
    """What is proposed for a column, and why."""

    role: Role
    note: str
    kind: Kind
    hierarchy: Hierarchy | None = None
    given: bool = False  # by the user, in a dictionary

    def changed_to(self, role: Role, note: str) -> Guess:
        """Another role, which needs no hierarchy."""
        return replace(self, role=role, note=note, hierarchy=None)


def guess_role(facts: Facts, given: str = "", by: str = "role of the dictionary") -> Guess:
    """The role, the hierarchy and the reason for one column.

    `given` is its role if the user has said it, and `by` where.
    """
    kind = kind_of(facts)
    role, note = (given, by) if given else _role(facts, kind)
    if role != "quasi":
        return Guess(cast(Role, role), note, kind, given=bool(given))
    guess = as_quasi(facts, kind)
    if given:
        return replace(guess, note=f"{by}; {guess.note}", given=True)
    return guess


def as_quasi(facts: Facts, kind: Kind) -> Guess:
    """The column as a quasi-identifier."""
    hierarchy, note = propose_hierarchy(facts, kind)
    if words := words_among_numbers(facts):
        note += (
            f"; numbers with the words {', '.join(words)} among them: if these mean missing, list "
            "them under missing_values and give the column ranges"
        )
    return Guess("quasi", note, kind, hierarchy)


def _role(facts: Facts, kind: Kind) -> tuple[Role, str]:
    if kind == "empty":
        return "other", "empty"
    if kind == "constant":
        return "other", "the same value in every record"
    if kind in IDENTIFIERS:
        return "identifier", IDENTIFIERS[kind]
    few = facts.distinct <= FEW and facts.filled >= 50 * FEW
    if facts.words & DIRECT and not few:
        return "identifier", "named like a direct identifier"
    if kind in PROTECTED:
        return "sensitive", PROTECTED[kind]
    if kind in ("dates", "spelled dates", "postcodes", "states", "countries", "ages"):
        return "quasi", ""
    return _number_of_somebody(facts) or _by_name(facts) or _by_uniqueness(facts)


def _number_of_somebody(facts: Facts) -> tuple[Role, str] | None:
    """Numbers of households, people and records."""
    if facts.numbers is not None and not facts.whole:
        return None
    many = facts.distinct > max(facts.filled / 20, 20)
    if many and is_household(facts.words):
        if facts.distinct < facts.filled == facts.rows:
            return "household", (
                f"{facts.distinct:,} households with {facts.filled:,} records; each member is "
                "generalized by itself, and household-k-anonymity counts households"
            )
        return "identifier", f"household number: {facts.distinct:,} households"
    if many and is_person_number(facts.words):
        if facts.distinct < facts.filled:
            return "person", f"{facts.distinct:,} people with {facts.filled:,} records"
        return "identifier", "every record has a different number"
    if facts.are_consecutive and (facts.words & RECORDS or facts.as_numbers.min() in (0, 1)):
        return "identifier", "each record has the next number"
    # Whole numbers of one length, all of them rare: numbers of something, and no amounts.
    lengths = {len(one) for one in facts.texts}
    if facts.whole and len(lengths) == 1 and min(lengths) >= 6 and facts.unlike:
        return "identifier", "nearly every record has a number of its own, all of one length"
    return None


def _by_name(facts: Facts) -> tuple[Role, str] | None:
    if weight := _weight(facts):
        return weight
    if facts.numbers is not None and facts.words & COUNTING and facts.words & (HOLDER | SENSITIVE):
        return "other", "a count that only the holder of the data knows"
    if is_sensitive(facts.words):
        return "sensitive", "named like something worth protecting"
    if is_drug(facts.words):
        return "sensitive", "named like a drug"
    if facts.words and facts.words <= OUTCOMES and facts.distinct <= 100:
        return "sensitive", "named like an outcome"
    return None


def _weight(facts: Facts) -> tuple[Role, str] | None:
    """Survey weights: by their name, or by that of any weight and values that no body has."""
    if facts.numbers is None or facts.distinct <= FEW:
        return None
    values = facts.as_numbers
    if not is_survey_weight(facts.words):
        if not may_be_survey_weight(facts.words) or values.min() <= 0:
            return None
        tenths = values * 10 ** (DIGITS - 1)
        fine = np.abs(tenths - np.round(tenths)) > 1e-6  # more than three decimals
        if values.max() < SPREAD * values.min() and fine.mean() < 0.5:
            return None
    if values.min() <= 0 or facts.filled < facts.rows:
        return "drop", (
            "survey weight, with values that are missing, zero or negative; correct these for the "
            "role weight, which estimates risks in the population"
        )
    return "weight", (
        "survey weight: risks in the population are estimated with it; it is not published, as it "
        "can give back the stratum of a person"
    )


def _by_uniqueness(facts: Facts) -> tuple[Role, str]:
    if facts.numbers is None and facts.unlike:
        return "identifier", "nearly every record has a different value"
    return "quasi", ""
