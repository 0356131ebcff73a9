"""Distributions: the values of a column in the original, and what is left of them in the release.

A general value of the release stands for the values that it covers: in proportion to the records
of the release that have exactly one of them, or evenly if none has. Suppressed and missing values
say nothing, and are counted by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.base.arrays import Bools, Floats, Longs
from shoal.base.wording import MISSING, number
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.measures.analyses.as_numbers import leaves
from shoal.measures.analyses.variables import QuasiForm, Tables
from shoal.table.alike import places_alike
from shoal.table.published_table import ValueCounts

BARS, BINS = 12, 24


@dataclass(frozen=True)
class Distribution:
    """The values, or ranges, of one column: records of the original and of the release."""

    column: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    exact: tuple[float, ...]  # records of the release that have exactly this value
    general: tuple[float, ...]  # and those with a more general one, by expectation
    is_range: bool  # whether the labels are neighbouring ranges of numbers
    hidden: float  # records that say nothing any more, those that are suppressed among them
    rest: int  # values that are not shown


def distributions(tables: Tables) -> list[Distribution]:
    """The distributions of all quasi-identifiers, and of the sensitive columns."""
    return [*_quasi(tables), *_sensitive(tables)]


def _quasi(tables: Tables) -> list[Distribution]:
    original = tables.original
    found = []
    for j, after in enumerate(tables.published.counts(original)):
        domain = original.domains[j]
        tree, leaf = domain.tree, leaves(domain.tree)
        counts = domain.counts.astype(np.float64)
        before, silent = expected(tree, leaf, ValueCounts(counts, np.zeros(0), Covers(tree)))
        spread, hidden = expected(tree, leaf, after)
        exact = np.where(leaf, after.nodes, 0.0)
        form = QuasiForm.of(original, j, tables.columns[domain.name].hierarchy)
        places = None if form.numbers is None else form.numbers.leaf[leaf]
        dates = form.numbers is not None and form.numbers.dates
        named = [tree.labels[i] for i in np.flatnonzero(leaf).tolist()]
        labels = [MISSING if one is None else one for one in named]
        shown = _Counts(before[leaf], exact[leaf], (spread - exact)[leaf])
        lost = max(hidden - silent, 0.0)
        found.append(_drawn(domain.name, labels, places, shown, lost, dates))
    return found


def expected(tree: Tree, leaf: Bools, counts: ValueCounts) -> tuple[Floats, float]:
    """Records by leaf, float64[nodes], and how many say nothing.

    Each general value is spread over the leaves below it.
    """
    exact = np.where(leaf, counts.nodes, 0.0)
    some = np.append(0.0, np.cumsum(exact))  # of the nodes before each
    many = np.append(0, np.cumsum(leaf))
    # What is added to the weight of every leaf below a node, as differences between neighbours.
    by_share, evenly = np.zeros(tree.size + 1), np.zeros(tree.size + 1)
    general = np.flatnonzero((counts.nodes > 0) & ~leaf & (np.arange(tree.size) > 0))
    end = tree.end[general].astype(np.int64)
    inside, below = some[end] - some[general], many[end] - many[general]
    _spans(by_share, evenly, general, end, counts.nodes[general], inside, below)
    silent = float(counts.nodes[0]) + float(counts.nodes[general[below == 0]].sum())
    if tree.size == 1 and leaf[0]:
        silent = 0.0
    found = exact * (1 + np.cumsum(by_share)[:-1]) + np.where(leaf, np.cumsum(evenly)[:-1], 0.0)
    start, member = counts.covers.lists()
    for i in np.flatnonzero(counts.free).tolist():
        mine = member[start[i] : start[i + 1]]
        weight = exact[mine] if exact[mine].any() else np.ones(len(mine))
        np.add.at(found, mine, counts.free[i] * weight / weight.sum())
    return found, silent


def _spans(
    by_share: Floats,
    evenly: Floats,
    begin: Longs,
    end: Longs,
    count: Floats,
    inside: Floats,
    below: Longs,
) -> None:
    """Note what spans of nodes add: in proportion to what is inside of them, or evenly."""
    known = inside > 0
    for into, which, parts in (
        (by_share, known, inside),
        (evenly, ~known & (below > 0), below.astype(np.float64)),
    ):
        added = count[which] / parts[which]
        np.add.at(into, begin[which], added)
        np.add.at(into, end[which], -added)


@dataclass(frozen=True, eq=False)
class _Counts:
    """Records per value."""

    before: Floats
    exact: Floats
    general: Floats

    @property
    def all(self) -> tuple[Floats, Floats, Floats]:
        return self.before, self.exact, self.general


def _sensitive(tables: Tables) -> list[Distribution]:
    """Columns that are published unchanged: they differ by suppressed records only."""
    there = {one.name: one for one in tables.published.sensitive}
    found = []
    for one in tables.original.sensitive:
        if one.name not in there:
            continue
        before = one.counted(tables.original.weight).astype(np.float64)
        other = there[one.name]
        after = other.counted(tables.published.weight).astype(np.float64)
        place = np.array(places_alike(other.values, one.values))
        exact = np.bincount(place[place >= 0], after[place >= 0], len(before)).astype(np.float64)
        labels = [MISSING if value is None else text(value) for value in one.values]
        counts = _Counts(before, exact, np.zeros(len(before)))
        hidden = float(max(before.sum() - exact.sum(), 0.0))
        found.append(_drawn(one.name, labels, None, counts, hidden))
    return found


def _drawn(
    name: str,
    labels: Sequence[str],
    places: Floats | None,
    counts: _Counts,
    hidden: float,
    dates: bool = False,
) -> Distribution:
    """The distribution with as many bars as can be read."""
    known = None if places is None else np.isfinite(places)
    if known is not None and places is not None and np.count_nonzero(counts.before[known]) > BARS:
        return _ranges(name, places[known], [one[known] for one in counts.all], hidden, dates)
    order = np.argsort(-counts.before, kind="stable")
    order = order[counts.before[order] + counts.exact[order] > 0]
    rest = max(len(order) - BARS, 0)
    order = order[:BARS]
    if places is not None:
        order = order[np.argsort(places[order], kind="stable")]
    before, exact, general = (tuple(one[order].tolist()) for one in counts.all)
    shown = tuple(labels[i] for i in order)
    return Distribution(name, shown, before, exact, general, False, hidden, rest)


def _ranges(
    name: str, places: Floats, counts: Sequence[Floats], hidden: float, dates: bool
) -> Distribution:
    """Neighbouring ranges of equal width; dates are counted in years, and written as months."""
    low, high = float(places.min()), float(places.max())
    edges = np.linspace(low, high, BINS + 1)
    before, exact, general = (
        tuple(np.histogram(places, edges, weights=one)[0].tolist()) for one in counts
    )
    write = _month if dates else number
    labels = tuple(f"{write(a)} – {write(b)}" for a, b in pairwise(edges.tolist()))
    return Distribution(name, labels, before, exact, general, True, hidden, 0)


def _month(year: float) -> str:
    """The month of a moment that is counted in years.

    >>> _month(2015.0), _month(2015.999)
    ('2015-01', '2015-12')
    """
    return f"{int(year):04d}-{min(int(12 * (year % 1)), 11) + 1:02d}"
