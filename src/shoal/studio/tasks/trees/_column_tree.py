"""The tree of a column, with how many records are below each node; kept from task to task."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Bools, Longs
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.io.frames import Counted, Frame
from shoal.kernels.tree_sums import sum_below
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.table.coded_columns import coded
from shoal.table.encode import encode
from shoal.table.roles import Column, empty_words

KEPT = 6  # trees


@dataclass(frozen=True, eq=False)
class ColumnTree:
    """The tree of a column as the table has it."""

    tree: Tree
    records: Longs  # int64[nodes], at and below each node

    def children(self, node: int) -> Longs:
        """The nodes right below a node, in their order."""
        inside = self.tree.parent[node + 1 : int(self.tree.end[node])]
        return np.flatnonzero(inside == node) + node + 1

    @property
    def is_leaf(self) -> Bools:
        """Which nodes have nothing below them, bool[nodes]."""
        found: Bools = self.tree.end == np.arange(1, self.tree.size + 1)
        return found

    def is_missing(self, node: int) -> bool:
        """Whether a node is a missing value."""
        label = self.tree.labels[node]
        return label is None or label in self.tree.words

    def way(self, node: int) -> list[int]:
        """From a node up to the root."""
        found = [node]
        while found[-1]:
            found.append(int(self.tree.parent[found[-1]]))
        return found


def column_tree(held: Held, plan: Plan, name: str, hierarchy: Hierarchy | None) -> ColumnTree:
    """The tree that a hierarchy makes of a column; an error if it does not fit the values."""
    trees = held.setdefault("trees", {})
    if trees.get("frame") is not held["frame"]:  # the table was read again
        trees.clear()
        trees["frame"] = held["frame"]
    setting = None if hierarchy is None else hierarchy.settled().setting()
    words = list(plan.missing_of(name))
    key = json.dumps([name, setting, plan.missing, words], default=str)
    if key not in trees:
        while len(trees) > KEPT:
            del trees[next(one for one in trees if one != "frame")]
        trees[key] = _built(held["frame"], plan, name, hierarchy)
    found: ColumnTree = trees[key]
    return found


def _built(frame: Frame, plan: Plan, name: str, hierarchy: Hierarchy | None) -> ColumnTree:
    own = plan.columns[name].missing_values
    column = Column(role="quasi", hierarchy=hierarchy, missing_values=own)
    missing = "value" if plan.missing == "error" else plan.missing
    table = encode(_distinct(frame, plan, name), {name: column}, missing, plan.missing_values)
    tree, counts = table.trees[0], table.domains[0].counts
    return ColumnTree(tree, sum_below(tree.parent, counts.astype(np.float64)).astype(np.int64))


def _distinct(frame: Frame, plan: Plan, name: str) -> Frame:
    """The values of a column, each once, with the records that have it and the first of them."""
    codes, values = coded(frame, name, empty_words(plan.missing_of(name)))
    weight = frame.weight
    places = np.where(codes < 0, len(values), codes)
    counts = np.bincount(places, weight, len(values) + 1).astype(np.int64)
    first = np.full(len(values) + 1, frame.height, np.int64)
    np.minimum.at(first, places, np.arange(frame.height))
    there = np.flatnonzero(counts)
    order = there[np.argsort(first[there], kind="stable")]
    cells = values.array.take(pa.array(order, mask=order == len(values)))
    numbered = Counted(counts[order], first[order] if frame.counted is None else None)
    return Frame(pa.table({name: cells}), numbered)
