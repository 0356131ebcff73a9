"""Satisfying models about a population, after an algorithm has formed classes without them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from shoal.algorithms import DEFAULT
from shoal.algorithms._shared.population.widening import Steps, widened
from shoal.base.arrays import Ints, Longs
from shoal.base.errors import CannotReach, WayOut
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.kernels.group import group_rows
from shoal.losses import Loss
from shoal.models import TOLERANCE, Model
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_map import KMap
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.population.reader import Reader
from shoal.table.recoding import SUPPRESSED, Recoding


def of_population(table: Table, models: Sequence[Model]) -> list[Model]:
    """The models that are satisfied here: those about the population, if there is a table of it."""
    if table.population is None:
        return []
    return [model for model in models if model.needs_population]


def satisfying(
    table: Table, formed: Recoding, models: Sequence[Model], loss: Loss, progress: Progress = silent
) -> Recoding:
    """Generalize published values until the models are satisfied; raise an error if they cannot be.

    Values only become more general, and classes that become equal are one class. So every other
    model of classes is still satisfied: two classes that satisfy a model do so together. A model of
    the whole table is too, unless its level can rise by merging: the caller judges that.
    """
    state = _Vectors.of(table, formed, loss)
    for model in models:
        if isinstance(model, KMap):
            state.widen(np.full(len(state.vectors), model.k), model, progress)
    for model in models:
        if isinstance(model, DeltaPresence):
            _hide_presence(state, model, progress)
    return state.recoding(formed)


@dataclass(eq=False)
class _Vectors:
    """Distinct published vectors while they become more general."""

    table: Table
    steps: Steps
    vectors: Ints  # int32[vectors, q]
    people: Longs  # int64[vectors], of the table
    into: Longs  # int64[used vectors of the recoding], the vector of each
    used: Longs  # the vectors of the recoding that are published

    @staticmethod
    def of(table: Table, formed: Recoding, loss: Loss) -> _Vectors:
        """The vectors of a recoding."""
        covers = formed.covers or table.covers
        used = np.unique(formed.record[formed.record != SUPPRESSED])
        state = _Vectors(
            table,
            Steps.of(table, covers, loss),
            formed.vectors[used],
            _people(table, formed, used),
            np.arange(len(used)),
            used,
        )
        state.unite()
        return state

    @property
    def covers(self) -> Sequence[Covers]:
        """The free values of each column."""
        return self.steps.covers

    def unite(self) -> None:
        """Make vectors that became equal one."""
        label, first, _ = group_rows(np.ascontiguousarray(self.vectors, np.int32))
        self.people = np.bincount(label, self.people, len(first)).astype(np.int64)
        self.vectors, self.into = self.vectors[first], label[self.into]

    def widen(self, need: Longs, model: Model, progress: Progress) -> None:
        """Generalize each vector until it covers as many people as it needs."""
        need = np.where(self.people >= need, 0, need)  # they are people of the population too
        self.vectors, people = widened(self.steps, self.reader(), self.vectors, need, progress)
        if (people < need).any():
            raise self._out_of_reach(model, int(people[people < need].min()))
        self.unite()

    def _out_of_reach(self, model: Model, best: int) -> CannotReach:
        assert self.table.population is not None
        why = f"the population has {self.table.population.people:,} people"
        if any(isinstance(tree, FreeTree) for tree in self.table.trees):
            why += f", of whom the most general free values of a class cover {best:,}"
        if self.table.tops:
            why += ", and at_most does not let values be more general"
        return CannotReach(
            model.key,
            best,
            f"{model.key} with {model.required:g} cannot be reached: {why}; ask for less"
            f"{', or widen at_most' if self.table.tops else ''}",
        ).offering(WayOut("remove", model.key))

    def reader(self) -> Reader:
        """Finds the people of the population whom vectors cover."""
        assert self.table.population is not None
        return self.table.population.reader(self.table.names, [one.labels() for one in self.covers])

    def as_classes(self) -> Classes:
        """The vectors in the form that models take."""
        each = np.arange(len(self.vectors))
        coverage = self.reader().coverage(self.vectors)
        return Classes(each, each, self.people, self.people, self.people, coverage=coverage)

    def join_shared(self) -> None:
        """Merge all vectors that share people of the population, group by group."""
        group = self.reader().groups(self.vectors)
        joined = self.vectors.copy()
        for j, tree in enumerate(self.table.trees):
            column = joined[:, j]
            if isinstance(tree, FreeTree):
                low, high = _ends(column, group)
                joined[:, j] = np.where(low == high, column, 0)
                continue
            while True:  # up to the lowest value that covers the whole group
                low, high = _ends(column, group)
                apart = (column > low) | (high >= tree.end[column])
                if not apart.any():
                    break
                column = np.where(apart, tree.parent[column], column).astype(np.int32)
            joined[:, j] = column
        self.vectors = joined
        self.unite()

    def complies(self) -> bool:
        """Whether `at_most` lets all values be published."""
        return all(self.steps.allowed(j, self.vectors[:, j]).all() for j in range(self.columns))

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.table.names)

    def not_hidden(self, model: DeltaPresence, best: float) -> CannotReach:
        """The error if even one class does not hide who is in the table."""
        assert self.table.population is not None
        beyond = "" if self.complies() else ", and at_most does not let values be more general"
        published, everybody = int(self.people.sum()), self.table.population.people
        who, advice = f"the table has {published:,} people", "ask for other numbers"
        removed = WayOut("remove", model.key)
        ways_out = [removed]
        if published < self.table.person_count:  # the algorithm suppressed the others
            who = f"only {published:,} of {self.table.person_count:,} people are published,"
            advice += ", choose an algorithm that suppresses nobody"
            ways_out = [WayOut("algorithm", DEFAULT), removed]
        return CannotReach(
            model.key,
            best,
            f"{model.key} from {model.low:g} to {model.high:g} cannot be reached: {who} of a "
            f"population of {everybody:,}{beyond}; {advice}, or publish a sample of another size",
        ).offering(*ways_out)

    def recoding(self, formed: Recoding) -> Recoding:
        """The recoding with these vectors."""
        number = np.full(len(formed.vectors) + 1, SUPPRESSED)
        number[self.used] = self.into
        covers = tuple(self.covers) if formed.covers or any(map(len, self.covers)) else ()
        return replace(
            formed,
            vectors=np.ascontiguousarray(self.vectors, np.int32),
            record=np.where(formed.record == SUPPRESSED, SUPPRESSED, number[formed.record]),
            covers=covers,
            levels=(),
        )


def _hide_presence(state: _Vectors, model: DeltaPresence, progress: Progress) -> None:
    """Generalize and merge until nobody's presence is above `high` or below `low`.

    Classes that share people of the population are merged, as the presence of these people is not
    known. Then each class covers as many people as it needs for `high`; that may make classes
    share people again, until there is one class at the latest.
    """
    while True:
        classes = state.as_classes()
        assert classes.coverage is not None
        if model.satisfied(classes).all() and state.complies():
            return
        before = state.vectors
        if classes.coverage.shared.any():
            state.join_shared()
        else:
            need = [ceil(one / model.high * (1 - TOLERANCE)) for one in state.people.tolist()]
            with suppress(CannotReach):
                state.widen(np.array(need), model, progress)
        if np.array_equal(before, state.vectors):  # nothing more can be done for `high` alone
            if not before.any():
                raise state.not_hidden(model, model.reached(classes))
            state.vectors = np.zeros_like(before)
            state.unite()


def _ends(column: Ints, group: Longs) -> tuple[Ints, Ints]:
    """The lowest and the highest value of the group of each."""
    many = int(group.max()) + 1
    low, high = np.full(many, np.iinfo(np.int32).max, np.int32), np.zeros(many, np.int32)
    np.minimum.at(low, group, column)
    np.maximum.at(high, group, column)
    return low[group], high[group]


def _people(table: Table, formed: Recoding, used: Longs) -> Longs:
    """The people of each of these vectors, int64[used]."""
    rows = np.flatnonzero(formed.record != SUPPRESSED)
    label = np.searchsorted(used, formed.record[rows])
    if table.people is None:
        weight = None if table.weight is None else table.weight[rows]
        return np.bincount(label, weight, len(used)).astype(np.int64)
    pairs = np.unique(table.people[rows] * len(used) + label)
    often = None if table.person_weight is None else table.person_weight[pairs // len(used)]
    return np.bincount(pairs % len(used), often, len(used)).astype(np.int64)
