"""Free values: ranges of numbers and sets of categories without a taxonomy (Wang 2018).

A column of free values has a flat tree, whose leaves are the original values. It may also be
published as any range `[33, 34]` or any set `{10070, 10073}` of them. Such a value is a cover, the
leaves that it stands for. Its code is a number above the nodes of the tree, assigned by `Covers`.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from typing import Literal

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.threads import cached_property
from shoal.hierarchies.tree import Label, Tree, flat_tree
from shoal.hierarchies.values import ROOT, end_of, number_of, plain, shown

Kind = Literal["ranges", "sets"]
Cover = tuple[int, ...]  # the first and last leaf of a range; all leaves of a set, rising

MISSING = "missing"  # the missing value in a set
SPELLED = 20  # a set of all values is written out up to so many values
_SPECIAL = frozenset(',{}"\n\r\t')


@dataclass(frozen=True, eq=False)
class FreeTree(Tree):
    """A flat tree whose values may also be published as ranges or sets.

    >>> tree = FreeTree.of_sets(["a", "b", "c"])
    >>> tree.label((1, 3)), tree.cover("{a, c}"), tree.width((1, 3))
    ('{a, c}', (1, 3), Fraction(1, 2))
    """

    kind: Kind = "sets"
    ends: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))  # the domain [L, U] of ranges
    numbers: tuple[Fraction, ...] = ()  # of the leaves 1, 2, …; only for ranges
    closed: bool = True  # whether the root is the range, or the set, of all leaves

    @staticmethod
    def of_ranges(
        spots: Sequence[tuple[Fraction, str]],
        ends: tuple[Fraction, Fraction] | None,
        closed: bool,
        normal: Callable[[str], str] = plain,
    ) -> FreeTree:
        """The tree over these rising numbers, with their labels in the column."""
        low, high = ends or (spots[0][0], spots[-1][0])
        own = closed and low < high and (low, high) == (spots[0][0], spots[-1][0])
        flat = _flat(f"[{shown(low)}, {shown(high)}]" if own else ROOT, [name for _, name in spots])
        numbers = tuple(number for number, _ in spots)
        return FreeTree(
            *flat, normal=normal, kind="ranges", ends=(low, high), numbers=numbers, closed=own
        )

    @staticmethod
    def of_sets(labels: Sequence[Label], closed: bool = True) -> FreeTree:
        """The tree over these categories, in their order within sets."""
        own = closed and 1 < len(labels) <= SPELLED
        flat = _flat(_braces(labels) if own else ROOT, labels)
        return FreeTree(*flat, kind="sets", closed=closed)

    def with_missing(self, words: Sequence[str] = (), empty: bool = True) -> FreeTree:
        """The same tree with leaves for missing values, unless it has them."""
        words = [word for word in words if self.node(word) < 0]
        more: list[Label] = [*words, *([None] if empty and self.node(None) < 0 else [])]
        if not more:
            return self
        leaves = (*self.labels[1:], *more)
        words = (*self.words, *words)
        if self.kind == "sets":
            return replace(FreeTree.of_sets(leaves, self.closed), words=words)
        return replace(self._open(leaves), words=words)  # no range covers numbers and missing

    def opened(self) -> FreeTree:
        """The same tree with the root `*`, which also stands for missing values."""
        return self._open(self.labels[1:])

    def _open(self, leaves: Sequence[Label]) -> FreeTree:
        labels, parent, end, below = _flat(ROOT, leaves)
        return replace(self, labels=labels, parent=parent, end=end, leaves=below, closed=False)

    @cached_property
    def last(self) -> int:
        """The last leaf that can be in a range."""
        return len(self.numbers) if self.kind == "ranges" else self.size - 1

    def code(self, leaves: Sequence[int]) -> int | Cover:
        """The least value that covers these nodes: a node, or a cover.

        One leaf gives itself. The root results from all leaves, from the root itself, and from a
        number together with a missing value in a column of ranges.
        """
        low, high = min(leaves), max(leaves)
        if low == high or low == 0:
            return low
        if self.kind == "ranges":
            if high > self.last or (self.closed and low == 1 and high == self.last):
                return 0
            return (low, high)
        unique = sorted(set(leaves))
        return 0 if self.closed and len(unique) == self.size - 1 else tuple(unique)

    def members(self, cover: Cover) -> Ints:
        """The leaves that a cover stands for, rising."""
        if self.kind == "ranges":
            return np.arange(cover[0], cover[1] + 1, dtype=np.int32)
        return np.array(cover, np.int32)

    def label(self, cover: Cover) -> str:
        """How a cover is published (table 4, Wang 2018)."""
        if self.kind == "ranges":
            low, high = (self.numbers[leaf - 1] for leaf in cover)
            return f"[{shown(low)}, {shown(high)}]"
        return _braces([self.labels[leaf] for leaf in cover])

    def cover(self, label: str) -> int | Cover | None:
        """The node or cover of a published label; None if it is neither."""
        node = 0 if label == ROOT else self.find(label)
        if node >= 0:
            return node
        found = self._in_range(label) if self.kind == "ranges" else self._in_set(label)
        return self.code(found) if found else None

    def _in_range(self, label: str) -> list[int]:
        ends = closed_range(label)
        if ends is None:
            return []
        first, last = bisect_left(self.numbers, ends[0]) + 1, bisect_right(self.numbers, ends[1])
        return [first, last] if first <= last else []

    def _in_set(self, label: str) -> list[int]:
        names = elements_of(label)
        nodes = [self.node(None) if name is None else self.find(name) for name in names]
        return nodes if nodes and min(nodes) > 0 else []

    def known_part(self, label: str) -> int | Cover | None:
        """The node or cover of those values of a published label that this tree has.

        The label may be of another table with the same kind of values. None: the tree has none.
        """
        whole = self.cover(label)
        if whole is not None or self.kind == "ranges":
            return whole
        nodes = [self.node(None) if n is None else self.find(n) for n in elements_of(label)]
        nodes = [node for node in nodes if node > 0]
        return self.code(nodes) if nodes else None

    def reads(self, value: int | Cover) -> bool:
        """Whether the label of a node or a cover can be read back as the same value."""
        if isinstance(value, tuple):
            label: Label = self.label(value)
        elif value == 0 and self.labels[0] != ROOT:
            label, value = self.labels[0], (1, self.last) if self.kind == "ranges" else 0
        else:
            name = self.labels[value]
            number = self.kind == "ranges" and 1 <= value <= self.last
            return not number or number_of(name) == self.numbers[value - 1]
        assert label is not None
        if self.kind == "ranges":
            assert isinstance(value, tuple)
            return closed_range(label) == tuple(self.numbers[leaf - 1] for leaf in value)
        found = self._in_set(label)
        return bool(found) and self.code(found) == value

    def width(self, cover: Cover) -> Fraction:
        """The loss of a cover, from 0 for a single value to 1 for all (eq. 11, 12)."""
        if self.kind == "sets":
            return Fraction(len(cover) - 1, max(self.size - 2, 1))
        span = self.ends[1] - self.ends[0]
        return self.span(cover) / span if span else Fraction(0)

    def span(self, cover: Cover) -> Fraction:
        """The distance of the ends of a range."""
        low, high = (self.numbers[leaf - 1] for leaf in cover)
        return high - low


def _flat(root: str, leaves: Iterable[Label]) -> tuple[tuple[Label, ...], Ints, Ints, Longs]:
    """Labels, parents, ends and leaves of a flat tree."""
    labels = (root, *leaves)
    return labels, *flat_tree(len(labels))


def _braces(labels: Iterable[Label]) -> str:
    return "{" + ", ".join(_quoted(label) for label in labels) + "}"


def _quoted(label: Label) -> str:
    """A category inside braces; quoted if it would be ambiguous."""
    if label is None:
        return MISSING
    plain = label not in ("", MISSING, ROOT) and label == label.strip()
    return label if plain and not _SPECIAL & set(label) else json.dumps(label, ensure_ascii=False)


def closed_range(label: str) -> tuple[Fraction, Fraction] | None:
    """The ends of a free range from its label; None if it is not a range.

    >>> closed_range("[33, 34.5]")
    (Fraction(33, 1), Fraction(69, 2))
    """
    numbers = [end_of(end) for end in ends_of(label)]
    if not numbers or numbers[0] is None or numbers[1] is None or numbers[0] > numbers[1]:
        return None
    return numbers[0], numbers[1]


def ends_of(label: str) -> list[str]:
    """The ends of a range as texts; empty if the label is not a range.

    >>> ends_of("[33, 34.5]")
    ['33', '34.5']
    """
    parts = label[1:-1].split(", ")
    return parts if label[:1] == "[" and label[-1:] == "]" and len(parts) == 2 else []


def elements_of(label: str) -> list[Label]:
    """The categories of a set; empty if the label is not a set.

    >>> elements_of('{a, "b, c", missing}')
    ['a', 'b, c', None]
    """
    if not (label[:1] == "{" and label[-1:] == "}" and len(label) > 2):
        return []
    names: list[Label] = []
    inside, at = label[1:-1], 0
    reader = json.JSONDecoder()
    while True:
        if inside[at : at + 1] == '"':
            try:
                name, at = reader.raw_decode(inside, at)
            except ValueError:
                return []
            names.append(name)
        else:
            stop = inside.find(", ", at)
            stop = len(inside) if stop < 0 else stop
            word = inside[at:stop]
            names.append(None if word == MISSING else word)
            at = stop
        if at == len(inside):
            return names
        if inside[at : at + 2] != ", ":
            return []
        at += 2


@dataclass
class Covers:
    """The free values that occur in one column: cover i has the code `tree.size + i`."""

    tree: Tree
    covers: list[Cover] = field(default_factory=list)
    _known: dict[Cover, int] = field(default_factory=dict)

    def code(self, value: int | Cover) -> int:
        """The code of a node or a cover; a new cover gets the next code."""
        if not isinstance(value, tuple):
            return int(value)
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self.tree.size + len(self.covers)
            self.covers.append(value)
        return known

    def __len__(self) -> int:
        return len(self.covers)

    @property
    def free(self) -> FreeTree:
        """The tree of a column with free values."""
        assert isinstance(self.tree, FreeTree)
        return self.tree

    def labels(self) -> list[Label]:
        """The labels of all nodes and covers, by their codes."""
        more = [self.free.label(cover) for cover in self.covers] if self.covers else []
        return [*self.tree.labels, *more]

    def widths(self) -> Floats:
        """The loss of each cover, float64[covers]."""
        return np.array([float(self.free.width(cover)) for cover in self.covers])

    def lists(self) -> tuple[Longs, Ints]:
        """The leaves of each cover; those of i are start[i] … start[i + 1] - 1."""
        parts = [self.free.members(cover) for cover in self.covers]
        start = np.append(0, np.cumsum([len(part) for part in parts], dtype=np.int64))
        return start, np.concatenate([np.zeros(0, np.int32), *parts])

    def above(self) -> tuple[Longs, Ints]:
        """The codes that cover each node, as `lists`: itself, the root, and free values."""
        size = self.tree.size
        start, leaf = self.lists()
        code = np.repeat(size + np.arange(len(self)), np.diff(start))
        each = np.arange(1, size)
        low = np.concatenate([[0], each, each, leaf])
        high = np.concatenate([[0], each, np.zeros(size - 1, int), code])
        order = np.lexsort((high, low))
        return np.searchsorted(low[order], np.arange(size + 1)), high[order].astype(np.int32)

    def copy(self) -> Covers:
        """A copy, to which more values can be added."""
        return Covers(self.tree, list(self.covers), dict(self._known))


def join_rows(tree: FreeTree, codes: Ints, group: Longs) -> tuple[Ints, Covers]:
    """For every record the least value that covers one column of all records of its group."""
    covers = Covers(tree)
    low = np.full(int(group.max()) + 1, tree.size, np.int32)
    high = np.zeros_like(low)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    mixed = np.flatnonzero((low != high)[group])
    pairs = np.unique(group[mixed] * tree.size + codes[mixed])
    for one, found in groupby(pairs.tolist(), key=lambda pair: pair // tree.size):
        low[one] = covers.code(tree.code([pair % tree.size for pair in found]))
    return low[group], covers
