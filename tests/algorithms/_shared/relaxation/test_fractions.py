"""Groups with numbers of rows: nearly possible, and nearly an optimum of the linear program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.cells import cheapest_costs
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.exchange import kept
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation import fractions as room
from shoal.algorithms._shared.relaxation.fractions import fractions
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.table.equivalence_classes import tally
from tests.algorithms._shared.peeling.test_recreate import random_table
from tests.algorithms._shared.relaxation.test_relaxation import ENOUGH, FINE, Naive, pricing_of
from tests.strategies import examples, tables


def found_in(table, k, most=ENOUGH):
    """The program from one class of all records, and the lattice in the unit of its costs."""
    pricing, tuple_of = pricing_of(table, k)
    layout = Layout.of(
        table,
        tally(table.codes, None, (), None),
        exact_costs(NLLM(), table.domains, table.rows),
    )
    label = np.zeros(len(pricing.size), np.int64)
    lattice = pricing.lattice._replace(
        cost=pricing.lattice.cost // FINE, own=pricing.lattice.own // FINE
    )
    pricing = replace(pricing, lattice=lattice)
    keeps = kept(layout.trees, closures(layout.shapes, lattice.vector, label))
    cost = cheapest_costs(lattice, k, lambda share: None, most)
    found = fractions(pricing, label, keeps, cost, most, lambda share: None)
    return found, pricing, tuple_of


@settings(max_examples=examples(40), deadline=None)
@given(table=tables(most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_nearly_an_optimum_and_nearly_possible(table, k):
    if table.rows < k or not any(domain.tree.height for domain in table.domains):
        return
    pricing, _ = pricing_of(table, k)
    if not pricing.lattice.own[:, -1].any():  # nothing can be lost
        return
    found, pricing, _ = found_in(table, k)
    fine = found.groups.keeps @ found.many
    rows = np.bincount(
        found.groups.member,
        found.groups.times * found.many[found.of_member] / k,
        len(pricing.size),
    )
    assert (rows <= pricing.size + 0.01).all()
    best = Naive(table, k).optimum()
    own = int((pricing.lattice.own[:, -1] * pricing.size).sum())
    unit = max(1, room.LARGEST // (4 * table.rows * int(pricing.lattice.own[:, -1].max())))
    assert fine / unit <= best + 0.001 * own
    assert fine / unit >= best - 2 * room.GAP * (own - best) - 0.001 * own


def test_without_looks_the_groups_are_those_of_the_classes():
    found, _, _ = found_in(random_table(60, 3, 3), 4, most=1)
    assert len(found.groups) <= 60 // 4
