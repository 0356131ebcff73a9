"""Placing: which published vector each record of a new table gets, so that all models hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.errors import NotHeld
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.measures.verify import of_rows, seen
from shoal.plan import Plan
from shoal.table.covering import covering, ranges
from shoal.table.encode import Table
from shoal.table.match_graph import link, selective_order
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, Recoding


def first_covering(
    vectors: Ints, covers: Sequence[Covers], table: Table, progress: Progress = silent
) -> Longs:
    """For each record the first vector that covers all records of its person, or -1; int64[n]."""
    none = len(vectors)
    if not none:
        return np.full(table.rows, SUPPRESSED)
    label, first, _ = group_rows(np.ascontiguousarray(table.codes))
    narrow = table.codes[first]
    pairs = covering(vectors, narrow, covers, selective_order(vectors, table, covers), progress)
    if table.people is None or table.person_count == table.rows:
        best = np.full(len(narrow), none)
        for tuples, vector in pairs:
            np.minimum.at(best, tuples, vector)
        record = best[label]
    else:
        record = _best_of_people(pairs, label, table.people, len(narrow), none)
    return np.where(record == none, SUPPRESSED, record)


def _best_of_people(
    pairs: Iterable[tuple[Longs, Longs]], label: Longs, people: Longs, tuples: int, none: int
) -> Longs:
    """For each record the first vector that covers all records of its person, or `none`.

    It covers all if it covers as many distinct records as the person has.
    """
    person_count = int(people.max()) + 1
    owned = np.unique(label * person_count + people)  # pairs of a distinct record and a person
    person_of_record = owned % person_count
    start = np.searchsorted(owned // person_count, np.arange(tuples + 1))
    needed = np.bincount(person_of_record, minlength=person_count)
    found = [np.zeros(0, np.int64)]  # pairs of a person and a vector that covers some record
    for low, high in pairs:
        many = start[low + 1] - start[low]
        who = person_of_record[ranges(start[low], start[low + 1])]
        found.append(who * none + np.repeat(high, many))
    both, count = np.unique(np.concatenate(found), return_counts=True)
    who, vector = both // none, both % none
    all_of_them = count == needed[who]
    best = np.full(person_count, none)
    np.minimum.at(best, who[all_of_them], vector[all_of_them])
    return np.asarray(best[people])


class Satisfied(NamedTuple):
    """A recoding that satisfies all requirements, and what it took."""

    recoding: Recoding
    broken: dict[str, int]  # suppressed records, by the model that their last class violated
    moved: int  # records in a more general class than the first that covers them
    classes: int  # classes that are not published as they would violate a requirement


def satisfy_models(
    plan: Plan,
    table: Table,
    vectors: Ints,
    covers: tuple[Covers, ...],
    placed: Longs,
    progress: Progress,
) -> Satisfied:
    """Give up classes that violate a requirement, until those that are left satisfy all of them.

    The records of such a class go to the next one that covers them, and are suppressed if there
    is none. Each round gives up half of the failing classes, the least general: their records may
    be what the more general ones lack. With linkage models single records fail, and are
    suppressed.
    """
    record = placed.copy()
    alive = np.ones(len(vectors), np.bool_)
    why = np.full(table.rows, -1)  # the model that the last class of the record violated
    used = covers if any(map(len, covers)) else ()
    most = 0  # records that fail at first
    while True:
        recoding = Recoding(vectors, record, used)
        violated = _violated(plan, table, recoding)  # int64[published], -1: none
        rows = np.flatnonzero(record != SUPPRESSED)
        fails = rows[violated >= 0]
        most = max(most, len(fails), 1)
        progress("requirements", 1.0 - len(fails) / most)
        if not len(fails):
            break
        why[fails] = violated[violated >= 0]
        record = record.copy()
        if plan.linked:
            record[fails] = SUPPRESSED
        else:
            failing = np.unique(record[fails])
            given_up = failing[: (len(failing) + 1) // 2]
            alive[given_up] = False
            moving = rows[np.isin(record[rows], given_up)]
            left = np.flatnonzero(alive)
            found = first_covering(vectors[left], covers, table.take(moving))
            record[moving] = np.where(found == SUPPRESSED, SUPPRESSED, np.append(left, -1)[found])
        if (record == SUPPRESSED).all():
            raise _nothing_left(plan, why)
    gone = (record == SUPPRESSED) & (placed != SUPPRESSED)
    moved = int(((record != placed) & (record != SUPPRESSED)).sum())
    return Satisfied(recoding, _counted(plan, why[gone]), moved, int((~alive).sum()))


def _nothing_left(plan: Plan, why: Longs) -> NotHeld:
    """The error if no class can be published."""
    keys = dict.fromkeys(plan.models[i].key for i in np.unique(why[why >= 0]))
    return NotHeld(
        f"no class of the recoding satisfies {' and '.join(keys)} in this table: too few of its "
        "records are alike; apply the recoding to more records at once, or anonymize this table "
        "by itself"
    )


def _counted(plan: Plan, why: Longs) -> dict[str, int]:
    """How many records are suppressed because of each model, by its key."""
    often = np.bincount(why, minlength=len(plan.models))
    counted: dict[str, int] = {}
    for model, many in zip(plan.models, often.tolist(), strict=True):
        if many:
            counted[model.key] = counted.get(model.key, 0) + many
    return counted


def _violated(plan: Plan, table: Table, recoding: Recoding) -> Longs:
    """The first model that the class of each published record violates, or -1; int64[published]."""
    published, part = preview_release(table, recoding)
    linkage = link(part, published) if plan.linked else None
    first = np.full(published.rows, -1)
    for i, model in enumerate(plan.models):
        enough = model.satisfied(seen(model, published, linkage))
        fails = ~of_rows(model, enough, published, linkage)
        first[fails & (first < 0)] = i
    return first
