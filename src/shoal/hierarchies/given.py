"""Given hierarchies: the plan or a file has the whole tree, whatever the column."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.wording import many
from shoal.hierarchies.base import AS_IT_WAS, SUPPRESSED_WIDTH, Hierarchy, Placed, Width
from shoal.hierarchies.tree import Tree, label_array
from shoal.hierarchies.values import text


class Given(Hierarchy):
    """A tree that does not depend on the column."""

    _tree: Tree

    def tree(self, values: Iterable[object] = ()) -> Tree:  # noqa: ARG002
        """The given tree."""
        return self._tree

    def placed(self, texts: pa.Array) -> Placed | None:
        """The given tree, if it has every value in the same spelling."""
        found = pc.index_in(texts, label_array(self._tree.labels).cast(texts.type))
        if found.null_count:
            return None
        return Placed(self._tree, found.to_numpy(zero_copy_only=False).astype(np.int64))

    def knows(self, value: object) -> bool:
        """Whether the tree has this value, in any spelling."""
        return self._tree.find(text(value)) >= 0

    def width_unit(self) -> str:
        """Values."""
        return "values"

    def extent(self, label: str) -> Fraction | None:
        """The number of original values that a published one covers; 1 for an original value."""
        node = self._tree.find(label)
        return None if node < 0 else Fraction(int(self._tree.leaves[node]))

    def level_of(self, label: str) -> int | None:
        """The longest way down to an original value."""
        node = self._tree.find(label)
        return None if node < 0 else int(self._tree.level[node])

    def describe(self) -> str:
        """How values are published."""
        return f"by the plan's own hierarchy of {many(self._leaves, 'value')}"

    def listed_values(self) -> int:
        """All leaves are listed."""
        return self._leaves

    @property
    def _leaves(self) -> int:
        return int((self._tree.level == 0).sum())

    def width(self, label: str) -> Width:
        """The level of a value in the tree."""
        node = self._tree.find(label)
        if node == 0:
            return SUPPRESSED_WIDTH
        level = 0 if node < 0 else int(self._tree.level[node])
        return Width(-inf, AS_IT_WAS) if level == 0 else Width(level, "")
