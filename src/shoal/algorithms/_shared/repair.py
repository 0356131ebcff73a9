"""Repair of classes that violate a model: they take tuples from others, or are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.exchange import in_classes
from shoal.algorithms._shared.indexed import fan_of, larger, make_index, make_work, run
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.algorithms._shared.sensitive_merge import merged_values, shortfall
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.pace import Pace, parts
from shoal.base.progress import Progress
from shoal.kernels.grouping import repair as kernels
from shoal.kernels.grouping.parts import fill_index
from shoal.kernels.histogram import sum_groups, sum_trials
from shoal.kernels.search import class_index as trie
from shoal.models import Model
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram

FREQUENT = 32  # values of a sensitive column for which lists of tuples are prepared
HARDLY = 1e-9  # smaller improvements count as none
LAST = 1e200  # score of a merge without improvement, after all others


class Effort(NamedTuple):
    """How much is tried to repair a class."""

    classes: int  # nearest classes with which a merge is tried
    holders: int  # nearest tuples tried per value that a class lacks most …
    lacking: int  # … and the number of such values
    taking: int  # rounds after which classes are only merged, so that the repair ends
    at_once: float  # share of the failing classes repaired in a round, the cheapest first


THOROUGH = Effort(classes=8, holders=4, lacking=4, taking=60, at_once=0.5)
QUICK = Effort(classes=4, holders=2, lacking=2, taking=5, at_once=0.8)  # loses about as much


class Holders(NamedTuple):
    """The tuples that have a value of a sensitive column."""

    column: str
    value: int
    holds: Bools  # bool[tuples]


class Options(NamedTuple):
    """Possible repairs of failing classes: merge with a class, or take a tuple from it."""

    owner: Longs  # the failing class
    other: Longs  # the other class
    taken: Longs  # the tuple that moves; -1: the classes are merged
    score: Floats  # cost per unit of violation that it removes


class Repair:
    """Classes of tuples, some of which violate a model.

    The shortfall of a class counts once per record. So merging two classes with the same shortfall
    gains nothing, and merging two classes that complement each other gains everything.
    """

    def __init__(
        self, layout: Layout, vector: Ints, start: Classes, models: Sequence[Model], k: int,
        label: Longs, effort: Effort = THOROUGH,
    ) -> None:  # fmt: skip
        self.effort = effort
        self.trees, self.start, self.models, self.k = layout.trees, start, models, k
        trees = layout.trees
        n, q = vector.shape
        self.classes, self.parts = in_classes(layout.shapes, vector, start, label)
        self.many = many = len(self.parts.head)
        self.fan, self.work, self.left = fan_of(trees), make_work(trees), np.empty(q, np.int32)
        self.index = make_index(many, trees)
        self.paces = [Pace(256) for _ in range(3)]  # of the three kinds of work that run in parts

        def fill(index: trie.Index, pieces: int) -> int:
            outcome: int = fill_index(index, trees, self.classes, self.parts, self.fan, pieces)
            return outcome

        self.index = run(fill, self.index, trees, lambda: None)
        self.short, self.fails = np.zeros(many), np.zeros(many, np.bool_)
        self._judge_again(self.alive)
        self.holders = [one for h in start.histograms.values() for one in _holders(h, n)]
        self.near_by = [self._index_of(one) for one in self.holders]
        # Rare values are farther away: to search for one takes longer than for a frequent one.
        self.holder_paces = [Pace(16) for _ in self.holders]

    @property
    def alive(self) -> Longs:
        """The numbers of the existing classes."""
        return np.flatnonzero(self.parts.head >= 0)

    def run(self, progress: Progress) -> Longs:
        """Number the class of each tuple; none violates a model, unless the whole table does."""
        stale = self.fails.copy()  # classes whose best option is unknown
        none = np.full(self.many, -1, np.int64)
        best = Options(none, none.copy(), none.copy(), np.zeros(self.many))
        waiting, rounds = max(int(self.fails.sum()), 1), 0
        while self.fails.any() and len(self.alive) > 1:
            ids = np.flatnonzero(stale & self.fails)
            if len(ids):
                found = self._options(ids, rounds < self.effort.taking)
                for known, new in zip(best, found, strict=True):
                    known[ids] = new
            touched = self._do_cheapest(best)
            stale = touched | touched[best.other]
            rounds += 1
            progress("repairing classes", max(0.0, 1.0 - int(self.fails.sum()) / waiting))
        progress("repairing classes", 1.0)
        return self.parts.of

    def _do_cheapest(self, best: Options) -> Bools:
        """Apply the cheapest repairs, each class once; returns which classes have changed."""
        ids = np.flatnonzero(self.fails)
        ids = ids[np.argsort(best.score[ids], kind="stable")]
        touched = np.zeros(self.many, np.bool_)
        for c in ids[: max(1, int(len(ids) * self.effort.at_once))].tolist():
            b, x = int(best.other[c]), int(best.taken[c])
            gone = self.parts.head[c] < 0 or self.parts.head[b] < 0  # merged with an equal class
            if gone or touched[c] or touched[b]:
                continue
            self._make_room()
            touched[c] = touched[b] = True
            at = (self.index, self.trees, self.classes, self.parts)
            if x < 0:
                kernels.merge_two(*at, c, b)
            else:
                kernels.move_one(*at, x, c, self.left)
        gone = self.parts.head < 0
        self.short[gone], self.fails[gone] = 0.0, False
        self._judge_again(np.flatnonzero(touched & ~gone))
        touched |= gone
        return touched

    def _judge_again(self, ids: Longs) -> None:
        """Judge these classes as they are now."""
        if len(ids):
            self.short[ids], self.fails[ids] = self._judged(ids)

    def _judged(
        self,
        a: Longs,
        b: Longs | None = None,
        minus: Longs | None = None,
        plus: Longs | None = None,
    ) -> tuple[Floats, Bools]:
        """The shortfall of classes, once per record, and whether they violate a model."""
        none = np.full(len(a), -1, np.int64)
        b, minus, plus = (none if one is None else one for one in (b, minus, plus))
        short, fails = np.zeros(len(a)), np.zeros(len(a), np.bool_)
        for begin, stop in parts(len(a), self.paces[0]):
            part = slice(begin, stop)
            classes = self._trials(a[part], b[part], minus[part], plus[part])
            short[part] = shortfall(self.models, classes) * classes.size
            fails[part] = ~all_satisfied(self.models, classes)
        return short, fails

    def _trials(self, a: Longs, b: Longs, minus: Longs, plus: Longs) -> Classes:
        """Class a with class b, without one tuple and with another one; -1: without any.

        A class takes part in many trials: its tuples are gone through only once.
        """
        is_plain = not ((b >= 0).any() or (minus >= 0).any() or (plus >= 0).any())
        if is_plain or self.start.person_values:
            return self._summary(*kernels.members_of(self.parts, a, b, minus, plus))
        ids = np.unique(np.concatenate([a, b[b >= 0]]))
        none = np.full(len(ids), -1, np.int64)
        known = self._summary(*kernels.members_of(self.parts, ids, none, none, none))
        one, other = np.searchsorted(ids, a), np.where(b >= 0, np.searchsorted(ids, b), -1)

        def total(of_class: Longs, of_tuple: Longs) -> Longs:
            both = of_class[one] + np.where(other >= 0, of_class[other], 0)
            more = np.where(plus >= 0, of_tuple[plus], 0) - np.where(minus >= 0, of_tuple[minus], 0)
            return np.asarray(both + more)

        histograms = {}
        for name, old in self.start.histograms.items():
            now = known.histograms[name]
            first, value, count = sum_trials(
                one, other, minus, plus, (now.start, now.value, now.count),
                (old.start, old.value, old.count), len(old.total),
            )  # fmt: skip
            histograms[name] = Histogram(old.column, first, value, count, old.total)
        size = total(known.size, self.start.size)
        people = total(known.people, self.start.people)
        each = np.arange(len(a))
        return Classes(each, known.first[one], size, people, people, histograms, {})

    def _summary(self, begin: Longs, member: Longs) -> Classes:
        """Sets of tuples as classes, in the form that models check."""
        start, owners = self.start, len(begin) - 1
        size = np.add.reduceat(start.size[member], begin[:-1])
        people = np.add.reduceat(start.people[member], begin[:-1])
        histograms = {}
        for name, old in start.histograms.items():
            first, value, count = sum_groups(
                begin, member, old.start, old.value, old.count, len(old.total)
            )
            histograms[name] = Histogram(old.column, first, value, count, old.total)
        owner = np.repeat(np.arange(owners), np.diff(begin))
        person_values = {
            name: merged_values(old, member, owner, owners)
            for name, old in start.person_values.items()
        }
        each = np.arange(owners)
        return Classes(
            each, start.first[member[begin[:-1]]], size, people, people, histograms, person_values
        )

    def _options(self, ids: Longs, taking: bool) -> Options:
        """The best repair of each of these classes."""
        self._make_room()
        near = self._near(ids)
        owner, tuples, cost = self._near_holders(ids)
        # A class that has the missing values may be worth a merge, too.
        pairs = np.unique(
            np.concatenate([near, owner * self.many + self.parts.of[tuples]])
        )  # int64[pairs]
        found = [self._merges(ids[pairs // self.many], pairs % self.many)]
        if taking:
            found.append(self._takes(ids[owner], tuples, cost))
        owner, other, taken, score = (np.concatenate(both) for both in zip(*found, strict=True))
        order = np.lexsort((score, owner))
        order = order[np.unique(owner[order], return_index=True)[1]]
        return Options(owner[order], other[order], taken[order], score[order])

    def _near(self, ids: Longs) -> Longs:
        """The nearest classes: place in `ids` and number of the class, as one number."""
        most = self.effort.classes
        found = np.empty((len(ids), most), np.int64)
        used = np.zeros(len(ids), np.int64)
        costs = np.empty_like(found)
        for begin, stop in parts(len(ids), self.paces[1]):
            part = slice(begin, stop)
            kernels.near_classes(
                self.index, self.trees, self.classes, ids[part], self.work, found[part],
                costs[part], used[part],
            )  # fmt: skip
        place, at = np.nonzero(np.arange(most) < used[:, None])
        return place * self.many + found[place, at]

    def _near_holders(self, ids: Longs) -> tuple[Longs, Longs, Longs]:
        """Near tuples of other classes with the values that these classes lack most.

        Returns the place of the class in `ids`, the tuple, and the cost of moving it.
        """
        lacks, most = self._lacking(ids), self.effort.holders
        nothing = np.zeros(0, np.int64)
        found = [(nothing, nothing, nothing)]
        for number, one in enumerate(self.holders):
            some = np.flatnonzero(lacks[:, number])
            if not len(some):
                continue
            index = self.near_by[number] = self._with_room(self.near_by[number])
            near, cost = (np.empty((len(some), most), np.int64) for _ in range(2))
            used = np.zeros(len(some), np.int64)
            for begin, stop in parts(len(some), self.holder_paces[number]):
                part = slice(begin, stop)
                kernels.near_holders(
                    index, self.trees, self.classes, self.parts, ids[some[part]], one.holds,
                    self.work, near[part], cost[part], used[part],
                )  # fmt: skip
            place, at = np.nonzero(np.arange(most) < used[:, None])
            found.append((some[place], near[place, at], cost[place, at]))
        owner, tuples, cost = (np.concatenate(part) for part in zip(*found, strict=True))
        return owner, tuples, cost

    def _lacking(self, ids: Longs) -> Bools:
        """The values that each class lacks most, compared with the table, bool[ids, holders]."""
        none = np.full(len(ids), -1, np.int64)
        classes = self._summary(*kernels.members_of(self.parts, ids, none, none, none))
        lacks = np.zeros((len(ids), len(self.holders)), np.bool_)
        for name, histogram in classes.histograms.items():
            places = [i for i, one in enumerate(self.holders) if one.column == name]
            values = np.array([self.holders[i].value for i in places])
            place = np.full(len(histogram.total), -1)
            place[values] = np.arange(len(values))
            known = place[histogram.value] >= 0
            gap = np.tile(histogram.overall[values], (len(ids), 1))
            gap[histogram.of_class[known], place[histogram.value[known]]] -= histogram.share[known]
            most = np.argsort(-gap, axis=1, kind="stable")[:, : self.effort.lacking]
            chosen = np.zeros(gap.shape, np.bool_)
            np.put_along_axis(chosen, most, True, axis=1)
            lacks[:, places] = chosen & (gap > 0)
        return lacks

    def _merges(self, a: Longs, b: Longs) -> Options:
        """The scores of merging these pairs."""
        cost = np.empty(len(a), np.int64)
        kernels.costs_of_merges(self.trees, self.classes, a, b, cost)
        short, _ = self._judged(a, b)
        closer = self.short[a] + self.short[b] - short
        score = np.where(closer > HARDLY, cost / np.maximum(closer, HARDLY), LAST * (1.0 + cost))
        return Options(a, b, np.full(len(a), -1, np.int64), score)

    def _takes(self, a: Longs, tuples: Longs, cost: Longs) -> Options:
        """The scores of taking these tuples, if their classes can spare them."""
        now = self.parts
        b = now.of[tuples]
        spare = now.class_people[b] - now.people[tuples] >= max(self.k, 1)
        a, b, tuples, cost = a[spare], b[spare], tuples[spare], cost[spare]
        if not len(a):
            return Options(a, b, tuples, np.zeros(0))
        gain = np.empty(len(a), np.int64)
        for begin, stop in parts(len(a), self.paces[2]):
            kernels.gains_of_leaving(
                self.trees, self.classes, self.parts, tuples[begin:stop], self.left,
                gain[begin:stop],
            )  # fmt: skip
        with_it, _ = self._judged(a, plus=tuples)
        without, breaks = self._judged(b, minus=tuples)
        closer = self.short[a] + self.short[b] - with_it - without
        fine = (closer > HARDLY) & (without <= self.short[b]) & (self.fails[b] | ~breaks)
        lost = (cost - gain).astype(np.float64)
        score = np.where(lost > 0, lost / np.maximum(closer, HARDLY), lost)
        return Options(a[fine], b[fine], tuples[fine], score[fine])

    def _index_of(self, one: Holders) -> trie.Index:
        """An index of the tuples with a value."""
        rows = self.many + np.flatnonzero(one.holds)
        room = 2 * len(rows) + 64, 3 * len(rows) + 4 * self.fan + 64
        index: trie.Index = trie.empty_index(len(self.classes.size), len(self.trees.cost), *room)
        at = np.zeros(1, np.int64)

        def step(index: trie.Index, pieces: int) -> int:
            outcome: int = kernels.fill_with(
                index, self.trees, self.classes, rows, self.fan, at, pieces
            )
            return outcome

        return run(step, index, self.trees, lambda: None)

    def _make_room(self) -> None:
        self.index = self._with_room(self.index)

    def _with_room(self, index: trie.Index) -> trie.Index:
        """The index, with enough room for the next part of the work."""
        times = 2 * self.effort.classes
        while not trie.has_room(index, times * len(self.trees.start), times * self.fan):
            index = larger(index, self.trees)
        return index


def _holders(histogram: Histogram, tuples: int) -> list[Holders]:
    """The tuples with each of the frequent values."""
    often = np.argsort(-histogram.total, kind="stable")[:FREQUENT]
    found = []
    for value in often[histogram.total[often] > 0].tolist():
        holds = np.zeros(tuples, np.bool_)
        holds[histogram.of_class[histogram.value == value]] = True
        found.append(Holders(histogram.column.name, value, holds))
    return found
