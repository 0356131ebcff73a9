"""How many people are left for each person, when other values rule out records of the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.attacks._evidence import CLOSE
from shoal.attacks._relations import WRONG, Places, Relation, joint_codes
from shoal.attacks._unchanged import Cells, Leaves
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.threads import cached_property
from shoal.kernels import crowds as kernels
from shoal.kernels.group import group_rows
from shoal.kernels.relations import Covered
from shoal.table.equivalence_classes import of_people
from shoal.table.published_table import Published

AT_A_TIME = 20_000_000  # records between two pauses for Ctrl-C
NO_INTS = np.zeros((0, 0), np.int32)


@dataclass(frozen=True, eq=False)
class Crowds:
    """The crowds of a table, for attackers who use some relations.

    A person is one cell, or all cells of a person where there is a person column.
    """

    published: Published
    quasi: Sequence[Leaves]
    cells: Cells
    k: int
    _known: dict[tuple[int, ...], _Few] = field(default_factory=dict)  # by relations

    @cached_property
    def weight(self) -> Longs:
        """How many people each person stands for, int64[persons]."""
        one = np.ones(len(self.label), np.int64) if self.cells.weight is None else self.cells.weight
        return one if self.person is None else of_people(one, self.person)

    def left(self, relations: Sequence[Relation]) -> Longs:
        """How many people are left for each person; k: as many or more, int64[persons].

        Also k where the attack does not succeed: the person was among fewer before, or is not among
        those who are left.
        """
        found = np.full(len(self.weight), self.k, np.int64)
        few = self._few(relations)
        found[few.person[few.own]] = few.left[few.own]
        return found

    def is_right(self, relations: Sequence[Relation]) -> bool:
        """Whether people with too few left are among those who are left, more than by chance.

        If any people of the class were left, as many as they are, the person would be one of them
        with the probability of that share.
        """
        few = self._few(relations)
        weight = self.weight[few.person]
        chance = weight * (1 - few.left / self._before[few.person])
        return bool(weight[~few.own].sum() <= WRONG * chance.sum() + CLOSE)

    def _few(self, relations: Sequence[Relation]) -> _Few:
        """The people for whom fewer than k are left, and who were among k or more before."""
        key = tuple(map(id, relations))
        if key not in self._known:
            self._known[key] = self._count_few(relations)
        return self._known[key]

    def _count_few(self, relations: Sequence[Relation]) -> _Few:
        view = _View.of(self, relations) if relations else None
        if view is None:
            return _Few(*(np.zeros(0, np.int64),) * 2, np.zeros(0, np.bool_))
        left, own = view.counted(self.k)
        few = np.flatnonzero((left < self.k) & (self._before[view.persons] >= self.k))
        return _Few(view.persons[few], left[few], own[few])

    @cached_property
    def label(self) -> Longs:
        """The class of each cell, int64[cells]."""
        label = self.published.class_of_row
        return label if self.cells.row is None else label[self.cells.row]

    @cached_property
    def person(self) -> Longs | None:
        """The person of each cell, int64[cells]; None: each is one."""
        return self.cells.person_by(self.published.person_of_row)

    @cached_property
    def _before(self) -> Longs:
        """The people among whom each person was before, int64[persons]."""
        unit, many = self.published.unit, self.published.classes.candidates
        many = many if unit is None else many[unit]
        many = many if self.cells.row is None else many[self.cells.row]
        return many if self.person is None else of_people(many, self.person)

    def true(self, j: int) -> tuple[Ints, Ints] | None:
        """The leaves that the true value of each cell may be; None: they are not known."""
        low, high = self.quasi[j].true_low, self.quasi[j].true_high
        if low is None or high is None:
            return None
        row = self.cells.row
        return (low, high) if row is None else (low[row], high[row])

    def code(self, columns: Places) -> Ints:
        """The value of some columns in each cell."""
        return joint_codes([self.cells.codes[c] for c in columns])


@dataclass(frozen=True, eq=False)
class _Few:
    """People for whom too few are left."""

    person: Longs
    left: Longs
    own: Bools  # whether the person is one of those who are left


@dataclass(frozen=True, eq=False)
class _View:
    """The part of a table that some relations are about, for the kernels."""

    seen: kernels.View
    target: Longs  # int64[persons], what is known of each
    group: Longs  # int64[persons], the records of each
    persons: Longs  # int64[persons], the number of each in the table

    @staticmethod
    def of(table: Crowds, relations: Sequence[Relation]) -> _View | None:
        """None: no class is touched."""
        quasi = sorted({one.quasi for one in relations})
        columns = list(dict.fromkeys(one.columns for one in relations))
        general, value, covered = _published(table, quasi)
        touched: Bools = np.asarray(general.any(axis=1))
        cells = np.flatnonzero(touched[table.label])
        if not len(cells):
            return None
        who = table.person
        if who is not None:  # the other records of these people matter too
            cells = np.arange(len(who))
        label = table.label[cells]
        codes = np.stack([table.code(one)[cells] for one in columns], axis=1)
        true = [ends for j in quasi if (ends := table.true(j)) is not None]
        low, high = (
            np.stack([ends[side][cells] for ends in true], axis=1) if true else NO_INTS
            for side in (0, 1)
        )
        weight = table.weight if who is not None else table.weight[cells]
        records, group = _records(label, codes, who, weight, len(general))
        targets, target = _targets(label, codes, low, high, who)
        return _View(
            seen=kernels.View(
                _relations(relations, columns, quasi), records, targets, general, value, covered
            ),
            target=target,
            group=group,
            persons=cells if who is None else np.arange(len(weight)),
        )

    def counted(self, k: int) -> tuple[Longs, Bools]:
        """How many people are left for each person, at most k, and if the person is one of them."""
        left = np.zeros(len(self.seen.targets.start) - 1, np.int64)
        mark, t = np.full(len(self.seen.records.weight), -1, np.int64), 0
        while t < len(left):
            t = kernels.count_left(self.seen, k, mark, left, t, AT_A_TIME)
        own = np.zeros(len(self.target), np.bool_)
        for begin in range(0, len(own), AT_A_TIME):
            some = slice(begin, begin + AT_A_TIME)
            kernels.is_left(self.seen, self.target[some], self.group[some], own[some])
        return left[self.target], own


def _published(table: Crowds, quasi: Sequence[int]) -> tuple[Bools, Longs, Covered]:
    """What is published of some quasi-identifiers in each class, and the leaves of all values."""
    read = [table.quasi[j] for j in quasi]
    first = table.published.classes.first
    codes = [table.published.codes[first, j] for j in quasi]  # -1, missing, is the last
    values = np.cumsum([0, *(len(one.exact) for one in read)])
    lists = np.cumsum([0, *(len(one.covered.leaf) for one in read)])
    general = [one.exact[code] < 0 for one, code in zip(read, codes, strict=True)]
    value = [code % len(one.exact) + at for one, code, at in zip(read, codes, values, strict=False)]
    covered = [one.covered for one in read]
    return (
        np.stack(general, axis=1),
        np.stack(value, axis=1).astype(np.int64),
        Covered(
            low=np.concatenate([one.low for one in covered]),
            high=np.concatenate([one.high for one in covered]),
            start=np.concatenate([one.start + at for one, at in zip(covered, lists, strict=False)]),
            stop=np.concatenate([one.stop + at for one, at in zip(covered, lists, strict=False)]),
            leaf=np.concatenate([one.leaf for one in covered]),
        ),
    )


def _relations(
    relations: Sequence[Relation], columns: Sequence[Places], quasi: Sequence[int]
) -> kernels.Relations:
    values = np.cumsum([0, *(len(one.kind) for one in relations)])
    leaves = np.cumsum([0, *(len(one.leaf) for one in relations)])
    starts = [one.start[:-1] + at for one, at in zip(relations, leaves, strict=False)]
    return kernels.Relations(
        column=np.array([columns.index(one.columns) for one in relations]),
        quasi=np.array([quasi.index(one.quasi) for one in relations]),
        base=values[:-1],
        kind=np.concatenate([one.kind for one in relations]),
        start=np.append(np.concatenate(starts), leaves[-1]),
        leaf=np.concatenate([one.leaf for one in relations]),
    )


def _records(
    label: Longs, codes: Ints, who: Longs | None, weight: Longs, classes: int
) -> tuple[kernels.Records, Longs]:
    """The distinct records of each class, and the group of each person.

    Without persons, records with the same codes are a group of as many people.
    """
    own = [] if who is None else [who]
    place, first, _ = group_rows(np.column_stack([*own, label, codes]).astype(np.int32))
    order = np.argsort(label[first], kind="stable")
    taken = first[order]
    if who is None:
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        group = member = np.arange(len(order))
        people = np.bincount(rank[place], weight, len(order)).astype(np.int64)
        mine: Longs = rank[place]
    else:
        group, people = who[taken], weight
        member, mine = np.argsort(group, kind="stable"), np.arange(len(weight))
    records = kernels.Records(
        code=codes[taken],
        group=group,
        start=np.searchsorted(label[taken], np.arange(classes + 1)),
        weight=people,
        first=np.searchsorted(group[member], np.arange(len(people) + 1)),
        member=member,
        label=label[taken],
    )
    return records, mine


def _targets(
    label: Longs, codes: Ints, low: Ints, high: Ints, who: Longs | None
) -> tuple[kernels.Targets, Longs]:
    """The distinct records that are known, and which of them are known of each person."""
    known = [codes] if not len(low) else [low, high]
    own = [] if who is None else [who]
    place, first, _ = group_rows(np.column_stack([*own, label, *known]).astype(np.int32))
    if who is None:
        start, mine = np.arange(len(first) + 1), place
    else:
        first = first[np.argsort(who[first], kind="stable")]
        mine = np.arange(int(who.max()) + 1)
        start = np.searchsorted(who[first], np.arange(len(mine) + 1))
    targets = kernels.Targets(
        start=start,
        label=label[first],
        low=low[first] if len(low) else low,
        high=high[first] if len(high) else high,
        code=NO_INTS if len(low) else codes[first],
    )
    return targets, mine
