"""The columns of the linear program: groups of k records of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.base.arrays import Bools, Floats, Longs

MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of k rows, each of some tuples."""

    start: Longs  # int64[groups + 1], where the members of each begin
    member: Longs  # int64[…], tuples
    times: Longs  # int64[…], rows of each; k in every group
    keeps: Longs  # int64[groups], what each row keeps

    def __len__(self) -> int:
        return len(self.keeps)

    @property
    def of_member(self) -> Longs:
        """The group of each member."""
        found: Longs = np.repeat(np.arange(len(self)), np.diff(self.start))
        return found

    def names(self) -> list[int]:
        """A number for each group that is different for different members, almost surely."""
        mixed = (self.member.astype(np.uint64) + np.uint64(1)) * MIX
        mixed ^= mixed >> np.uint64(29)
        mixed *= MIX ^ self.times.astype(np.uint64)
        mixed ^= mixed >> np.uint64(32)
        found: list[int] = np.add.reduceat(mixed * MIX, self.start[:-1]).tolist()
        return found

    def some(self, which: Bools) -> Groups:
        """Some of these groups."""
        many = np.diff(self.start)
        kept = np.repeat(which, many)
        start: Longs = np.append(0, np.cumsum(many[which]))
        return Groups(start, self.member[kept], self.times[kept], self.keeps[which])


def joined(several: Sequence[Groups]) -> Groups:
    """All of these groups."""
    several = [NO_GROUPS, *several]
    ends = np.cumsum([one.start[-1] for one in several])
    return Groups(
        np.concatenate(
            [
                [0],
                *(
                    one.start[1:] + end - one.start[-1]
                    for one, end in zip(several, ends, strict=True)
                ),
            ]
        ).astype(np.int64),
        np.concatenate([one.member for one in several]),
        np.concatenate([one.times for one in several]),
        np.concatenate([one.keeps for one in several]),
    )


NO_GROUPS = Groups(np.zeros(1, np.int64), *(np.zeros((3, 0), np.int64)))


@dataclass(eq=False)
class Columns:
    """The groups that are known so far, and their weights.

    Every group counts k rows. A weight is the number of rows that are published by the group: all
    k of them have the weight k.
    """

    tuples: int
    k: int
    groups: Groups = NO_GROUPS
    weight: Floats = field(default_factory=lambda: np.zeros(0))
    _names: dict[int, int] = field(default_factory=dict)  # what a group with this name keeps

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, groups: Groups) -> int:
        """Add the groups that are new, or keep more than before; returns how many."""
        if not len(groups):
            return 0
        new = np.zeros(len(groups), bool)
        for g, (name, keeps) in enumerate(zip(groups.names(), groups.keeps.tolist(), strict=True)):
            if self._names.get(name, -1) < keeps:
                self._names[name] = keeps
                new[g] = True
        more = groups.some(new)
        self.groups = joined([self.groups, more])
        self.weight = np.append(self.weight, np.zeros(len(more)))
        return len(more)

    def keep(self, which: Bools) -> None:
        """Forget the other groups; they may come back."""
        self.groups, self.weight = self.groups.some(which), self.weight[which]
        names, keeps = self.groups.names(), self.groups.keeps.tolist()
        self._names = dict(zip(names, keeps, strict=True))

    def by_tuple(self) -> tuple[Longs, Longs, Floats]:
        """Where the groups of each tuple begin, the groups, and the share of their rows."""
        order = np.argsort(self.groups.member, kind="stable")
        many = np.bincount(self.groups.member, minlength=self.tuples)
        return (
            np.append(0, np.cumsum(many)),
            self.groups.of_member[order],
            (self.groups.times / self.k)[order],
        )


def of_classes(label: Longs, size: Longs, keeps: Longs, k: int) -> Groups:
    """The different groups of a partition: the rows of each class k by k, the last with others.

    `label` numbers the class of each tuple, and `keeps` has what a row of it keeps. A tuple of many
    rows fills groups that are all equal: only the first and the last that begin in it are made.
    """
    order = np.argsort(label, kind="stable")
    some, last = label[order], np.cumsum(size[order])  # rows up to the end of each tuple
    before = last - size[order]
    first = np.append(True, some[1:] != some[:-1])
    number = np.cumsum(first) - 1  # of the class
    base = before[first]  # rows before each class
    whole = np.diff(np.append(base, last[-1]))
    begin = -(-(before - base[number]) // k) * k, (last - base[number] - 1) // k * k
    inside = begin[0] < last - base[number], begin[1] >= before - base[number]
    at = [base[number] + np.minimum(one, whole[number] - k) for one in begin]
    begins = np.unique(np.concatenate([one[well] for one, well in zip(at, inside, strict=True)]))
    low = np.searchsorted(last, begins, "right")
    many = np.searchsorted(last, begins + k) + 1 - low
    start: Longs = np.append(0, np.cumsum(many))
    of = np.repeat(np.arange(len(begins)), many)
    place = np.arange(start[-1]) - start[of] + low[of]
    times = np.minimum(last[place], begins[of] + k) - np.maximum(before[place], begins[of])
    return Groups(start, order[place], times, keeps[order[low]].astype(np.int64))
