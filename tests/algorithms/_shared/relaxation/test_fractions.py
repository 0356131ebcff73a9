"""Groups with numbers of rows: nearly possible, and nearly an optimum of the linear program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.cells import cheapest_costs
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation.columns import of_classes
from shoal.algorithms._shared.relaxation.fractions import GAP, Start, fractions
from shoal.losses._integer_costs import LARGEST, exact_costs
from shoal.losses.nllm import NLLM
from shoal.table.equivalence_classes import tally
from tests.algorithms._shared.peeling.test_recreate import random_table
from tests.algorithms._shared.relaxation.test_relaxation import ENOUGH, FINE, Naive, pricing_of
from tests.strategies import examples, tables


def found_in(table, k, most=ENOUGH, exactly=True, tuples=None):
    """The program from classes of so many tuples, in the unit of the costs; and its start."""
    pricing, _ = pricing_of(table, k)
    costs = exact_costs(NLLM(), table.domains, table.rows)
    layout = Layout.of(table, tally(table.codes, None, (), None), costs)
    label = np.arange(len(pricing.size)) // (tuples or len(pricing.size))
    lattice = pricing.lattice._replace(
        cost=pricing.lattice.cost // FINE, own=pricing.lattice.own // FINE
    )
    pricing = replace(pricing, lattice=lattice)
    keeps = kept(layout.trees, closures(layout.shapes, lattice.vector, label))
    start = Start(label, keeps, cheapest_costs(lattice, k, lambda share: None, most))
    return fractions(pricing, start, most, lambda share: None, exactly), pricing, start


def unit_of(pricing):
    """By how much the program refines what rows keep."""
    highest = int(pricing.lattice.own[:, -1].max())
    return max(1, LARGEST // (4 * int(pricing.size.sum()) * highest))


@pytest.mark.parametrize("exactly", [True, False])
@settings(max_examples=examples(40), deadline=None)
@given(table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_nearly_an_optimum_and_nearly_possible(exactly, table, k):
    if table.rows < k:
        return
    found, pricing, _ = found_in(table, k, exactly=exactly)
    own = int((pricing.lattice.own[:, -1] * pricing.size).sum())
    if own == 0:  # nothing can be lost
        assert len(found.groups) == 0
        return
    groups, n = found.groups, len(pricing.size)
    rows = np.bincount(groups.member, groups.times * found.weight[groups.of_member] / k, n)
    near = 0.01 if exactly else 0.1
    assert (rows <= pricing.size + near * table.rows).all()
    best, kept_now = Naive(table, k).optimum(), groups.keeps @ found.weight / unit_of(pricing)
    assert abs(kept_now - best) <= (2 * GAP + near) * own


def test_without_looks_the_groups_are_those_of_the_classes():
    found, pricing, start = found_in(random_table(60, 3, 3), 4, most=1, tuples=12)
    classes = of_classes(start.label, pricing.size, start.keeps * unit_of(pricing), 4)
    assert 0 < len(found.groups) <= len(classes)
    keeps = dict(zip(classes.names(), classes.keeps.tolist(), strict=True))
    assert all(
        keeps[name] == kept_now
        for name, kept_now in zip(found.groups.names(), found.groups.keeps.tolist(), strict=True)
    )
