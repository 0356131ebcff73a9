"""Matches: which published records can be a person's, grouped by independent components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.base.pace import parts
from shoal.base.threads import cached_property
from shoal.kernels.matching.matchings import Side, fill_filters, fill_slots, solve
from shoal.kernels.sorting import by_group
from shoal.table.match_graph import MatchGraph

# People in sampled components up to which there is time for more samples.
EASY = 40_000
# Slots per pair at most. On Adult with k = 10 every record has a slot of its own.
SLOTS = 4
# Bits per pair at least in the filters; one in eight groups that do not fit passes at most.
FILTER = 8


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches of a graph by component; components to be sampled come first."""

    originals: Longs  # int64[originals], records of each
    classes: Longs  # int64[classes], published records of each
    start: Longs  # int64[originals + 1]
    group: Longs  # int64[pairs], the class of each pair
    given: Longs  # int64[pairs], original records that have the class in one perfect matching
    sampled: tuple[int, int]  # numbers of originals and classes that are sampled
    first: Longs  # int64[components, 2], first original and class of each solved component
    last: Longs  # int64[components, 2]
    original: Longs  # int64[originals], the number in the linkage
    published: Longs  # int64[classes], the number in the linkage

    @cached_property
    def of_original(self) -> Longs:
        """The original of each pair, int64[pairs]."""
        return np.repeat(np.arange(len(self.originals)), np.diff(self.start))

    @cached_property
    def degree(self) -> Longs:
        """Matches of each original, int64[originals]."""
        return np.add.reduceat(self.classes[self.group], self.start[:-1])

    @property
    def sampled_people(self) -> int:
        """Records in components that are too large to be counted."""
        return int(self.originals[: self.sampled[0]].sum())

    @property
    def ease(self) -> int:
        """How many times as many sweeps as for a table of the size of Adult are affordable."""
        return int(np.clip(EASY // max(self.sampled_people, 1), 1, 32))

    @property
    def pairs(self) -> int:
        """Pairs in the sampled components."""
        return int(self.start[self.sampled[0]])

    def solved(self) -> Floats:
        """The share of matchings in which a record has the class, where they are counted."""
        share = np.zeros(len(self.group))
        for part in parts(len(self.first)):
            solve(
                self.start, self.group, self.originals, self.classes, self.first, self.last, share,
                *part,
            )  # fmt: skip
        return share

    def largest(self, chance: Floats) -> Longs:
        """The first most likely pair of each original, int64[originals]."""
        most = np.maximum.reduceat(chance, self.start[:-1])
        held = np.flatnonzero(chance == most[self.of_original])
        return held[np.searchsorted(self.of_original[held], np.arange(len(most)))]

    def most_likely(self, share: Floats, above: float, every: int) -> Longs:
        """The most likely pairs of sampled originals, if likelier than this: one in `every`."""
        chance = np.zeros(len(self.group))
        chance[: self.pairs] = share / self.classes[self.group[: self.pairs]]
        pair = self.largest(chance)[: self.sampled[0]]
        pair = pair[chance[pair] > above]
        most = -(-self.sampled[0] // every)
        return pair[np.argsort(-chance[pair], kind="stable")[:most]]

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """The sampled originals and classes."""
        m, p = self.sampled
        o, g = self.of_original[: self.pairs], self.group[: self.pairs]
        turned = by_group(g, p)
        one = _side(self.originals[:m], o, g, self.classes[:p])
        other = _side(self.classes[:p], g[turned], o[turned], self.originals[:m])
        return one, other


def _side(size: Longs, group: Longs, other: Longs, sizes: Longs) -> Side:
    """One side: its groups' sizes, the pairs sorted by group, the sizes on the other side."""
    m = len(size)
    many = np.bincount(group, minlength=m)
    start = np.append(0, np.cumsum(many))
    upto = np.append(0, np.cumsum(sizes[other]))
    degree = np.diff(upto[start])
    shift = np.zeros(m, np.int8)
    while (coarse := (degree - 1) >> shift >= SLOTS * many).any():
        shift += coarse
    slots = np.append(0, np.cumsum(((degree - 1) >> shift) + 1))
    bits = np.maximum(np.ceil(np.log2(FILTER * many)), 6).astype(np.int64)
    words = np.append(0, np.cumsum(np.int64(1) << (bits - 6)))
    columns = degree, slots[:-1], shift, words[:-1], bits, start[:-1], start[1:]
    side = Side(
        group=np.repeat(np.arange(m, dtype=np.int32), size),
        start=start,
        other=other.astype(np.int32),
        upto=(upto[:-1] - upto[start[group]]).astype(np.int32),
        first=np.cumsum(size) - size,
        slot=np.empty(slots[-1], np.int32),
        filters=np.zeros(words[-1], np.uint64),
        heads=np.stack(columns, 1).astype(np.int32),
    )
    first = np.cumsum(sizes) - sizes
    fill_slots(start, side.other, side.upto, first, side.slot, side.heads)
    fill_filters(start, side.other, side.heads, side.filters)
    return side


def _near(linkage: MatchGraph, held: Longs) -> tuple[Longs, Longs]:
    """The place of each original and each class in an order in which matches are near each other.

    Then most of what a move of a chain reads and writes is in the cache (Cuthill and McKee 1969).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    m, p = len(linkage.original), len(linkage.classes)
    o, g = linkage.fits[held], linkage.of_class[held]
    by = by_group(o, m)  # pairs sorted by original, then by class
    turned = by_group(g, p, by)
    degree = np.concatenate([np.bincount(o, minlength=m), np.bincount(g, minlength=p)])
    start = np.append(0, np.cumsum(degree))
    other = np.concatenate([m + g[by], o[turned]])
    graph = csr_array((np.ones(len(other), np.int8), other, start), shape=(m + p, m + p))
    place = np.empty(m + p, np.int64)
    place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(m + p)
    return place[:m], place[m:]


def matches_of(linkage: MatchGraph, exact: int) -> Matches:
    """Sort the matches of a graph by component, those to be sampled first."""
    of_original, of_class = linkage.components
    many = int(of_original.max()) + 1
    bits = np.bincount(of_class, np.log2(linkage.classes.size + 1), many)
    countable = (bits <= exact + 1e-9) | (np.bincount(of_class, minlength=many) == 1)
    place = np.empty(many, np.int64)
    place[np.argsort(countable, kind="stable")] = np.arange(many)
    component, owner = place[of_original], place[of_class]
    held = np.flatnonzero(linkage.match)
    near, near_class = _near(linkage, held)
    by, by_class = np.lexsort((near, component)), np.lexsort((near_class, owner))
    number, class_number = np.empty_like(by), np.empty_like(by_class)
    number[by], class_number[by_class] = np.arange(len(by)), np.arange(len(by_class))
    o, g = number[linkage.fits[held]], class_number[linkage.of_class[held]]
    order = by_group(o, len(by), by_group(g, len(by_class)))
    both = component[by], owner[by_class]
    solved = np.arange(many - int(countable.sum()), many)  # every component has both sides
    first = np.stack([np.searchsorted(one, solved) for one in both], 1)
    last = np.stack([np.searchsorted(one, solved, "right") for one in both], 1)
    return Matches(
        linkage.original.size[by],
        linkage.classes.size[by_class],
        np.append(0, np.cumsum(np.bincount(o, minlength=len(by)))),
        g[order],
        linkage.given[held][order],
        (int((~countable[of_original]).sum()), int((~countable[of_class]).sum())),
        first,
        last,
        by,
        by_class,
    )
