"""The sequential algorithm: from the same start, what a scan of all clusters would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms._shared.clusters import ClusteringProblem, Units, closures
from shoal.algorithms.sequential import Sequential
from shoal.base.errors import BadPlan, CannotReach
from shoal.base.progress import silent
from shoal.losses._integer_costs import exact_costs
from shoal.losses.lm import LM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.equivalence_classes import tally
from tests.naive.clusters import free_table, larger_table, sequential
from tests.strategies import examples, tables

LOSSES = sorted(set(catalog.losses) - {"weights"})


def compare(table, k, guide, passes, label):
    costs = exact_costs(guide, table.domains, table.rows)
    problem = ClusteringProblem(table, Units.of(table), k, guide, costs, silent)
    improved = Sequential(passes=passes).improve(problem, label)
    got = closures(table.trees, problem.units.vector, improved)[problem.units.of_row]
    expected = sequential(
        table.codes, table.trees, costs, k, label.tolist(), passes, problem.layout.order.tolist(),
        table.people,
    )  # fmt: skip
    assert [tuple(row) for row in got.tolist()] == expected


@settings(max_examples=examples(120))
@given(
    table=tables(persons=True),
    k=st.integers(2, 5),
    loss=st.sampled_from(LOSSES),
    passes=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_equals_the_plain_scan(table, k, loss, passes, seed):
    if table.person_count < k:
        with pytest.raises(CannotReach):
            Sequential().recode(table, [KAnonymity(k=k)], LM(), np.random.default_rng(0))
        return
    drawn = np.random.default_rng(seed).integers(0, 1 + table.person_count // k, table.person_count)
    compare(table, k, catalog.losses[loss](), passes, np.unique(drawn, return_inverse=True)[1])


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_plain_scan_on_larger_tables(seed):
    table = larger_table(seed, 60)
    people = table.person_count
    label = np.random.default_rng(seed).permutation(people) % (people // (2 + seed))
    compare(table, 2 + seed, LM(), 3, label)


def test_ties_where_climbing_is_free():
    for seed in range(100):
        table = free_table(seed)
        label = np.arange(table.rows) % max(table.rows // (2 + seed % 3), 1)
        compare(table, 2 + seed % 3, catalog.losses[("llm", "ncp")[seed % 2]](), 3, label)


def test_seeds_and_passes():
    table = larger_table(0, 400)
    model = KAnonymity(k=5)

    def loss(passes, seed):
        got = Sequential(passes=passes).recode(table, [model], LM(), np.random.default_rng(seed))
        classes = tally(got.codes())
        assert classes.size.min() >= 5
        costs = LM().costs(table.domains)
        published = got.codes()
        kept = sum(float(c[published[:, j]].sum()) for j, c in enumerate(costs))
        return kept, published.tolist()

    assert loss(3, 1)[1] == loss(3, 1)[1]
    assert loss(3, 1)[1] != loss(3, 2)[1]
    assert loss(20, 1)[0] > loss(1, 1)[0]  # more of the values is kept
    with pytest.raises(BadPlan, match="sequential needs passes of 1 or more, got passes=0"):
        Sequential(passes=0)
