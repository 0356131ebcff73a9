"""Draft: a first proposal of a plan, guessed from the table and meant to be edited."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from math import floor, log10
from typing import Any

import numpy as np

from shoal.base.errors import BadTable
from shoal.base.wording import many
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import as_date
from shoal.hierarchies.values import MISSING_WORDS, text
from shoal.io.frames import Frame, open_frame
from shoal.models.k_anonymity import KAnonymity
from shoal.plan import Plan
from shoal.table.coded_columns import coded
from shoal.table.header import check_header
from shoal.table.roles import Column, Role

K = 5
FREE_TEXT = 30  # mean length from which on a text counts as prose, not as a category

# Words in column names. They only suggest a role; the user decides.
DIRECT = set(
    "name names firstname lastname surname forename fullname vorname nachname nom prenom email "
    "mail phone telephone telefon mobile fax ssn nhs passport iban account card licence license "
    "plate address street strasse url website ip mac fingerprint photo signature".split()
)
PERSONS = set(
    "patient person subject participant member client customer pupil student employee user "
    "pseudonym pid nbr id key".split()
)
SENSITIVE = set(
    "diagnosis diagnoses diagnose diag disease illness condition icd icd9 icd10 disorder symptom "
    "drug medication medicine treatment therapy procedure salary income wage pay earnings debt "
    "religion belief politics orientation hiv result outcome crime offence verdict".split()
)
SENSITIVE_NOTE = (
    "named like something worth protecting; no requirement protects it yet: add a model such "
    "as distinct-l-diversity or t-closeness, see docs/models.md"
)
PEOPLE_NOTE = (
    "named like something worth protecting; no requirement protects it yet: people have "
    "several records here, so add eir-l-diversity, and eir-alpha-beta-anonymity if a likely guess "
    "does harm; see docs/people.md"
)
CODES = set("zip zipcode postcode postal plz postleitzahl geocode tract lsoa".split())
BIRTH = set("birth born birthday birthdate dob geburtsdatum naissance".split())
# Numbers under such names stand for categories: half of an admission type means nothing.
LABELS = set(
    "id code type kind category class status source group race ethnicity sex gender marital marry "
    "disposition industry occupation county district region state flag".split()
)
MANY = 15  # quasi-identifiers from which on much information is lost
# Numbers that are grouped into bands already: [70-80), 18 to 24, 65+, <5.
BAND = re.compile(
    r"[\[(]?\s*([0-9]{1,6})\s*(?:-|–|to|,)\s*([0-9]{1,6})\s*[\])]?|[<>≤≥]=?\s*[0-9]+|[0-9]+\s*\+"
)


@dataclass(frozen=True)
class _Facts:
    """Facts about one column."""

    words: set[str]
    values: list[Any]
    distinct: int
    filled: int

    @property
    def unlike(self) -> bool:
        """Whether nearly every record that is not missing has a different value."""
        return self.filled >= 20 and self.distinct >= 0.95 * self.filled

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers, if all of them are and none is a code with leading zeros."""
        numbers = []
        for value in self.values:
            label = text(value).strip()
            if isinstance(value, bool) or re.fullmatch(r"[+-]?0[0-9]+.*", label):
                return None
            try:
                number = float(label)
            except ValueError:
                return None
            if not np.isfinite(number):
                return None
            numbers.append(number)
        return numbers

    @property
    def dates(self) -> bool:
        """Whether all values are dates."""
        return all(
            isinstance(value, date) or (len(text(value)) >= 8 and as_date(value) is not None)
            for value in self.values
        )

    @property
    def codes(self) -> bool:
        """Whether the values are codes of one length whose beginnings mean something."""
        labels = [text(value) for value in self.values]
        return len({len(label) for label in labels}) == 1 and all(
            re.fullmatch(r"[0-9A-Z]{4,10}", label) for label in labels
        )

    @property
    def bands(self) -> bool:
        """Whether the values are bands of numbers."""
        found = [BAND.fullmatch(text(value).strip()) for value in self.values]
        return all(
            band is not None and (band[1] is None or int(band[1]) < int(band[2])) for band in found
        )


def draft(table: Any) -> Plan:
    """Propose a plan: roles and hierarchies guessed from names and values, to be edited.

    In doubt a column becomes a quasi-identifier, which is the safe choice.

    >>> import pyarrow as pa
    >>> plan = draft(pa.table({"name": ["Ann", "Bob"], "age": [31, 47]}))
    >>> plan.columns["name"].role, plan.columns["age"].role
    ('identifier', 'quasi')
    """
    frame = open_frame(table)
    if frame.height == 0:
        raise BadTable("the table has no rows; there is nothing to guess from")
    check_header(frame)
    missing = [""]
    for name in frame.names:
        _, values = coded(frame, name)
        missing += sorted(
            MISSING_WORDS.intersection(v for v in values if isinstance(v, str)) - set(missing)
        )
    guesses = {name: _guess(_facts(frame, name, missing)) for name in frame.names}
    _one_person(guesses)
    _several_rows(guesses)
    if not any(role == "quasi" for role, _, _ in guesses.values()):
        raise BadTable(
            "no column looks like a quasi-identifier (age, sex, postcode, job …); "
            "write the plan by hand"
        )
    plan = Plan(
        columns={
            name: Column(role=role, hierarchy=hierarchy)
            for name, (role, hierarchy, _) in guesses.items()
        },
        models=[KAnonymity(k=max(2, min(K, frame.height)))],
        missing_values=missing,
    )
    plan._drafted = True
    plan.notes.update({name: note for name, (_, _, note) in guesses.items()})
    quasi = [name for name, (role, _, _) in guesses.items() if role == "quasi"]
    if len(quasi) > MANY:
        plan.remarks.append(
            f"{len(quasi)} quasi-identifiers are many and will lose much information; which of "
            "them can an outsider really know?"
        )
    return plan


Guess = tuple[Role, Hierarchy | None, str]


def _facts(frame: Frame, name: str, missing: list[str]) -> _Facts:
    codes, values = coded(frame, name, missing)
    words = set(re.findall(r"[a-z]+[0-9]*", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    return _Facts(words, values.listed, len(values), int((codes >= 0).sum()))


def _guess(facts: _Facts) -> Guess:
    """The role, the hierarchy and the reason for one column."""
    labels = [text(value) for value in facts.values[:1000]]
    if not facts.values:
        return "other", None, "empty"
    if facts.words & DIRECT:
        return "identifier", None, "named like a direct identifier"
    if any(re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", label) for label in labels):
        return "identifier", None, "contains email addresses"
    if facts.words & BIRTH and not facts.dates and facts.numbers is None:
        return "quasi", None, "birth dates, not written as 2024-05-17; rewrite them"
    if facts.dates:
        steps = ["month", "year", "5 years", "decade"]
        return "quasi", Hierarchy.dates(steps), _counted(facts, "date")
    if facts.words & CODES:
        return "quasi", Hierarchy.prefixes(), f"{_counted(facts, 'code')}, shortened from the right"
    numbers = facts.numbers
    whole = numbers is not None and all(number.is_integer() for number in numbers)
    named = facts.words & PERSONS or any(w.endswith("id") and len(w) > 4 for w in facts.words)
    if named and (whole or numbers is None) and facts.distinct > max(facts.filled / 20, 20):
        if facts.distinct < facts.filled:
            return "person", None, f"{facts.distinct:,} people with {facts.filled:,} records"
        return "identifier", None, "every record has a different number"
    if facts.words & SENSITIVE:
        return "sensitive", None, SENSITIVE_NOTE
    if numbers is not None and not (whole and facts.words & LABELS and facts.distinct <= 100):
        return _ranges(facts, numbers, whole)
    unlike_enough = facts.distinct > max(facts.filled / 2, 20)
    if unlike_enough and np.mean([len(label) for label in labels]) > FREE_TEXT:
        return "identifier", None, "free text, which may name people"
    if facts.unlike:
        return "identifier", None, "nearly every record has a different value"
    if facts.codes and facts.distinct > 20:
        return "quasi", Hierarchy.prefixes(), f"{_counted(facts, 'code')}, shortened from the right"
    if facts.distinct > 3 and facts.bands:
        return "quasi", None, _bands(facts)
    hint = "" if facts.distinct <= 3 else "; a hierarchy, or { free_sets = true }, would lose less"
    return "quasi", None, _counted(facts, "value") + hint


def _counted(facts: _Facts, what: str) -> str:
    return many(facts.distinct, what)


def _bands(facts: _Facts) -> str:
    """The note on bands: they stay flat, and a tree would join them."""
    first = sorted(map(text, facts.values), key=lambda band: int(re.findall("[0-9]+", band)[0]))
    two = ", ".join(json.dumps(band, ensure_ascii=False) for band in first[:2])
    return (
        f"{_counted(facts, 'band')}, left flat (published unchanged or suppressed); to join them "
        f'give a tree, as in hierarchy = {{ tree = {{ "*" = {{ low = [{two}], … }} }} }}'
    )


def _ranges(facts: _Facts, numbers: list[float], whole: bool) -> Guess:
    """Ranges of numbers; ages in the usual ones, others by the span of most of the values."""
    low, high = np.quantile(numbers, [0.0, 0.9])
    widths: list[float] | None = _widths(float(low), float(high), whole)
    if "age" in facts.words and whole:
        widths = [5, 10, 20]
    # A range of all numbers says no more than a suppressed value.
    span = max(numbers) - min(numbers) + whole
    widths = [width for width in widths or () if width < span]
    if facts.distinct <= 3 or not widths:
        return "quasi", None, _counted(facts, "number")
    # Months and weekdays start at 1; a range [0, 2) would contain only one of them.
    start = 1 if whole and min(numbers) == 1 and max(numbers) <= 31 else None
    note = f"{_counted(facts, 'number')}, in ranges; {{ free_ranges = true }} may lose less"
    return "quasi", Hierarchy.ranges(widths, start), note


def _one_person(guesses: dict[str, Guess]) -> None:
    """Keep the first person column; a second number for people is an identifier."""
    found = False
    for name, (role, _, _) in guesses.items():
        if role == "person" and found:
            guesses[name] = ("identifier", None, "a second number for people")
        found = found or role == "person"


def _several_rows(guesses: dict[str, Guess]) -> None:
    """Recommend models about people if they have several records."""
    if any(role == "person" for role, _, _ in guesses.values()):
        for name, (role, hierarchy, note) in guesses.items():
            if role == "sensitive" and note == SENSITIVE_NOTE:
                guesses[name] = (role, hierarchy, PEOPLE_NOTE)


def _widths(low: float, high: float, whole: bool) -> list[float] | None:
    """Three widths that double, the first about a fifteenth of the span: 5, 10, 20 for ages."""
    span = high - low
    if span <= 0:
        return None
    power = 10.0 ** floor(log10(span / 15))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= span / 15)
    if whole:
        width = max(2.0, width)
    widths = [width, 2 * width, 4 * width]
    return [int(w) if float(w).is_integer() else float(f"{w:.12g}") for w in widths]
