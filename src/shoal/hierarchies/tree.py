"""The tree of a hierarchy: which published value covers which original values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Counts, Ints, Longs
from shoal.base.errors import BadHierarchy, is_text, preview
from shoal.base.threads import cached_property
from shoal.hierarchies.values import plain

LARGEST = 2**53  # up to here floats represent every integer exactly
Label = str | None  # None is the label of a missing value, published as missing


class Labels(Sequence[Label]):
    """The labels of a large tree in an arrow array; Python objects are made on first use.

    >>> labels = Labels(pa.array(["b", "a"]), pa.array([1, 0]))
    >>> len(labels), labels[0], tuple(labels)
    (2, 'a', ('a', 'b'))
    """

    def __init__(self, array: pa.Array, order: pa.Array) -> None:
        self._array, self._order = array, order
        self.with_missing = False

    def followed_by(self, labels: Sequence[Label]) -> Labels:
        """The same labels, followed by others; that of missing values comes last."""
        places = np.arange(len(self._array), len(self._array) + len(labels))
        more = Labels(
            pa.concat_arrays([self._array, pa.array(labels, self._array.type)]),
            pa.concat_arrays([self._order, pa.array(places, self._order.type)]),
        )
        more.with_missing = None in labels
        return more

    def between(self, low: int, high: int) -> Labels:
        """The labels of these nodes, up to the one before the last."""
        found = Labels(self._array, self._order[low:high])
        found.with_missing = self.with_missing and high == len(self)
        return found

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, node: int) -> Label: ...
    @overload
    def __getitem__(self, node: slice) -> tuple[Label, ...]: ...
    def __getitem__(self, node: int | slice) -> Label | tuple[Label, ...]:
        return self.listed[node]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.listed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.listed == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.listed)

    @cached_property
    def array(self) -> pa.Array:
        """The labels by node."""
        return self._array.take(self._order)

    @cached_property
    def listed(self) -> tuple[Label, ...]:
        """The labels by node, as Python objects."""
        return tuple(self.array.to_pylist())


def label_array(labels: Sequence[Label]) -> pa.Array:
    """Labels as an arrow array."""
    return labels.array if isinstance(labels, Labels) else pa.array(labels, pa.string())


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

    labels: Sequence[Label]
    parent: Ints  # int32[nodes]; the root is its own parent
    end: Ints  # int32[nodes]
    leaves: Counts  # [nodes], nl in the papers: original values below (or at) the node
    words: tuple[str, ...] = ()  # labels of leaves that mean missing, published as they are written
    normal: Callable[[str], str] = plain  # a form of labels that is equal for all spellings of one

    @staticmethod
    def from_rows(
        rows: Iterable[Sequence[Label]],
        counts: Mapping[Label, int] | None = None,
    ) -> Tree:
        """Build a tree from rows that lead from a value up to the root.

        Rows of different lengths make an unbalanced tree. A label that follows itself is one
        node. `counts` gives the number of original values below a node, if that is more than the
        values that occur.
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
                f"the values {preview(v for v in parent if v not in reached)} form a cycle "
                f"and never reach the root {root!r}; give each value one parent closer to the root"
            )

        if broken := [label for label in labels if label is not None and not is_text(label)]:
            raise BadHierarchy(
                f"the values {preview(broken)} contain half a character (a lone surrogate), which "
                "no file can store; remove it"
            )
        own = np.fromiter((label in listed for label in labels), np.int64, len(labels))
        leaves, end = _below(np.asarray(up, np.int32), own)
        if counts is not None:
            if max(counts.values(), default=0) > LARGEST:
                leaves = leaves.astype(np.float64)
            for node, label in enumerate(labels):
                leaves[node] = counts.get(label, leaves[node])
        return Tree(tuple(labels), np.asarray(up, np.int32), end, leaves)

    @staticmethod
    def from_sorted(levels: Sequence[pa.Array], root: str) -> tuple[Tree, list[Longs]] | None:
        """Build a large tree from columns: the values, their parents, and so on.

        Equal labels must be adjacent at every level, and a label may be at one level only;
        otherwise the result is None, and `from_rows` builds the tree. Also returns the nodes of
        each level, in the order of the rows.
        """
        m = len(levels[0])
        starts = [np.arange(m)]  # the first row of each node, int64[nodes of the level]
        heads = []
        for level in levels[1:]:
            changed = pc.not_equal(level[1:], level[:-1]).to_numpy(zero_copy_only=False)
            starts.append(np.append(0, np.flatnonzero(changed) + 1))
            if not np.isin(starts[-1], starts[-2], assume_unique=True).all():
                return None  # a node below would span two of these
            heads.append(level.take(pa.array(starts[-1])))
        above = pa.concat_arrays([*heads, pa.array([root], levels[0].type)])
        if len(above.unique()) < len(above) or pc.any(pc.is_in(levels[0], above)).as_py():
            return None
        begins = np.zeros(m + 1, np.int64)  # nodes that start in each row
        for start in starts:
            begins[start] += 1
        # The root is 0; of the nodes that start in a row the most general comes first.
        before = 1 + np.concatenate([[0], np.cumsum(begins)])
        wider = np.zeros(m, np.int64)
        size = int(before[-1])
        parent, end = np.zeros(size, np.int32), np.full(size, size, np.int32)
        leaves, order = np.full(size, m, np.int64), np.empty(size, np.int64)
        order[0] = m + len(above) - 1
        cover = np.zeros(m, np.int64)  # the node of the level above, by row
        offset = len(above) - 1
        found = []
        for depth in range(len(levels) - 1, -1, -1):
            start = starts[depth]
            nodes = before[start] + wider[start]
            stop = np.append(start[1:], m)
            found.append(nodes)
            parent[nodes] = cover[start]
            end[nodes] = before[stop] if depth else nodes + 1
            leaves[nodes] = stop - start
            offset = offset - len(start) if depth else 0
            order[nodes] = (m + offset if depth else 0) + np.arange(len(start))
            if depth:
                cover = np.repeat(nodes, stop - start)
                wider[start] += 1
        labels = Labels(pa.concat_arrays([levels[0], above]), pa.array(order))
        return Tree(labels, parent, end, leaves), found[::-1]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @cached_property
    def level(self) -> Ints:
        """The longest path down to a leaf, in edges; 0 for a leaf (Sec. 3, Mauger 2020)."""
        level = np.zeros(self.size, np.int32)
        for nodes in _deepest_first(self.parent):
            np.maximum.at(level, self.parent[nodes], level[nodes] + 1)
        return level

    @property
    def height(self) -> int:
        """Nodes on the longest path from the root to a leaf."""
        return int(self.level[0]) + 1

    @cached_property
    def _nodes(self) -> dict[Label, int]:
        return {label: node for node, label in enumerate(self.labels)}

    def node(self, label: Label) -> int:
        """The node with this label; -1 if there is none."""
        if label is None and isinstance(self.labels, Labels):
            return self.size - 1 if self.labels.with_missing else -1
        return self._nodes.get(label, -1)

    def find(self, label: str) -> int:
        """The node with this label, in any spelling; -1 if there is none.

        >>> Tree.from_rows([["17", "*"]]).find("17.0")
        1
        """
        node = self.node(label)
        return node if node >= 0 else self._spellings.get(self.normal(label), -1)

    @cached_property
    def _spellings(self) -> dict[str, int]:
        """The nodes by their labels in normal form; words for missing have one spelling only."""
        found: dict[str, int] = {}
        for node, label in enumerate(self.labels):
            if label is not None and label not in self.words:
                found.setdefault(self.normal(label), node)
        return found

    def covers(self, wide: int, narrow: int) -> bool:
        """Whether `wide` is `narrow` or an ancestor of it."""
        return bool(wide <= narrow < self.end[wide])

    def join(self, a: int, b: int) -> int:
        """The lowest common ancestor."""
        while not self.covers(a, b):
            a = int(self.parent[a])
        return a

    def with_missing(self, words: Sequence[str] = (), empty: bool = True) -> Tree:
        """The same tree with leaves for missing values under the root, unless it has them.

        Each of the `words` that mean missing is a value of its own, and so is an `empty` cell: who
        reads the release can tell them apart.
        """
        words = [word for word in words if self.node(word) < 0]
        more: list[Label] = [*words, *([None] if empty and self.node(None) < 0 else [])]
        if not more:
            return self
        many, labels = len(more), self.labels
        end = np.append(self.end, self.size + 1 + np.arange(many))
        leaves = np.append(self.leaves, np.ones(many, self.leaves.dtype))
        end[0] += many
        leaves[0] += many
        return replace(
            self,
            labels=labels.followed_by(more) if isinstance(labels, Labels) else (*labels, *more),
            parent=np.append(self.parent, np.zeros(many)).astype(np.int32),
            end=end.astype(np.int32),
            leaves=leaves,
            words=(*self.words, *words),
        )

    def below(self, top: int) -> Tree:
        """The tree of a node and all below it; node v becomes v - top.

        >>> tree = Tree.from_rows([["Cat", "Felid", "*"], ["Lion", "Felid", "*"], ["Dog", "*"]])
        >>> tree.below(1).labels, tree.below(1).height
        (('Felid', 'Cat', 'Lion'), 2)
        """
        if top == 0:
            return self
        end = int(self.end[top])
        labels = self.labels.between(top, end) if isinstance(self.labels, Labels) else None
        parent = self.parent[top:end] - np.int32(top)
        parent[0] = 0
        found = replace(
            self,
            labels=self.labels[top:end] if labels is None else labels,
            parent=parent,
            end=self.end[top:end] - np.int32(top),
            leaves=self.leaves[top:end],
        )
        found.__dict__["level"] = self.level[top:end]
        return found

    @property
    def values(self) -> list[str]:
        """The labels below the root that do not mean missing."""
        return [v for v in self.labels[1:] if v is not None and v not in self.words]


def flat_tree(size: int) -> tuple[Ints, Ints, Longs]:
    """Parents, ends and leaves of a flat tree of so many nodes."""
    end = np.arange(1, size + 1, dtype=np.int32)
    end[0] = size
    leaves = np.ones(size, np.int64)
    leaves[0] = max(size - 1, 1)
    return np.zeros(size, np.int32), end, leaves


def _links(
    rows: Iterable[Sequence[Label]],
) -> tuple[dict[Label, Label], set[Label], Label]:
    """Each value's parent, the values listed as originals, and the root."""
    parent: dict[Label, Label] = {}
    listed: set[Label] = set()
    roots: dict[Label, int] = {}  # root → the row that first ends in it
    conflicts: dict[Label, set[Label]] = {}
    for number, row in enumerate(rows, 1):
        here = row[0]
        listed.add(here)
        for above in row[1:]:
            if above == here:
                continue
            known = parent.setdefault(here, above)
            if known != above:
                conflicts.setdefault(here, {known}).add(above)
            here = above
        roots.setdefault(here, number)
    if not roots:
        raise BadHierarchy("the hierarchy is empty; give it one row per value")
    if len(roots) > 1:
        ends = ", ".join(f"{label!r} (row {row})" for label, row in list(roots.items())[:5])
        raise BadHierarchy(
            f"rows do not end in the same root: {ends}; end every row in the same value, "
            "and remove header lines"
        )
    if conflicts:
        cases = "; ".join(
            f"{value!r} has the parents {preview(sorted(map(str, parents)))}"
            for value, parents in list(conflicts.items())[:5]
        )
        raise BadHierarchy(f"a value may have only one parent, but {cases}")
    (root,) = roots
    if root in parent:
        raise BadHierarchy(
            f"the root {root!r} has a parent itself ({parent[root]!r}): the values form a "
            "cycle; end every row in a value that has no parent"
        )
    return parent, listed, root


def _below(parent: Ints, own: Longs) -> tuple[Longs, Ints]:
    """Original values below each node, and one past the last node below it."""
    leaves, last = own.copy(), np.arange(len(parent), dtype=np.int32)
    inner = np.zeros(len(parent), np.bool_)
    inner[parent[1:]] = True
    leaves[~inner] = 1  # a leaf that starts no row is an original value too
    for nodes in _deepest_first(parent):
        np.add.at(leaves, parent[nodes], leaves[nodes])
        np.maximum.at(last, parent[nodes], last[nodes])
    leaves[0] = max(leaves[0], 1)
    return leaves, last + np.int32(1)


def _deepest_first(parent: Ints) -> Iterator[Longs]:
    """The nodes without the root, all of one depth at a time, the deepest first."""
    depth = np.zeros(len(parent), np.int64)
    below = np.arange(1, len(parent))
    above = parent[1:].astype(np.int64)
    while len(below):
        depth[below] += 1
        further = above > 0
        below, above = below[further], parent[above[further]].astype(np.int64)
    order = np.argsort(-depth[1:], kind="stable") + 1
    ends = np.flatnonzero(np.diff(depth[order], append=0))
    start = 0
    for end in ends.tolist():
        yield order[start : end + 1]
        start = end + 1
