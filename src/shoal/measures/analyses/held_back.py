"""Held back: which records models are trained on, and which ones they are tested on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.errors import BadTable
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.measures.analyses.features import Records
from shoal.measures.analyses.variables import Forms, Tables, UnchangedColumn, published_codes
from shoal.table.covering import covering, ranges, selective_order
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED

TRAINED, TESTED = 20_000, 10_000  # records at most
HELD_BACK = 1 / 3  # of the records, if they are few
FEWEST = 10  # records on each side
SEED = 0  # fixed: the same release gives the same numbers


class Split(NamedTuple):
    """Records of the original: rows of it, several times if they stand for several."""

    trained: Longs
    tested: Longs


def split(original: Table, usable: Longs) -> Split:
    """Choose at random; all records of a person are on the same side.

    `usable` is 0 for rows that cannot be used, int64[n].
    """
    rng = np.random.default_rng(SEED)
    people = original.people
    units = len(original.codes) if people is None else int(people.max()) + 1
    weight = original.weight if people is None else original.person_weight
    if weight is None:
        drawn = rng.permutation(units)
    else:
        most = min(int(weight.sum()), TRAINED + TESTED)
        drawn = np.repeat(
            np.arange(units), rng.multivariate_hypergeometric(weight, most, method="marginals")
        )
        rng.shuffle(drawn)
    rows, many = _rows(people, drawn, usable)
    size = np.cumsum(many)
    total = int(size[-1]) if len(size) else 0
    held = int(np.searchsorted(size, min(TESTED, int(total * HELD_BACK)), side="right"))
    first = int(size[held - 1]) if held else 0
    last = int(np.searchsorted(size, first + TRAINED, side="right"))
    upto = int(size[last - 1]) if last else 0
    if min(first, upto - first) < FEWEST:
        raise BadTable(
            f"too few records to train models and to test them: {first} would be held back and "
            f"{max(0, upto - first)} trained on, and each needs {FEWEST}"
        )
    return Split(rows[first:upto], rows[:first])


def _rows(people: Longs | None, drawn: Longs, usable: Longs) -> tuple[Longs, Longs]:
    """The usable rows of these people, or of these records, one after the other; how many each."""
    if people is None:
        drawn = drawn[usable[drawn] > 0]
        return drawn, np.ones(len(drawn), np.int64)
    order = np.argsort(people, kind="stable")
    order = order[usable[order] > 0]
    each = np.bincount(people[order], minlength=int(people.max()) + 1)
    end = np.cumsum(each)
    return order[ranges((end - each)[drawn], end[drawn])], each[drawn]


def as_original(tables: Tables, forms: Forms, rows: Longs) -> Records:
    """These records as they were."""
    codes = tables.original.codes
    quasi = [(codes[rows, j], Covers(form.tree)) for j, form in enumerate(forms.quasi)]
    return Records(quasi, [one.before[rows] for one in forms.unchanged])


def as_published(tables: Tables, forms: Forms, rows: Longs) -> tuple[Records, Longs]:
    """These records of the original as they are published, without the suppressed ones."""
    recoding = tables.recoding
    assert recoding is not None
    rows = rows[recoding.record[rows] != SUPPRESSED]
    quasi = [
        (
            recoding.column(j)[rows].astype(np.int32),
            recoding.covers[j] if recoding.covers else Covers(form.tree),
        )
        for j, form in enumerate(forms.quasi)
    ]
    return Records(quasi, [one.before[rows] for one in forms.unchanged]), rows


def released_without(
    tables: Tables, forms: Forms, every: list[UnchangedColumn], chosen: Split
) -> tuple[Records, Longs]:
    """Records of the release for training, if it is not known which ones were tested.

    Each tested record takes one published record that could be its own out of the release. `every`
    has all unchanged columns, also the target. Also returns the rows of the release.
    """
    rng = np.random.default_rng(SEED)
    published, unit = tables.published, tables.published.unit
    by_row = bool(tables.others)
    label = published.classes.label
    weight = published.weight
    if by_row:
        assert tables.after is not None
        label, weight = (label if unit is None else label[unit]), tables.after.weight
    left = np.ones(len(label), np.int64) if weight is None else weight.copy()
    codes = [published_codes(published, form) for form in forms.quasi]
    _take_out(tables, codes, every, chosen.tested, label, left, rng)
    share = len(chosen.trained) / max(tables.original.rows - len(chosen.tested), 1)
    want = min(int(left.sum()), max(1, round(share * int(left.sum()))))
    if weight is None:
        rows = rng.permutation(np.flatnonzero(left))[:want]
    else:
        rows = np.repeat(
            np.arange(len(left)), rng.multivariate_hypergeometric(left, want, method="marginals")
        )
    of_unit = unit[rows] if by_row and unit is not None else rows
    quasi = [(code[of_unit], covers) for code, covers in codes]
    return Records(quasi, [one.after[rows] for one in forms.unchanged]), rows


def _take_out(
    tables: Tables,
    codes: list[tuple[Ints, Covers]],
    every: list[UnchangedColumn],
    tested: Longs,
    label: Longs,
    left: Longs,
    rng: np.random.Generator,
) -> None:
    """Lower `left`, the records that each row of the release stands for."""
    first = tables.published.classes.first
    vectors = np.stack([code[first] for code, _ in codes], axis=1)  # int32[classes, q]
    of_class, where, _ = group_rows(vectors)
    wide, covers = vectors[where], [cover for _, cover in codes]
    mine = tables.original.codes[tested]
    same, where, _ = group_rows(mine)
    narrow = mine[where]
    order = selective_order(wide, tables.original, covers)
    pairs = [*covering(wide, narrow, covers, order)]
    if not pairs:
        return
    low, high = (np.concatenate(side) for side in zip(*pairs, strict=True))
    by_narrow = np.argsort(low, kind="stable")
    fits, start = high[by_narrow], np.searchsorted(low[by_narrow], np.arange(len(narrow) + 1))
    # Records with equal unchanged values have equal keys, in both tables.
    both = [np.concatenate([one.before[tested], one.after]) for one in every]
    key = np.zeros(len(tested) + len(label), np.int64)
    if both:
        key = group_rows(np.stack(both, axis=1))[0]
    own, theirs = key[: len(tested)], key[len(tested) :]
    place = theirs * len(wide) + of_class[label]  # int64[rows of the release]
    by_place = np.argsort(place, kind="stable")
    kinds, begin = np.unique(place[by_place], return_index=True)
    room = np.add.reduceat(left[by_place], begin)
    taken = np.zeros(len(kinds), np.int64)
    for one, group in zip(own.tolist(), same.tolist(), strict=True):
        asked = one * len(wide) + fits[start[group] : start[group + 1]]
        found = np.minimum(np.searchsorted(kinds, asked), len(kinds) - 1)
        found = found[kinds[found] == asked]
        free = room[found] - taken[found]
        if len(found) and (total := int(free.sum())):
            at = np.searchsorted(np.cumsum(free), rng.integers(total), side="right")
            taken[found[at]] += 1
    end = np.append(begin[1:], len(by_place))
    for kind in np.flatnonzero(taken).tolist():
        rows, gone = by_place[begin[kind] : end[kind]], int(taken[kind])
        upto = np.minimum(np.cumsum(left[rows]), gone)  # the first ones: they are all alike
        left[rows] -= np.diff(upto, prepend=0)
