"""Dates in calendar steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from shoal.base.errors import BadHierarchy, preview
from shoal.hierarchies.base import Ends, Hierarchy, OpenEnd, Rows, Width, one_label
from shoal.hierarchies.calendar import STEPS, CalendarStep, as_date, is_day
from shoal.hierarchies.how_written import how_written
from shoal.hierarchies.step_words import alternatives
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, plain, text

DAY_FIRST = "date_format = '%d.%m.%Y'"  # an example of what a plan states


class Dates(Hierarchy):
    """Generalizes dates to calendar steps such as month, quarter and year."""

    name = "dates"
    takes = f"the steps, from fine to coarse, out of {', '.join(STEPS)}"
    exact = "the exact date"
    has_ends = True

    def __init__(self, steps: Sequence[str]) -> None:
        if isinstance(steps, str):
            steps = [steps]
        self._steps = [CalendarStep.of(step) for step in steps]
        if not self._steps:
            raise BadHierarchy(f"dates need at least one step of {', '.join(STEPS)}")
        for fine, coarse in zip(self._steps, self._steps[1:], strict=False):
            if not coarse.holds(fine):
                raise BadHierarchy(
                    f"the step {coarse.name!r} does not consist of whole steps of {fine.name!r}; "
                    "order the steps from fine to coarse"
                )

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The calendar steps of the dates that occur."""
        moments: dict[str, datetime] = {}
        bad: list[object] = []
        for value in values:
            moment = as_date(value)
            if moment is None:
                bad.append(value)
            else:
                moments[text(value)] = moment
        if bad:
            raise BadHierarchy(
                f"not dates: {preview(bad)}; write them as 2024-05-17 or 2024-05-17 13:45, "
                f"{how_written([*moments, *bad], DAY_FIRST)}, or give the column another hierarchy"
            )
        if not moments:
            return Tree.from_rows([[ROOT]])
        whole_days = all(
            moment == datetime.combine(moment, datetime.min.time()) for moment in moments.values()
        )
        low, high = min(moments.values()).toordinal(), max(moments.values()).toordinal()
        counts: dict[Label, int] = {}
        rows: Rows = []
        names = one_label(moments, self.normal)
        once = {names[value]: moment for value, moment in moments.items()}
        for label, moment in sorted(once.items(), key=lambda item: item[1]):
            row: list[Label] = [label]
            for step in self._steps:
                name, bottom, top = step.around(moment)
                row.append(name)
                counts[name] = min(high, top - 1) - max(low, bottom) + 1
            rows.append([*row, ROOT])
        counts[ROOT] = high - low + 1
        tree = Tree.from_rows(rows, counts if whole_days else None)
        return replace(tree, normal=self.normal)

    def knows(self, value: object) -> bool:
        """Whether it is a date."""
        return as_date(value) is not None

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"dates": [step.name for step in self._steps]}

    def describe(self) -> str:
        """How values are published."""
        return f"by {alternatives(step.name for step in self._steps)}"

    def listed_values(self) -> int:
        """None: the names of steps are not values."""
        return 0

    def steps(self) -> list[Width]:
        """One per calendar step."""
        return [_width(step) for step in self._steps]

    def ends(self, label: str) -> Ends | None:
        """The first and the last day; None for a date with a time of day."""
        step = CalendarStep.written(label)
        moment = as_date(label) if step is None else step.begin(label)
        if moment is None or moment.time() != time.min:
            return None
        if step is None:
            return moment.date(), moment.date()
        _, first, after = step.around(moment)
        return date.fromordinal(first), date.fromordinal(after - 1)

    def width_unit(self) -> str:
        """Days."""
        return "days"

    def extent(self, label: str) -> Fraction | None:
        """The days of a calendar step; a date is one day, an hour or a moment a part of it."""
        step = CalendarStep.written(label)
        if step is not None and not step.months and not step.days:
            return Fraction(1, 24)
        moment = as_date(label) if step is None else step.begin(label)
        if moment is None or step is None:
            return None if moment is None else Fraction(moment.time() == time.min)
        _, first, after = step.around(moment)
        return Fraction(after - first)

    def level_of(self, label: str) -> int | None:
        """The number of the step; a day may be a step, or a date as it was."""
        day = CalendarStep.written(label) is None and label != ROOT
        if day and any(step.days == 1 for step in self._steps):
            return None
        return super().level_of(label)

    def labelled(self, low: OpenEnd, high: OpenEnd) -> str:
        """A date, or the step of the calendar with these days."""
        assert isinstance(low, date)
        for step in self._steps:
            name, first, after = step.around(datetime(low.year, low.month, low.day))
            if low != high and (date.fromordinal(max(first, 1)), after - 1) == (
                low,
                high.toordinal() if isinstance(high, date) else 0,
            ):
                return name
        return low.isoformat() if low == high else f"{low} to {high}"

    def normal(self, label: str) -> str:
        """A date as 2024-05-17, with its time unless that is midnight; others as they are.

        If hours or days are steps of the hierarchy, midnight is not the day.
        """
        first = self._steps[0]
        moment = None if CalendarStep.written(label) else as_date(label, zones=False)
        if moment is None:
            return plain(label)
        if is_day(label) or (moment.time() == time.min and (first.months or first.days > 1)):
            return moment.date().isoformat()
        return moment.isoformat(sep=" ")

    def step_of(self, label: str) -> Width | None:
        """The calendar step of a published value."""
        step = CalendarStep.written(label)
        return None if step is None else _width(step)


def _width(step: CalendarStep) -> Width:
    return Width(step.months * 31 + step.days + 1, step.name)
