"""Columns that follow from another one: exact functional dependencies, found on all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.flow.draft.facts import Facts

LEAST = 100  # records; in fewer, one column follows from another by chance
TRIED = 2_000  # records that rule out most pairs
CHANCE = -20.0  # logarithm: one in 500 million, as a table has up to a million pairs of columns


@dataclass(frozen=True)
class Dependency:
    """Each value of `of` has one value of `column`."""

    of: str
    column: str
    both_ways: bool

    @property
    def text(self) -> str:
        """What it means for a release."""
        if self.both_ways:
            return f"same as {self.of}, written differently: drop it or it gives {self.of} back"
        return f"follows from {self.of}: drop it or it gives {self.of} back"


def dependencies(columns: Sequence[Facts]) -> list[Dependency]:
    """All pairs of columns of which the second follows from the first, in the table's order.

    Missing is a value. If both follow from each other, the one that comes later in the table
    follows from the other.
    """
    if not columns or columns[0].rows < LEAST:
        return []
    # int[n] each; missing becomes a value of its own.
    codes = [facts.codes + 1 for facts in columns]
    sizes = [facts.distinct + (facts.filled < facts.rows) for facts in columns]
    step = max(1, columns[0].rows // TRIED)
    tried = [one[::step] for one in codes]
    found = []
    for a, first in enumerate(columns):
        if sizes[a] < 2:
            continue
        for b, second in enumerate(columns):
            if a == b or not 2 <= sizes[b] <= sizes[a] or (sizes[a] == sizes[b] and b < a):
                continue
            if (
                _follows(tried[a], tried[b], first)
                and _follows(codes[a], codes[b], first)
                and _by_chance(first, second) < CHANCE
            ):
                found.append(Dependency(first.name, second.name, sizes[a] == sizes[b]))
    return found


def _follows(codes: Ints, others: Ints, facts: Facts) -> bool:
    """Whether records with the same code have the same other code."""
    one = np.zeros(facts.distinct + 1, others.dtype)
    one[codes] = others  # of each value, one record's other code
    return bool((one[codes] == others).all())


def _by_chance(first: Facts, second: Facts) -> float:
    """The probability that it holds if the other values were dealt out by chance, as a logarithm.

    All records of a value must agree: the sum of p**size over the other values, for each value.
    """
    shares = _sizes(second) / second.rows
    sizes, often = np.unique(_sizes(first), return_counts=True)
    agree = (shares[:, None] ** sizes).sum(axis=0)  # float[different sizes]
    return float((often * np.log(np.maximum(agree, 1e-300))).sum())


def _sizes(facts: Facts) -> Longs:
    """How many records each value has, also missing."""
    sizes = np.append(facts.counts, facts.rows - facts.filled)
    return sizes[sizes > 0]
