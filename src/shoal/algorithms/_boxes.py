"""Boxes of a table: vectors of nodes, free ranges and free sets, as the kernels hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from shoal.columns import Table
from shoal.exact import LARGEST, exact_costs
from shoal.free import Cover, Covers, FreeTree
from shoal.kernels import boxes as kernels
from shoal.kernels import pool
from shoal.losses import Loss
from shoal.tree import Tree

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

BITS = 64  # bits of a word of a set


@dataclass(frozen=True, eq=False)
class Space:
    """The columns of a table in the order in which boxes hold them."""

    table: Table
    order: Longs  # int64[q]
    shapes: kernels.Shapes

    @staticmethod
    def of(table: Table, loss: Loss, order: Longs | None = None) -> Space:
        """The columns of a table, with what each value keeps."""
        costs = _scaled(table, exact_costs(loss, table.domains, table.rows))
        order = _telling_first(table, costs) if order is None else order
        trees = [table.trees[j] for j in order]
        shapes = [_shape(tree, costs[j]) for j, tree in zip(order, trees, strict=True)]
        words = [_words(tree) for tree in trees]
        return Space(
            table,
            order,
            kernels.Shapes(
                kind=np.array([_kind(tree) for tree in trees]),
                at=np.append(0, np.cumsum(words)),
                start=np.append(0, np.cumsum([tree.size for tree in trees])),
                parent=np.concatenate([tree.parent for tree in trees]),
                end=np.concatenate([tree.end for tree in trees]),
                worth=np.concatenate([worth for worth, _, _ in shapes]),
                most=np.array([most for _, most, _ in shapes]),
                unit=np.array([unit for _, _, unit in shapes]),
            ),
        )

    def boxes(self, codes: Ints, covers: Sequence[Covers]) -> Longs:
        """Published vectors as boxes, int64[vectors, words]."""
        at = self.shapes.at
        boxes = np.zeros((len(codes), int(at[-1])), np.int64)
        for place, j in enumerate(self.order):
            known = _numbers(self.table.trees[j], covers[j])
            boxes[:, at[place] : at[place + 1]] = known[codes[:, j]]
        return boxes

    def values(self, vectors: Ints, covers: Sequence[Covers]) -> pool.Values:
        """The values that occur in vectors of this order, and scratch space for searches."""
        shapes, q = self.shapes, len(self.order)
        parts = [_numbers(self.table.trees[j], covers[j]) for j in self.order]
        start = np.append(0, np.cumsum([len(part) for part in parts]))
        part = np.zeros((start[-1], max(part.shape[1] for part in parts)), np.int64)
        keeps = np.zeros(start[-1], np.int64)
        fewest = np.zeros(q, np.int64)
        for i, one in enumerate(parts):
            part[start[i] : start[i + 1], : one.shape[1]] = one
            used = np.unique(vectors[:, i])
            for value in used + start[i]:
                keeps[value] = kernels.kept_of_values(shapes, i, part[value], 0, part[value], 0)
            fewest[i] = keeps[used + start[i]].min()
        none = np.zeros(start[-1], np.int64)
        return pool.Values(
            start, part, keeps, fewest, none, none.copy(), np.zeros(1, np.int64),
            np.zeros(q, np.int64), np.zeros(q + 1, np.int64), np.zeros((q + 1, 4), np.int64),
        )  # fmt: skip

    def vectors(self, boxes: Longs) -> tuple[Ints, tuple[Covers, ...]]:
        """Boxes as published vectors, int32[boxes, q], and what their free values are."""
        vectors = np.empty((len(boxes), len(self.order)), np.int32)
        found = [Covers(tree) for tree in self.table.trees]
        for place, j in enumerate(self.order):
            part = np.ascontiguousarray(boxes[:, self.shapes.at[place] : self.shapes.at[place + 1]])
            tree = self.table.trees[j]
            if not isinstance(tree, FreeTree):
                vectors[:, j] = part[:, 0]
                continue
            different, which = np.unique(part, axis=0, return_inverse=True)
            codes = [found[j].code(tree.code(_leaves(tree, one))) for one in different]
            vectors[:, j] = np.array(codes, np.int32)[which.ravel()]
        return vectors, tuple(found)


def _kind(tree: Tree) -> int:
    if not isinstance(tree, FreeTree):
        return kernels.TREE
    return kernels.RANGE if tree.kind == "ranges" else kernels.SET


def _words(tree: Tree) -> int:
    """How many numbers of a box a column takes."""
    return {kernels.TREE: 1, kernels.RANGE: 2}.get(_kind(tree), -(-tree.size // BITS))


def _scaled(table: Table, costs: list[Longs]) -> list[Longs]:
    """Costs times a number that makes what a step of a free value loses whole, if one is small.

    Otherwise steps are rounded to the finest unit that cannot overflow.
    """
    highest = sum(int(cost.max()) for cost in costs) * max(table.rows, 1)
    room = max(1, LARGEST // max(highest, 1))
    parts = 1
    for tree in table.trees:
        if isinstance(tree, FreeTree) and parts <= room:
            parts = lcm(parts, *(share.denominator for share in _shares(tree)))
    scale = parts if parts <= room else room
    return [cost * scale for cost in costs]


def _shares(tree: FreeTree) -> list[Fraction]:
    """What each value of a range is away from the lowest one, or one more of a set loses."""
    if tree.kind == "sets":
        return [Fraction(1, max(tree.size - 2, 1))]
    return [tree.width((1, leaf)) for leaf in range(1, tree.last + 1)]


def _shape(tree: Tree, cost: Longs) -> tuple[Longs, int, int]:
    """Worth, most and unit of a column (`kernels.Shapes`)."""
    if not isinstance(tree, FreeTree):
        return cost, int(cost.max()), 0
    most = int(cost.max())
    if tree.kind == "sets":
        return cost, most, most // max(tree.size - 2, 1)
    worth = np.zeros(tree.size, np.int64)
    worth[1 : tree.last + 1] = [int(most * share) for share in _shares(tree)]
    worth[0] = -most  # with the root nothing is kept, and nothing of a number beside a missing one
    worth[tree.last + 1 :] = worth[tree.last] + most
    return worth, most, 0


def _numbers(tree: Tree, covers: Covers) -> Longs:
    """Every node and free value as a part of a box, int64[codes, words]."""
    codes = tree.size + len(covers)
    each = np.arange(codes)
    kind = _kind(tree)
    if kind == kernels.TREE:
        return each[:, None]
    if kind == kernels.RANGE:
        ends = np.stack([each, each], axis=1)
        ends[0] = 0, tree.size - 1
        if len(covers):
            ends[tree.size :] = covers.covers
        return ends
    held = np.zeros((codes, _words(tree)), np.uint64)
    start, leaf = covers.lists()
    nodes = np.concatenate([np.arange(tree.size), leaf]).astype(np.uint64)
    owner = np.concatenate([np.arange(tree.size), np.repeat(each[tree.size :], np.diff(start))])
    bit = np.uint64(1) << (nodes % np.uint64(BITS))
    np.bitwise_or.at(held, (owner, (nodes // np.uint64(BITS)).astype(np.int64)), bit)
    return held.view(np.int64)


def _leaves(tree: FreeTree, part: Longs) -> Cover:
    """The nodes that a part of a box stands for: the ends of a range, all of a set."""
    if tree.kind == "ranges":
        return int(part[0]), int(part[1])
    bits = np.unpackbits(part.view(np.uint8), bitorder="little")
    return tuple(np.flatnonzero(bits).tolist())


def _telling_first(table: Table, costs: Sequence[Longs]) -> Longs:
    """The columns, those whose smallest step is dear and whose values are few first.

    Boxes that are near each other shall stand near each other in the index.
    """
    worth = []
    for tree, cost in zip(table.trees, costs, strict=True):
        steps = (cost - cost[tree.parent])[1:].astype(np.float64)
        if isinstance(tree, FreeTree):
            steps = steps / max(tree.size - 2, 1)
        least = float(steps[steps > 0].min()) if (steps > 0).any() else 0.0
        worth.append(least / np.log2(1 + tree.size))
    return np.argsort(-np.array(worth), kind="stable")
