"""The tree of a hierarchy: which published value covers which original values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.errors import BadHierarchy, some

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64 | np.float64]  # real where a count is too large for a whole number

LARGEST = 2**53  # up to here every whole number is exact as a real one too
Label = str | None  # None is the label of a missing value, published as missing


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree whose nodes are published values and whose leaves are original ones.

    Nodes are numbered in preorder: the root is 0, and the nodes below `v` are exactly
    `v + 1 … end[v] - 1`. So a covers b when `a <= b < end[a]`.

    >>> tree = Tree.from_rows([["Cat", "Felid", "*"], ["Lion", "Felid", "*"], ["Dog", "*"]])
    >>> tree.labels
    ('*', 'Felid', 'Cat', 'Lion', 'Dog')
    >>> tree.labels[tree.join(tree.node("Cat"), tree.node("Dog"))]
    '*'
    """

    labels: tuple[Label, ...]
    parent: Ints  # int32[nodes]; the root is its own parent
    end: Ints  # int32[nodes]
    leaves: Counts  # [nodes], the nl of the papers: original values below (or at) the node

    @staticmethod
    def from_rows(
        rows: Iterable[Sequence[Label]],
        counts: Mapping[Label, int] | None = None,
    ) -> Tree:
        """Build a tree from rows that lead from a value up to the root.

        Rows of different lengths make an unbalanced tree. A label that follows itself is one
        node. `counts` gives the number of original values that a node stands for, where that is
        more than the values that occur.
        """
        parent, listed, root = _links(rows)
        children: dict[Label, list[Label]] = {}
        for child, above in parent.items():
            children.setdefault(above, []).append(child)

        labels: list[Label] = []
        up: list[int] = []
        stack: list[tuple[Label, int]] = [(root, 0)]
        while stack:
            label, above_node = stack.pop()
            node = len(labels)
            labels.append(label)
            up.append(above_node)
            stack.extend((child, node) for child in reversed(children.get(label, ())))
        if len(labels) <= len(parent):
            reached = set(labels)
            raise BadHierarchy(
                f"the values {some(v for v in parent if v not in reached)} go round in a cycle "
                f"and never reach the root {root!r}; give each value one parent nearer the root"
            )

        own = np.fromiter((label in listed for label in labels), np.int64, len(labels))
        leaves, end = _below(np.asarray(up, np.int32), own)
        if counts is not None:
            if max(counts.values(), default=0) > LARGEST:
                leaves = leaves.astype(np.float64)
            for node, label in enumerate(labels):
                leaves[node] = counts.get(label, leaves[node])
        return Tree(tuple(labels), np.asarray(up, np.int32), end, leaves)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @cached_property
    def level(self) -> Ints:
        """Longest way down to a leaf, in edges; 0 for a leaf (Sec. 3, Mauger 2020)."""
        level = np.zeros(self.size, np.int32)
        for node in range(self.size - 1, 0, -1):
            above = self.parent[node]
            level[above] = max(level[above], level[node] + 1)
        return level

    @property
    def height(self) -> int:
        """Nodes on the longest path from the root to a leaf."""
        return int(self.level[0]) + 1

    @cached_property
    def _nodes(self) -> dict[Label, int]:
        return {label: node for node, label in enumerate(self.labels)}

    def node(self, label: Label) -> int:
        """The node with this label; -1 when there is none."""
        return self._nodes.get(label, -1)

    def covers(self, wide: int, narrow: int) -> bool:
        """Whether everything below `narrow` is below `wide` too."""
        return bool(wide <= narrow < self.end[wide])

    def join(self, a: int, b: int) -> int:
        """The least node that covers both: their lowest common ancestor."""
        while not self.covers(a, b):
            a = int(self.parent[a])
        return a

    def with_missing(self) -> Tree:
        """The same tree with a leaf for missing values under the root, if it has none yet."""
        if None in self._nodes:
            return self
        end, leaves = np.append(self.end, self.size + 1), np.append(self.leaves, 1)
        end[0] += 1
        leaves[0] += 1
        return Tree(
            (*self.labels, None),
            np.append(self.parent, 0).astype(np.int32),
            end.astype(np.int32),
            leaves,
        )


def _links(
    rows: Iterable[Sequence[Label]],
) -> tuple[dict[Label, Label], set[Label], Label]:
    """Each value's parent, the values listed as originals, and the root."""
    parent: dict[Label, Label] = {}
    listed: set[Label] = set()
    roots: dict[Label, int] = {}  # root → the row that first ends in it
    quarrels: dict[Label, set[Label]] = {}
    for number, row in enumerate(rows, 1):
        here = row[0]
        listed.add(here)
        for above in row[1:]:
            if above == here:
                continue
            known = parent.setdefault(here, above)
            if known != above:
                quarrels.setdefault(here, {known}).add(above)
            here = above
        roots.setdefault(here, number)
    if not roots:
        raise BadHierarchy("the hierarchy is empty; give it one row per value")
    if len(roots) > 1:
        ends = ", ".join(f"{label!r} (row {row})" for label, row in list(roots.items())[:5])
        raise BadHierarchy(
            f"rows do not end in the same root: {ends}; end every row in the same value, "
            "and leave out header lines"
        )
    if quarrels:
        cases = "; ".join(
            f"{value!r} has the parents {some(sorted(map(str, parents)))}"
            for value, parents in list(quarrels.items())[:5]
        )
        raise BadHierarchy(f"a value may have one parent only, but {cases}")
    (root,) = roots
    if root in parent:
        raise BadHierarchy(
            f"the root {root!r} has a parent itself ({parent[root]!r}): the values go round in a "
            "cycle; end every row in a value that has no parent"
        )
    return parent, listed, root


def _below(parent: Ints, own: Longs) -> tuple[Longs, Ints]:
    """Original values below each node, and one past the last node below it."""
    size = len(parent)
    leaves, last = own.copy(), np.arange(size, dtype=np.int32)
    for node in range(size - 1, 0, -1):
        if last[node] == node and leaves[node] == 0:
            leaves[node] = 1  # a leaf that no row begins with still is an original value
        above = parent[node]
        leaves[above] += leaves[node]
        last[above] = max(last[above], last[node])
    leaves[0] = max(leaves[0], 1)
    return leaves, last + np.int32(1)
