"""Reading quasi-identifiers back from other columns: who is among fewer than k people then."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.attacks._crowds import Crowds
from shoal.attacks._evidence import Known
from shoal.attacks._relations import Limits, Places, Relation, learn, that_say_most
from shoal.attacks._unchanged import Leaves, Unchanged
from shoal.base.arrays import Ints, Longs
from shoal.base.threads import cached_property, in_threads
from shoal.table.published_table import Published


@dataclass(frozen=True, eq=False)
class Way:
    """What an attacker finds by some columns."""

    left: Longs  # int64[persons], people who are left for each person, up to k
    weight: Longs  # int64[persons], how many people each stands for
    reads: tuple[int, ...]  # the quasi-identifiers that are narrowed
    k: int

    @property
    def below(self) -> int:
        """People for whom fewer than k are left."""
        return int(self.weight[self.left < self.k].sum())

    def finding(self, people: int) -> dict[str, Any]:
        """The numbers by the names of the JSON file; `people` are all of the table."""
        return {
            "people_below": self.below,
            "percent": 100.0 * self.below / people,
            "alone": int(self.weight[(self.left == 1) & (self.left < self.k)].sum()),
            "fewest_left": int(self.left.min(initial=self.k)),
        }


@dataclass(frozen=True, eq=False)
class ReadBack:
    """The relations between the columns of a table, and who is found by them."""

    published: Published
    unchanged: Unchanged
    quasi: Sequence[Leaves]
    relations: Sequence[Relation]
    k: int

    @staticmethod
    def by_release(published: Published, unchanged: Unchanged, k: int, limits: Limits) -> ReadBack:
        """As learned from records in which a quasi-identifier is published exactly.

        An attacker cannot know whether records of a class have a value in common because of that
        quasi-identifier, or because of another one that they share: each class counts once. With
        the original values it is known who is misled. Then attackers are also followed who count
        every record of a single column, and are right.
        """
        first = published.classes.first
        known = Known(
            place=published.class_of_row,
            leaf=[one.exact[published.codes[first, j]] for j, one in enumerate(unchanged.quasi)],
            leaves=[one.size for one in unchanged.quasi],
            person=None,
            once=True,
        )
        found = learn(unchanged.cells, known, limits)
        if not unchanged.known:
            return ReadBack(published, unchanged, unchanged.quasi, found, k)
        each = replace(known, once=False, person=published.person_of_row)
        found += learn(unchanged.cells, each, limits, pairs=False)
        return ReadBack(published, unchanged, unchanged.quasi, found, k).checked()

    def checked(self) -> ReadBack:
        """Without the relations that mislead an attacker; only with the original values."""
        judged = in_threads(lambda one: self._crowds.is_right([one]), self.relations)
        right = [one for one, is_right in zip(self.relations, judged, strict=True) if is_right]
        made = replace(self, relations=that_say_most(right))
        made.__dict__["_crowds"] = self._crowds  # knows more columns, and what was counted
        return made

    @staticmethod
    def by_original(published: Published, unchanged: Unchanged, k: int, limits: Limits) -> ReadBack:
        """As learned from the original values of all published records; of single columns only."""
        known = Known(
            place=np.arange(len(published.class_of_row)),
            leaf=[_single(one) for one in unchanged.known],
            leaves=[one.size for one in unchanged.known],
            person=published.person_of_row,
        )
        found = learn(unchanged.cells, known, limits, pairs=False)
        return ReadBack(published, unchanged, unchanged.known, found, k)

    @cached_property
    def each(self) -> dict[Places, Way]:
        """Each column by itself, and pairs of columns that say more than both of them."""
        columns = _places(self.relations)
        return dict(zip(columns, in_threads(self._way, columns), strict=True))

    def by(self, columns: Collection[int]) -> Way:
        """The people who are found by some of these columns, or by all of them together."""
        usable = [one for one in self.relations if set(one.columns) <= set(columns)]
        used = tuple(sorted({c for one in usable for c in one.columns}))
        ways = [self.each[some] for some in _places(usable)]
        if used and used not in self.each:
            ways.append(self._way(used))
        left = np.full(len(self._crowds.weight), self.k, np.int64)
        for way in ways:
            left = np.minimum(left, way.left)
        return self._made(left, usable)

    def to_accept(self, columns: Collection[int]) -> list[int]:
        """Columns without which the others of these bring nobody below k.

        First those that do so by themselves, then those of pairs, then all that rule out anything.
        """
        found: set[int] = set()
        for size in (1, 2):
            some = (one for one in self.each if len(one) == size and not found & set(one))
            found |= {
                c for one in some if set(one) <= set(columns) and self.each[one].below for c in one
            }
        left = set(columns) - found
        if self.by(left).below:
            found |= {c for one in self.relations if set(one.columns) <= left for c in one.columns}
        return sorted(found)

    def _way(self, columns: Places) -> Way:
        own = [one for one in self.relations if set(one.columns) <= set(columns)]
        return self._made(self._crowds.left(own), own)

    def _made(self, left: Longs, relations: Sequence[Relation]) -> Way:
        reads = tuple(sorted({one.quasi for one in relations}))
        return Way(left, self._crowds.weight, reads, self.k)

    @cached_property
    def _crowds(self) -> Crowds:
        return Crowds(self.published, self.quasi, self.unchanged.cells, self.k)


def _places(relations: Sequence[Relation]) -> list[Places]:
    """The columns of relations, each once."""
    return list(dict.fromkeys(one.columns for one in relations))


def _single(quasi: Leaves) -> Ints:
    """The true leaf of each row; -1: it is not one leaf."""
    low, high = quasi.true_low, quasi.true_high
    assert low is not None
    assert high is not None
    return np.where(high - low == 1, low, -1).astype(np.int32)
