"""k-member, MDAV and KACA: the indexed searches find what a scan of all people finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity
from tests.hierarchies.test_free import boxed
from tests.naive import clusters as naive
from tests.naive.clusters import free_table, larger_table
from tests.strategies import examples, tables

LOSSES = sorted(set(catalog.losses) - {"weights"})


def k_member(table, costs, k, rng):
    units = table.person_count if table.people is not None else table.rows
    begin = int(rng.integers(units))
    return naive.k_member(table.codes, table.trees, costs, k, begin, table.people)


def kaca(table, costs, k, rng):
    draws = rng.random(table.rows).tolist()
    return naive.kaca(table.codes, table.trees, costs, k, draws, table.people)


def mdav(table, costs, k, rng):
    return naive.mdav(table.codes, table.trees, costs, k, table.people)


TWINS = {"k-member": k_member, "kaca": kaca, "mdav": mdav}


def compare(name, table, k, loss, seed=0):
    """The algorithm over trees and over boxes, and its slow twin with the same random numbers."""
    costs = exact_costs(loss, table.domains, table.rows)
    expected = TWINS[name](table, costs, k, np.random.default_rng(seed))
    for one in (table, boxed(table)):
        rng = np.random.default_rng(seed)
        got = catalog.algorithms[name]().recode(one, [KAnonymity(k=k)], loss, rng)
        assert [tuple(row) for row in got.codes().tolist()] == expected


@pytest.mark.parametrize("name", TWINS)
@settings(max_examples=examples(120))
@given(
    table=tables(persons=True),
    k=st.integers(2, 6),
    loss=st.sampled_from(LOSSES),
    seed=st.integers(0, 9),
)
def test_equals_the_plain_scan(name, table, k, loss, seed):
    if table.person_count >= k:
        compare(name, table, k, catalog.losses[loss](), seed)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_plain_scan_on_larger_tables(name, seed):
    """With this many rows the index is rebuilt."""
    compare(name, larger_table(seed, 120 if name == "kaca" else 160), 2 + seed, NCP(), seed)


@pytest.mark.parametrize("name", TWINS)
def test_ties_where_climbing_is_free(name):
    for seed in range(120):
        loss = catalog.losses[("llm", "ncp", "entropy")[seed % 3]]()
        compare(name, free_table(seed), 2 + seed % 3, loss, seed)
