"""Boxes of a table: vectors of nodes, free ranges and free sets, in the form of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.algorithms._shared.class_merge import Merging, start_state, unsettled
from shoal.algorithms._shared.indexed import run_steps
from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress
from shoal.hierarchies.free_values import Cover, Covers, FreeTree
from shoal.hierarchies.tree import Tree
from shoal.kernels.grouping import box_merge, merge
from shoal.kernels.search import box_index as nearest
from shoal.kernels.search import boxes as kernels
from shoal.kernels.search.tuple_index import make_tuples
from shoal.losses import Loss
from shoal.losses._integer_costs import LARGEST, exact_costs
from shoal.table.encode import Table

BITS = 64  # bits of a word of a set


@dataclass(frozen=True, eq=False)
class Space:
    """The columns of a table in the order in which boxes store them."""

    table: Table
    order: Longs  # int64[q]
    shapes: kernels.Shapes

    @staticmethod
    def of(table: Table, loss: Loss, order: Longs | None = None) -> Space:
        """The columns of a table, with the information that each value keeps."""
        return Space.by_costs(table, exact_costs(loss, table.domains, table.rows), order)

    @staticmethod
    def by_costs(table: Table, exact: Sequence[Longs], order: Longs | None = None) -> Space:
        """The same, given the costs from each node to the root."""
        costs = _scaled(table, exact)
        order = _most_selective_first(table, costs) if order is None else order
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

    def found(self, boxes: Longs, size: Longs, first: Longs) -> nearest.Boxes:
        """Boxes that can be put into an index, none of which is in one yet."""
        n = len(boxes)
        keeps = kernels.kept_by_each(self.shapes, boxes)
        return nearest.Boxes(
            boxes, size.astype(np.int64), first.astype(np.int64), keeps, np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )  # fmt: skip

    def index(self, boxes: nearest.Boxes, ids: Longs | None = None) -> nearest.Index:
        """A new index of these boxes; by default of those in the current index."""
        ids = np.flatnonzero(boxes.where != nearest.AWAY) if ids is None else ids
        q = len(self.order)
        codes = np.empty((len(ids), q), np.int32)
        parts = []
        for i in range(q):
            part = boxes.box[ids, self.shapes.at[i] : self.shapes.at[i + 1]]
            nodes = int(self.shapes.start[i + 1] - self.shapes.start[i])
            if self.shapes.kind[i] == kernels.TREE and nodes <= 4 * len(ids):
                different, codes[:, i] = np.arange(nodes)[:, None], part[:, 0]  # as they are
            else:
                different, codes[:, i] = different_rows(part)
            parts.append(different)
        vectors, of = different_rows(codes)
        m = len(vectors)
        first, size = boxes.first[ids], boxes.size[ids]
        by_first, by_size = np.lexsort((first, of)), np.lexsort((first, size, of))
        begin = np.searchsorted(of[by_first], np.arange(m + 1))
        each = np.arange(m)
        tree = make_tuples(vectors, each, each)
        start = np.append(0, np.cumsum([len(part) for part in parts]))
        part = np.zeros((start[-1], max(part.shape[1] for part in parts)), np.int64)
        for i, one in enumerate(parts):
            part[start[i] : start[i + 1], : one.shape[1]] = one
        keeps = kernels.kept_by_values(self.shapes, start, part)
        none = np.zeros(start[-1], np.int64)
        made = nearest.Index(
            value=tree.value, kids=tree.kids, low=tree.low, high=tree.high,
            early=np.zeros(len(tree.value), np.int64), least=np.zeros(len(tree.value), np.int64),
            top=tree.top, node=np.zeros((m, q), np.int64), vector=vectors, begin=begin,
            by_first=ids[by_first], by_size=ids[by_size], next_first=begin[:-1].copy(),
            next_size=begin[:-1].copy(),
            waiting=np.zeros(nearest.SHORT + len(ids) // nearest.SHARE, np.int64),
            mark=np.array([len(ids), 0]), start=start, part=part, keeps=keeps,
            single=self._single(start, part),
            joined=none, search=none.copy(), tick=np.zeros(1, np.int64),
            looks=np.zeros(1, np.int64), own=np.zeros(q, np.int64),
            held=np.zeros((q, nearest.FEW + 1), np.int64),
            rest=np.zeros(q + 1, np.int64), turn=np.argsort(np.diff(self.shapes.at), kind="stable"),
            stack=np.zeros((q + 1, 4), np.int64),
        )  # fmt: skip
        nearest.settle(made, boxes)
        return made

    def _single(self, start: Longs, part: Longs) -> Longs:
        """The value of each set with a single value; -1 for everything else."""
        single = np.full(len(part), -1)
        for i in np.flatnonzero(self.shapes.kind == kernels.SET):
            rows = part[start[i] : start[i + 1]].view(np.uint8)
            bits = np.unpackbits(rows, axis=1, bitorder="little")
            single[start[i] : start[i + 1]] = np.where(
                bits.sum(axis=1) == 1, bits.argmax(axis=1), -1
            )
        return single

    def vectors(self, boxes: Longs) -> tuple[Ints, tuple[Covers, ...]]:
        """Boxes as published vectors, int32[boxes, q], and their free values."""
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
    """How many numbers of a box belong to a column."""
    return {kernels.TREE: 1, kernels.RANGE: 2}.get(_kind(tree), -(-tree.size // BITS))


def _scaled(table: Table, costs: Sequence[Longs]) -> list[Longs]:
    """Costs scaled so that the steps of free values cost whole numbers, if a small factor does it.

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
    """The distance of each value of a range from the lowest, or the loss of one more set member."""
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
    worth[0] = -most  # the root keeps nothing, nor does a number with a missing value
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


def different_rows(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Longs]:
    """The different rows, sorted, and which one each row is."""
    if rows.shape[1] == 1:
        values, which = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], which
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    new = np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1))[: len(rows)]
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ranked[new]), which


def _most_selective_first(table: Table, costs: Sequence[Longs]) -> Longs:
    """The columns in an order in which similar boxes are close to each other in the index.

    Columns with an expensive smallest step and few values come first.
    """
    worth = []
    for tree, cost in zip(table.trees, costs, strict=True):
        steps = (cost - cost[tree.parent])[1:].astype(np.float64)
        if isinstance(tree, FreeTree):
            steps = steps / max(tree.size - 2, 1)
        least = float(steps[steps > 0].min()) if (steps > 0).any() else 0.0
        worth.append(least / np.log2(1 + tree.size))
    return np.argsort(-np.array(worth), kind="stable")


def merge_failing(
    space: Space, boxes: nearest.Boxes, people: Longs, merging: Merging, progress: Progress
) -> Longs:
    """Merge the smallest failing box with the nearest until none fails (GAA).

    Returns the box that each one became part of. A merge of boxes has no strategy, and any box may
    be a partner.
    """
    judge = merging.judge
    state = start_state(people, 2 * len(people) + 1)
    fails = np.zeros(len(people), np.bool_)
    box_merge.begin(boxes, state, fails, merging.k, judge is not None)
    waiting = max(unsettled(state), 1)

    def step(index: nearest.Index, pieces: int) -> int:
        outcome: int = box_merge.merge_boxes(
            space.shapes, index, boxes, state, fails, merging.k, judge is not None,
            merging.by_size, pieces,
        )  # fmt: skip
        if outcome == merge.JUDGE:
            assert judge is not None
            ids = np.flatnonzero(state.unjudged)
            passes = judge(merge.survivors(state.into.copy()), ids)
            box_merge.take_verdicts(state, fails, ids, passes)
        return outcome

    def report() -> None:
        progress("merging", max(0.0, 1.0 - unsettled(state) / waiting))

    run_boxes(space, boxes, np.arange(len(people)), step, report)
    into: Longs = merge.survivors(state.into)
    return into


def run_boxes(
    space: Space,
    boxes: nearest.Boxes,
    ids: Longs,
    step: Callable[[nearest.Index, int], int],
    report: Callable[[], None],
) -> None:
    """Run a kernel over an index of the boxes `ids`; the index is rebuilt if needed."""
    run_steps(step, space.index(boxes, ids), lambda _: space.index(boxes), report)
