"""Scales: what can be cut at borders, numbers or dates, and how pieces of it are written.

A piece includes its lower border but not its upper one: [18, 30). Without a lower border it is
written as <18, without an upper one as >=65.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, NamedTuple

from shoal.base.errors import BadHierarchy, preview
from shoal.hierarchies.calendar import as_date, is_day
from shoal.hierarchies.how_written import how_written
from shoal.hierarchies.values import (
    end_of,
    not_numbers,
    number_of,
    plain,
    setting_number,
    shown,
    simple,
)

BELOW, FROM = "<", ">="
DAY_FIRST = "date_format = '%d.%m.%Y'"
_SECONDS = 86_400  # of a day


class Span(NamedTuple):
    """A piece of a scale, or a single spot of it, which is both of its ends."""

    low: Fraction | None  # None: without a lower end
    high: Fraction | None

    @property
    def is_spot(self) -> bool:
        """Whether it is a single number or moment."""
        return self.low is not None and self.low == self.high

    @property
    def key(self) -> tuple[Fraction | float, Fraction | float]:
        """To sort by."""
        return -inf if self.low is None else self.low, inf if self.high is None else self.high

    def contains(self, other: Span) -> bool:
        """Whether all of the other one is in this one."""
        (low, high), (first, last) = self.key, other.key
        return low <= first and last <= high and not (other.is_spot and last == high)


class Scale(ABC):
    """Numbers or dates, as exact numbers."""

    what: ClassVar[str]
    unit: ClassVar[str]  # of widths
    exact: ClassVar[str]  # the name of values that are not generalized, in reports
    apart: ClassVar[int]  # borders are further apart than this

    @abstractmethod
    def border(self, given: Any) -> Fraction:
        """A border, as a plan states it."""

    @abstractmethod
    def setting(self, border: Fraction) -> Any:
        """The same as a plan file writes it."""

    @abstractmethod
    def spot(self, value: object) -> Fraction | None:
        """Where a single value is; None: it is none."""

    @abstractmethod
    def written(self, border: Fraction) -> str:
        """A border as labels write it."""

    @abstractmethod
    def read(self, written: str) -> Fraction | None:
        """A border as a label has it; None: it is none."""

    @abstractmethod
    def normal(self, label: str) -> str:
        """A single value in the form that is equal for all spellings of it."""

    @abstractmethod
    def ends(self, span: Span) -> tuple[Any, Any] | None:
        """The ends of a piece as numbers, or as its first and last day; None: it has no days."""

    @abstractmethod
    def between(self, low: Any, high: Any) -> Span:
        """The piece, or the single value, with these ends."""

    @abstractmethod
    def extent(self, span: Span) -> Fraction | None:
        """How wide it is; None: without bounds."""

    @abstractmethod
    def refused(self, strange: list[object], others: Iterable[object]) -> BadHierarchy:
        """The error for values that are none, with advice; the others are."""

    def label(self, span: Span) -> str:
        """How a piece is written."""
        low, high = span
        if low is None:
            assert high is not None  # a piece has at least one border
            return f"{BELOW}{self.written(high)}"
        if high is None:
            return f"{FROM}{self.written(low)}"
        return f"[{self.written(low)}, {self.written(high)})"

    def piece(self, label: object) -> Span | None:
        """The piece that a label means; None: it means none."""
        if not isinstance(label, str):
            return None
        if label.startswith(BELOW):
            high = self.read(label[len(BELOW) :])
            return None if high is None else Span(None, high)
        if label.startswith(FROM):
            low = self.read(label[len(FROM) :])
            return None if low is None else Span(low, None)
        parts = label[1:-1].split(", ")
        if label[:1] != "[" or label[-1:] != ")" or len(parts) != 2:
            return None
        first, last = self.read(parts[0]), self.read(parts[1])
        return None if first is None or last is None or first >= last else Span(first, last)

    def span(self, value: object) -> Span | None:
        """Where a value is, a single one or a piece; None: it is neither."""
        spot = self.spot(value)
        return self.piece(value) if spot is None else Span(spot, spot)


class Numbers(Scale):
    """Numbers, exactly."""

    what, unit, exact, apart = "numbers", "units of the column", "the exact number", 0

    def border(self, given: Any) -> Fraction:
        """The exact number."""
        return setting_number(given)

    def setting(self, border: Fraction) -> int | float:
        """A number."""
        return simple(border)

    def spot(self, value: object) -> Fraction | None:
        """The exact number."""
        return number_of(value)

    def written(self, border: Fraction) -> str:
        """With all digits."""
        return shown(border)

    def read(self, written: str) -> Fraction | None:
        """With all digits."""
        return end_of(written)

    def normal(self, label: str) -> str:
        """The number with all digits."""
        number = number_of(label)
        return plain(label) if number is None else shown(number)

    def ends(self, span: Span) -> tuple[Fraction | None, Fraction | None]:
        """Its borders."""
        return span.low, span.high

    def between(self, low: Any, high: Any) -> Span:
        """The piece between these borders."""
        return Span(low, high)

    def extent(self, span: Span) -> Fraction | None:
        """The distance of its borders."""
        low, high = span
        return None if low is None or high is None else high - low

    def refused(self, strange: list[object], others: Iterable[object]) -> BadHierarchy:
        """Not numbers."""
        return not_numbers("borders", strange, others)


class Days(Scale):
    """Dates, by their days; a time is a part of a day."""

    what, unit, exact, apart = "dates", "days", "the exact date", 1

    def border(self, given: Any) -> Fraction:
        """The first moment of a day."""
        moment = as_date(given)
        if moment is None or moment.time() != time.min:
            raise BadHierarchy(f"a border of dates is a date such as '2024-05-17', not {given!r}")
        return Fraction(moment.toordinal())

    def setting(self, border: Fraction) -> str:
        """A date as text."""
        return self.written(border)

    def spot(self, value: object) -> Fraction | None:
        """The day, and the part of it that is over."""
        moment = as_date(value)
        if moment is None:
            return None
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        part = Fraction(seconds * 1_000_000 + moment.microsecond, _SECONDS * 1_000_000)
        return moment.toordinal() + part

    def written(self, border: Fraction) -> str:
        """As 2024-05-17."""
        return date.fromordinal(int(border)).isoformat()

    def read(self, written: str) -> Fraction | None:
        """As 2024-05-17."""
        moment = as_date(written) if is_day(written) else None
        return None if moment is None else Fraction(moment.toordinal())

    def normal(self, label: str) -> str:
        """As 2024-05-17, with its time unless that is midnight; with a time zone as it is."""
        moment = as_date(label, zones=False)
        if moment is None:
            return plain(label)
        if moment.time() == time.min:
            return moment.date().isoformat()
        return moment.isoformat(sep=" ")

    def ends(self, span: Span) -> tuple[date | None, date | None] | None:
        """The first and the last day; None for a time of day."""
        low, high = span
        if any(end is not None and end.denominator != 1 for end in span):
            return None
        if span.is_spot:
            return _day(low), _day(low)
        return _day(low), None if high is None else _day(high - 1)

    def between(self, low: date | None, high: date | None) -> Span:
        """The piece with this first and last day; a single day is a date."""
        first = None if low is None else Fraction(low.toordinal())
        if low == high and low is not None:
            return Span(first, first)
        return Span(first, None if high is None else Fraction(high.toordinal() + 1))

    def extent(self, span: Span) -> Fraction | None:
        """Its days; a date is one, a moment none."""
        low, high = span
        if low is None or high is None:
            return None
        return Fraction(low.denominator == 1) if span.is_spot else high - low

    def refused(self, strange: list[object], others: Iterable[object]) -> BadHierarchy:
        """Not dates."""
        return BadHierarchy(
            f"not dates: {preview(strange)}, and the borders are; write them as 2024-05-17 or "
            f"2024-05-17 13:45, {how_written([*others, *strange], DAY_FIRST)}, or give the column "
            "another hierarchy"
        )


def _day(spot: Fraction | None) -> date | None:
    return None if spot is None else date.fromordinal(int(spot))


def scale_of(borders: Sequence[object]) -> Scale:
    """The scale that these borders are on; an error if they are on none, or on several."""
    texts = [isinstance(one, str | date | datetime) for one in borders]
    if any(texts) and not all(texts):
        raise BadHierarchy(f"borders are all numbers or all dates, got {preview(borders)}")
    return Days() if any(texts) else Numbers()
