"""Exchange of tuples between classes, pass by pass, as long as it reduces the loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.tree import Tree
from shoal.kernels.grouping import exchange as kernels
from shoal.kernels.search import class_index as trie
from shoal.table.equivalence_classes import Classes

NEIGHBOURS = 4  # classes with which a class is partitioned again
VISITS = 1_000  # nodes of the index per tuple that one kind of move may visit in a pass
LITTLE = 0.001  # another pass follows if this share of the loss was gained


class Exchange:
    """Reduces the loss of classes of tuples; attributes are in the order of the index."""

    def __init__(self, layout: Layout, vector: Ints, start: Classes, k: int) -> None:
        self.shapes, self.trees, self.k = layout.shapes, layout.trees, k
        self.vector, self.start = vector, start
        price = self.trees.cost[self.trees.start[:-1] + vector].sum(axis=1)
        self.possible = int((price * start.size).sum())
        self.hurried = False  # whether a move ended before all classes were tried

    def improve(self, label: Longs, passes: int, report: Callable[[float], None]) -> Longs:
        """Renumber the class of each tuple; by the guiding costs, the loss never rises."""
        loss = self.loss(label)
        for number in range(passes):
            report(number / passes)
            better = self.one_pass(label, partial(_share_of, report, number, passes))
            now = self.loss(better)
            if now >= loss:
                break
            label, gain = better, loss - now
            if gain < LITTLE * loss:
                break
            loss = now
        report(1.0)
        return label

    def loss(self, label: Longs) -> int:
        """The loss of all records; infinite if a class has too few people."""
        if np.bincount(label, self.start.people)[label].min() < self.k:
            return self.possible + 1
        wide = closures(self.shapes, self.vector, label)
        kept = self.trees.cost[self.trees.start[:-1] + wide].sum(axis=1)
        return self.possible - int((kept * self.start.size).sum())

    def one_pass(self, label: Longs, report: Callable[[float], None]) -> Longs:
        """Move tuples, dissolve classes, re-partition neighbours: once each."""
        n, q = self.vector.shape
        classes, parts = in_classes(self.shapes, self.vector, self.start, label)
        many = len(parts.head)
        scratch = kernels.Scratch(
            np.empty(q, np.int32),
            np.empty(n, np.int64),
            np.empty(n, np.int64),
            np.empty(n + 1, np.int64),
            np.empty(n, np.bool_),
            np.empty(n, np.bool_),
            np.empty(NEIGHBOURS, np.int64),
        )
        work, fan = make_work(self.trees), fan_of(self.trees)
        index = [make_index(many, self.trees)]

        def each(stage: int, total: int, kernel: Callable[..., int], *args: Any) -> None:
            def step(at: trie.Index, pieces: int) -> int:
                index[0] = at  # it may have grown
                return kernel(at, self.trees, classes, parts, *args, fan, pieces)

            parts.at[0], parts.at[2] = 0, work.visits[0] + VISITS * n
            run(step, index[0], self.trees, lambda: report((stage + parts.at[0] / total) / 4))
            self.hurried = self.hurried or work.visits[0] >= parts.at[2]

        each(0, many, kernels.fill_index)
        each(1, n, kernels.move_tuples, work, scratch, self.k)
        each(2, many, kernels.dissolve_classes, work, scratch, self._worst(classes, parts), self.k)
        each(3, many, kernels.repartition, work, scratch, self._worst(classes, parts), self.k)
        return parts.of

    def _worst(self, classes: trie.IndexedClasses, parts: kernels.Parts) -> Longs:
        """The classes, in descending order of their loss per record."""
        many = len(parts.head)
        prices = self.trees.cost[self.trees.start[:-1] + classes.vector].sum(axis=1)
        whole = np.bincount(parts.of, prices[many:] * self.start.size, many)
        lost = whole / np.maximum(classes.size[:many], 1) - prices[:many]
        return np.argsort(-lost, kind="stable")


def in_classes(
    shapes: Sequence[Tree], vector: Ints, start: Classes, label: Longs
) -> tuple[trie.IndexedClasses, kernels.Parts]:
    """Classes of tuples in the form of the kernels: the classes first, then each tuple."""
    n, size, people, first = len(vector), start.size, start.people, start.first
    _, begin, label = np.unique(label, return_index=True, return_inverse=True)
    many = len(begin)
    earliest = np.full(many, n + first.max(), np.int64)
    np.minimum.at(earliest, label, first)
    classes = trie.IndexedClasses(
        np.concatenate([closures(shapes, vector, label)[begin], vector]),
        np.concatenate([np.bincount(label, size).astype(np.int64), size]),
        np.concatenate([earliest, first]),
        np.zeros(many + n, np.bool_),
    )
    parts = kernels.Parts(
        np.full(many, -1, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        label.astype(np.int64),
        np.bincount(label, people).astype(np.int64),
        people,
        np.zeros(3, np.int64),
    )
    kernels.link_all(parts)
    return classes, parts


def _share_of(report: Callable[[float], None], number: int, passes: int, share: float) -> None:
    """Report the progress of all passes, given that of one."""
    report((number + share) / passes)
