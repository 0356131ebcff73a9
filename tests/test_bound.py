"""The lower bound: never above the best of all partitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.bound import lower_bound
from shoal.classes import tally
from shoal.columns import Table
from shoal.exact import exact_costs
from shoal.hierarchy import Hierarchy
from shoal.losses import alteration
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from tests.naive.clusters import publish
from tests.naive.peel import cells, covers, price
from tests.strategies import examples, tables

LOSSES = sorted(set(catalog.losses) - {"weights", "entropy"})


def partitions(items):
    """All ways to part some items into classes."""
    if not items:
        yield []
        return
    first, *others = items
    for parting in partitions(others):
        yield [[first], *parting]
        for i in range(len(parting)):
            yield [*parting[:i], [first, *parting[i]], *parting[i + 1 :]]


def percent(table, loss, published):
    codes = np.array(published, np.int32)
    after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
    return alteration(loss.costs(table.domains), [d.counts for d in table.domains], after)


@settings(max_examples=examples(80), deadline=None)
@given(
    table=tables(most_rows=6, most_columns=3, persons=True),
    k=st.integers(2, 3),
    loss=st.sampled_from(LOSSES),
)
def test_never_above_the_optimum(table, k, loss):
    guide, model = catalog.losses[loss](), KAnonymity(k=k)
    bound = lower_bound(table, k, guide)
    if table.crowd < k:
        assert bound.percent is None
        assert "fewer than k" in bound.reason
        return
    found = []
    for parting in partitions(list(range(table.rows))):
        published = publish(table.codes, table.trees, parting)
        if model.check(tally(np.array(published, np.int32), table.people)).holds:
            found.append(percent(table, guide, published))
    assert bound.percent <= min(found) + 1e-9
    assert not bound.reason


@settings(max_examples=examples(60))
@given(
    table=tables(most_rows=10, most_columns=3),
    k=st.integers(2, 4),
    loss=st.sampled_from(LOSSES),
    most=st.sampled_from([20, 100, 10**9]),
)
def test_equals_a_look_at_all_cells(table, k, loss, most):
    if table.crowd < k:
        return
    guide = catalog.losses[loss]()
    costs = exact_costs(guide, table.domains, table.rows)
    rows = [tuple(int(v) for v in row) for row in table.codes]
    total = 0
    for row in rows:
        fine = [c for c in cells(row, table.trees)
                if sum(covers(table.trees, c, other) for other in rows) >= k]  # fmt: skip
        total += min(price(costs, row, c) for c in fine)
    possible = sum(int(c[v]) for row in rows for c, v in zip(costs, row, strict=True))
    expected = 100 * total / possible if possible else 0.0
    bound = lower_bound(table, k, guide, most)
    if bound.reason:
        assert most < 10**9
        assert bound.percent is None or bound.percent <= expected + 1e-9
    else:
        assert bound.percent == pytest.approx(expected, abs=1e-9)


def test_a_record_apart_pays_for_its_distance():
    tree = Hierarchy.flat().tree("ab")
    a, b = tree.node("a"), tree.node("b")
    table = Table(("q",), (tree,), np.array([[a], [a], [a], [b]], np.int32), None, (True,))
    assert lower_bound(table, 2, NLLM()).percent == pytest.approx(25.0)
    assert lower_bound(table, 2, NCP()).percent == pytest.approx(25.0)


def test_a_loss_that_falls_is_skipped():
    tree = Hierarchy.from_tree({"*": {"A": ["x", "y"], "z": None}}).tree()
    codes = np.array([[tree.node(v)] for v in "xyzzzzzzzz"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    bound = lower_bound(table, 2, catalog.losses["entropy"]())
    assert bound.percent is None
    assert "can cost less" in bound.reason


def test_free_values_have_no_bound():
    """Their cells are not those of a tree: a set of two values loses less than the root."""
    tree = Hierarchy.free_sets().tree(["a", "b", "c"])
    table = Table(("x",), (tree,), np.array([[1], [2], [3]], np.int32), None, (True,))
    found = lower_bound(table, 2, NCP())
    assert found.percent is None
    assert "'x' may be published as free" in found.reason
