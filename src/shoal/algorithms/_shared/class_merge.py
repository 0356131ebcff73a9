"""Merging of failing classes over an index, each with the nearest (GAA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.algorithms._shared.indexed import fan_of, make_index, make_work, run
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.requirements import Judge
from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress
from shoal.kernels import levels
from shoal.kernels.grouping import merge as kernels
from shoal.kernels.search import class_index as trie
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Strategy:
    """A choice of partners by sensitive values, in the form of the kernel."""

    rule: Longs  # int64[3]: rule, kind of level, whether the whole table counts
    lists: levels.Lists  # the sensitive values of each class, or its people


@dataclass(frozen=True, eq=False)
class Merging:
    """Which classes fail, and with which classes they are merged."""

    k: int  # people that a class needs
    by_size: bool = True  # each side's cost counts once per record; otherwise once
    only_small: bool = False  # prefer partners among failing classes
    judge: Judge | None = None  # decides about classes with enough people
    strategy: Strategy | None = None  # None: the cheapest partner
    draws: Longs | None = None  # turns of the classes, and of those merged later; None: by people


def merge_classes(
    table: Table, start: Classes, layout: Layout, merging: Merging, progress: Progress
) -> Recoding:
    """Merge failing classes of a table until none is left."""
    vector, into = merged(table, start, layout, merging, progress)
    alive, number = np.unique(into, return_inverse=True)
    return Recoding(vectors=vector[alive], record=number[start.label])


def merged(
    table: Table, start: Classes, layout: Layout, merging: Merging, progress: Progress
) -> tuple[Ints, Longs]:
    """The published values of each class, and the class into which each one was merged."""
    merge = _Run(layout.arranged(table.unified[start.first]), start, layout.trees, merging)
    index = make_index(len(start), layout.trees)
    index = run(merge.fill, index, layout.trees, lambda: progress("merging", 0.0))
    waiting = max(unsettled(merge.state), 1)

    def report() -> None:
        progress("merging", max(0.0, 1.0 - unsettled(merge.state) / waiting))

    run(merge.merge, index, layout.trees, report)
    progress("merging", 1.0)
    return layout.restored(merge.classes.vector), kernels.survivors(merge.state.into)


def start_state(people: Longs, room: int, draws: Longs | None = None) -> kernels.Merge:
    """The initial state of a merge of classes with these numbers of people."""
    n = len(people)
    return kernels.Merge(
        into=np.arange(n),
        people=people.copy(),
        unjudged=np.zeros(n, np.bool_),
        turn=np.zeros(n, np.int64),
        draws=np.empty(0, np.int64) if draws is None else draws,
        heap=np.empty((room, 3), np.int64),
        counts=np.zeros(6, np.int64),
    )


def unsettled(state: kernels.Merge) -> int:
    """How many classes fail, or have not been judged yet."""
    return int(state.counts[2] + state.counts[4])


class _Run:
    """A merge in progress."""

    def __init__(self, vectors: Ints, start: Classes, trees: trie.Trees, merging: Merging) -> None:
        n = len(start)
        self.trees, self.merging, self.fan = trees, merging, fan_of(trees)
        self.classes = trie.IndexedClasses(
            vectors, start.size.copy(), start.first.copy(), np.zeros(n, np.bool_)
        )
        self.state = start_state(start.people, n + 1, merging.draws)
        self.work = make_work(trees)

    def fill(self, index: trie.Index, pieces: int) -> int:
        """Put classes into the index."""
        outcome: int = kernels.start_merge(
            index, self.trees, self.classes, self.state, self.merging.k,
            self.merging.judge is not None, self.fan, pieces,
        )  # fmt: skip
        return outcome

    def merge(self, index: trie.Index, pieces: int) -> int:
        """Merge classes; those that need a verdict get it together."""
        how, chosen = self.merging, self.merging.strategy
        kernel = kernels.merge_by_cost if chosen is None else kernels.merge_by_rule
        outcome: int = kernel(
            index, self.trees, self.classes, chosen and chosen.lists, self.state, self.work, how.k,
            how.judge is not None, how.by_size, how.only_small, chosen and chosen.rule, self.fan,
            pieces,
        )  # fmt: skip
        if outcome == kernels.JUDGE:
            assert how.judge is not None
            ids = np.flatnonzero(self.state.unjudged)
            passes = how.judge(kernels.survivors(self.state.into.copy()), ids)
            kernels.take_verdicts(index, self.classes, self.state, ids, passes)
        return outcome
