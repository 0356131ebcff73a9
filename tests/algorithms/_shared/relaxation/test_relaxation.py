"""The linear relaxation: valid prices, and the optimum of the program with all its groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.algorithms._shared.cells import make_lattice, raised_caps
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation import master
from shoal.algorithms._shared.relaxation.columns import Columns, Groups, of_classes
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.relaxation import Relaxation
from shoal.base import interrupt
from shoal.kernels.sorting import sort_rows
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.measures.bounds.relaxed_caps import relaxed_caps
from shoal.table.equivalence_classes import tally
from tests.naive.peel import cells, covers
from tests.random_tables import random_table
from tests.strategies import examples, tables

FINE = 1 << 20
ENOUGH = 10**12
PRECISE = 1e-6  # of all that can be kept: the precision of the solver


class Naive:
    """All cells of a table, each with its records and what it keeps."""

    def __init__(self, table, k):
        self.costs = exact_costs(NLLM(), table.domains, table.rows)
        rows = [tuple(map(int, row)) for row in table.codes]
        every = {cell for row in rows for cell in cells(row, table.trees)}
        self.n, self.k, self.inside = table.rows, k, []
        for cell in every:
            members = [i for i, row in enumerate(rows) if covers(table.trees, cell, row)]
            if len(members) >= k:
                keeps = sum(int(c[v]) for c, v in zip(self.costs, cell, strict=True))
                self.inside.append((keeps, members))

    def valid(self, price):
        """Whether in no cell the k lowest prices have a mean below what it keeps."""
        return all(
            sum(sorted(price[i] for i in members)[: self.k]) >= self.k * keeps - 1e-6
            for keeps, members in self.inside
        )

    def optimum(self):
        """What the program keeps, by a solver that has all groups."""
        groups = {}
        for keeps, members in self.inside:
            for group in combinations(members, self.k):
                groups[group] = max(keeps, groups.get(group, 0))
        matrix = np.zeros((self.n, len(groups)))
        for column, group in enumerate(groups):
            matrix[list(group), column] = 1.0
        gains = -self.k * np.array(list(groups.values()), float)
        return -linprog(gains, A_ub=matrix, b_ub=np.ones(self.n), method="highs").fun


def pricing_of(table, k):
    """All cells of a table, finer by a factor, and the tuple of each record."""
    costs = exact_costs(NLLM(), table.domains, table.rows)
    start = tally(table.codes, None, (), None)
    layout = Layout.of(table, start, costs)
    vector = layout.arranged(table.codes[start.first])
    rank = sort_rows(vector.T)
    lattice = make_lattice(layout, vector[rank].copy(order="C"), start.people[rank])
    lattice = lattice._replace(cost=lattice.cost * FINE, own=lattice.own * FINE)
    tuple_of = np.argsort(rank)[start.label]
    return Pricing(lattice, layout.trees, start.size[rank], k), tuple_of


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data(), table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_prices_become_valid(data, table, k):
    if table.rows < k:
        return
    pricing, tuple_of = pricing_of(table, k)
    most = int(pricing.lattice.own[:, -1].max()) + 1
    n = len(pricing.size)
    cap = np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), np.int64)
    found = pricing.price(cap, ENOUGH, lambda: None)
    naive = Naive(table, k)
    assert found.cap.min() >= 0
    assert naive.valid((found.cap / FINE)[tuple_of])
    again = pricing.price(found.cap, ENOUGH, lambda: None)
    assert (again.cap <= found.cap).all()  # valid prices only fall
    for g in range(len(found.groups)):
        part = slice(found.groups.start[g], found.groups.start[g + 1])
        members, times = found.groups.member[part], found.groups.times[part]
        assert times.sum() == k
        assert (times <= pricing.size[members]).all()
        assert len(set(members.tolist())) == len(members)
        # They are in a cell that keeps as much, and no others there have lower prices.
        assert any(
            keeps * FINE == found.groups.keeps[g]
            and set(members.tolist()) <= set(tuple_of[inside].tolist())
            and sorted(cap[tuple_of[inside]].tolist())[:k]
            == sorted(np.repeat(cap[members], times).tolist())
            for keeps, inside in naive.inside
        )


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data(), table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_raised_prices_are_valid_and_no_higher_than_needed(data, table, k):
    if table.rows < k:
        return
    pricing, tuple_of = pricing_of(table, k)
    lattice, n = pricing.lattice, len(pricing.size)
    most = int(lattice.own[:, -1].max()) + 1
    cap = np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), np.int64)
    naive = Naive(table, k)
    raised, level, _ = raised_caps(lattice, pricing.size, cap, k, ENOUGH, lambda: None)
    assert naive.valid((raised / FINE)[tuple_of])
    assert (raised >= cap).all()
    assert ((raised > cap) == (level[:, 0] >= 0)).all()
    if naive.valid((cap / FINE)[tuple_of]):
        assert (raised == cap).all()
    one = pricing.raised(cap, ENOUGH, lambda: None)
    assert (one.cap <= raised).all()
    assert naive.valid((one.cap / FINE)[tuple_of])


def optimum_found(table, k):
    """Column generation until it stops by itself, compared with all groups."""
    pricing, tuple_of = pricing_of(table, k)
    naive = Naive(table, k)
    own = pricing.lattice.own[:, -1]
    best, whole = naive.optimum(), int((own * pricing.size).sum()) / FINE
    relaxation = Relaxation(pricing, own.copy(), Columns(len(own), k))
    assert relaxation.begin(ENOUGH, lambda: None)
    before, rounds = relaxation.bound, 0
    while relaxation.bound - relaxation.best > PRECISE * whole * FINE:
        relaxation.improve(ENOUGH, lambda: None)
        assert relaxation.bound <= before
        before, rounds = relaxation.bound, rounds + 1
        assert naive.valid((relaxation.cap / FINE)[tuple_of])
        assert relaxation.bound / FINE >= best - PRECISE * whole
        assert relaxation.best / FINE <= best + PRECISE * whole
        assert rounds < 60
    assert relaxation.bound / FINE == pytest.approx(best, abs=2 * PRECISE * whole)
    return best, whole


@settings(max_examples=examples(30), deadline=None)
@given(table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_the_optimum_of_the_program_with_all_groups(table, k):
    if table.rows < k:
        return
    best, whole = optimum_found(table, k)
    if whole == 0:
        return
    lost = lower_bound(table, k, NLLM(), effort="high").percent
    assert lost == pytest.approx(100 * (1 - best / whole), abs=3e-4)
    assert lost <= 100 * (1 - best / whole) + 1e-6
    assert lost >= lower_bound(table, k, NLLM()).percent - 1e-9


@pytest.mark.slow
def test_the_optimum_of_many_tables():
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        table = replace(random_table(rng, most_rows=14, least_rows=5), people=None, weight=None)
        optimum_found(table, int(rng.integers(2, 6)))


@settings(max_examples=examples(8), deadline=None)
@given(table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_the_first_order_method_comes_close(table, k):
    """The method for large programs, on small ones."""
    if table.rows < k:
        return
    pricing, tuple_of = pricing_of(table, k)
    naive, own = Naive(table, k), pricing.lattice.own[:, -1]
    best, whole = naive.optimum(), int((own * pricing.size).sum()) / FINE
    relaxation = Relaxation(pricing, own.copy(), Columns(len(own), k))
    relaxation.begin(ENOUGH, lambda: None)
    with patch.object(master, "SMALL", -1):
        for _ in range(15):
            relaxation.improve(ENOUGH, lambda: None)
    assert naive.valid((relaxation.cap / FINE)[tuple_of])
    assert best - PRECISE * whole <= relaxation.bound / FINE <= best + 0.005 * whole + 1e-6
    assert relaxation.best / FINE <= best + PRECISE * whole


@settings(max_examples=examples(20), deadline=None)
@given(table=tables(most_rows=8, most_columns=3), k=st.integers(2, 3), calls=st.integers(1, 12))
def test_an_interrupt_at_any_report_leaves_valid_caps(table, k, calls):
    if table.rows < k:
        return
    pricing, tuple_of = pricing_of(table, k)
    left = [calls]

    def progress(stage, share):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    own = pricing.lattice.own[:, -1].copy()
    start = pricing.price(own, ENOUGH, lambda: None).cap
    cap = relaxed_caps(pricing, start, ENOUGH, progress)
    assert (cap * pricing.size).sum() <= (start * pricing.size).sum()
    assert Naive(table, k).valid((cap / FINE)[tuple_of])


@settings(max_examples=3, deadline=None)
@given(table=tables(most_rows=8, most_columns=2))
def test_after_an_interrupt_there_is_no_program(table):
    """Ctrl-C has ended the improvement of the release: then the user does not wait for minutes."""
    pricing, _ = pricing_of(table, 2)
    own = pricing.lattice.own[:, -1].copy()
    with patch.object(interrupt, "asked", lambda: 2):
        assert relaxed_caps(pricing, own, ENOUGH, lambda *_: pytest.fail("it began")) is own


@settings(max_examples=5, deadline=None)
@given(table=tables(most_rows=9, most_columns=3))
def test_the_work_can_be_limited(table):
    pricing, _ = pricing_of(table, 2)
    own = pricing.lattice.own[:, -1].copy()
    assert pricing.price(own, 1, lambda: None) is None
    relaxation = Relaxation(pricing, own, Columns(len(own), 2))
    assert relaxation.improve(1, lambda: None) is None
    assert (relaxation.cap == own).all()


def test_columns_are_kept_once_and_the_better_one_replaces_nothing():
    columns = Columns(3, 2)
    one = Groups(np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([1, 1, 2]), np.array([5, 4]))
    assert columns.add(one) == 2
    assert columns.add(one) == 0
    assert columns.add(replace(one, keeps=np.array([6, 4]))) == 1
    assert len(columns) == 3
    begin, group, part = columns.by_tuple()
    assert begin.tolist() == [0, 2, 4, 5]
    assert group.tolist() == [0, 2, 0, 2, 1]
    assert part.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0]
    columns.weight[:] = [0.0, 1.0, 2.0]
    columns.keep(columns.weight > 0)
    assert columns.groups.keeps.tolist() == [4, 6]
    assert columns.add(one) == 0


@pytest.mark.parametrize("k", [2, 3])
def test_classes_as_groups(k):
    label, size = np.array([4, 4, 1, 1, 4]), np.array([2, 1, 1, 4, 2])
    keeps = np.where(label == 4, 7, 3)
    groups = of_classes(label, size, keeps, k)
    for g in range(len(groups)):
        part = slice(groups.start[g], groups.start[g + 1])
        assert groups.times[part].sum() == k
        assert len(set(label[groups.member[part]])) == 1
        assert (groups.times[part] <= size[groups.member[part]]).all()
        assert groups.keeps[g] == keeps[groups.member[part][0]]
    assert set(groups.member.tolist()) == set(range(5))
