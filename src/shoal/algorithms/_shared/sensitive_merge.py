"""Algorithm 8 of Tassa 2012: coarser classes, until all satisfy the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from shoal.algorithms._shared.indexed import fan_of, larger, make_index, make_work
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.progress import Progress
from shoal.kernels.grouping import clusters as kernels
from shoal.kernels.grouping.merge import survivors
from shoal.kernels.search import class_index as trie
from shoal.models import Model
from shoal.table.equivalence_classes import Classes
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram

GRAIN = 2.0**40  # levels are compared in steps of 1 / GRAIN, so that ties are exact
HUGE = 1e280  # replaces infinite levels, as 0 * infinity is not a number
NEAR = (8, 64)  # how many candidates the index returns before all are sorted


def diversify(
    start: Classes,
    vectors: Ints,
    trees: trie.Trees,
    models: Sequence[Model],
    w: float,
    progress: Progress,
) -> tuple[Ints, Longs]:
    """The published values of each class, and the final class of each one in `start`.

    The class with the largest shortfall (among equals, the first) is merged with the class of the
    lowest w · cost_I + (1 - w) · cost_D (eq. 10); among equals, the one with the lowest cost_I,
    then the first. cost_I is the loss of the merge as a share of the maximum loss of the table
    (eq. 2). cost_D is the shortfall of the merged class (eq. 9): for frequency l-diversity
    l - div, and likewise for the level of any other model. Classes with the same published values
    become one.
    """
    state = _Merging(start, vectors, trees)
    whole = float(start.size.sum()) * _most(trees)
    fails = ~all_satisfied(models, start)
    heap = [
        (-short, int(first), int(c))
        for short, first, c in zip(
            shortfall(models, start)[fails].tolist(),
            start.first[fails].tolist(),
            np.flatnonzero(fails).tolist(),
            strict=True,
        )
    ]
    heapify(heap)
    waiting = max(len(heap), 1)
    stamp = {c: (short, first) for short, first, c in heap}
    while heap and state.alive > 1:
        short, first, c = heappop(heap)
        if stamp.get(c) != (short, first):
            continue  # merged since
        b = _partner(state, c, models, w, whole)
        for gone in state.merge(c, b):
            stamp.pop(gone, None)
        one = state.summary(np.array([c]))
        stamp.pop(c)
        if not all_satisfied(models, one)[0]:
            key = (-float(shortfall(models, one)[0]), int(state.classes.first[c]))
            stamp[c] = key
            heappush(heap, (*key, c))
        progress("making diverse", max(0.0, 1.0 - len(stamp) / waiting))
    progress("making diverse", 1.0)
    return state.classes.vector, survivors(state.into)


def shortfall(models: Sequence[Model], classes: Classes) -> Floats:
    """The shortfall of each class, summed over the models (eq. 9, Tassa 2012)."""
    gap = np.zeros(len(classes))
    for model in models:
        lacks = model.required - model.levels(classes)
        gap += np.maximum(lacks if model.higher_is_safer else -lacks, 0.0)
    rounded: Floats = np.round(np.minimum(gap, HUGE) * GRAIN) / GRAIN
    return rounded


def _most(trees: trie.Trees) -> float:
    """The maximum loss of one record: 1 for the costs of eq. 1, Tassa 2012."""
    most = np.maximum.reduceat(trees.cost, trees.start[:-1]).sum()
    return float(most) or 1.0


def _partner(state: _Merging, c: int, models: Sequence[Model], w: float, whole: float) -> int:
    """The class with which c is merged; candidates are tried by cost_I until that is too high."""
    partner, least = -1, np.inf
    for ids, cost in state.candidates(c):
        information = w * (cost / whole)
        total = information + (1 - w) * shortfall(models, state.summary(ids, c))
        best = int(total.argmin())  # the first among equals
        if total[best] < least:
            partner, least = int(ids[best]), float(total[best])
        if information[-1] >= least:
            break
    return partner


class _Merging:
    """Classes that are merged, their sensitive values, and an index of them."""

    def __init__(self, start: Classes, vectors: Ints, trees: trie.Trees) -> None:
        n = len(vectors)
        self.trees = trees
        self.classes = trie.IndexedClasses(
            np.ascontiguousarray(vectors), start.size.copy(), start.first.copy(),
            np.zeros(n, np.bool_),
        )  # fmt: skip
        self.people = start.people.copy()
        self.into = np.arange(n)
        self.alive = n
        self.start = start
        self.members = [np.array([c]) for c in range(n)]  # the classes of `start` in each
        self.values = {
            name: np.split(old.value, old.start[1:-1]) for name, old in start.histograms.items()
        }
        self.counts = {
            name: np.split(old.count, old.start[1:-1]) for name, old in start.histograms.items()
        }
        self.work = make_work(trees)
        self.index = make_index(n, trees)
        for c in range(n):
            self.make_room()
            trie.insert(self.index, trees, self.classes, c)

    def make_room(self) -> None:
        """Make room for two more classes in the index."""
        if not trie.has_room(self.index, 2 * len(self.trees.start), 2 * fan_of(self.trees)):
            self.index = larger(self.index, self.trees)

    def candidates(self, c: int) -> Iterator[tuple[Longs, Longs]]:
        """The other classes and the cost of merging c with them, cheapest first, in chunks.

        The first ones come from the index. All costs are computed only if those are not enough.
        """
        seen = 0
        for many in NEAR:
            ids, cost = self._nearest(c, many)
            if len(ids) > seen:
                yield ids[seen:], cost[seen:]
            seen = many
            if len(ids) < many:
                return
        ids = np.flatnonzero(self.into == np.arange(len(self.into)))
        ids = ids[ids != c]
        cost = np.empty(len(ids), np.int64)
        kernels.merge_costs(self.trees, self.classes, c, ids, cost)
        order = np.lexsort((self.classes.first[ids], cost))
        while seen < len(ids):
            chunk = order[seen : 4 * seen]
            yield ids[chunk], cost[chunk]
            seen *= 4

    def _nearest(self, c: int, many: int) -> tuple[Longs, Longs]:
        self.make_room()
        trie.remove(self.index, self.trees, self.classes, c, True)
        ids, cost = np.empty(many, np.int64), np.empty(many, np.int64)
        used = kernels.nearest_few(self.index, self.trees, self.classes, c, self.work, ids, cost)
        trie.insert(self.index, self.trees, self.classes, c)
        return ids[:used], cost[:used]

    def merge(self, c: int, b: int) -> list[int]:
        """Merge b into c; returns the classes that are gone: b, and any equal ones."""
        self.make_room()
        trie.remove(self.index, self.trees, self.classes, c, True)
        trie.remove(self.index, self.trees, self.classes, b, True)
        same = kernels.merge_into(self.index, self.trees, self.classes, self.into, c, b)
        gone = [b, int(same)] if same >= 0 else [b]
        for other in gone:
            both = self.summary(np.array([other]), c)
            self.people[c] += self.people[other]
            self.members[c] = np.concatenate([self.members[c], self.members[other]])
            for name, histogram in both.histograms.items():
                self.values[name][c], self.counts[name][c] = histogram.value, histogram.count
        self.alive -= len(gone)
        return gone

    def summary(self, ids: Longs, plus: int | None = None) -> Classes:
        """Classes in the form that models check, each merged with the class `plus` if given."""
        added = [] if plus is None else [plus] * len(ids)
        size, people = self.classes.size[ids], self.people[ids]
        if plus is not None:
            size, people = size + self.classes.size[plus], people + self.people[plus]
        histograms = {}
        for name, old in self.start.histograms.items():
            parts = [*ids.tolist(), *added]
            values, counts = self.values[name], self.counts[name]
            width = len(old.total)
            lengths = [len(values[part]) for part in parts]
            label = np.repeat(np.arange(len(parts)) % len(ids), lengths)
            key = label * width + np.concatenate([values[part] for part in parts])
            pairs, place = np.unique(key, return_inverse=True)
            weight = np.concatenate([counts[part] for part in parts])
            count = np.bincount(place, weight, len(pairs)).astype(np.int64)
            begin = np.searchsorted(pairs, np.arange(len(ids) + 1) * width)
            value = (pairs % width).astype(np.int32)
            histograms[name] = Histogram(old.column, begin, value, count, old.total)
        each = np.arange(len(ids))
        person_values = self._person_values(ids, plus) if self.start.person_values else {}
        return Classes(
            each, self.classes.first[ids], size, people, people, histograms, person_values
        )

    def _person_values(self, ids: Longs, plus: int | None) -> dict[str, PersonValues]:
        """The sensitive values of the people of those classes."""
        added = [] if plus is None else [self.members[plus]]
        parts = [part for c in ids.tolist() for part in (self.members[c], *added)]
        owner = np.repeat(np.arange(len(ids)), 1 + len(added))
        owner = np.repeat(owner, [len(part) for part in parts])
        group = np.concatenate(parts)
        return {
            name: merged_values(old, group, owner, len(ids))
            for name, old in self.start.person_values.items()
        }


def merged_values(old: PersonValues, group: Longs, owner: Longs, owners: int) -> PersonValues:
    """The people of each owner; `owner` (ascending) names the owner of each class in `group`."""
    many = old.different[group]
    person = np.repeat(old.start[group] - (np.cumsum(many) - many), many) + np.arange(many.sum())
    count = np.diff(old.first)[person]
    first = np.append(0, np.cumsum(count))
    place = np.repeat(old.first[person] - first[:-1], count) + np.arange(first[-1])
    start = np.append(0, np.cumsum(np.bincount(owner, many, owners).astype(np.int64)))
    return PersonValues(
        old.column,
        start,
        old.who[person],
        old.records[person],
        old.weight[person],
        first,
        old.value[place],
        old.total,
        old.person_count,
    )
