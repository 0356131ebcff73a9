"""Numbers in any range, without fixed steps."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from shoal.base.errors import BadHierarchy, preview
from shoal.hierarchies.base import (
    Ends,
    Hierarchy,
    OpenEnd,
    Width,
    check_true,
    one_label,
)
from shoal.hierarchies.free_values import FreeTree, closed_range, ends_of
from shoal.hierarchies.step_words import rounded_up
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import (
    ROOT,
    not_numbers,
    number_of,
    plain,
    setting_number,
    shown,
    simple,
    text,
)

ENDS = "; for the ends write free_ranges = true, low = 1, high = 10"


class FreeRanges(Hierarchy):
    """Generalizes numbers to any range, without fixed steps: [33, 34]."""

    name = "free_ranges"
    takes = "true"
    options: ClassVar[dict[str, str]] = {
        "low": "the smallest number that can occur; default: the smallest in the column",
        "high": "the largest number that can occur; default: the largest in the column",
    }
    is_free = True
    has_ends = True
    exact = "the exact number"

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self._low = None if low is None else setting_number(low)
        self._high = None if high is None else setting_number(high)
        if self._low is not None and self._high is not None and self._low >= self._high:
            raise BadHierarchy(f"free ranges need low below high, got {low} and {high}")

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The numbers that occur, directly below the root."""
        spots: dict[str, Fraction] = {}
        strange: list[object] = []
        whole = True
        for value in values:
            number = number_of(value)
            if number is not None:
                spots[text(value)] = number
            elif value == ROOT:
                whole = False  # it may stand for any number
            else:
                strange.append(value)
        if strange:
            raise not_numbers("free ranges", strange, spots)
        if not spots:
            return Tree.from_rows([[ROOT]])
        names = one_label(spots, self.normal)
        order = sorted({(number, names[value]) for value, number in spots.items()})
        low, high = self._low, self._high
        ends = (order[0][0] if low is None else low, order[-1][0] if high is None else high)
        outside = [label for number, label in order if not ends[0] <= number <= ends[1]]
        if outside:
            raise BadHierarchy(
                f"free ranges from {shown(ends[0])} to {shown(ends[1])} do not include the "
                f"values {preview(outside)} of the column; extend low and high"
            )
        return FreeTree.of_ranges(order, ends, whole, self.normal)

    def knows(self, value: object) -> bool:
        """Whether it is a number between low and high."""
        number = number_of(value)
        if number is None:
            return value == ROOT
        low, high = self._low, self._high
        return (low is None or low <= number) and (high is None or number <= high)

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"free_ranges": True}
        if self._low is not None:
            setting["low"] = simple(self._low)
        if self._high is not None:
            setting["high"] = simple(self._high)
        return setting

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:  # noqa: ARG003
        """It takes only true; the ends are options."""
        check_true(cls.name, value, ENDS)
        return cls(**options)

    def parts(self, label: str) -> list[Label]:
        """The ends of a range."""
        return list(ends_of(label))

    def describe(self) -> str:
        """How values are published."""
        return "in ranges as needed"

    def ends(self, label: str) -> Ends | None:
        """The ends of a range, which are parts of it."""
        number = number_of(label)
        return closed_range(label) if number is None else (number, number)

    def width_unit(self) -> str:
        """Units of the column."""
        return "units of the column"

    def extent(self, label: str) -> Fraction | None:
        """The distance of the ends, which are parts of the range: 1 for [33, 34]."""
        number = number_of(label)
        span = closed_range(label) if number is None else (number, number)
        return None if span is None else span[1] - span[0]

    def level_of(self, label: str) -> int:
        """1 for any range: there are no fixed steps."""
        return 0 if number_of(label) is not None else 1

    def labelled(self, low: OpenEnd, high: OpenEnd) -> str:
        """A number, or the range with these ends."""
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        return shown(low) if low == high else f"[{shown(low)}, {shown(high)}]"

    def normal(self, label: str) -> str:
        """Numbers, also those of ranges, as labels write them."""
        ends = self.ends(label)
        return plain(label) if ends is None else self.labelled(*ends)

    def step_of(self, label: str) -> Width | None:
        """The width of a range, rounded up, as there may be as many widths as classes."""
        ends = closed_range(label)
        return None if ends is None else rounded_up(float(ends[1] - ends[0]), "a range of")
