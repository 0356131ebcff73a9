"""Numbers or dates, cut at given borders."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadHierarchy, brief
from shoal.base.wording import many
from shoal.hierarchies.base import Ends, Hierarchy, OpenEnd, Placed, Rows, Width, one_label
from shoal.hierarchies.more_leaves import with_more_leaves
from shoal.hierarchies.scales import Numbers, Scale, Span, scale_of
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, text

FEW = 6  # borders that a sentence names
MOST = 10_000  # borders of a level
LARGEST = 10**15  # no integer of `placed` is larger


class Borders(Hierarchy):
    """Cuts numbers or dates at given borders: <18, [18, 65), >=65."""

    name = "borders"
    takes = (
        "one list of numbers or dates per level, as in [[18, 30, 65], [18, 65]]: coarser levels "
        "have fewer of the same borders"
    )
    has_ends = True

    def __init__(self, levels: Sequence[Any]) -> None:
        given = _nested(levels)
        self._scale: Scale = scale_of([border for level in given for border in level])
        self._levels = [[self._scale.border(one) for one in level] for level in given]
        self.exact = self._scale.exact  # type: ignore[misc]
        self._check(given)

    def _check(self, given: list[list[Any]]) -> None:
        for stated, level in zip(given, self._levels, strict=True):
            if any(b - a <= self._scale.apart for a, b in pairwise(level)):
                wish = ", at least two days apart" if self._scale.apart else ""
                raise BadHierarchy(
                    f"write the borders of a level from small to large{wish}, each once, not "
                    f"{brief(stated)}"
                )
        for (fine, coarse), stated in zip(pairwise(self._levels), given[1:], strict=True):
            more = [border for border in coarse if border not in set(fine)]
            if more:
                shown = ", ".join(map(self._scale.written, more[:5]))
                raise BadHierarchy(
                    f"a coarser level has fewer of the same borders, but {shown} is in "
                    f"{brief(stated)} and not in the level before; add it there, or remove it here"
                )
            if len(coarse) == len(fine):
                raise BadHierarchy(
                    f"each level has fewer borders than the one before; {brief(stated)} occurs "
                    "twice: remove one of them"
                )

    def _cell(self, level: Sequence[Fraction], span: Span) -> Span:
        """The piece of a level in which a span begins."""
        return _at(level, 0 if span.low is None else bisect_right(level, span.low))

    def _row(self, label: str, span: Span) -> list[Span]:
        """The pieces that contain a value, from fine to coarse."""
        found = []
        for level in self._levels:
            cell = self._cell(level, span)
            if not cell.contains(span) or (cell == span and self._scale.label(cell) != label):
                continue  # a range that this level does not contain, or has in another spelling
            found.append(cell)
        return found

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The pieces in which there are values, and those that occur already."""
        spans = self._spans(values)
        if not spans:
            return Tree.from_rows([[ROOT]])
        ends = [end for span in spans.values() for end in span if end is not None]
        low, high = min(ends), max(ends)
        whole = all(end.denominator == 1 for end in ends)
        counts: dict[Label, int] = {ROOT: int(high) - int(low) + 1} if whole else {}
        rows: Rows = []
        names = one_label(spans, self.normal)
        once = {names[value]: span for value, span in spans.items()}
        for label, span in sorted(once.items(), key=lambda item: (item[1].key, item[0])):
            row: list[Label] = [label]
            for cell in self._row(label, span):
                row.append(name := self._scale.label(cell))
                if whole and name not in counts:
                    counts[name] = _inside(cell, int(low), int(high))
            rows.append([*row, ROOT])
        return replace(Tree.from_rows(rows, counts or None), normal=self.normal)

    def _spans(self, values: Iterable[object]) -> dict[str, Span]:
        found: dict[str, Span] = {}
        strange: list[object] = []
        for value in values:
            span = self._scale.span(value)
            if span is not None:
                found[text(value)] = span
            elif value != ROOT:
                strange.append(value)
        if strange:
            raise self._scale.refused(strange, found)
        return found

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for distinct integers of up to 15 digits."""
        if not len(texts) or not isinstance(self._scale, Numbers):
            return None
        if not pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,15}$")).as_py():
            return None
        numbers = texts.cast(pa.int64()).to_numpy()
        order = np.argsort(numbers, kind="stable")
        rising = numbers[order]
        if (rising[1:] == rising[:-1]).any():
            return None
        # The first integer of each finest piece shows which pieces there are; the last one of all
        # is needed to count integers.
        finest = [min(max(ceil(border), -LARGEST), LARGEST) for border in self._levels[0]]
        piece = np.searchsorted(np.array(finest, np.int64), rising, side="right")
        heads = np.flatnonzero(np.append(True, piece[1:] != piece[:-1]))
        few = self.tree([*rising[heads].tolist(), int(rising[-1])])
        return Placed.of(*with_more_leaves(few, texts.take(pa.array(order)), heads), order)

    def knows(self, value: object) -> bool:
        """Whether it is a number or date, or a piece of a table that is generalized already."""
        return self._scale.span(value) is not None or value == ROOT

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"borders": [list(map(self._scale.setting, level)) for level in self._levels]}

    def listed_values(self) -> int:
        """None: borders are not values of the column."""
        return 0

    def describe(self) -> str:
        """How values are published."""
        return f"in ranges cut at {', or at '.join(map(self._named, self._levels))}"

    def _named(self, level: Sequence[Fraction]) -> str:
        named = list(map(self._scale.written, level))
        if len(named) > FEW:
            return f"{', '.join(named[: FEW - 2])}, … {named[-1]} ({many(len(named), 'border')})"
        return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"

    def steps(self) -> list[Width]:
        """One per level."""
        return [
            Width(place, f"cut at {self._named(level)}")
            for place, level in enumerate(self._levels, 1)
        ]

    def step_of(self, label: str) -> Width | None:
        """The finest level that has this piece."""
        span = self._scale.span(label)
        if span is None or span.is_spot:
            return None
        inside = [self._cell(level, span) for level in self._levels]
        if span in inside:
            return self.steps()[inside.index(span)]
        finer = sum(not cell.contains(span) for cell in inside)
        return Width(finer + 0.5, "other ranges")

    def open_labels(self) -> Collection[str]:
        """The pieces without a lower or an upper border."""
        ends = [cell for level in self._levels for cell in (_at(level, 0), _at(level, len(level)))]
        return {self._scale.label(cell) for cell in ends}

    def ends(self, label: str) -> Ends | None:
        """The borders of a piece, of which the upper one is not part; of dates its last day."""
        span = self._scale.span(label)
        return None if span is None else self._scale.ends(span)

    def labelled(self, low: OpenEnd, high: OpenEnd) -> str:
        """A number or date, or the piece with these ends."""
        span = self._scale.between(low, high)
        if not span.is_spot or span.low is None:
            return self._scale.label(span)
        return self._scale.written(span.low)

    def width_unit(self) -> str:
        """Units of the column, or days."""
        return self._scale.unit

    def extent(self, label: str) -> Fraction | None:
        """The distance of the borders; a piece that lacks one has none."""
        span = self._scale.span(label)
        return None if span is None else self._scale.extent(span)

    def normal(self, label: str) -> str:
        """Numbers and dates, also those of pieces, as labels write them."""
        piece = self._scale.piece(label)
        return self._scale.normal(label) if piece is None else self._scale.label(piece)


def _nested(levels: Any) -> list[list[Any]]:
    """The borders of each level; a single level may be given without its list."""
    single = int | float | Fraction | str | date
    given: Any = [levels] if isinstance(levels, single) else levels
    if isinstance(given, list | tuple) and given and isinstance(given[0], single):
        given = [given]
    wrong = not isinstance(given, list | tuple) or not given
    if wrong or any(not isinstance(level, list | tuple) or not level for level in given):
        raise BadHierarchy(
            f"borders need one list of numbers or dates per level, as in [[18, 65]], got "
            f"{brief(levels)}"
        )
    if any(len(level) > MOST for level in given):
        raise BadHierarchy(f"borders need at most {MOST:,} numbers or dates per level")
    return [list(level) for level in given]


def _at(level: Sequence[Fraction], place: int) -> Span:
    """The piece of a level at this place."""
    return Span(level[place - 1] if place else None, level[place] if place < len(level) else None)


def _inside(cell: Span, low: int, high: int) -> int:
    """The integers of a piece between these, whether or not they occur."""
    first = low if cell.low is None else max(low, ceil(cell.low))
    last = high if cell.high is None else min(high, ceil(cell.high) - 1)
    return max(1, last - first + 1)
