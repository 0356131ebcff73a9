"""Numbers in ranges of growing width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadHierarchy, brief
from shoal.base.wording import number
from shoal.hierarchies.base import (
    Ends,
    Hierarchy,
    OpenEnd,
    Placed,
    Rows,
    Width,
    one_label,
)
from shoal.hierarchies.step_words import alternatives
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import (
    ROOT,
    not_numbers,
    number_of,
    plain,
    range_of,
    setting_number,
    shown,
    simple,
    text,
)


class Ranges(Hierarchy):
    """Generalizes numbers to ranges of growing width: [30, 40)."""

    name = "ranges"
    takes = "the widths, from small to large, each a multiple of the one before"
    options: ClassVar[dict[str, str]] = {"start": "where a range begins; default: 0"}
    exact = "the exact number"
    has_ends = True

    def __init__(self, widths: Sequence[float], start: float | None = None) -> None:
        if isinstance(widths, int | float):
            widths = [widths]
        self._widths = [setting_number(width) for width in widths]
        self._start = setting_number(0 if start is None else start)
        self._given_start = start
        if not self._widths or any(width <= 0 for width in self._widths):
            raise BadHierarchy(f"ranges need widths above 0, got {brief(list(widths))}")
        for narrow, wide in zip(self._widths, self._widths[1:], strict=False):
            if wide <= narrow:
                raise BadHierarchy(
                    f"write the widths from small to large, not {brief(list(widths))}"
                )
            if wide % narrow != 0:
                raise BadHierarchy(
                    f"each width of ranges must be a multiple of the one before, but "
                    f"{shown(wide)} is not a multiple of {shown(narrow)}"
                )

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The ranges of the numbers that occur, and of ranges that occur already."""
        spans = self._spans(values)
        if not spans:
            return Tree.from_rows([[ROOT]])
        low, high = min(span[0] for span in spans.values()), max(span[1] for span in spans.values())
        whole = all(end.denominator == 1 for span in spans.values() for end in span)
        counts: dict[Label, int] = {}
        rows: Rows = []
        names = one_label(spans, self.normal)
        once = {names[value]: span for value, span in spans.items()}
        for label, (bottom, top) in sorted(once.items(), key=lambda item: (item[1], item[0])):
            row: list[Label] = [label]
            for width in self._widths:
                start = self._start + (bottom - self._start) // width * width
                name = f"[{shown(start)}, {shown(start + width)})"
                if top > start + width or (top - bottom == width and name != label):
                    continue  # a range that this step does not contain
                row.append(name)
                if whole:
                    # All integers of a range count, whether or not they occur.
                    end = min(int(high), ceil(start + width) - 1)
                    counts[name] = max(1, end - max(int(low), ceil(start)) + 1)
            rows.append([*row, ROOT])
        if whole:
            counts[ROOT] = int(high) - int(low) + 1
        return replace(Tree.from_rows(rows, counts), normal=self.normal)

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for distinct integers of up to 15 digits."""
        steps = [*self._widths, self._start]
        if not len(texts) or any(one.denominator != 1 or abs(one) > 10**15 for one in steps):
            return None
        if not pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,15}$")).as_py():
            return None
        numbers = texts.cast(pa.int64()).to_numpy()
        order = np.argsort(numbers, kind="stable")
        rising = numbers[order]
        if (rising[1:] == rising[:-1]).any():
            return None
        levels, counts = [texts.take(pa.array(order))], []
        nothing, begin, comma, end = (pa.scalar(one, texts.type) for one in ("", "[", ", ", ")"))
        for width in map(int, self._widths):
            low = int(self._start) + (rising - int(self._start)) // width * width
            ends = (pa.array(one).cast(texts.type) for one in (low, low + width))
            first, last = ends
            levels.append(pc.binary_join_element_wise(begin, first, comma, last, end, nothing))
            # All integers of a range count, whether or not they occur.
            most = np.minimum(rising[-1], low + width - 1) - np.maximum(rising[0], low) + 1
            counts.append(most[np.append(True, low[1:] != low[:-1])])
        made = Tree.from_sorted(levels, ROOT)
        if made is None:
            return None
        tree, found = made
        for nodes, count in zip(found[1:], counts, strict=True):
            tree.leaves[nodes] = count
        tree.leaves[0] = rising[-1] - rising[0] + 1
        return Placed.of(replace(tree, normal=self.normal), found[0], order)

    def _spans(self, values: Iterable[object]) -> dict[str, tuple[Fraction, Fraction]]:
        """The ends of each value: of a number the number itself, of a range its two ends."""
        spans: dict[str, tuple[Fraction, Fraction]] = {}
        strange: list[object] = []
        for value in values:
            number = number_of(value)
            if number is not None:
                spans[text(value)] = (number, number)
            elif (span := range_of(value)) is not None:
                spans[text(value)] = span
            elif value != ROOT:
                strange.append(value)
        if strange:
            raise not_numbers("ranges", strange, spans)
        return spans

    def knows(self, value: object) -> bool:
        """Whether it is a number, or a range of a table that is generalized already."""
        return number_of(value) is not None or range_of(value) is not None or value == ROOT

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"ranges": [simple(width) for width in self._widths]}
        if self._given_start is not None:
            setting["start"] = simple(self._start)
        return setting

    def describe(self) -> str:
        """How values are published."""
        return f"in ranges of {alternatives(map(simple, self._widths))}"

    def steps(self) -> list[Width]:
        """One per width."""
        return [_width(float(width)) for width in self._widths]

    def ends(self, label: str) -> Ends | None:
        """The ends of a range; the upper one is not part of it."""
        number = number_of(label)
        return range_of(label) if number is None else (number, number)

    def width_unit(self) -> str:
        """Units of the column."""
        return "units of the column"

    def extent(self, label: str) -> Fraction | None:
        """The distance of the ends: 10 for [30, 40), 0 for a number."""
        number = number_of(label)
        span = range_of(label) if number is None else (number, number)
        return None if span is None else span[1] - span[0]

    def labelled(self, low: OpenEnd, high: OpenEnd) -> str:
        """A number, or the range with these ends."""
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        return shown(low) if low == high else f"[{shown(low)}, {shown(high)})"

    def normal(self, label: str) -> str:
        """Numbers, also those of ranges, as labels write them."""
        ends = self.ends(label)
        return plain(label) if ends is None else self.labelled(*ends)

    def step_of(self, label: str) -> Width | None:
        """The width of a range."""
        span = range_of(label)
        return None if span is None else _width(float(span[1] - span[0]))


def _width(wide: float) -> Width:
    return Width(wide, f"a range of {number(wide)}")
