"""The columns of the linear program: groups of k records of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
    """The groups of a partition: the rows of each class k by k, the last of them with others.

    `label` numbers the class of each tuple, and `keeps` has what a row of it keeps.
    """
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    start, member, times, kept = [0], [], [], []
    for begin, stop in pairwise([0, *cuts.tolist(), len(order)]):
        rows = np.repeat(order[begin:stop], size[order[begin:stop]])
        for at in range(0, len(rows), k):
            some, many = np.unique(rows[min(at, len(rows) - k) :][:k], return_counts=True)
            member.append(some)
            times.append(many)
            start.append(start[-1] + len(some))
            kept.append(int(keeps[order[begin]]))
    return Groups(
        np.array(start), np.concatenate(member), np.concatenate(times), np.array(kept, np.int64)
    )
