"""Ranking: how much each quasi-identifier singles people out.

Distinction and separation are those of Motwani and Xu, Efficient algorithms for masking and finding
quasi-identifiers (2007): the share of distinct values, and the share of pairs of records that
differ. The gain is measured with all the others: how many people are unique with and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.flow.draft.facts import Facts, titled
from shoal.kernels.group import group_rows
from shoal.table.coded_columns import side_by_side

SAMPLE = 50_000  # records of a large table
SMALL = 10_000  # records, for many groupings


@dataclass(frozen=True)
class Rank:
    """One quasi-identifier."""

    column: str
    distinct: int
    distinction: float  # percent
    separation: float  # percent
    unique_without: int  # people
    title: str = ""  # the name with the label

    def gain(self, unique: int) -> int:
        """How many people are no longer unique without this column."""
        return unique - self.unique_without


@dataclass(frozen=True)
class Ranking:
    """The quasi-identifiers, those that single out most people first."""

    ranks: tuple[Rank, ...]
    unique: int  # people, with all quasi-identifiers
    people: int
    sampled: bool  # whether it was measured on a sample

    @property
    def basis(self) -> str:
        """Of whom the numbers are."""
        return f"a sample of {self.people:,} people" if self.sampled else f"{self.people:,} people"


def rank_columns(
    columns: Sequence[Facts],
    people: Longs | None,
    watch: Callable[[float], None] = lambda _: None,
) -> Ranking:
    """Rank the quasi-identifiers of a table; `people` is the person of each record.

    `watch` is called with the share that is done.
    """
    codes, persons, sampled = _sample(columns, people, SAMPLE)
    unique = unique_people(codes, persons)
    ranks = []
    for i, facts in enumerate(columns):
        watch(i / len(columns))
        without = np.delete(codes, i, axis=1)
        left = unique_people(without, persons) if len(columns) > 1 else 0
        ranks.append(
            Rank(
                facts.name,
                facts.distinct,
                _distinction(facts),
                separation_of(facts),
                left,
                titled(facts),
            )
        )
    ranks.sort(key=lambda rank: (rank.unique_without, -rank.separation))
    return Ranking(tuple(ranks), unique, _count(persons), sampled)


def unique_alone(columns: Sequence[Facts], people: Longs | None) -> list[int]:
    """How many people each of these columns singles out by itself, counted as in a ranking."""
    codes, persons, _ = _sample(columns, people, SAMPLE)
    return [unique_people(codes[:, [i]], persons) for i in range(len(columns))]


def unique_with(
    known: Sequence[Facts],
    columns: Sequence[Facts],
    people: Longs | None,
    watch: Callable[[float], None] = lambda _: None,
) -> list[int]:
    """How many people are unique by the known columns and each of the others as well."""
    codes, persons, _ = _sample([*known, *columns], people, SAMPLE)
    quasi = list(range(len(known)))
    found = []
    for i in range(len(columns)):
        watch(i / len(columns))
        found.append(unique_people(codes[:, [*quasi, len(known) + i]], persons))
    return found


def columns_to_leave(
    columns: Sequence[Facts],
    people: Longs | None,
    keep: int,
    watch: Callable[[float], None] = lambda _: None,
) -> list[str]:
    """The quasi-identifiers whose absence protects most, one after the other, until few are left.

    Among those that protect equally many, the one with the larger separation.
    """
    codes, persons, _ = _sample(columns, people, SMALL)
    left = list(range(len(columns)))
    found: list[str] = []
    separation = [separation_of(facts) for facts in columns]
    while len(left) > keep:
        watch(len(found) / (len(columns) - keep))
        best = min(
            left,
            key=lambda i: (
                unique_people(codes[:, [j for j in left if j != i]], persons),
                -separation[i],
            ),
        )
        left.remove(best)
        found.append(columns[best].name)
    return found


def unique_people(codes: Ints, persons: Longs) -> int:
    """The number of people who have a record that nobody else's is like, int32[n, q] by int[n].

    >>> unique_people(np.array([[0], [0], [1], [1]], np.int32), np.array([0, 0, 1, 2]))
    1
    """
    label, first, _ = group_rows(np.ascontiguousarray(codes))
    of_first = persons[first]  # int[classes]
    alone = np.ones(len(first), bool)
    alone[label[persons != of_first[label]]] = False
    return len(np.unique(of_first[alone]))


def _sample(columns: Sequence[Facts], people: Longs | None, most: int) -> tuple[Ints, Longs, bool]:
    """Records of a sample of people, all of them if they are few: codes and persons."""
    rows = columns[0].rows
    persons = np.arange(rows) if people is None else people
    sampled = rows > most
    taken: Longs | slice = slice(None)
    if sampled:
        # Whole people; the same ones each time, so that a draft can be repeated.
        order = np.random.default_rng(0).permutation(int(persons.max()) + 1)
        taken = np.flatnonzero(order[persons] < len(order) * most / rows)
    return side_by_side([facts.codes[taken] for facts in columns]), persons[taken], sampled


def _distinction(facts: Facts) -> float:
    return 100 * facts.distinct / facts.rows


def separation_of(facts: Facts) -> float:
    """The share of pairs of records with different values, in percent."""
    n = facts.rows
    if n < 2:
        return 0.0
    sizes = np.append(facts.counts, n - facts.filled).astype(float)
    return float(100 * (1 - (sizes * (sizes - 1)).sum() / (n * (n - 1.0))))


def _count(persons: Longs) -> int:
    return len(np.unique(persons))
