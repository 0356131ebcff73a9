"""Singling out: how many people of the original are unique by one column, and by two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.kernels.group import group_rows
from shoal.table.encode import Table
from shoal.table.equivalence_classes import person_weights

COLUMNS = 12  # that are looked at, those with the most values
FEW = 5  # the same for a large table
LARGE = 150_000_000  # rows times sets of columns, from which on a table is large


@dataclass(frozen=True)
class SinglingOut:
    """People with a record that no other person's is like, by the columns that are looked at."""

    columns: tuple[str, ...]  # those that single out most people first
    unique: dict[tuple[str, ...], int]  # by one or two of these columns
    together: int  # by all quasi-identifiers
    people: int
    others: int  # quasi-identifiers that were not looked at

    def by(self, one: str, other: str) -> int:
        """How many people are unique by two columns, or by one if they are the same."""
        if one == other:
            return self.unique[one,]
        return self.unique.get((one, other), self.unique.get((other, one), 0))


def singling_out(table: Table, progress: Progress = silent) -> SinglingOut:
    """Count the unique people of a table, by each of its columns and by each two of them."""
    codes, people, weight = table.codes, table.people, table.weight
    if people is None:  # equal records are nobody's own, and few tuples are grouped faster
        label, first, _ = group_rows(codes)
        weight = np.bincount(label, weight, len(first)).astype(np.int64)
        codes = codes[first]
    values = [len(np.unique(codes[:, j])) for j in range(len(table.names))]
    order = sorted(range(len(table.names)), key=lambda j: -values[j])
    sets = COLUMNS * (COLUMNS + 1) // 2
    chosen = order[: COLUMNS if sets * len(codes) <= LARGE else FEW]
    wanted = [*((j,) for j in chosen), *combinations(chosen, 2)]
    found = {}
    for i, columns in enumerate(wanted):
        progress("singling out", i / len(wanted))
        found[columns] = _unique(codes[:, list(columns)], people, weight)
    most = {
        j: (found[j,], sum(many for columns, many in found.items() if j in columns)) for j in chosen
    }
    chosen.sort(key=lambda j: most[j], reverse=True)
    return SinglingOut(
        columns=tuple(table.names[j] for j in chosen),
        unique={tuple(table.names[j] for j in columns): many for columns, many in found.items()},
        together=_unique(codes, people, weight),
        people=table.person_count,
        others=len(table.names) - len(chosen),
    )


def _unique(codes: Ints, people: Longs | None, weight: Longs | None) -> int:
    """People with a record that no other person's is like."""
    label, first, size = group_rows(np.ascontiguousarray(codes))
    if people is None:
        many = size if weight is None else np.bincount(label, weight, len(first))
        return int((many == 1).sum())
    owner = people[first]
    shared = np.zeros(len(first), np.bool_)
    shared[label[people != owner[label]]] = True
    once = person_weights(people, weight)  # how many people each person stands for
    who = np.unique(owner[~shared])
    return len(who) if once is None else int((once[who] == 1).sum())
