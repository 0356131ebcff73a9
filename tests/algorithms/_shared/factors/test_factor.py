"""Rows with k members: what is dealt, tightened and moved stays a k-factor."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.factors.factor import People, of_classes, pairs_of, tightened
from shoal.algorithms._shared.factors.relaxed import relaxed_rows
from shoal.algorithms._shared.factors.specialize import Annealing, cheapest, specialize
from shoal.algorithms._shared.layout import Layout
from shoal.kernels.matching.factor import add_rows, change_all, move_row
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.table.match_graph import _flow
from tests.strategies import examples, tables


def nothing(*share):
    pass


def people_of(table, k):
    costs = exact_costs(NCP(), table.domains, table.rows)
    layout = Layout.of(table, table.tally(), costs)
    return People.of(layout, layout.arranged(table.codes), np.arange(table.rows), k)


def classes_of(people, rng):
    """A random partition of the tuples into classes of at least k records."""
    many = len(people.size)
    label = rng.integers(0, max(1, people.size.sum() // people.k), many)
    if np.bincount(label, people.size)[np.unique(label)].min() < people.k:
        label[:] = 0
    return np.unique(label, return_inverse=True)[1]


def covers(people, cell, vector):
    """Whether a cell covers a vector, column by column."""
    return all(
        low <= value < tree.end[low]
        for tree, low, value in zip(people.layout.shapes, cell, vector, strict=True)
    )


def check(people, factor, table):
    """Everybody is a member of k rows, every row has k members, all different and covered."""
    members = factor.members(people)
    cell = np.repeat(np.arange(len(factor.many)), factor.many)
    assert members.shape == (table.rows, people.k)
    person, row = pairs_of(people, members)
    assert len({*zip(person.tolist(), row.tolist(), strict=True)}) == table.rows * people.k
    assert (np.bincount(person) == people.k).all()
    assert (np.bincount(row) == people.k).all()
    vectors = people.layout.arranged(table.codes)
    for i, r in zip(person.tolist(), row.tolist(), strict=True):
        assert covers(people, factor.vector[cell[r]].tolist(), vectors[i].tolist())


def kept(people, factor):
    return int((people.keeps(factor.vector) * factor.many).sum())


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(most_rows=14), k=st.integers(2, 4), seed=st.integers(0, 999))
def test_a_factor_stays_one_and_never_keeps_less(table, k, seed):
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    factor = of_classes(people, classes_of(people, rng))
    check(people, factor, table)
    tight, members = tightened(people, factor, nothing)
    check(people, tight, table)
    assert kept(people, tight) >= kept(people, factor)
    assert members.shape == (table.rows, k)
    better = specialize(people, factor, 30, rng, nothing)
    check(people, better, table)
    assert kept(people, better) >= kept(people, factor)


def all_cells(people):
    """Every node of every column."""
    return np.array([*product(*(range(tree.size) for tree in people.layout.shapes))], np.int32)


def possible(rows, k, many):
    """Whether so many rows of each cell can have k members each: by a flow from the start."""
    used = many > 0
    held = used[rows.cell]
    start = np.append(0, np.cumsum(np.diff(rows.start)[used]))
    fits, cells = rows.tuple[held], np.repeat(many[used], np.diff(start))
    value, _ = _flow(k * rows.size, k * many[used], start, fits, rows.size[fits] * cells)
    return value == k * rows.size.sum()


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(most_rows=8, most_columns=2), k=st.integers(2, 3), seed=st.integers(0, 999))
def test_a_row_moves_if_and_only_if_all_rows_can_have_members(table, k, seed):
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    annealing = Annealing(people, of_classes(people, classes_of(people, rng)), all_cells(people))
    rows = annealing.rows
    for _ in range(30):
        old = rng.choice(np.flatnonzero(rows.many))
        new = rng.integers(len(rows.many))
        if old == new:
            continue
        before, units = rows.many.copy(), rows.units.copy()
        asked = before.copy()
        asked[old] -= 1
        asked[new] += 1
        moved = move_row(rows, annealing.scratch, k, old, new, 10**6)
        assert moved == possible(rows, k, asked)
        assert rows.many.tolist() == (asked if moved else before).tolist()
        if not moved:
            assert rows.units.tolist() == units.tolist()
        assert not annealing.scratch.freed.any()
        assert rows.filled.tolist() == (k * rows.many).tolist()
        by_tuple = np.bincount(rows.tuple, rows.units, len(rows.size))
        assert by_tuple.tolist() == (k * rows.size).tolist()
        assert (rows.units <= rows.size[rows.tuple] * rows.many[rows.cell]).all()
    check(people, annealing.found(), table)


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(most_rows=8, most_columns=2), k=st.integers(2, 3), seed=st.integers(0, 999))
def test_rows_are_added_if_and_only_if_all_rows_can_have_members(table, k, seed):
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    annealing = Annealing(people, of_classes(people, classes_of(people, rng)), all_cells(people))
    rows, scratch = annealing.rows, annealing.scratch
    change_all(rows, np.arange(len(rows.units)), -rows.units)
    rows.many[:] = 0
    scratch.freed[:] = k * rows.size
    for _ in range(30):
        cell, more = rng.integers(len(rows.many)), rng.integers(1, 3)
        before, units, freed = rows.many.copy(), rows.units.copy(), scratch.freed.copy()
        asked = before.copy()
        asked[cell] += more
        added = add_rows(rows, scratch, k, cell, more, 10**6)
        assert added == fillable(rows, k, asked)
        assert rows.many.tolist() == (asked if added else before).tolist()
        if not added:
            assert rows.units.tolist() == units.tolist()
            assert scratch.freed.tolist() == freed.tolist()
        assert rows.filled.tolist() == (k * rows.many).tolist()
        by_tuple = np.bincount(rows.tuple, rows.units, len(rows.size))
        assert (by_tuple + scratch.freed).tolist() == (k * rows.size).tolist()
        assert (rows.units <= rows.size[rows.tuple] * rows.many[rows.cell]).all()


def fillable(rows, k, many):
    """Whether so many rows of each cell can have k members, by a flow; people may have fewer."""
    used = many > 0
    start = np.append(0, np.cumsum(np.diff(rows.start)[used]))
    fits, cells = rows.tuple[used[rows.cell]], np.repeat(many[used], np.diff(start))
    value, _ = _flow(k * rows.size, k * many[used], start, fits, rows.size[fits] * cells)
    return value == k * many.sum()


@settings(max_examples=examples(40), deadline=None)
@given(table=tables(most_rows=10, most_columns=2), k=st.integers(2, 3), seed=st.integers(0, 99))
def test_a_solution_with_fractions_is_rounded_to_a_factor(table, k, seed):
    """Rounded down it always fits, and no factor keeps more than the fractions."""
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    annealing = Annealing(people, of_classes(people, classes_of(people, rng)), all_cells(people))
    most, many = _optimum(people, annealing.rows, k)
    assert many.sum() == pytest.approx(table.rows)
    assert fillable(annealing.rows, k, np.floor(many + 1e-6).astype(np.int64))
    assert annealing.restart(many, nothing)
    assert not annealing.scratch.freed.any()
    specific = np.diff(annealing.rows.start) < len(people.size)  # rows only leave the others
    assert (annealing.rows.many >= np.floor(many + 1e-6))[specific].all()
    check(people, annealing.found(), table)
    assert kept(people, annealing.found()) <= most * (1 + 1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(table=tables(most_rows=10, most_columns=2), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_numbers_that_are_not_possible_are_rounded_to_a_factor_too(table, k, seed):
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    annealing = Annealing(people, of_classes(people, classes_of(people, rng)), all_cells(people))
    wanted = rng.random(len(annealing.vector)) ** 4
    assert annealing.restart(1.3 * table.rows * wanted / wanted.sum(), nothing)
    assert not annealing.scratch.freed.any()
    check(people, annealing.found(), table)
    assert kept(people, annealing.found()) <= _optimum(people, annealing.rows, k)[0] * (1 + 1e-9)


def test_without_a_cell_for_everybody_rows_are_not_rounded():
    people = people_of(_ages(0, 1, 2), 1)
    factor = of_classes(people, np.arange(3))
    annealing = Annealing(people, factor, factor.vector)
    assert not annealing.restart(np.ones(3), nothing)
    assert annealing.rows.many.tolist() == [1, 1, 1]


@settings(max_examples=examples(30), deadline=None)
@given(table=tables(most_rows=8, most_columns=2), k=st.integers(2, 3), seed=st.integers(0, 99))
def test_of_too_many_rows_those_are_added_that_can_have_members(table, k, seed):
    rng = np.random.default_rng(seed)
    k = min(k, table.rows)
    people = people_of(table, k)
    annealing = Annealing(people, of_classes(people, classes_of(people, rng)), all_cells(people))
    rows = annealing.rows
    change_all(rows, np.arange(len(rows.units)), -rows.units)
    rows.many[:] = 0
    annealing.scratch.freed[:] = k * rows.size
    for _ in range(5):
        cell, most = rng.integers(len(rows.many)), int(rng.integers(1, 8))
        asked = rows.many.copy()
        more = [asked + m * (np.arange(len(asked)) == cell) for m in range(most + 1)]
        best = max((m for m in range(1, most + 1) if fillable(rows, k, more[m])), default=0)
        annealing._add_most(cell, most)
        assert rows.many.tolist() == more[best].tolist()


def test_a_class_of_more_than_k_needs_no_row_that_covers_all():
    """Six neighbours and one person far away, k = 3: that person is a member of three rows only."""
    table = _ages(0, 1, 2, 3, 4, 5, 150)
    people = people_of(table, 3)
    factor = of_classes(people, np.zeros(len(people.size), np.int64))
    assert factor.many.tolist() == [7]
    tight, _ = tightened(people, factor, nothing)
    check(people, tight, table)
    assert sorted(tight.many.tolist()) == [3, 4]  # three rows with the far one, four without


@pytest.mark.parametrize("seed", range(6))
def test_the_cells_that_price_out_are_enough_for_the_optimum(seed):
    """With them the linear program comes close to what it keeps with all cells, and no rows do."""
    from tests.random_tables import random_table

    rng = np.random.default_rng(seed)
    table = random_table(rng, most_rows=9, least_rows=6)
    table = type(table)(table.names, table.trees, table.codes, None, table.exact)
    people = people_of(table, 2)
    factor = of_classes(people, classes_of(people, rng))
    best, _ = _optimum(people, Annealing(people, factor, all_cells(people)).rows, 2)
    wanted = relaxed_rows(people, factor, *cheapest(people, nothing), nothing)
    some = Annealing(people, factor, wanted.vector)
    enough, _ = _optimum(people, some.rows, 2)
    assert 0.98 * best <= enough <= best * (1 + 1e-9)
    # The relaxation may leave out people far from all others, and so keep more.
    assert people.keeps(wanted.vector) @ wanted.many >= 0.98 * best
    assert wanted.many.sum() <= table.rows * 1.02
    found = some.run(300, 0.15, rng, nothing)
    assert kept(people, found) <= best * (1 + 1e-9)


def test_nothing_is_searched_where_nothing_can_be_lost():
    from tests.random_tables import random_table

    rng = np.random.default_rng(0)
    table = random_table(rng, most_rows=9, least_rows=6)
    codes = np.zeros_like(table.codes)  # everything is suppressed already
    table = type(table)(table.names, table.trees, codes, None, table.exact)
    people = people_of(table, 2)
    factor = of_classes(people, np.zeros(1, np.int64))
    found = specialize(people, factor, 10, rng, nothing)
    assert found.vector.tolist() == factor.vector.tolist()


def _ages(*ages):
    """A table with these ages, which are generalized to ranges of 10 and 100."""
    from shoal import Hierarchy
    from shoal.table.encode import Table

    tree = Hierarchy.ranges([10, 100]).tree(range(200))
    leaf = {label: code for code, label in enumerate(tree.labels)}
    codes = np.array([[leaf[str(age)]] for age in ages], np.int32)
    return Table(("age",), (tree,), codes, None, (True,))


def _optimum(people, rows, k):
    """What fractions of rows keep at most, by a plain linear program over dense matrices.

    Also returns how many rows each cell has then.
    """
    from scipy.optimize import linprog

    n, m, pairs = len(rows.size), len(rows.many), len(rows.tuple)
    equal, right = np.zeros((n + m, m + pairs)), np.zeros(n + m)
    most = np.zeros((pairs, m + pairs))
    for p, (t, c) in enumerate(zip(rows.tuple.tolist(), rows.cell.tolist(), strict=True)):
        equal[t, m + p] = equal[n + c, m + p] = most[p, m + p] = 1
        most[p, c] = -rows.size[t]
    for c in range(m):
        equal[n + c, c] = -k
    right[:n] = k * people.size
    cost = np.append(-rows.keeps.astype(float), np.zeros(pairs))
    found = linprog(cost, A_ub=most, b_ub=np.zeros(pairs), A_eq=equal, b_eq=right)
    return -found.fun, found.x[:m]
