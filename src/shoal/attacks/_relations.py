"""Which values of a column go with only some values of a quasi-identifier, and how sure that is.

Absence alone is weak evidence: in a table with many different values most pairs of values never
occur together. Two tests tell what absence means. Both compare with what chance would give if the
column and the quasi-identifier were independent:

1. How many units have a value of the quasi-identifier that no other unit with the same value of the
   column has? If they are rare, the next unit will hardly show anything new (Good 1953), and what
   no unit shows is ruled out. Values of about as many units are judged together, and a value of
   many units by itself: do they show fewer values than chance would?
2. A pair of values that many units would have by chance, and that hardly any has, is ruled out by
   itself.

Units of a release are classes: the records of a class have the same quasi-identifiers by design, so
that one of them says nothing about the next. Units of an original are people. Rare is a share of
`rare` of the expected number. In a table in which all columns are independent, `chance` bounds the
probability that a single column rules anything out, and again that a pair of columns does, by
Chernoff's bound (attacks/_evidence.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TypeAlias

import numpy as np

from shoal.attacks._evidence import (
    CLOSE,
    EXPECTED,
    Arranged,
    Evidence,
    Known,
    Ordered,
    Shares,
    expected_for,
    weigh,
    weigh_table,
)
from shoal.attacks._unchanged import Cells
from shoal.base.arrays import Ints, Longs
from shoal.base.threads import in_threads
from shoal.kernels import relations as kernels
from shoal.kernels.group import group_rows

WRONG = 0.5  # share of what is expected by chance from which on an attacker is often wrong

Places: TypeAlias = tuple[int, ...]  # of columns
Quasi: TypeAlias = tuple[int, ...]  # places of quasi-identifiers
Found: TypeAlias = dict[Places, dict[int, Evidence]]  # by columns and quasi-identifier


@dataclass(frozen=True, eq=False)
class Relation:
    """What the values of a column, or of two, say about a quasi-identifier."""

    columns: Places
    quasi: int  # the place of the quasi-identifier
    kind: Ints  # int32[values + 1], missing first: 0 nothing, 1 only these leaves, 2 none of these
    start: Longs  # int64[values + 2], where the leaves of each value begin
    leaf: Ints  # int32[…], rising for each value


@dataclass(frozen=True)
class Limits:
    """What it takes to rule out a value."""

    rare: float
    chance: float
    fewest: int = 0  # people that a value of a column must have


def learn(cells: Cells, known: Known, limits: Limits, pairs: bool = True) -> list[Relation]:
    """All relations of columns, and of pairs of columns, with quasi-identifiers.

    Pairs are tried where neither column rules out what no unit shows.
    """
    return _Learner(Arranged.of(cells, known), cells, known, limits).learned(pairs)


def that_say_most(found: Sequence[Relation]) -> list[Relation]:
    """Of relations of the same columns with the same quasi-identifier the one of most values."""
    best: dict[tuple[Places, int], Relation] = {}
    for one in found:
        known = best.setdefault((one.columns, one.quasi), one)
        if (one.kind > 0).sum() > (known.kind > 0).sum():
            best[one.columns, one.quasi] = one
    return list(best.values())


def joint_codes(codes: Sequence[Ints]) -> Ints:
    """A number for the values of some columns in each cell; of one column its codes.

    The numbers are in the order of first appearance.
    """
    if len(codes) == 1:
        return codes[0]
    found: Ints = group_rows(np.stack(codes, axis=1))[0].astype(np.int32)
    return found


@dataclass(frozen=True, eq=False)
class _Learner:
    """One table, and what it takes to learn from it."""

    arranged: Arranged
    cells: Cells
    known: Known
    limits: Limits

    def learned(self, pairs: bool) -> list[Relation]:
        quasi = tuple(
            j for j, leaf in enumerate(self.known.leaf) if len(np.unique(leaf[leaf >= 0])) > 1
        )
        columns = [c for c, codes in enumerate(self.arranged.codes) if _varies(codes)]
        if not quasi or not columns:
            return []
        found = self._tested(self._singles(columns, quasi))
        if pairs:
            told = _told(found)
            rest = {
                (a, b): tuple(j for j in quasi if j not in told[a] and j not in told[b])
                for a, b in combinations(columns, 2)
            }
            found += self._tested(self._pairs({pair: some for pair, some in rest.items() if some}))
        return [one for one in found if one.kind.any()]

    def _singles(self, columns: Sequence[int], quasi: Quasi) -> Found:
        leaf = self.known.leaves_of(quasi)

        def weighed(c: int) -> dict[int, Evidence]:
            values = self.arranged.by(self.arranged.codes[c])
            return dict(zip(quasi, weigh(values, leaf, self.limits.rare), strict=True))

        made = in_threads(weighed, columns)
        return {(c,): one for c, one in zip(columns, made, strict=True)}

    def _pairs(self, asked: Mapping[Places, Quasi]) -> Found:
        """Pairs with many values are sorted by the second column once, and then by the first."""
        leaf = {quasi: self.known.leaves_of(quasi) for quasi in set(asked.values())}
        arranged, rare = self.arranged, self.limits.rare
        seconds = sorted({b for _, b in asked}, reverse=True)  # those with most pairs first
        starts = {a: _starts(arranged.codes[a]) for a in {a for a, _ in asked}}

        def weighed(b: int) -> Found:
            second: Ordered | None = None
            found: Found = {}
            for a, quasi in ((a, quasi) for (a, other), quasi in asked.items() if other == b):
                table = arranged.in_table(a, b, leaf[quasi])
                if table is not None:
                    evidence = weigh_table(table, leaf[quasi], rare)
                else:
                    second = second or arranged.by(arranged.codes[b])
                    values = arranged.by_both(a, b, starts[a], second)
                    evidence = weigh(values, leaf[quasi], rare)
                found[a, b] = dict(zip(quasi, evidence, strict=True))
            return found

        found: Found = {}
        for some in in_threads(weighed, seconds):
            found |= some
        return {pair: found[pair] for pair in sorted(found)}

    def _tested(self, evidence: Found) -> list[Relation]:
        """The relations that pass a test; all of these tests are made together."""
        rare = self.limits.rare
        tests = sum(one.tests for found in evidence.values() for one in found.values())
        needed = log(max(tests, 1) / self.limits.chance)
        says = {
            columns: some
            for columns, found in evidence.items()
            if (some := {j: one for j, one in found.items() if one.says(needed, rare)})
        }

        made = in_threads(lambda columns: self._listed(columns, says[columns], needed), says)
        return [one for some in made for one in some]

    def _listed(
        self, columns: Places, evidence: Mapping[int, Evidence], needed: float
    ) -> list[Relation]:
        """What each value of these columns says about the quasi-identifiers."""
        limits = self.limits
        joint = joint_codes([self.cells.codes[c] for c in columns])
        values = self.arranged.by(self.arranged.in_order(joint))
        least = max(EXPECTED, expected_for(needed, limits.rare)) - CLOSE
        found = []
        for j, one in evidence.items():
            leaf = self.known.leaves_of([j])
            shares = Shares.of(values.sizes(leaf), leaf)
            trusted, scratch = one.trusted(needed, limits.rare), leaf.scratch()
            kind, stop = np.zeros(values.values, np.int32), np.zeros(values.values, np.int64)
            listed, used = np.empty(len(values.place) + one.single_tests, np.int32), 0
            for block in values.blocks():
                used = kernels.list_values(
                    values.start, *block, values.place, values.once, leaf.of_place, leaf.bounds,
                    values.person, values.weight, *scratch, shares.size,
                    shares.ranked[: shares.ends[0, 0]], shares.total[0], limits.rare, least,
                    needed - CLOSE, limits.fewest, trusted, kind, stop, listed, used,
                )  # fmt: skip
            start: Longs = np.append(0, stop)
            value = np.repeat(np.arange(values.values), np.diff(start))
            order = np.lexsort((listed[:used], value))
            found.append(Relation(columns, j, kind, start, listed[:used][order]))
        return found


def _told(found: Sequence[Relation]) -> dict[int, set[int]]:
    """The quasi-identifiers of which a column rules out what no unit shows."""
    told: dict[int, set[int]] = defaultdict(set)
    for one in found:
        if (one.kind == 1).any():
            told[one.columns[0]].add(one.quasi)
    return told


def _varies(codes: Ints) -> bool:
    """Whether a column has more than one value."""
    return len(codes) > 0 and int(codes.min()) < int(codes.max())


def _starts(codes: Ints) -> Longs:
    """Where the cells of each value begin, if they are in their order; missing first."""
    many = np.bincount(codes + 1, minlength=int(codes.max()) + 2)
    found: Longs = np.append(0, np.cumsum(many))
    return found
