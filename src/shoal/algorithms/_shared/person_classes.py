"""Classes that grow person by person until they satisfy the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.algorithms._shared.boxes import Space
from shoal.algorithms._shared.indexed import run_steps
from shoal.base.arrays import Longs
from shoal.base.pace import Pace
from shoal.base.progress import Progress
from shoal.kernels.grouping import danonyir as people_kernels
from shoal.kernels.search import box_index as nearest
from shoal.kernels.search import boxes as kernels
from shoal.losses import Loss
from shoal.models import Model
from shoal.models.eir_alpha_beta_anonymity import EIRAlphaBetaAnonymity
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.models.ir_alpha_beta_anonymity import IRAlphaBetaAnonymity
from shoal.models.ir_k_anonymity import IRKAnonymity
from shoal.models.ir_kl_anonymity import IRKLAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding


def counts_people(model: Model) -> bool:
    """Whether the kernel can count what this model requires."""
    return bool(_demands(model, {}))


def _demands(model: Model, columns: dict[str, int]) -> list[tuple[int, int, float]]:
    """The requirements of a model in the form of the kernel; empty if it has no such form."""
    k = people_kernels
    column = columns.get(model.about or "", 0)
    match model:
        case KAnonymity() | IRKAnonymity():
            return [(k.PEOPLE, 0, model.k)]
        case KMap() if model.only_class_size:
            return [(k.PEOPLE, 0, model.min_people)]
        case IRKLAnonymity():
            return [(k.PEOPLE, 0, model.k), (k.VALUES, column, model.l)]
        case IRAlphaBetaAnonymity():
            return [(k.PERSON_SHARE, 0, model.alpha), (k.VALUE_SHARE, column, model.beta)]
        case EIRAlphaBetaAnonymity():
            return [(k.PERSON_SHARE, 0, model.alpha), (k.OWNERS_SHARE, column, model.beta)]
        case EIRLDiversity():
            return [(k.HITTING, column, model.l)]
    return []


class _Box(NamedTuple):
    """A finished class: its people and their published values."""

    people: list[int]
    box: Longs


class PersonClasses:
    """Classes of people: the finished ones, and the one that grows."""

    def __init__(
        self, table: Table, loss: Loss, models: Sequence[Model], person: Longs, order: Longs
    ) -> None:
        self.order = order
        self.space = space = Space.of(table, loss)
        n = len(order)
        first = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(first, person, np.arange(table.rows))
        self.first = first  # int64[people], the first record of each
        records = np.bincount(person, minlength=n)
        self.people = people_of(table, person, records)
        places = {one.name: i for i, one in enumerate(table.sensitive)}
        asked = [demand for model in models for demand in _demands(model, places)]
        kind, column, bound = (np.array(part) for part in zip(*asked, strict=True))
        self.demands = people_kernels.Demands(kind, column, bound.astype(np.float64))
        boxes = space.boxes(table.unified[first], table.covers)  # int64[people, words]
        self.pool = space.found(boxes, records, first)
        self.pool_index = space.index(self.pool, np.arange(n))
        room = 2 * n + 2
        nothing = np.zeros(room, np.int64)
        self.done = space.found(np.zeros((room, boxes.shape[1]), np.int64), nothing, nothing)
        self.done_index = space.index(self.done)
        self.clusters = people_kernels.Clusters(
            np.full(n, -1), np.full(room, -1), np.full(n, -1), np.zeros(2, np.int64)
        )
        self.forming = empty_class(self.people, n, self.demands)
        self.box = np.zeros(boxes.shape[1], np.int64)

    def cluster(self, progress: Progress) -> None:
        """Lines 2 to 19 of Algorithm 1."""
        people = len(self.order)

        def step(done_index: nearest.Index, pieces: int) -> int:
            outcome: int = people_kernels.cluster(
                self.space.shapes, self.pool, self.pool_index, self.done, done_index,
                self.people, self.demands, self.forming, self.clusters, self.order, self.box,
                pieces,
            )  # fmt: skip
            return outcome

        self.done_index = run_steps(
            step,
            self.done_index,
            lambda _: self.space.index(self.done),
            lambda: progress("clustering", 1.0 - int(self.pool_index.mark[0]) / people),
        )

    def handle(self, rng: np.random.Generator, progress: Progress) -> None:
        """Lines 20 to 26: assign the remaining people, in random order."""
        rest = np.sort(self.forming.who[: self.forming.mark[0]])
        rng.shuffle(rest)
        people_kernels.clear(self.people, self.forming)
        self.settle(rest, progress, suppress=True)

    def settle(self, rest: Longs, progress: Progress, suppress: bool = False) -> None:
        """Add each of these people to the nearest class that still satisfies the models.

        Algorithm 7. With `suppress` a person is suppressed if that loses less.
        """
        aside, pace = np.zeros(len(self.done.size), np.int64), Pace(1_000)
        for i, p in enumerate(rest):
            progress("settling", i / len(rest))
            most = self.suppression(p) if suppress else -1
            self._make_room()
            at = np.array([0, -1])
            while people_kernels.handle(
                self.space.shapes, self.pool, self.done, self.done_index, self.people, self.demands,
                self.forming, self.clusters, p, most, self.box, aside, at, pace.begin(),
            ) == people_kernels.PAUSED:  # fmt: skip
                pace.end()
                progress("settling", i / len(rest))
            for c in aside[: at[0]]:
                self._make_room()
                nearest.add(self.done_index, self.done, c)

    def _make_room(self) -> None:
        """Rebuild the index of classes if too many are not in it yet."""
        if nearest.needs_rebuild(self.done_index):
            self.done_index = self.space.index(self.done)

    def found(self, members: Longs, box: Longs) -> None:
        """Make these people a finished class, published as this box."""
        for p in members:
            people_kernels.admit(self.people, self.forming, p)
        self._make_room()
        people_kernels.found_class(
            self.space.shapes, self.done, self.done_index, self.forming, self.clusters, box,
            self.first,
        )  # fmt: skip
        people_kernels.clear(self.people, self.forming)

    def suppression(self, p: int) -> int:
        """The loss if all records of a person are suppressed."""
        keeps = kernels.kept(self.space.shapes, self.pool.box[p])
        return int(self.people.records[p] * keeps)  # a root keeps nothing

    @property
    def boxes(self) -> list[_Box]:
        """The finished classes."""
        found = []
        for c in np.flatnonzero(self.done.where):
            members, p = [], int(self.clusters.head[c])
            while p >= 0:
                members.append(p)
                p = int(self.clusters.next[p])
            found.append(_Box(members, self.done.box[c]))
        return found

    def recoding(self, person: Longs) -> Recoding:
        """The published values of each record."""
        of = np.full(len(self.order), SUPPRESSED)
        boxes = self.boxes
        for number, one in enumerate(boxes):
            of[one.people] = number
        vectors, covers = self.space.vectors(np.array([one.box for one in boxes]))
        return Recoding(vectors, of[person], covers)


def people_of(table: Table, person: Longs, records: Longs) -> people_kernels.People:
    """The sensitive values of all people, column by column."""
    n = len(records)
    parts: list[Any] = []
    offset = 0
    for c, one in enumerate(table.sensitive):
        values = len(one.values)
        pair, amount = np.unique(person * values + one.codes, return_counts=True)
        parts.append((pair // values, np.full(len(pair), c), pair % values + offset, amount))
        offset += values
    columns = len(table.sensitive)
    if not parts:
        none = np.zeros(0, np.int64)
        parts = [(none, none, none, none)]
    who, column, value, amount = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((value, column, who))
    key = who * max(columns, 1) + column
    first = np.searchsorted(key[order], np.arange(n * max(columns, 1) + 1))
    grid = np.empty((n, max(columns, 1) + 1), np.int64)
    grid[:, :-1] = first[:-1].reshape(n, -1)
    grid[:, -1] = first[max(columns, 1) :: max(columns, 1)]
    return people_kernels.People(
        records, grid, value[order].astype(np.int32), amount[order], max(offset, 1)
    )


def empty_class(
    people: people_kernels.People, n: int, demands: people_kernels.Demands
) -> people_kernels.Forming:
    """An empty class."""
    columns, values = people.first.shape[1] - 1, people.values
    return people_kernels.Forming(
        who=np.zeros(n, np.int64),
        mark=np.zeros(3, np.int64),
        rows=np.zeros(values, np.int64),
        owners=np.zeros(values, np.int64),
        sums=np.zeros((columns, 3), np.int64),
        first=np.zeros(n + 1, np.int64),
        value=np.zeros(len(people.value) + 1, np.int32),
        chosen=np.zeros(values, np.bool_),
        banned=np.zeros(values, np.bool_),
        used=np.zeros(values, np.int64),
        tick=np.zeros(1, np.int64),
        person=np.zeros(n + 3, np.int64),
        at=np.zeros(n + 3, np.int64),
        hit=np.zeros((len(demands.kind), int(demands.bound.max()) + 3), np.int64),
        seen=np.zeros((len(demands.kind), 2), np.int64),
        budget=np.zeros(1, np.int64),
        state=np.zeros(5, np.int64),
    )
