"""The forest algorithm: what a plain scan and plain cuts would give, to the tie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms.forest import Forest
from shoal.base.errors import CannotReach
from shoal.hierarchies.base import Hierarchy
from shoal.kernels.grouping.forest import cut_trees
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from tests.naive.clusters import cut, forest, free_table
from tests.strategies import examples, tables

RNG = np.random.default_rng(0)
LOSSES = sorted(set(catalog.losses) - {"weights"})


def rows_of(recoding):
    return [tuple(row) for row in recoding.codes().tolist()]


@settings(max_examples=examples(150))
@given(
    table=tables(persons=True, most_rows=18),
    k=st.integers(2, 6),
    loss=st.sampled_from(LOSSES),
)
def test_equals_the_plain_scan(table, k, loss):
    guide = catalog.losses[loss]()
    if table.person_count < k:
        with pytest.raises(CannotReach):
            Forest().recode(table, [KAnonymity(k=k)], guide, RNG)
        return
    got = Forest().recode(table, [KAnonymity(k=k)], guide, RNG)
    costs = exact_costs(guide, table.domains, table.rows)
    assert rows_of(got) == forest(table.codes, table.trees, costs, k, table.people)


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_plain_scan_on_larger_tables(seed):
    rng = np.random.default_rng(seed)
    shapes = (
        Hierarchy.ranges([2, 4, 8]).tree(range(25)),
        Hierarchy.flat().tree("wxyz"),
        Hierarchy.prefixes().tree([f"{i:03}" for i in range(0, 1000, 7)]),
    )
    leaves = [np.flatnonzero(t.end == np.arange(t.size) + 1) for t in shapes]
    codes = np.stack([rng.choice(leaf, 120) for leaf in leaves], axis=1).astype(np.int32)
    codes[rng.random(120) < 0.3] = codes[0]  # many equal rows make a star
    people = np.unique(rng.integers(0, 99, 120), return_inverse=True)[1] if seed % 2 else None
    table = Table(("a", "b", "c"), shapes, codes, people, (True,) * 3)
    got = Forest().recode(table, [KAnonymity(k=2 + seed)], NCP(), RNG)
    costs = exact_costs(NCP(), table.domains, table.rows)
    assert rows_of(got) == forest(codes, shapes, costs, 2 + seed, people)


def test_ties_where_climbing_is_free():
    for seed in range(200):
        table = free_table(seed)
        loss = catalog.losses[("llm", "ncp", "entropy")[seed % 3]]()
        costs = exact_costs(loss, table.domains, table.rows)
        got = Forest().recode(table, [KAnonymity(k=2 + seed % 4)], loss, RNG)
        assert rows_of(got) == forest(table.codes, table.trees, costs, 2 + seed % 4)


@settings(max_examples=examples(300))
@given(
    above=st.integers(2, 60).flatmap(
        lambda n: st.tuples(*(st.integers(0, max(i - 1, 0)) for i in range(1, n)))
    ),
    near=st.booleans(),
    k=st.integers(2, 9),
)
def test_any_tree_is_cut_as_a_plain_search_would(above, near, k):
    """Chains, stars and what is between; no part is smaller than k or larger than the bound."""
    n = len(above) + 1
    parents = [max(p, i - 2) if near else p for i, p in enumerate(above)]
    out = dict(enumerate(parents, 1))
    part, parts = cut_trees(np.array([-1, *parents], np.int64), k)
    got = sorted(sorted(np.flatnonzero(part == p).tolist()) for p in range(parts))
    assert got == sorted(sorted(members) for members in cut(out, set(range(n)), k))
    if n >= k:
        assert all(k <= len(members) <= max(2 * k - 1, 3 * k - 5) for members in got)


def test_a_long_chain_is_no_deep_recursion():
    n = 50_000
    part, parts = cut_trees(np.arange(-1, n - 1), 4)
    assert parts == len(np.bincount(part))
    assert np.bincount(part).max() <= 7
    assert np.bincount(part).min() >= 4
