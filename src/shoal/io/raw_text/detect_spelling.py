"""Detect how a column writes its numbers or dates, by all of its distinct values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice, product
from typing import Any, NamedTuple

from shoal.io.raw_text.spelling import CANONICAL, Form, Spelling

FIRST = 100  # values that most candidates fail at

_SIGNS = [
    (",", ""), (".", ""), (",", "."), (".", ","), (",", " "), (".", " "), (",", "'"), (".", "'"),
]  # fmt: skip
_NUMBERS = [Spelling(*signs, percent) for signs, percent in product(_SIGNS, (False, True))]
_ORDERS = ["%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%Y{0}%m{0}%d", "%d{0}%m{0}%y", "%m{0}%d{0}%y"]
_NAMED = ["%d{0}%b{0}%Y", "%d{0}%b{0}%y", "%b %d, %Y", "%b %d %Y", "%d. %b %Y"]
_TIMES = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]
_DATE = re.compile(r"\s*[0-9A-Za-z]{1,9}[-./ ,]{1,2}[0-9A-Za-z]{1,9}[-./ ,]{1,2}[0-9]{1,4}\b.*")
_NUMBER = re.compile("[\\s0-9+\u2212.,'\u2019%eE\u00a0\u2009\u202f-]+")


class Detected(NamedTuple):
    """What was found out about a column of text."""

    spelling: Spelling | None = None  # None: canonical, neither numbers nor dates, or in doubt
    doubt: str = ""  # why it is in doubt, with both readings of a value
    readings: tuple[Spelling, ...] = ()  # if it is in doubt, all spellings that it may have
    settled: str = ""  # a doubt that other columns of the table settled


def detect_spelling(texts: Iterable[str], today: date | None = None) -> Detected:
    """How a column with these distinct values, none of them missing, writes numbers or dates.

    Dates are in doubt if day and month could be either way in all of them, and numbers if a sign
    could separate decimals or thousands. `today` is for years of two digits.

    >>> detect_spelling(["17.05.2024", "1.6.2024"]).spelling.date_format
    '%d.%m.%Y'
    >>> detect_spelling(["01/02/2024", "05/06/2024"]).doubt
    "'01/02/2024' is 2024-02-01 (date_format = '%d/%m/%Y') or 2024-01-02 (date_format = '%m/%d/%Y')"
    >>> detect_spelling(["1.234,5", "17"]).spelling
    Spelling(decimal=',', thousands='.', percent=False, date_format='')
    """
    bare = (one for text in texts if (one := text.strip()))
    values = list(islice(bare, FIRST))
    if not any(all(map(form.fullmatch, values)) for form in (_NUMBER, _DATE)):
        return Detected()  # most columns of many texts, already by the first of them
    values += bare
    if not values:
        return Detected()
    if all(map(_NUMBER.fullmatch, values)) and (found := _of_numbers(values)) != Detected():
        return found
    if all(map(_DATE.fullmatch, values)):
        return _of_dates(values, today or date.today())
    return Detected()


def _of_numbers(values: Sequence[str]) -> Detected:
    is_canonical = all(map(CANONICAL.fullmatch, values))
    if is_canonical and not any("." in value for value in values):
        return Detected()  # whole numbers, of which a table may have many, are the same in any way
    fitting = list(_fitting(values, [Spelling(",", ".")] if is_canonical else _NUMBERS))
    if not fitting:
        return Detected()
    if is_canonical:  # 1.234 is usually what it is, but not always
        read = next(value for value in values if fitting[0].read(value).form == Form.SPELLED)
        thousands = f"{fitting[0].read(read).text} ({stated(fitting[0])})"
        return Detected(None, f"{read!r} is {read} or {thousands}", (Spelling(), *fitting))
    best = fitting[0]  # of those that say the same, the plainest one
    for other in fitting[1:]:
        for value in values:
            one, two = best.read(value).text, other.read(value).text
            if float(one) != float(two):
                return Detected(None, _both(value, (best, one), (other, two)), tuple(fitting))
    return Detected(best)


def _of_dates(values: Sequence[str], today: date) -> Detected:
    formats = _formats(values[0])
    fitting = list(_fitting(values, [Spelling(date_format=one) for one in formats]))
    if not fitting:
        return Detected()
    best = fitting[0]
    for other in fitting[1:]:
        for value in values:
            one, two = best.read(value).text, other.read(value).text
            if one != two:
                return Detected(None, _both(value, (best, one), (other, two)), tuple(fitting))
    if "%y" in best.date_format:
        for value in values:
            read = best.read(value).text
            if read[:10] > today.isoformat():
                past = f"{int(read[:2]) - 1}{read[2:]}"
                return Detected(doubt=f"{value!r} is {read} or {past}; write years in full")
    return Detected(best)


def _formats(value: str) -> Iterator[str]:
    """The formats that a value may have, by its separators."""
    signs = re.findall(r"(?<=[0-9A-Za-z])[-./ ](?=[0-9A-Za-z])", value.strip())
    named = re.search("[A-Za-z]{3}", value.strip().split(":")[0]) is not None
    for time in _TIMES:
        if (":" in value) != (":" in time):
            continue
        for order in _NAMED if named else _ORDERS:
            if "{0}" not in order or signs:
                found = order.format(signs[0] if signs else "") + time
                if found[:8] not in ("%Y-%m-%d", "%Y-%d-%m"):
                    yield found


def _fitting(values: Sequence[str], candidates: Iterable[Spelling]) -> Iterator[Spelling]:
    """The spellings that all values have, and at least one of them has no other form."""
    for one in candidates:
        if any(one.read(value).form in (Form.BAD, Form.CANONICAL) for value in values[:FIRST]):
            continue
        forms = {one.read(value).form for value in values}
        if forms <= {Form.EITHER, Form.SPELLED} and Form.SPELLED in forms:
            yield one


def _both(value: str, one: tuple[Spelling, str], two: tuple[Spelling, str]) -> str:
    first, second = (f"{read} ({stated(spelling)})" for spelling, read in (one, two))
    return f"{value!r} is {first} or {second}"


def stated(spelling: Spelling) -> str:
    """The settings of a spelling, as a plan has them.

    >>> stated(Spelling(",", "."))
    "decimal = ',', thousands = '.'"
    """
    return ", ".join(f"{name} = {value!r}" for name, value in settings_of(spelling).items())


def settings_of(spelling: Spelling) -> dict[str, Any]:
    """The settings of a column that differ from their defaults."""
    pairs = zip(spelling._fields, spelling, Spelling(), strict=True)
    return {name: value for name, value, usual in pairs if value != usual}
