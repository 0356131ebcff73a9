"""Calendar steps: the month, the quarter, the year … of a date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from shoal.base.errors import BadHierarchy, brief, did_you_mean

STEPS = ("hour", "day", "week", "month", "quarter", "year", "N years", "decade", "century")
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7}
_WRITTEN = {  # labels as `around` writes them
    r"\d{4}-\d\d-\d\d \d\dh": "hour",
    r"week of .*": "week",
    r"\d{4}-\d\d": "month",
    r"\d{4}-Q\d": "quarter",
    r"\d{4}": "year",
}


@dataclass(frozen=True)
class CalendarStep:
    """One calendar step: a number of months, of days, or an hour."""

    name: str
    months: int = 0
    days: int = 0

    @staticmethod
    def of(name: str) -> CalendarStep:
        """The step with this name.

        >>> CalendarStep.of("5 years").months
        60
        """
        word = str(name).strip().lower()
        singular = word.removesuffix("s")
        if singular in _MONTHS:
            return CalendarStep(singular, months=_MONTHS[singular])
        if singular in _DAYS:
            return CalendarStep(singular, days=_DAYS[singular])
        if singular == "hour":
            return CalendarStep("hour")
        if match := re.fullmatch(r"([1-9][0-9]{0,3}) years?", word):
            return CalendarStep(word, months=12 * int(match[1]))
        raise BadHierarchy(
            f"no calendar step {brief(name)}{did_you_mean(word, STEPS) or ';'} "
            f"there are {', '.join(STEPS)} (N up to 9999)"
        )

    @staticmethod
    def written(label: str) -> CalendarStep | None:
        """The step of a label, by its form; None for days and other texts.

        >>> CalendarStep.written("2024-Q2").name, CalendarStep.written("2020 to 2029").name
        ('quarter', 'decade')
        """
        for pattern, name in _WRITTEN.items():
            if re.fullmatch(pattern, label):
                return CalendarStep.of(name)
        if years := re.fullmatch(r"(\d{4}) to (\d{4})", label):
            long = int(years[2]) - int(years[1]) + 1
            return CalendarStep.of({10: "decade", 100: "century"}.get(long, f"{long} years"))
        return None

    @staticmethod
    def begin(label: str) -> datetime | None:
        """The begin of the step with this label, as `around` writes it.

        >>> CalendarStep.begin("2024-Q2"), CalendarStep.begin("week of 2024-05-13")
        (datetime.datetime(2024, 4, 1, 0, 0), datetime.datetime(2024, 5, 13, 0, 0))
        """
        if quarter := re.fullmatch(r"(\d{4})-Q([1-4])", label):
            label = f"{quarter[1]}-{3 * int(quarter[2]) - 2:02}"
        day = label.removeprefix("week of ").partition(" to ")[0]
        return as_date(day + "-01-01"[len(day) - 4 :] if len(day) < 10 else day)

    def holds(self, fine: CalendarStep) -> bool:
        """Whether this step consists of whole finer steps."""
        if self.months and fine.months:
            return self.months > fine.months and self.months % fine.months == 0
        if self.months:
            return fine.days != 7  # a week may span two months
        return self.days > fine.days and not fine.months

    def around(self, moment: datetime) -> tuple[str, int, int]:
        """The label of the step that contains a date, its first day, and the day after its last.

        >>> CalendarStep.of("quarter").around(datetime(2024, 5, 17))[0]
        '2024-Q2'
        """
        if self.months:
            month = (moment.year * 12 + moment.month - 1) // self.months * self.months
            year, inside = divmod(month, 12)
            return self._name(year, inside), _first_day(month), _first_day(month + self.months)
        day = moment.toordinal()
        if self.days == 7:
            day -= moment.weekday()
            return f"week of {date.fromordinal(max(day, 1)).isoformat()}", day, day + 7
        name = moment.date().isoformat()
        return (name if self.days else f"{name} {moment.hour:02}h"), day, day + 1

    def _name(self, year: int, month: int) -> str:
        if self.months == 1:
            return f"{year:04}-{month + 1:02}"
        if self.months == 3:
            return f"{year:04}-Q{month // 3 + 1}"
        if self.months == 12:
            return f"{year:04}"
        return f"{year:04} to {year + self.months // 12 - 1:04}"


def _first_day(month: int) -> int:
    year, inside = divmod(month, 12)
    if year < 1:
        return 1
    if year > 9999:
        return date.max.toordinal() + 1
    return date(year, inside + 1, 1).toordinal()


def as_date(value: object, zones: bool = True) -> datetime | None:
    """The date and time of a value; None if it is not a date.

    `zones`: whether a text may name a time zone, which does not count.

    >>> as_date("2024-05-17"), as_date("2024-05-17T10:00Z", zones=False)
    (datetime.datetime(2024, 5, 17, 0, 0), None)
    """
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        return moment.replace(tzinfo=None) if zones or moment.tzinfo is None else None
    return None


def is_day(text: str) -> bool:
    """Whether a text is a date without a time.

    >>> is_day("2024-05-17"), is_day("2024-05-17 00:00")
    (True, False)
    """
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return True
