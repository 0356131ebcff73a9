"""MDAV: the indexed searches find what a scan of all people finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms.mdav import MDAV
from shoal.columns import Table
from shoal.exact import exact_costs
from shoal.hierarchy import Hierarchy
from shoal.losses.lm import LM
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity
from tests.naive.clusters import free_table, larger_table, mdav
from tests.strategies import examples, tables
from tests.test_free import boxed

LOSSES = sorted(set(catalog.losses) - {"weights"})


def compare(table, k, loss, seed=0):
    costs = exact_costs(loss, table.domains, table.rows)
    expected = mdav(table.codes, table.trees, costs, k, table.people)
    for one in (table, boxed(table)):
        got = MDAV().recode(one, [KAnonymity(k=k)], loss, np.random.default_rng(seed))
        assert [tuple(row) for row in got.codes().tolist()] == expected


@settings(max_examples=examples(120))
@given(
    table=tables(persons=True),
    k=st.integers(2, 6),
    loss=st.sampled_from(LOSSES),
    seed=st.integers(0, 9),
)
def test_equals_the_plain_scan(table, k, loss, seed):
    if table.crowd >= k:
        compare(table, k, catalog.losses[loss](), seed)


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_plain_scan_on_larger_tables(seed):
    """So many rows that the index is built anew on the way."""
    compare(larger_table(seed, 160), 2 + seed, NCP(), seed)


def test_ties_where_climbing_is_free():
    for seed in range(120):
        loss = catalog.losses[("llm", "ncp", "entropy")[seed % 3]]()
        compare(free_table(seed), 2 + seed % 3, loss, seed)


def test_by_hand():
    """The centre is a; the far ends are c and d together, and a."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "C": ["c", "d"]}}).tree()
    codes = np.array([[tree.node(v)] for v in "aaacbdb"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    got = MDAV().recode(table, [KAnonymity(k=2)], LM(), np.random.default_rng(0))
    assert "".join(tree.labels[v] for (v,) in got.codes().tolist()) == "aaACACA"
