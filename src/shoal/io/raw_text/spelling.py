"""Spelling: how a column writes its numbers or dates, and the same in canonical form.

Inside shoal and in a release, numbers are written as 1234.5 and dates as 2024-05-17. A release is
read by the same plan as its original: cells that are canonical already stay as they are, and no
canonical cell can be read as another number in the spelling of its column.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntEnum
from typing import NamedTuple

from shoal.base.threads import cached_property
from shoal.io.raw_text.date_formats import CANONICAL as CANONICAL_DATE
from shoal.io.raw_text.date_formats import DateFormat

SPACES = " \u00a0\u2009\u202f"  # plain, no-break, thin, and thin no-break
ALIKE = {" ": SPACES, "'": "'\u2019"}  # thousands separators that are written in several ways
THOUSANDS = (".", ",", " ", "'", "_")
CANONICAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
# What generalizing publishes: [20, 30), {a, b}, 47*, *.
_PUBLISHED = re.compile(r"\[.*[\])]|\{.*\}|.*\*", re.DOTALL)
_THREE = re.compile(r"([+-]?\d{1,3}\.\d{3})((?:[eE].*)?)", re.ASCII)


class Form(IntEnum):
    """What a cell is in a column of this spelling."""

    EITHER = 0  # the same in both forms, or missing
    SPELLED = 1  # in the spelling of the column, and not canonical
    CANONICAL = 2  # canonical or generalized, and not in the spelling of the column
    BAD = 3


class Spelled(NamedTuple):
    """A cell in canonical form."""

    text: str
    form: Form


class Spelling(NamedTuple):
    """How a column writes its numbers or its dates."""

    decimal: str = "."
    thousands: str = ""
    percent: bool = False
    date_format: str = ""

    def read(self, cell: str) -> Spelled:
        """A cell in canonical form, and which form it had.

        >>> Spelling(",", ".").read("1.234,50")
        Spelled(text='1234.50', form=<Form.SPELLED: 1>)
        >>> Spelling(",", ".").read("1234.5").form.name, Spelling(",").read("1.2.3").form.name
        ('CANONICAL', 'BAD')
        """
        return _Reader.of(self).read(cell)

    def guarded(self, label: str) -> str:
        """A canonical text so that it cannot be read in the spelling of the column.

        >>> Spelling(",", ".").guarded("1.234"), Spelling(",").guarded("1.234")
        ('1.2340', '1.234')
        """
        if self.thousands == "." and (three := _THREE.fullmatch(label)):
            return f"{three[1]}0{three[2]}"
        return label

    @property
    def described(self) -> str:
        """In words, for messages."""
        if self.date_format:
            return f"dates of the form {self.date_format!r}"
        parts = [f"the decimal sign {self.decimal!r}"]
        parts += [f"the thousands separator {self.thousands!r}"] if self.thousands else []
        parts += ["a percent sign"] if self.percent else []
        return f"numbers with {' and '.join(parts)}"


_READERS: dict[Spelling, _Reader] = {}


class _Reader:
    """Reads the cells of a spelling."""

    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling

    @staticmethod
    def of(spelling: Spelling) -> _Reader:
        if spelling not in _READERS:
            _READERS[spelling] = _Reader(spelling)
        return _READERS[spelling]

    def read(self, cell: str) -> Spelled:
        bare = cell.strip()
        if self._spelling.date_format:
            return self._date(cell, bare)
        spelled = self._number(bare)
        canonical = bare if CANONICAL.fullmatch(bare) else None
        if spelled is not None:
            return Spelled(spelled, Form.EITHER if spelled == canonical else Form.SPELLED)
        if canonical is not None and self._spelling.percent and float(canonical) == 0:
            return Spelled(canonical, Form.EITHER)  # nobody writes 0 %
        if canonical is not None:
            return Spelled(cell, Form.CANONICAL)
        return Spelled(cell, Form.CANONICAL if _PUBLISHED.fullmatch(bare) else Form.BAD)

    def _date(self, cell: str, bare: str) -> Spelled:
        found = self._format.canonical(bare)
        if found is not None:
            return Spelled(found, Form.EITHER if found == bare else Form.SPELLED)
        known = CANONICAL_DATE.fullmatch(bare) or _PUBLISHED.fullmatch(bare)
        return Spelled(cell, Form.CANONICAL if known else Form.BAD)

    @cached_property
    def _format(self) -> DateFormat:
        return DateFormat(self._spelling.date_format)

    def _number(self, bare: str) -> str | None:
        """The canonical number of a cell in this spelling; None if it is not one."""
        found = self._pattern.fullmatch(bare)
        if found is None:
            return None
        sign = "-" if found["sign"] == "\u2212" else found["sign"]
        whole = re.sub(r"\D", "", found["whole"]) or "0"
        places = found["places"]
        power = found["power"]
        return self._spelling.guarded(f"{sign}{whole}{'.' + places if places else ''}{power}")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        decimal, thousands, percent, _ = self._spelling
        whole = r"\d+"
        if thousands:
            group = f"[{re.escape(ALIKE.get(thousands, thousands))}]"
            whole = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d+"
        sign = re.escape(decimal)
        places = rf"(?P<whole>{whole}|(?={sign}))(?:{sign}(?P<places>\d+))?"
        percent_sign = rf"[{SPACES}]*%" if percent else ""
        return re.compile(
            rf"(?P<sign>[+\u2212-]?){places}(?P<power>(?:[eE][+-]?\d{{1,3}})?){percent_sign}",
            re.ASCII,
        )


def check_spelling(spelling: Spelling) -> None:
    """Raise a ValueError unless numbers or dates can be written so."""
    decimal, thousands, percent, date_format = spelling
    if date_format:
        if (decimal, thousands, percent) != (".", "", False):
            raise ValueError("can have a date_format, or decimal, thousands and percent, not both")
        DateFormat(date_format)
        return
    if decimal not in (".", ","):
        raise ValueError(f"needs decimal = '.' or ',', got {decimal!r}")
    if thousands and not _is_one_of(thousands, THOUSANDS):
        raise ValueError(f"needs thousands = {', '.join(map(repr, THOUSANDS))}, got {thousands!r}")
    if thousands == decimal:
        raise ValueError(f"has {decimal!r} as decimal and as thousands")


def _is_one_of(sign: str, signs: Collection[str]) -> bool:
    return sign in signs or any(sign in ALIKE[one] for one in signs if one in ALIKE)
