"""Telling apart: what further knowledge would leave of the people in a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadTable
from shoal.hierarchies.base import AS_IT_WAS, Hierarchy
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.kernels.group import group_rows
from shoal.measures.analyses.variables import Tables
from shoal.measures.breakdowns.attacker_view import AttackerView, Knowledge, SensitiveView
from shoal.measures.breakdowns.members import Members
from shoal.models._distances import equal
from shoal.table.coded_columns import coded_as_text
from shoal.table.published_table import Published, codes_of, places
from shoal.table.recoding import SUPPRESSED
from shoal.table.roles import Column, microaggregated_columns, missing_words, other_columns
from shoal.table.sensitive import Histogram

MOST_SETS = 500  # combinations of columns that are tried


class Shown(NamedTuple):
    """A published table, row by row."""

    columns: Mapping[str, Column]
    missing_values: Sequence[str]
    frame: Frame


def class_order(seen: Published) -> Longs:
    """The classes from small to large, int64[classes]; of equal ones, by their published values."""
    classes = seen.classes
    keys: list[Longs] = []
    for j in range(len(seen.names)):
        shown = np.array([text(value) for value in seen.values[j]], object)
        rank = np.append(np.unique(shown, return_inverse=True)[1] + 1, 0)  # missing first
        keys.append(rank[seen.codes[classes.first, j]])
    return np.lexsort([*reversed(keys), classes.people])


def most_surprising(seen: Published, among: Longs | None = None) -> int | None:
    """The class whose sensitive values differ most from those of the table; the largest such.

    By the variational distance, of the sensitive column in which it is largest: a class in which
    everybody has a frequent value says less about its people than one with a rare value. `among`
    are the classes to choose from. None: there is no sensitive column with several values.
    """
    distances = [
        equal(_by_people(seen, name))
        for name, histogram in seen.classes.histograms.items()
        if np.count_nonzero(histogram.total) > 1
    ]
    if not distances:
        return None
    surprise = np.round(np.max(distances, axis=0), 9)  # float64[classes]
    rank = np.empty(len(seen.classes), np.int64)
    rank[class_order(seen)] = np.arange(len(rank))
    choice = np.arange(len(rank)) if among is None else among
    order = np.lexsort((rank[choice], -seen.classes.people[choice], -surprise[choice]))
    return int(choice[order[0]])


def class_of_original(tables: Tables, seen: Published, row: int) -> int:
    """The class of a record of the original, by what is published of it."""
    recoding = tables.recoding
    assert recoding is not None
    if tables.taken is not None and microaggregated_columns(tables.columns):
        (place,) = np.flatnonzero(tables.taken == row)
        return int(seen.class_of_row[place])
    vector = recoding.vectors[recoding.record[row]]
    there = np.ones(len(seen.classes), np.bool_)
    for j, name in enumerate(seen.names):
        i = tables.original.names.index(name)
        label = _labels(tables, i)[int(vector[i])]
        code = -1
        if label is not None:
            known = {text(value): place for place, value in enumerate(seen.values[j])}
            (code,) = places([label], known, -2)
        there &= seen.codes[seen.classes.first, j] == code
    (found,) = np.flatnonzero(there)
    return int(found)


def _labels(tables: Tables, i: int) -> Sequence[str | None]:
    recoding = tables.recoding
    if recoding is not None and recoding.covers:
        return recoding.covers[i].labels()
    return tables.original.trees[i].labels


def view_class(
    seen: Published,
    number: int,
    required: int,
    tables: Tables | None = None,
    shown: Shown | None = None,
    row: int | None = None,
    attacker: str | None = None,
) -> AttackerView:
    """The view of an attacker on a class.

    `tables` are the release and its original. Without the recoding, `shown` is the published table.
    `row` is one of the records of the class: of the original, or else of the release.
    """
    classes = seen.classes
    mine = np.flatnonzero(classes.label == number)
    first = int(classes.first[number])
    published = {
        name: None if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, seen.codes[first], strict=True)
    }
    members, known, knowledge = None, False, []
    alone_by: tuple[str, ...] = ()
    below_by: tuple[str, ...] = ()
    if tables is not None:
        # Of an audit it may be known who is in the class, but not which row of several is whose.
        known = tables.recoding is not None or tables.taken is not None
        members = _members(tables, published, np.flatnonzero(seen.class_of_row == number))
        target = None if row is None or tables.recoding is None else members.person_at(row)
        for name in tables.original.names:
            label = published.get(name, "")
            if tables.columns[name].microaggregate is not None:  # a number that covers nothing
                label = None
            knowledge += _quasi(tables, members, name, label, required, target)
        if tables.recoding is not None:
            knowledge += _unchanged(_as_they_were(tables), members, required, target)
        alone_by = _enough(tables, members, 1, target)
        below_by = _enough(tables, members, required - 1, target) if required > 1 else ()
    if shown is not None:
        inside, found = _as_published(seen, number, shown)
        knowledge += _unchanged(found, inside, required, None)
    return AttackerView(
        published=published,
        records=int(classes.size[number]),
        people=int(classes.people[number]),
        candidates=(int(classes.candidates[mine].min()), int(classes.candidates[mine].max())),
        required=required,
        sensitive=tuple(_sensitive(seen, number)),
        knowledge=tuple(knowledge),
        among=None if members is None else members.count,
        fits=tables is not None and not known,
        alone_by=alone_by,
        below_by=below_by,
        attacker=attacker,
        row=row,
    )


def _by_people(seen: Published, name: str) -> Histogram:
    """The counts of a sensitive column per class: of people, if records are not people."""
    people = seen.classes.person_values.get(name)
    return seen.classes.histograms[name] if people is None else people.histogram(of_people=True)


def _sensitive(seen: Published, number: int) -> list[SensitiveView]:
    """How many people of a class have each sensitive value."""
    found = []
    for name in seen.classes.histograms:
        counted = _by_people(seen, name)
        pairs = slice(counted.start[number], counted.start[number + 1])
        values = [counted.column.values[v] for v in counted.value[pairs]]
        counts = counted.count[pairs].tolist()
        both = [
            (None if value is None else text(value), count)
            for value, count in zip(values, counts, strict=True)
        ]
        both.sort(key=lambda pair: (-pair[1], pair[0] is None, pair[0] or ""))
        found.append(SensitiveView(name, tuple(both)))
    return found


def _members(tables: Tables, published: dict[str, str | None], rows: Longs) -> Members:
    """The records of the original that a class has, or whom its values fit.

    `rows` are those of the release.
    """
    original, recoding = tables.original, tables.recoding
    numbers = bool(microaggregated_columns(tables.columns))  # they do not state what they cover
    if tables.taken is not None and (recoding is None or numbers):
        return Members.of(np.sort(tables.taken[rows]), original.people, original.weight)
    there = np.ones(len(original.codes), np.bool_)
    if recoding is not None:
        there = recoding.record != SUPPRESSED
    for name, label in published.items():
        if tables.columns[name].microaggregate is not None:
            continue
        j = original.names.index(name)
        if recoding is not None:
            wanted = _codes_of_label(_labels(tables, j), label)
            there &= np.isin(recoding.column(j), wanted)
        else:
            there &= _covered(original.trees[j], original.codes[:, j], label, name)
    return Members.of(np.flatnonzero(there), original.people, original.weight)


def _codes_of_label(labels: Sequence[str | None], label: str | None) -> list[int]:
    if label is None:
        return [code for code, one in enumerate(labels) if one is None]
    same = {one: code for code, one in enumerate(labels) if one is not None}
    return [code for code in places([label], same, -1) if code >= 0]


def _covered(tree: Tree, codes: Ints, label: str | None, name: str) -> Bools:
    """Which codes a published label covers, bool[n]."""
    covers = Covers(tree)
    code = tree.node(None) if label is None else codes_of([label], covers)[0]
    if code < 0:
        raise BadTable(
            f"column {name!r} publishes {label!r}, which its hierarchy lacks; use the plan that "
            "the release was made with"
        )
    if code < tree.size:
        return np.asarray((codes >= code) & (codes < tree.end[code]))
    return np.isin(codes, covers.free.members(covers.covers[code - tree.size]))


def _quasi(
    tables: Tables,
    members: Members,
    name: str,
    label: str | None,
    required: int,
    target: int | None,
) -> list[Knowledge]:
    """Each finer precision of a quasi-identifier, the coarsest first."""
    j = tables.original.names.index(name)
    tree = tables.original.trees[j]
    codes = tables.original.codes[members.rows, j]
    hierarchy = tables.columns[name].hierarchy or Hierarchy.flat()
    found: list[Knowledge] = []
    if not isinstance(tree, FreeTree):
        node = 0 if not label else max(tree.node(label), 0)
        for finer in _finer(tree, codes, node):
            inner = finer[tree.end[finer] > finer + 1]
            if not len(inner):
                break
            widest = inner[np.argmax(tree.level[inner])]
            width = hierarchy.width(str(tree.labels[int(widest)]))
            precision = width.words or f"level {width.place:g} of its hierarchy"
            one = _known(members, name, precision, False, finer, required, target)
            if not found or (one.most, one.fewest) != (found[-1].most, found[-1].fewest):
                found.append(one)
    words = "the exact value" if hierarchy.exact == AS_IT_WAS else hierarchy.exact
    exact = _known(members, name, words, True, codes, required, target)
    return [*found, exact] if len(np.unique(codes)) > 1 else []


def _finer(tree: Tree, codes: Ints, node: int) -> list[Longs]:
    """The ancestors of codes, from the children of a node that covers all of them downwards."""
    chains = [codes.astype(np.int64)]
    while (chains[-1] != node).any():
        here = chains[-1]
        chains.append(np.where(here == node, here, tree.parent[here]))
    # Chains of different lengths are aligned at the node, so that the finest ones come last.
    aligned = []
    depth = np.zeros(len(codes), np.int64)
    for chain in chains[:-1]:
        depth += chain != node
    for step in range(1, len(chains)):
        up = np.maximum(depth - step, 0)
        aligned.append(np.stack(chains)[up, np.arange(len(codes))])
    return aligned


def _known(
    members: Members,
    name: str,
    precision: str,
    exact: bool,
    codes: Ints | Longs,
    required: int,
    target: int | None,
) -> Knowledge:
    left, each = members.left(codes), members.each()
    return Knowledge(
        column=name,
        precision=precision,
        exact=exact,
        fewest=int(left.min()),
        most=int(left.max()),
        alone=int(each[left == 1].sum()),
        below=int(each[left < required].sum()),
        left=None if target is None else int(left[target]),
    )


def _unchanged(
    columns: Mapping[str, Ints], members: Members, required: int, target: int | None
) -> list[Knowledge]:
    """Columns that are published unchanged: known exactly, or not at all."""
    return [
        _known(members, name, "", True, codes[members.rows], required, target)
        for name, codes in columns.items()
    ]


def _as_they_were(tables: Tables) -> dict[str, Ints]:
    """The unchanged columns of the original, by the order of its records."""
    found = {one.name: one.codes for one in tables.original.sensitive if not one.is_household}
    for name in tables.others:
        assert tables.before is not None
        words = missing_words(tables.columns, name, tables.missing_values)
        found[name] = coded_as_text(tables.before, name, words)[0]
    return found


def _as_published(seen: Published, number: int, shown: Shown) -> tuple[Members, dict[str, Ints]]:
    """The records of a class of the release, and the unchanged columns."""
    columns, unit = shown.columns, seen.unit
    found = {one.name: one.codes if unit is None else one.codes[unit] for one in seen.sensitive}
    for name in other_columns(columns):
        if name in shown.frame.names:
            words = missing_words(columns, name, shown.missing_values)
            found[name] = coded_as_text(shown.frame, name, words)[0]
    rows = np.flatnonzero(seen.class_of_row == number)
    return Members.of(rows, seen.person_of_row, shown.frame.weight), found


def _enough(tables: Tables, members: Members, most: int, target: int | None) -> tuple[str, ...]:
    """The fewest quasi-identifiers that, known exactly, leave at most so many people.

    Sets of columns are tried by their size. If these are too many, a set is found from which no
    column can be removed. Empty: not even all of them do.
    """
    names = tables.original.names
    codes = tables.original.codes[members.rows]
    split = [j for j in range(len(names)) if len(np.unique(codes[:, j])) > 1]

    def leaves(chosen: Sequence[int]) -> bool:
        label = group_rows(np.ascontiguousarray(codes[:, list(chosen)], np.int32))[0]
        left = members.left(label)
        return bool((left.min() if target is None else left[target]) <= most)

    if not split or not leaves(split):
        return ()
    tried = 0
    for size in range(1, len(split)):
        tried += comb(len(split), size)
        if tried > MOST_SETS:
            break
        for chosen in combinations(split, size):
            if leaves(chosen):
                return tuple(names[j] for j in chosen)
    for j in list(split):
        rest = [other for other in split if other != j]
        if rest and leaves(rest):
            split = rest
    return tuple(names[j] for j in split)
