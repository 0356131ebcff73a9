"""Original rows: which record of the original each record of a release was.

Both have the same values in the columns that are published unchanged, and what is published of a
record covers its quasi-identifiers. Each person of the release is another one of the original. So
this is a perfect matching between people of the original and places in the release; whoever fits
no place was suppressed. Where several matchings are possible one of them is taken, and it is
counted how many people it could be wrong about.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Longs
from shoal.base.errors import BadTable
from shoal.kernels.group import group_rows
from shoal.table.covering import covering, ranges, selective_order
from shoal.table.encode import Table
from shoal.table.match_graph import MatchGraph, perfect_matching
from shoal.table.published_table import Published

MOST_PAIRS = 20_000_000  # of people and places that fit
AT_A_TIME = 4_000_000  # of people and classes that are tried


class OriginalRows(NamedTuple):
    """The record of the original that each record of a release was."""

    rows: Longs  # int64[rows of the release]
    unsure: int  # people of the release, at most, about whom another matching says otherwise


def original_rows(
    original: Table, published: Published, before: Longs, after: Longs
) -> OriginalRows | None:
    """Match a release with its original; None: they do not fit, or too many pairs do.

    `before` and `after` number the unchanged values of each record of both, alike.
    """
    counted = original.weight is not None or published.weight is not None
    if counted or published.unit is not None:  # a row is not a record
        return None
    people = original.people, published.people
    if people[0] is None or people[1] is None:
        people = None, None
    own, theirs = (_Units.of(*one) for one in zip(people, (before, after), strict=True))
    try:
        return _matched(original, published, own, theirs)
    except (BadTable, _NoneFits):  # an error about the values has its own message elsewhere
        return None


class _NoneFits(Exception):
    """There is no matching."""


@dataclass(frozen=True, eq=False)
class _Units:
    """People; or records, if there are no people."""

    of_row: Longs  # int64[rows]
    value: Longs  # int64[rows], numbers the unchanged values
    start: Longs  # int64[units + 1], where the rows of each begin in their order
    order: Longs  # int64[rows], by unit, and by unchanged values within it
    records: bool  # whether each is one row

    @staticmethod
    def of(people: Longs | None, value: Longs) -> _Units:
        """Those of one table."""
        if people is None:
            rows = np.arange(len(value))
            return _Units(rows, value, np.arange(len(value) + 1), rows, True)
        order = np.lexsort((value, people))
        return _Units(people, value, _starts(people[order], int(people.max()) + 1), order, False)

    def numbered(self, values: Longs, known: dict[bytes, int] | None = None) -> Longs:
        """A number for the values that the rows of each have together, int64[units].

        `known` has the numbers of those of another table, and gets new ones.
        """
        if self.records:
            return values
        known = {} if known is None else known
        rising = values[np.lexsort((values, self.of_row))]
        found = [
            known.setdefault(rising[low:high].tobytes(), len(known))
            for low, high in pairwise(self.start.tolist())
        ]
        return np.array(found, np.int64)


def _starts(rising: Longs, many: int) -> Longs:
    """Where each number begins, int64[many + 1]."""
    found: Longs = np.searchsorted(rising, np.arange(many + 1))
    return found


def _matched(original: Table, published: Published, own: _Units, theirs: _Units) -> OriginalRows:
    known: dict[bytes, int] = {}
    key, keys = (one.numbered(one.value, known) for one in (own, theirs))
    classes = len(published.classes)
    label = published.classes.label
    class_of = label[theirs.order[theirs.start[:-1]]]  # int64[units of the release]
    if (label != class_of[theirs.of_row]).any():
        raise _NoneFits  # the records of a person are in several classes
    kinds, place, room = np.unique(
        keys * classes + class_of, return_inverse=True, return_counts=True
    )  # the places: unchanged values and a class
    group, start, fits = _fitting(original, published, own, key, kinds)
    size = np.bincount(group)
    given, unsure = _assigned(size, room, start, fits)
    # Edges are in the order of places; those of a group take its units one after the other.
    by_group = np.argsort(fits, kind="stable")
    begin = np.empty(len(fits), np.int64)
    begin[by_group] = np.cumsum(given[by_group]) - given[by_group]
    spent = np.bincount(fits, given, len(size)).astype(np.int64)
    taken_before = np.cumsum(spent) - spent
    begin += (np.cumsum(size) - size - taken_before)[fits]
    whose = np.argsort(group, kind="stable")[ranges(begin, begin + given)]
    match = np.empty(len(place), np.int64)  # the unit of the original of each of the release
    match[np.argsort(place, kind="stable")] = whose
    rows = np.empty(len(theirs.of_row), np.int64)
    low = own.start[match]
    rows[theirs.order] = own.order[ranges(low, low + np.diff(theirs.start))]
    return OriginalRows(rows, unsure)


def _assigned(size: Longs, room: Longs, start: Longs, fits: Longs) -> tuple[Longs, int]:
    """How many of each group go to each place, int64[pairs], and how many of them are unsure."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    groups, places = len(size), len(room)
    of_place = np.repeat(np.arange(places), np.diff(start))
    joined = csr_array(
        (np.ones(len(fits), np.int8), (fits, groups + of_place)), shape=(groups + places,) * 2
    )
    many, part = connected_components(joined, directed=False)
    spare = np.bincount(part, np.concatenate([size, -room]), many).astype(np.int64)
    if (spare[part[groups:]] < 0).any():
        raise _NoneFits
    own, theirs = (np.bincount(one, minlength=many) for one in (part[:groups], part[groups:]))
    single = (own == 1) | (theirs == 1)  # parts with nothing to decide but who is left out
    edge = single[part[groups + of_place]]
    given = np.zeros(len(fits), np.int64)
    ahead = np.cumsum(size[fits]) - size[fits]
    ahead -= np.repeat(ahead[np.minimum(start[:-1], len(fits) - 1)], np.diff(start))
    # Of several groups at one place the first ones fill it; one group fills all of its places.
    filled = np.clip(room[of_place] - ahead, 0, np.minimum(size[fits], room[of_place]))
    given[edge] = filled[edge]
    left_open = (theirs == 1) & (own > 1) & (spare > 0)
    unsure = int(room[left_open[part[groups:]]].sum())
    if not edge.all():
        given[~edge], more = _by_flow(size, room, of_place[~edge], fits[~edge], spare[part])
        unsure += more
    return given, unsure


def _by_flow(
    size: Longs, room: Longs, of_place: Longs, fits: Longs, spare: Longs
) -> tuple[Longs, int]:
    """The same for some of the pairs; `spare` is how many are left out of the part of a group."""
    used, group = np.unique(fits, return_inverse=True)
    there, place = np.unique(of_place, return_inverse=True)
    left_out = np.flatnonzero(spare[used] > 0)
    rooms, pairs = room[there], len(fits)
    total = int(size[used].sum() - rooms.sum())
    if total:  # one more place, for those who are left out
        rooms = np.append(rooms, total)
        group, place = np.append(group, left_out), np.append(place, [len(there)] * len(left_out))
    start = _starts(place, len(rooms))
    given = perfect_matching(size[used], rooms, start, group.astype(np.int32))
    graph = MatchGraph.of_groups(size[used], rooms, start, group.astype(np.int32), given)
    return given[:pairs], int(rooms[: len(there)][_vary(graph)[: len(there)]].sum())


def _vary(graph: MatchGraph) -> Bools:
    """The places that another perfect matching may fill otherwise, bool[places].

    What goes from where to where is settled if the pairs that are possible make no circle. Whether
    a circle goes through a place is not asked: those of one part are counted together.
    """
    place = graph.of_class[graph.match]
    part_of_group, part = graph.components
    parts = int(max(part_of_group.max(), part.max())) + 1
    nodes = np.bincount(np.concatenate([part_of_group, part]), minlength=parts)
    edges = np.bincount(part[place], minlength=parts)
    ways = np.bincount(place, minlength=len(graph.classes))
    return np.asarray((edges >= nodes)[part] & (ways > 1))


def _fitting(
    original: Table, published: Published, own: _Units, key: Longs, kinds: Longs
) -> tuple[Longs, Longs, Longs]:
    """The group of each unit of the original, and the groups that fit each place.

    Units of the same group have equal records. Those of place p are fits[start[p]:start[p + 1]].
    """
    classes = len(published.classes)
    same, first, _ = group_rows(np.ascontiguousarray(original.codes))
    inside = np.unique(own.of_row * len(first) + same)  # the distinct records of each unit
    records = inside % len(first)
    upto = _starts(inside // len(first), len(key))
    alike = own.numbered(own.value * len(first) + same)
    _, lead, group = np.unique(alike, return_index=True, return_inverse=True)
    vectors, covers = published.vectors(original, "original")
    narrow = original.codes[first]
    order = selective_order(vectors, original, covers)
    pairs, total = [], 0
    for some in covering(vectors, narrow, covers, order):
        pairs.append(some)
        total += len(some[0])
        if total > MOST_PAIRS:
            raise _NoneFits
    if not pairs:
        raise _NoneFits
    low, high = (np.concatenate(side) for side in zip(*pairs, strict=True))
    by_record = np.argsort(low, kind="stable")
    above, at = high[by_record], _starts(low[by_record], len(narrow))  # the classes of a record
    tried = np.diff(at)[records]
    work = np.diff(np.append(0, np.cumsum(tried))[upto])[lead]
    cuts = np.flatnonzero(np.diff(np.cumsum(work) // AT_A_TIME)) + 1
    found, total = [], 0
    for part in np.split(np.arange(len(lead)), cuts):
        units = lead[part]
        many = np.diff(upto)[units]
        mine = records[ranges(upto[units], upto[units] + many)]
        covered = at[mine + 1] - at[mine]
        place = (
            np.repeat(np.repeat(part, many), covered) * classes
            + above[ranges(at[mine], at[mine + 1])]
        )
        place, often = np.unique(place, return_counts=True)
        all_of_them = often == many[place // classes - part[0]]
        of_group, label = np.divmod(place[all_of_them], classes)
        asked = key[lead[of_group]] * classes + label
        where = np.minimum(np.searchsorted(kinds, asked), len(kinds) - 1)
        hit = kinds[where] == asked
        found.append((where[hit], of_group[hit]))
        total += int(hit.sum())
        if total > MOST_PAIRS:
            raise _NoneFits
    places, groups = (np.concatenate(side) for side in zip(*found, strict=True))
    by_place = np.argsort(places, kind="stable")
    return group, _starts(places[by_place], len(kinds)), groups[by_place]
