"""Formats of dates: how a column writes them, and the same dates as 2024-05-17.

The directives are those of `datetime.strptime`. Names of months are English, whatever the language
of the machine, and every cell must follow the format to the last character.
"""

from __future__ import annotations

import re
from datetime import datetime

MONTHS = (
    "january february march april may june july august september october november december".split()
)
_NAMES = "|".join([*MONTHS, *(name[:3] for name in MONTHS)])
DIRECTIVES = {
    "%Y": r"(?P<year>\d{4})",
    "%y": r"(?P<short>\d\d)",
    "%m": r"(?P<month>\d\d?)",
    "%d": r"(?P<day>\d\d?)",
    "%b": rf"(?P<name>{_NAMES})",
    "%B": rf"(?P<name>{_NAMES})",
    "%H": r"(?P<hour>\d\d?)",
    "%I": r"(?P<half>\d\d?)",
    "%p": r"(?P<noon>am|pm)",
    "%M": r"(?P<minute>\d\d)",
    "%S": r"(?P<second>\d\d)",
    "%f": r"(?P<fraction>\d{1,6})",
    "%%": "%",
}
# Dates as they are inside shoal and in a release, and the labels of calendar steps.
CANONICAL = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d(:?\d\d(:?\d\d(\.\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?"
    r"|\d{4}-\d\d-\d\d \d\dh|week of \d{4}-\d\d-\d\d|\d{4}-\d\d|\d{4}-Q\d|\d{4}|\d{4} to \d{4,5}"
)
CENTURY = 69  # years below it are in this century, as POSIX has it


class DateFormat:
    """A format of dates, as in "%d.%m.%Y".

    >>> DateFormat("%d.%m.%Y").canonical("17.05.2024")
    '2024-05-17'
    >>> DateFormat("%m/%d/%y %I:%M %p").canonical("5/17/24 1:45 pm")
    '2024-05-17 13:45'
    """

    def __init__(self, written: str) -> None:
        parts = re.split("(%.?)", written)
        unknown = [part for part in parts[1::2] if part not in DIRECTIVES]
        if unknown:
            raise ValueError(f"has a date_format with {unknown[0]!r}; use {', '.join(DIRECTIVES)}")
        used = [part for part in parts[1::2] if part != "%%"]
        kinds = [{"%y": "%Y", "%b": "%m", "%B": "%m", "%I": "%H"}.get(one, one) for one in used]
        if len(set(kinds)) < len(kinds) or not {"%Y", "%m", "%d"} <= set(kinds):
            raise ValueError(
                f"needs a date_format with year, month and day, each once, got {written!r}; as in "
                "'%d.%m.%Y'"
            )
        if ("%I" in used) != ("%p" in used):
            raise ValueError("needs %I and %p together in a date_format: 1 is 1:00 or 13:00")
        self.written = written
        self._seconds, self._fraction = "%S" in used, "%f" in used
        self._timed = "%H" in kinds
        pattern = "".join(
            DIRECTIVES[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)
        )
        self._pattern = re.compile(pattern, re.IGNORECASE | re.ASCII)
        if self._misleads():
            raise ValueError(
                f"has the date_format {written!r}: its dates look like 2024-05-17 with day and "
                "month in the other order, and a release could not be told from its original; "
                "rewrite the dates"
            )

    def canonical(self, cell: str) -> str | None:
        """A cell as 2024-05-17 or 2024-05-17 13:45; None if it does not follow the format."""
        found = self._pattern.fullmatch(cell)
        if found is None:
            return None
        part = found.groupdict()
        try:
            moment = datetime(
                _year(part), _month(part), int(part["day"]), _hour(part),
                int(part.get("minute") or 0), int(part.get("second") or 0),
                int((part.get("fraction") or "0").ljust(6, "0")),
            )  # fmt: skip
        except ValueError:  # 31 February
            return None
        if not self._timed:
            return moment.date().isoformat()
        fine = "microseconds" if self._fraction else "seconds" if self._seconds else "minutes"
        return moment.isoformat(" ", fine)

    def _misleads(self) -> bool:
        """Whether a date of this format could be taken for another one that is canonical."""
        for month, day in ((5, 7), (12, 11)):
            for long in (True, False):
                cell = self._rendered(datetime(2024, month, day, 3, 4, 5), long)
                if CANONICAL.fullmatch(cell) and not cell.startswith(f"2024-{month:02}-{day:02}"):
                    return True
        return False

    def _rendered(self, moment: datetime, long: bool) -> str:
        def one(found: re.Match[str]) -> str:
            values = {"%b": "%m", "%B": "%m"}  # no name looks like a canonical date
            text = moment.strftime(values.get(found[0], found[0]))
            return text if long or found[0] == "%Y" else text.lstrip("0") or "0"

        return re.sub("%.", one, self.written)


def _year(part: dict[str, str | None]) -> int:
    if (year := part.get("year")) is not None:
        return int(year)
    short = int(part["short"] or 0)
    return short + (2000 if short < CENTURY else 1900)


def _month(part: dict[str, str | None]) -> int:
    if (month := part.get("month")) is not None:
        return int(month)
    return 1 + [name[:3] for name in MONTHS].index((part["name"] or "")[:3].lower())


def _hour(part: dict[str, str | None]) -> int:
    if (half := part.get("half")) is None:
        return int(part.get("hour") or 0)
    if not 1 <= int(half) <= 12:
        raise ValueError("an hour before or after noon is from 1 to 12")
    return int(half) % 12 + 12 * ((part["noon"] or "").lower() == "pm")
