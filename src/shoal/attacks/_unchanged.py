"""What is published unchanged, next to the quasi-identifiers, and what those stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from shoal.attacks._numbers import NumberColumn
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.threads import cached_property
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.kernels.relations import Covered
from shoal.table.coded_columns import coded_as_text
from shoal.table.encode import Table
from shoal.table.published_table import Published, codes_of
from shoal.table.roles import Column, columns_with_role, missing_words, other_columns


@dataclass(frozen=True, eq=False)
class Cells:
    """The values of some columns that occur together in a record."""

    row: Longs | None  # int64[cells], the row of the frame; None: each row once, in order
    codes: tuple[Ints, ...]  # int32[cells] per column; -1 is missing
    weight: Longs | None  # int64[cells], how many records have them, or people; None: one
    person: Longs | None = None  # int64[cells], who has them; None: the person of the row, if any

    def person_by(self, of_row: Longs | None) -> Longs | None:
        """The person of each cell, given that of each row; None: each is one."""
        if self.person is not None or of_row is None:
            return self.person
        return of_row if self.row is None else of_row[self.row]


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Columns of a release that are not in its frame."""

    names: Sequence[str]  # that were read
    left_out: Sequence[str] = ()  # that were not, as their values do not fit into memory
    # The values of some of the columns that occur together. A value always has the same code.
    cells: Callable[[Sequence[str]], Cells] = lambda _: Cells(None, (), None)


@dataclass(frozen=True, eq=False)
class Leaves:
    """Which original values a quasi-identifier stands for; they are leaves, numbered in order."""

    size: int
    exact: Ints  # int32[published values + 1], the leaf of each, missing last; -1: no single leaf
    covered: Covered  # the leaves of each published value
    # The leaves that the true value of each row may be: low … high - 1; None: it is not known.
    true_low: Ints | None = None
    true_high: Ints | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """The original values of the published rows."""

    table: Table
    rows: Longs  # int64[rows of the frame], the record of the table that each was

    def tree(self, name: str) -> Tree:
        """The tree of a quasi-identifier."""
        return self.table.trees[self.table.names.index(name)]

    def nodes(self, name: str) -> Ints:
        """The original values of a quasi-identifier, int32[rows of the frame]."""
        nodes: Ints = self.table.codes[self.rows, self.table.names.index(name)]
        return nodes


@dataclass(frozen=True, eq=False)
class Unchanged:
    """The columns that are published unchanged, and how to read the quasi-identifiers."""

    roles: Mapping[str, str]  # of each column, other or sensitive
    read: Callable[[], Cells]  # reads the values of all of them
    quasi: tuple[Leaves, ...]  # with the leaves that are published exactly
    known: tuple[Leaves, ...]  # with all leaves of the original; empty: it is not known
    k: int  # the required class size; 0: none is
    accepted: frozenset[str] = frozenset()  # columns that may reveal quasi-identifiers
    left_out: tuple[str, ...] = ()  # further columns of the release, which cannot be read
    numbers: tuple[NumberColumn, ...] = ()  # compared with the original; empty: it is not known

    @cached_property
    def cells(self) -> Cells:
        """The values of all columns."""
        return self.read()

    def enforces(self, name: str) -> bool:
        """Whether a column may bring nobody below k."""
        return self.roles[name] == "other" and name not in self.accepted


def unchanged_of(
    frame: Frame,
    columns: Mapping[str, Column],
    published: Published,
    missing_values: Sequence[str] = (),
    *,
    k: int = 0,
    accepted: Sequence[str] = (),
    truth: Truth | None = None,
    elsewhere: Elsewhere | None = None,
) -> Unchanged:
    """The other and sensitive columns of a published table.

    Columns that are published but not in the frame are `elsewhere`.
    """
    names = [*other_columns(columns), *columns_with_role(columns, "sensitive")]
    out = () if elsewhere is None else tuple(elsewhere.left_out)
    there = {*frame.names, *(() if elsewhere is None else elsewhere.names)}
    names = [name for name in names if name in there and name not in out]

    def read() -> Cells:
        own = {
            name: coded_as_text(frame, name, missing_words(columns, name, missing_values))[0]
            for name in names
            if name in frame.names
        }
        away = [name for name in names if name not in own]
        if elsewhere is None or not away:
            return Cells(None, tuple(own[name] for name in names), frame.weight)
        cells = elsewhere.cells(away)
        found = dict(zip(away, cells.codes, strict=True))
        return replace(
            cells, codes=tuple(found[n] if n in found else own[n][cells.row] for n in names)
        )

    sides = []
    for j, name in enumerate(published.names):
        values = published.values[j]
        if columns[name].microaggregate is not None:  # a number may stand for any value
            tree = Hierarchy.flat().tree([]) if truth is None else truth.tree(name)
            sides.append(_Read.not_known(values, tree))
            continue
        if truth is not None:
            sides.append(_Read.in_original(values, truth.tree(name)))
            continue
        hierarchy = columns[name].hierarchy or Hierarchy.flat()
        words = missing_words(columns, name, missing_values)
        lacks = bool((published.codes[:, j] < 0).any())
        sides.append(_Read.in_release(values, hierarchy, words, lacks))
    true = [None if truth is None else truth.nodes(name) for name in published.names]
    return Unchanged(
        # A weight is published unchanged, as a column of the role other is.
        roles={n: "sensitive" if columns[n].role == "sensitive" else "other" for n in names},
        read=read,
        quasi=tuple(one.leaves(one.exact, nodes) for one, nodes in zip(sides, true, strict=True)),
        known=tuple(
            one.leaves(_leaves_among(one.covers.tree, nodes), nodes)
            for one, nodes in zip(sides, true, strict=True)
            if nodes is not None
        ),
        k=k,
        accepted=frozenset(accepted),
        left_out=out,
    )


@dataclass(frozen=True, eq=False)
class _Read:
    """The published values of a quasi-identifier as codes of a tree."""

    covers: Covers
    # int64[values + 1], nodes or free values, missing last; -1: it is not known which leaves a
    # value stands for; -2: for none of the tree.
    codes: Longs

    single: Bools  # bool[values + 1], whether it is one original value

    @staticmethod
    def in_original(values: Sequence[Any], tree: Tree) -> _Read:
        """With the tree of the original."""
        covers = Covers(tree)
        codes = np.array([*codes_of(values, covers), tree.node(None)], np.int64)
        inside = np.minimum(codes, tree.size - 1)
        return _Read(covers, codes, (codes == inside) & (tree.end[inside] == inside + 1))

    @staticmethod
    def not_known(values: Sequence[Any], tree: Tree) -> _Read:
        """Without knowing which leaves any of the values stands for."""
        codes = np.full(len(values) + 1, -1, np.int64)
        return _Read(Covers(tree), codes, np.zeros(len(codes), np.bool_))

    @staticmethod
    def in_release(
        values: Sequence[Any], hierarchy: Hierarchy, words: Sequence[str], missing: bool
    ) -> _Read:
        """With the tree of what is published exactly, and of the parts of free values.

        Words that mean missing are published as they are written.
        """
        labels = [text(value) for value in values]
        said = [label for label in labels if label in words]
        known = [label not in words and hierarchy.knows(label) for label in labels]
        exact = [
            label
            for label, knows in zip(labels, known, strict=True)
            if knows and hierarchy.width(label).place == -inf
        ]
        parts = [part for label in labels for part in hierarchy.parts(label)]
        tree = hierarchy.tree(dict.fromkeys([*exact, *(one for one in parts if one is not None)]))
        covers = Covers(tree.with_missing(said, missing or None in parts))
        codes = np.array([*codes_of(values, covers), covers.tree.node(None)], np.int64)
        lacking = np.flatnonzero(codes[:-1] < 0)
        codes[lacking] = np.where([known[i] for i in lacking], -2, -1)
        single = set(exact) | set(said)
        return _Read(covers, codes, np.array([*(one in single for one in labels), missing]))

    @property
    def exact(self) -> Longs:
        """The leaves that are published exactly."""
        return _leaves_among(self.covers.tree, self.codes[self.single])

    def leaves(self, nodes: Longs, truth: Ints | None) -> Leaves:
        """Number these nodes, which are rising, as the leaves."""
        tree, many = self.covers.tree, len(nodes)
        first = np.searchsorted(nodes, np.arange(tree.size)).astype(np.int32)  # int32[nodes]
        last = np.searchsorted(nodes, tree.end).astype(np.int32)
        begin, end, start, leaf = self._free(nodes)
        # No leaf and any leaf come last, where -2 and -1 point to.
        low: Ints = np.concatenate([first, begin, [0, 0]]).astype(np.int32)
        high: Ints = np.concatenate([last, end, [0, many]]).astype(np.int32)
        start = np.concatenate([np.zeros(tree.size, np.int64), start, start[[-1, -1]]])
        places = np.where(self.codes < 0, len(low) + self.codes, self.codes)
        return Leaves(
            size=many,
            exact=np.where(self.single, low[places], -1).astype(np.int32),
            covered=Covered(low[places], high[places], start[places], start[places + 1], leaf),
            true_low=None if truth is None else first[truth],
            true_high=None if truth is None else last[truth],
        )

    def _free(self, nodes: Longs) -> tuple[Longs, Longs, Longs, Ints]:
        """The same leaves of each free value: low, high, and those of a set that are listed."""
        tree, covers = self.covers.tree, self.covers.covers
        ends = np.array([(one[0], one[-1]) for one in covers], np.int64).reshape(-1, 2)
        low, high = np.searchsorted(nodes, ends[:, 0]), np.searchsorted(nodes, ends[:, 1], "right")
        if not isinstance(tree, FreeTree) or tree.kind == "ranges":
            return low, high, np.zeros(len(covers) + 1, np.int64), np.zeros(0, np.int32)
        start, inside = self.covers.lists()
        cover = np.repeat(np.arange(len(covers)), np.diff(start))
        there = np.isin(inside, nodes)
        count = np.bincount(cover[there], minlength=len(covers))
        leaf = np.searchsorted(nodes, inside[there]).astype(np.int32)
        return low, np.where(count > 0, high, low), np.append(0, np.cumsum(count)), leaf


def _leaves_among(tree: Tree, codes: Any) -> Longs:
    """The leaves among nodes, each once and rising; other codes are left out."""
    used = np.unique(codes)
    used = used[(used >= 0) & (used < tree.size)]
    found: Longs = used[tree.end[used] == used + 1].astype(np.int64)
    return found
