"""Look at the tree of a column: the part of it that is unfolded, a page of each branch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs
from shoal.base.progress import Progress
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.tree import label_array
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._column_tree import ColumnTree, column_tree

PAGE = 50  # branches of a node that are shown at a time
FEW = 60  # nodes up to which a tree is unfolded at first
MOST = 40  # nodes that can be unfolded at the same time
NAMES = 300  # of groups that are offered
LONGEST = 300  # characters of a label that are shown


@dataclass(frozen=True)
class Unfolded:
    """What of a tree is shown."""

    nodes: tuple[int, ...] | None = None  # that are unfolded; None: as many as fit
    begin: dict[int, int] = field(default_factory=dict)  # the first branch that is shown of a node
    find: str = ""  # only values with this text; "": the tree
    often: bool = False  # the most frequent first
    ungrouped: bool = False  # only values right below the root
    example: str = ""  # the value that is generalized step by step; "": a frequent one


@dataclass(frozen=True)
class Branch:
    """A node as it is shown, with some of what is below it."""

    node: int
    label: str | None  # None: a missing value
    records: int
    values: int  # original values at or below it
    is_leaf: bool
    is_missing: bool
    is_open: bool = False
    branches: tuple[Branch, ...] = ()
    begin: int = 0  # the place of the first of these
    total: int = 0  # of all of them
    inside: str = ""  # the groups that it is in, if the tree is not shown


@dataclass(frozen=True)
class TreeView:
    """The tree of a column as it is shown."""

    records: int
    values: int
    groups: int
    ungrouped: int
    levels: int  # between a value and the root
    is_free: bool
    top: Branch
    example: tuple[tuple[str | None, int], ...]  # labels with their records
    unknown: str  # the value that was asked for, if it is none of the column
    names: tuple[str, ...]  # of groups, not all of them if they are many


def run(
    held: Held,
    progress: Progress,
    plan: str,
    column: str,
    unfolded: Unfolded,
) -> TreeView:
    """The tree that the plan has for a column."""
    progress("encode", 0.0)
    asked = Plan.load(plan)
    hierarchy = asked.columns[column].hierarchy
    found = column_tree(held, asked, column, hierarchy)
    return view(found, hierarchy, unfolded)


def view(found: ColumnTree, hierarchy: Hierarchy | None, unfolded: Unfolded) -> TreeView:
    """What is shown of a tree."""
    tree = found.tree
    leaf = found.is_leaf
    missing = sum(found.is_missing(v) for v in _missing(found))
    tops = [v for v in found.children(0).tolist() if leaf[v] and not found.is_missing(v)]
    drawn = _Drawn(found, unfolded)
    top = drawn.matches() if unfolded.find or unfolded.ungrouped else drawn.branch(0)
    steps, unknown = _example(found, hierarchy, unfolded.example)
    return TreeView(
        records=int(found.records[0]),
        values=int(leaf[1:].sum()) - missing,
        groups=int((~leaf[1:]).sum()),
        ungrouped=len(tops),
        levels=max(tree.height - 2, 0),
        is_free=isinstance(tree, FreeTree),
        top=top,
        example=steps,
        unknown=unknown,
        names=tuple(str(tree.labels[v]) for v in np.flatnonzero(~leaf)[1 : NAMES + 1].tolist()),
    )


def _missing(found: ColumnTree) -> list[int]:
    """The nodes of missing values."""
    nodes = [found.tree.node(word) for word in (*found.tree.words, None)]
    return [node for node in nodes if node >= 0]


class _Drawn:
    """Draws branches of one tree."""

    def __init__(self, found: ColumnTree, unfolded: Unfolded) -> None:
        self._found, self._unfolded = found, unfolded
        self._leaf = found.is_leaf
        self._below = np.append(0, np.cumsum(self._leaf))  # leaves before each node
        wanted = unfolded.nodes
        self._open = set(self._first() if wanted is None else wanted[:MOST]) | {0}

    def _first(self) -> list[int]:
        """The nodes to unfold at first: level by level, as long as all of it is few."""
        opened, level, total = [0], [0], 0
        while level:
            below = [self._found.children(node) for node in level]
            total += sum(min(len(nodes), PAGE) for nodes in below)
            if total > FEW:
                break
            opened += level
            level = [v for nodes in below for v in nodes.tolist() if not self._leaf[v]]
        return opened

    def branch(self, node: int) -> Branch:
        """A node, with a page of its branches if it is unfolded."""
        if self._leaf[node] or node not in self._open:
            return self._one(node)
        nodes = self._ordered(self._found.children(node))
        begin = min(self._unfolded.begin.get(node, 0) // PAGE * PAGE, max(len(nodes) - 1, 0))
        begin = begin // PAGE * PAGE
        some = [self.branch(one) for one in nodes[begin : begin + PAGE].tolist()]
        return self._one(node, True, tuple(some), begin, len(nodes))

    def matches(self) -> Branch:
        """Nodes whose label contains the text, without the tree above them."""
        labels = label_array(self._found.tree.labels)
        nodes = np.arange(1, self._found.tree.size)
        if self._unfolded.find:
            text = self._unfolded.find.strip()
            there = pc.match_substring(labels, text, ignore_case=True).fill_null(False)
            nodes = nodes[there.to_numpy(zero_copy_only=False)[1:]]
        if self._unfolded.ungrouped:
            nodes = nodes[(self._found.tree.parent[nodes] == 0) & self._leaf[nodes]]
        nodes = self._ordered(nodes)
        begin = min(self._unfolded.begin.get(0, 0), max(len(nodes) - 1, 0)) // PAGE * PAGE
        some = [self._one(v, inside=self._inside(v)) for v in nodes[begin : begin + PAGE].tolist()]
        return self._one(0, True, tuple(some), begin, len(nodes))

    def _inside(self, node: int) -> str:
        above = self._found.way(node)[1:-1]
        return " → ".join(str(shortened(self._found.tree.labels[v])) for v in above)

    def _ordered(self, nodes: Longs) -> Longs:
        if not self._unfolded.often:
            return nodes
        return nodes[np.argsort(-self._found.records[nodes], kind="stable")]

    def _one(
        self,
        node: int,
        is_open: bool = False,
        branches: tuple[Branch, ...] = (),
        begin: int = 0,
        total: int = 0,
        inside: str = "",
    ) -> Branch:
        tree = self._found.tree
        values = self._below[int(tree.end[node])] - self._below[node]
        return Branch(
            node=node,
            label=shortened(tree.labels[node]),
            records=int(self._found.records[node]),
            values=int(values),
            is_leaf=bool(self._leaf[node]),
            is_missing=self._found.is_missing(node),
            is_open=is_open,
            branches=branches,
            begin=begin,
            total=total,
            inside=inside,
        )


def shortened(label: str | None) -> str | None:
    """A label that is not longer than a page can show."""
    if label is None or len(label) <= LONGEST:
        return label
    return label[: LONGEST - 1] + "…"


def _example(
    found: ColumnTree, hierarchy: Hierarchy | None, asked: str
) -> tuple[tuple[tuple[str | None, int], ...], str]:
    """A value and what is above it; of those that were not asked for, a frequent one."""
    tree, value = found.tree, asked.strip()
    if value:
        node = tree.find(value)
        if node < 0:
            return _elsewhere(hierarchy, value), value
    else:
        own = np.where(found.is_leaf, found.records, -1)
        for gone in [0, *_missing(found)]:
            own[gone] = -1
        node = int(np.argmax(own))
    return tuple((shortened(tree.labels[v]), int(found.records[v])) for v in found.way(node)), ""


def _elsewhere(hierarchy: Hierarchy | None, value: str) -> tuple[tuple[str | None, int], ...]:
    """How a value would be generalized that the column does not have; empty if it is not known."""
    if hierarchy is None or not hierarchy.has_ends or not hierarchy.knows(value):
        return ()
    tree = hierarchy.tree([value])
    node = tree.find(value)
    way = ColumnTree(tree, np.zeros(tree.size, np.int64)).way(max(node, 0))
    return tuple((tree.labels[v], 0) for v in way)


def labels_at(found: ColumnTree, nodes: list[int]) -> list[str]:
    """The labels of these nodes, without the root and missing values."""
    there = [v for v in nodes if 0 < v < found.tree.size and not found.is_missing(v)]
    return [str(found.tree.labels[v]) for v in there]


def nodes_with(found: ColumnTree, text: str) -> list[int]:
    """The nodes whose label contains a text."""
    labels = label_array(found.tree.labels)
    there = pc.match_substring(labels, text.strip(), ignore_case=True).fill_null(False)
    return [int(v) for v in pa.array(np.arange(len(labels))).filter(there).to_pylist() if v]
