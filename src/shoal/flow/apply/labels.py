"""Published labels in a new table: their hierarchies and their codes there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT
from shoal.kernels.group import group_rows
from shoal.table.encode import Table
from shoal.table.published_table import codes_of
from shoal.table.roles import Column, columns_with_role, missing_words

Vector = tuple[Label, ...]  # one label per quasi-identifier; None is a missing value


def placing_columns(
    columns: Mapping[str, Column], vectors: Sequence[Vector], words: Sequence[str]
) -> dict[str, Column]:
    """The columns, with hierarchies that have the published labels in any table.

    `words` are those of the plan that mean missing.
    """
    placing = dict(columns)
    for j, name in enumerate(columns_with_role(columns, "quasi")):
        hierarchy = columns[name].hierarchy
        if hierarchy is not None and hierarchy.is_free:
            labels = {vector[j] for vector in vectors}
            missing = missing_words(columns, name, words)
            placing[name] = columns[name].changed(hierarchy=_Placing(hierarchy, labels, missing))
    return placing


def vectors_in(table: Table, vectors: Sequence[Vector]) -> tuple[Ints, tuple[Covers, ...]]:
    """The vectors as codes of a table, int32[vectors, q], without those that cover nothing.

    A label that is not in the tree of the table covers none of its values.
    """
    covers = tuple(Covers(tree) for tree in table.trees)
    columns = [_codes([v[j] for v in vectors], one) for j, one in enumerate(covers)]
    codes = np.stack(columns, axis=1).astype(np.int32)
    codes = np.ascontiguousarray(codes[(codes >= 0).all(axis=1)])
    # Each once, in the order in which they come.
    return (codes[group_rows(codes)[1]] if len(codes) else codes), covers


def _codes(labels: Sequence[Label], covers: Covers) -> Longs:
    """The code of each label in this table; -1 if it covers none of its values."""
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    known = [label for label in number if label is not None]
    codes = dict(zip(known, codes_of(known, covers), strict=True))
    found = [covers.tree.node(None) if label is None else codes[label] for label in labels]
    return np.array(found, np.int64)


class _Placing(Hierarchy):
    """A free hierarchy whose tree also has the ends or elements of given labels."""

    def __init__(self, hierarchy: Hierarchy, labels: Iterable[Label], words: Sequence[str]) -> None:
        self._hierarchy, self._words = hierarchy, words  # those that mean missing
        self._labels = [label for label in labels if label is not None]

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The values of the column, and the ends or elements of the published values.

        The tree is open: no published range or set becomes the root.
        """
        parts: list[Label] = []
        for label in self._labels:
            parts += self._hierarchy.parts(label)
        said = [word for word in self._words if word in parts]
        more = [part for part in dict.fromkeys(parts) if part is not None and part not in said]
        tree = self._hierarchy.tree([*values, *more, ROOT])
        return tree.with_missing(said, None in parts) if said or None in parts else tree

    def width_unit(self) -> str:
        """That of the hierarchy itself."""
        return self._hierarchy.width_unit()

    def extent(self, label: str) -> Fraction | None:
        """That of the hierarchy itself."""
        return self._hierarchy.extent(label)

    def level_of(self, label: str) -> int | None:
        """That of the hierarchy itself."""
        return self._hierarchy.level_of(label)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return self._hierarchy.setting()
