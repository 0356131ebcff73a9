"""At most: how general the published values of a column may be.

The values that `at_most` allows are closed downwards: with a value all below it are allowed. So
each record has one most general value that may be published of it, its top, and two records can be
published with a common value if and only if they have the same top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from shoal.base.arrays import Bools, Ints
from shoal.base.errors import brief
from shoal.base.wording import many, number
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import ROOT, exact_number, simple
from shoal.kernels.tree_sums import sum_below

EXACT = "exact"
FORMS = "at_most = 'exact', { level = 2 } or { width = 10 }"
BEYOND = -1  # of a value that is not allowed, so that nothing may be published of it


@dataclass(frozen=True)
class AtMost:
    """The most general values of a column that may be published: a level or a width."""

    level: int | None = None  # steps above the original value
    width: Fraction | None = None  # in the units of the hierarchy

    @staticmethod
    def of(given: Any) -> AtMost:
        """As a plan has it.

        >>> AtMost.of("exact"), AtMost.of({"width": 10}).setting()
        (AtMost(level=0, width=None), {'width': 10})
        """
        if isinstance(given, AtMost):
            return given
        if given == EXACT:
            return AtMost(level=0)
        if isinstance(given, Mapping) and len(given) == 1:
            ((word, value),) = given.items()
            sound = isinstance(value, int | float) and not isinstance(value, bool)
            if word == "level" and sound and isinstance(value, int) and value >= 0:
                return AtMost(level=value)
            if word == "width" and sound and isfinite(value) and value > 0:
                return AtMost(width=exact_number(value))
            if word in ("level", "width"):
                wish = "a whole number of 0 or more" if word == "level" else "a number above 0"
                raise ValueError(f"needs {wish} as the {word} of at_most, got {brief(value)}")
        raise ValueError(f"needs {FORMS}, got at_most={brief(given)}")

    def setting(self) -> Any:
        """As a plan file writes it."""
        if self.width is not None:
            return {"width": simple(self.width)}
        return {"level": self.level} if self.level else EXACT

    def __str__(self) -> str:
        if self.width is not None:
            return f"{{ width = {simple(self.width)} }}"
        return f"{{ level = {self.level} }}" if self.level else f"'{EXACT}'"

    def check(self, hierarchy: Hierarchy | None) -> None:
        """Raise an error if a column with this hierarchy cannot be limited in this way."""
        kind = Hierarchy.flat() if hierarchy is None else hierarchy
        if self.width is None:
            if kind.is_free and self.level:
                instead = "width" if kind.width_unit() else "'exact'"
                raise ValueError(
                    f"has at_most = {self}, and {kind.name} has no levels; use {instead}"
                )
            return
        if not kind.width_unit():
            what = "no hierarchy" if hierarchy is None else f"the hierarchy {kind.name}"
            more = "" if kind.is_free or kind.name == "flat" else " or { level = 1 }"
            raise ValueError(
                f"has at_most = {self} and {what}, so that its values have no width; use at_most = "
                f"'exact'{more}, or give it a hierarchy of ranges, dates or listed values"
            )
        if self.width < 1 and kind.width_unit() in ("days", "values"):
            raise ValueError(
                f"has at_most = {self}, and its width counts {kind.width_unit()}: it is 1 or more; "
                "use at_most = 'exact' for original values"
            )

    def words(self, hierarchy: Hierarchy | None) -> str:
        """In words that follow "at most".

        >>> AtMost(level=2).words(None), AtMost.of({"width": 31}).words(Hierarchy.dates(["month"]))
        ('2 steps above the original value', '31 days wide')
        """
        if self.width is not None:
            unit = "" if hierarchy is None else hierarchy.width_unit()
            return f"{number(float(self.width))} {unit} wide"
        if self.level:
            return f"{many(self.level, 'step')} above the original value"
        return "the original value"

    def reach(self, hierarchy: Hierarchy, label: str) -> Fraction | None:
        """How wide or how many steps up a published value is; None: unknown, or without bounds."""
        if self.width is not None:
            return hierarchy.extent(label)
        level = hierarchy.level_of(label)
        return None if level is None else Fraction(level)

    @property
    def most(self) -> Fraction:
        """The largest `reach` that is allowed."""
        return Fraction(self.level or 0) if self.width is None else self.width


@dataclass(frozen=True, eq=False)
class Tops:
    """What `at_most` lets one column publish."""

    at_most: AtMost
    hierarchy: Hierarchy
    # int32[nodes], a number per set of values that may be published together: in a tree the most
    # general node that is allowed above each, among free ranges a cell of a grid; or BEYOND.
    top: Ints
    fixed: bool = False  # whether the plan cannot allow more, as others see the value anyway

    @property
    def allowed(self) -> Bools:
        """Which nodes may be published, bool[nodes]."""
        found: Bools = self.top != BEYOND
        return found

    @property
    def without_effect(self) -> bool:
        """Whether every value may be published."""
        return bool((self.top == self.top[0]).all()) and self.top[0] != BEYOND

    def allowed_codes(self, codes: Ints, covers: Covers) -> Bools:
        """Which codes, nodes or free values, may be published, bool[n]."""
        width = self.at_most.width
        more = [width is not None and covers.free.span(cover) <= width for cover in covers.covers]
        found: Bools = np.append(self.allowed, more).astype(np.bool_)[codes]
        return found

    def of_codes(self, codes: Ints, covers: Covers) -> Ints:
        """The top of each code, a node or a free value, int32[n]."""
        more = [self._of_cover(covers, cover) for cover in covers.covers]
        found: Ints = np.append(self.top, more).astype(np.int32)[codes]
        return found

    def _of_cover(self, covers: Covers, cover: Sequence[int]) -> int:
        tops = np.unique(self.top[covers.free.members(tuple(cover))])
        return int(tops[0]) if len(tops) == 1 else BEYOND


def tops_of(at_most: AtMost, hierarchy: Hierarchy | None, tree: Tree) -> Tops:
    """What a column with this tree may publish."""
    kind = Hierarchy.flat() if hierarchy is None else hierarchy
    if isinstance(tree, FreeTree):
        return Tops(at_most, kind, _in_grid(at_most, tree))
    beyond = [not _allowed(at_most, kind, tree, node) for node in range(tree.size)]
    allowed = sum_below(tree.parent, np.array(beyond, np.float64)) == 0  # with all below
    top = np.arange(tree.size, dtype=np.int32)
    for _ in range(tree.height):
        above = tree.parent[top]
        top = np.where(allowed[above], above, top)
    return Tops(at_most, kind, np.where(allowed, top, BEYOND).astype(np.int32))


def if_any(found: Iterable[Tops | None]) -> tuple[Tops | None, ...]:
    """What a table has of its columns: nothing if no column is limited."""
    tops = tuple(found)
    return tops if any(tops) else ()


def _allowed(at_most: AtMost, hierarchy: Hierarchy, tree: Tree, node: int) -> bool:
    label = tree.labels[node]
    if label is None or label in tree.words:
        return True  # a missing value, published as it is
    reach = at_most.reach(hierarchy, label)
    if reach is None and at_most.width is None:
        reach = level_in(tree, node)
    return reach is not None and reach <= at_most.most


def level_in(tree: Tree, node: int) -> Fraction | None:
    """How many steps a node is above original values; None: a root of which there are none."""
    if tree.size == 1 and tree.labels[node] == ROOT:
        return None
    return Fraction(int(tree.level[node]))


def _in_grid(at_most: AtMost, tree: FreeTree) -> Ints:
    """The cells of a grid as wide as a range may be; a range inside a cell is no wider.

    Cells include their lower end but not their upper one. Missing values have their own cell.
    """
    top = np.arange(tree.size, dtype=np.int32)
    top[0] = BEYOND
    if at_most.width is None:
        return top
    numbers = tree.numbers
    if numbers[-1] - numbers[0] <= at_most.width:
        top[: len(numbers) + 1] = 0
        top[0] = 0 if tree.closed else BEYOND
        return top
    cells = [n // at_most.width for n in numbers]
    first = {cell: place for place, cell in reversed(list(enumerate(cells, 1)))}
    top[1 : len(numbers) + 1] = [first[cell] for cell in cells]
    return top


def block_keys(tops: Sequence[Tops | None], codes: Ints, covers: Sequence[Covers]) -> Ints:
    """The tops of each row of codes in the limited columns, int32[n, limited columns].

    Rows with the same tops may be published with common values, others may not. A row with BEYOND
    cannot be published at all.
    """
    found = [one.of_codes(codes[:, j], covers[j]) for j, one in enumerate(tops) if one is not None]
    return np.stack(found, axis=1)
