"""Safe Harbor: the 18 identifiers of HIPAA, 45 CFR 164.514(b)(2)(i), as far as a plan shows them.

A column is recognized by words in its name, dates and ages by what is published of them. What has
no such name is not recognized, and what is in free text is not read: most of the list can only be
judged by a person who knows the table. So a result is *met* or *not met* only where a column was
recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import inf
from typing import Literal

from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import as_date
from shoal.hierarchies.values import ROOT, text
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.table.published_table import Published
from shoal.table.roles import Column, not_published

Status = Literal["met", "not met", "not judged"]
OLD = 90  # years: ages from here on may be published as one category only
FEW = 20  # values that show whether a column has dates
YEAR = 364  # days from the first to the last of a year, at least
# Words in names of columns, by the letter of the identifier in the rule.
WORDS = {
    "A": "name names firstname lastname surname forename fullname vorname nachname nom prenom",
    "B": "zip zipcode postcode postal plz postleitzahl geocode tract address street city town "
    "county precinct municipality village latitude longitude",
    "C": "date dates birthday birthdate dob birthmonth birthyear yob geburtsdatum geburtstag "
    "geburtsmonat geburtsjahr age ages",
    "D": "phone telephone telefon mobile",
    "E": "fax",
    "F": "email mail",
    "G": "ssn",
    "H": "mrn",
    "I": "beneficiary insurance",
    "J": "account iban",
    "K": "license licence certificate passport",
    "L": "vehicle plate vin",
    "M": "device serial",
    "N": "url website",
    "O": "ip",
    "P": "fingerprint voiceprint biometric iris",
    "Q": "photo photograph image",
    "R": "",
}
# An email address is no place, and the name of a device no person: these come last.
ORDER = (*"DEFGHIJKLMNOPQ", "C", "B", "A")
AGES = frozenset("age ages".split())
BIRTH = frozenset(
    "birth born birthday birthdate dob birthmonth birthyear yob geburtsdatum geburtstag "
    "geburtsmonat geburtsjahr".split()
)
# Of a date that is published in several columns: the event, and its parts.
EVENTS = BIRTH | frozenset("death admission discharge visit service treatment".split())
YEARS = frozenset("year years yr yy yyyy birthyear yob geburtsjahr jahr".split())
IN_A_YEAR = frozenset(
    "month months mon mm birthmonth geburtsmonat monat day days dd week quarter".split()
)
MONTHS = {
    name[:3]: number
    for number, names in enumerate(
        (
            "january januar", "february februar", "march märz", "april", "may mai", "june juni",
            "july juli", "august", "september", "october oktober", "november", "december dezember",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
ZIP = frozenset("zip zipcode postcode postal plz postleitzahl".split())


@dataclass(frozen=True)
class Identifier:
    """One of the 18 identifiers: whether columns like it are published, and why that is said."""

    letter: str
    status: Status
    columns: tuple[str, ...] = ()
    why: str = "not recognized"


def safe_harbor(
    columns: Mapping[str, Column],
    published: Published,
    known: Mapping[str, ColumnDisclosure],
    year: int,
) -> list[Identifier]:
    """Each of the 18 identifiers; `year` is that of the release, to tell ages by dates of birth."""
    dropped = set(not_published(columns))
    letters = {name: _letter(name, published, columns) for name in columns}
    found: list[Identifier] = []
    for letter in WORDS:
        names = [name for name in columns if letters[name] == letter]
        each = [
            Identifier(letter, "met", (name,), "not published")
            if name in dropped
            else _judged(letter, name, columns[name], published, year)
            for name in names
        ]
        if letter == "R":
            each += _codes(columns, dropped, published, known)
        found.append(_worst(letter, each))
    return found


def _worst(letter: str, each: list[Identifier]) -> Identifier:
    """The result of several columns: that of the worst, with the columns that have it."""
    for status in ("not met", "not judged", "met"):
        mine = [one for one in each if one.status == status]
        if mine:
            same = [one for one in mine if one.why == mine[0].why]
            return Identifier(
                letter, mine[0].status, tuple(o.columns[0] for o in same), mine[0].why
            )
    return Identifier(letter, "not judged")


def _letter(name: str, published: Published, columns: Mapping[str, Column]) -> str | None:
    """The identifier that a column looks like, if any."""
    words = words_of(name)
    if _has_dates(name, published, columns) or (words & EVENTS and words & (YEARS | IN_A_YEAR)):
        return "C"
    return next((letter for letter in ORDER if words & set(WORDS[letter].split())), None)


def words_of(name: str) -> set[str]:
    """The words of a column name in lower case.

    >>> sorted(words_of("BirthDate_2")), sorted(words_of("IP-address"))
    (['birth', 'date'], ['address', 'ip'])
    """
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))


def _judged(letter: str, name: str, column: Column, published: Published, year: int) -> Identifier:
    """A column that is published."""
    if column.role != "quasi" and words_of(name) & AGES:
        return Identifier(letter, "not judged", (name,), "unchanged ages")
    if column.role != "quasi" and letter == "C" and _is_year(name):
        return Identifier(letter, "not judged", (name,), "unchanged years")
    if column.role != "quasi":
        return Identifier(letter, "not met", (name,), "unchanged")
    values = [text(value) for value in published.values[published.names.index(name)]]
    values = [value for value in values if value != ROOT]
    if not values:
        return Identifier(letter, "met", (name,), "suppressed")
    if letter == "B":
        return _place(name, values)
    if letter == "C":
        return _time(name, column, values, year)
    return Identifier(letter, "not met", (name,), "generalized")


def _place(name: str, values: list[str]) -> Identifier:
    """Of a ZIP code three digits may be published, where more than 20,000 people live."""
    if not words_of(name) & ZIP or any(len(value.rstrip("*")) > 3 for value in values):
        return Identifier("B", "not met", (name,), "smaller than a state")
    return Identifier("B", "not judged", (name,), "three digits")


def _time(name: str, column: Column, values: list[str], year: int) -> Identifier:
    """Of a date the year may be published, of an age over 89 only that it is over 89."""
    spans = [_span(column.hierarchy, value) for value in values]
    known = [span for span in spans if span is not None]
    dates = [(a, b) for a, b in known if isinstance(a, date) and isinstance(b, date)]
    if any((last - first).days < YEAR for first, last in dates):
        return Identifier("C", "not met", (name,), "finer than a year")
    old_people = {(first, last) for first, last in dates if last.year <= year - OLD - 1}
    # All of them may be one category.
    one = len(old_people) == 1 and all(first == date.min for first, _ in old_people)
    if words_of(name) & BIRTH and old_people and not one:
        return Identifier("C", "not met", (name,), "years of birth of people over 89")
    if words_of(name) & BIRTH and any(
        first > date.min and last.year == year - OLD for first, last in dates
    ):
        return Identifier("C", "not judged", (name,), "born 90 years ago")
    if dates and len(dates) == len(values):
        return Identifier("C", "met", (name,), "year or longer")
    if words_of(name) & AGES and len(known) == len(values):
        return _ages(name, dict(zip(values, known, strict=True)))
    if words_of(name) & EVENTS and words_of(name) & IN_A_YEAR:
        return Identifier("C", "not met", (name,), "finer than a year")
    if _is_year(name) and len(known) == len(values):
        return _years(name, dict(zip(values, known, strict=True)), year)
    return Identifier("C", "not judged", (name,), "not dates or numbers")


def _is_year(name: str) -> bool:
    """Whether a column has the year of an event, and nothing else of its date."""
    words = words_of(name)
    return bool(words & EVENTS and words & YEARS and not words & IN_A_YEAR)


def _ages(name: str, spans: Mapping[str, Span]) -> Identifier:
    """Of ages over 89 there may be one category, 90 or older."""
    old = {
        (low, high): value
        for value, (low, high) in spans.items()
        if isinstance(low, float) and isinstance(high, float) and low >= OLD
    }
    if len(old) > 1:
        return Identifier("C", "not met", (name,), "ages over 89")
    for (low, high), value in old.items():
        if low > OLD:
            return Identifier("C", "not met", (name,), "more precise than 90 or older")
        if high - low < 1 or (high - low == 1 and value.endswith(")")):
            return Identifier("C", "not judged", (name,), "90 alone")
    return Identifier("C", "met", (name,), "no ages over 89")


def _years(name: str, spans: Mapping[str, Span], year: int) -> Identifier:
    """Years that were published as numbers: those of birth show ages."""
    if not words_of(name) & BIRTH:
        return Identifier("C", "met", (name,), "year or longer")
    ends = [
        (low, high - (value.endswith(")") or value.startswith("<")))
        for value, (low, high) in spans.items()
        if isinstance(low, float) and isinstance(high, float)
    ]
    old = [low for low, last in ends if last <= year - OLD - 1]
    if old and not (len(old) == 1 and old[0] == -inf):
        return Identifier("C", "not met", (name,), "years of birth of people over 89")
    if any(low > -inf and last == year - OLD for low, last in ends):
        return Identifier("C", "not judged", (name,), "born 90 years ago")
    return Identifier("C", "met", (name,), "year or longer")


Span = tuple[date, date] | tuple[float, float]


def _span(hierarchy: Hierarchy | None, value: str) -> Span | None:
    """The first and the last date or number that a published value stands for."""
    ends = (hierarchy or Hierarchy.flat()).ends(value)
    if ends is not None:
        low, high = ends
        if isinstance(low, date) or isinstance(high, date):
            first = low if isinstance(low, date) else date.min
            return first, high if isinstance(high, date) else date.max
        return -inf if low is None else float(low), inf if high is None else float(high)
    moment = as_date(value)
    if moment is not None and re.match(r"\d{4}-\d\d-\d\d", value):
        return moment.date(), moment.date()
    if month := _month(value):
        return month
    if beyond := re.fullmatch(r"(?:>=?|≥)\s*(\d+)|(\d+)\s*\+", value):  # as in 90+
        return float(beyond[1] or beyond[2]), inf
    return (float(value), float(value)) if re.fullmatch(r"-?\d+(\.\d+)?", value) else None


def _month(value: str) -> tuple[date, date] | None:
    """The first and the last day of a month with its year, in the ways that people write it.

    >>> _month("1987-03"), _month("Feb 1988")[1].day, _month("03.1987") == _month("3/1987")
    ((datetime.date(1987, 3, 1), datetime.date(1987, 3, 31)), 29, True)
    """
    if found := re.fullmatch(r"(\d{4})[-/.](\d{2})|(\d{4})/(\d)", value):
        year, month = found[1] or found[3], int(found[2] or found[4])
    elif found := re.fullmatch(r"(\d{2})[-/.](\d{4})|(\d)/(\d{4})", value):
        year, month = found[2] or found[4], int(found[1] or found[3])
    elif found := re.fullmatch(r"([^\W\d]{3,9})\.?[ -](\d{4})", value):
        year, month = found[2], MONTHS.get(found[1][:3].lower(), 0)
    else:
        return None
    if not (1 <= month <= 12 and 1800 <= int(year) <= 2200):
        return None
    after = date(int(year) + month // 12, month % 12 + 1, 1)
    return date(int(year), month, 1), date.fromordinal(after.toordinal() - 1)


def _has_dates(name: str, published: Published, columns: Mapping[str, Column]) -> bool:
    """Whether the published values of a column are dates, or spans of days; seen in a few."""
    values: Sequence[object] = ()
    if name in published.names:
        values = published.values[published.names.index(name)]
    for one in published.sensitive:
        values = one.values if one.name == name else values
    some = [text(value) for value in values[:FEW] if value is not None and text(value) != ROOT]
    spans = [_span(columns[name].hierarchy, value) for value in some]
    return bool(spans) and all(span is not None and isinstance(span[0], date) for span in spans)


def _codes(
    columns: Mapping[str, Column],
    dropped: set[str],
    published: Published,
    known: Mapping[str, ColumnDisclosure],
) -> Iterator[Identifier]:
    """Numbers of people, and columns that are different in every record."""
    for name, column in columns.items():
        if column.role == "identifier":
            yield Identifier("R", "met", (name,), "not published")
        elif column.role in ("person", "household"):
            yield (
                Identifier("R", "met", (name,), "not published")
                if name in dropped
                else Identifier("R", "not judged", (name,), "random number")
            )
        elif name in known and known[name].values == published.rows > 1:
            yield Identifier("R", "not met", (name,), "different in every record")
