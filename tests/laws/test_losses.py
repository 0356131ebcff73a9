"""Laws that hold for every loss of the catalog."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from shoal.losses import alteration
from shoal.losses._mean_costs import metrics_in_mean
from tests.naive import losses as naive
from tests.strategies import tables


def needed(kind):
    """The options that have no default."""
    return [name for name, field in kind.model_fields.items() if field.is_required()]


# `weights` has an option without a default, and tests of its own.
PLAIN = sorted(name for name, kind in catalog.losses.items() if not needed(kind))


@pytest.mark.parametrize("name", PLAIN)
def test_every_loss_has_a_naive_twin(name):
    assert name in naive.HERE or callable(naive.twin(name))


def test_a_missing_twin_fails_with_a_sentence_that_names_the_file():
    with pytest.raises(AssertionError, match=r"write tests/naive/loss_my_loss\.py with a function"):
        naive.twin("my-loss")


@pytest.mark.parametrize("name", sorted(catalog.losses))
def test_every_loss_describes_itself(name):
    kind = catalog.losses[name]
    assert kind.description()
    assert all(field.description for field in kind.model_fields.values())


def test_the_mean_is_that_of_the_seven_metrics_of_the_paper():
    assert tuple(metrics_in_mean()) == naive.SEVEN  # sums of floats depend on the order
    assert all(kind.reported for kind in metrics_in_mean().values())


@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data(), table=tables())
def test_agrees_with_its_definition(name, data, table):
    wide = []
    for row in table.codes:
        above = []
        for tree, node in zip(table.trees, row, strict=True):
            chain = [int(node)]
            while chain[-1] != 0:
                chain.append(int(tree.parent[chain[-1]]))
            above.append(data.draw(st.sampled_from(chain)))
        wide.append(above)
    costs = catalog.losses[name]().costs(table.domains)
    before = [d.counts.astype(float) for d in table.domains]
    after = [
        np.bincount([row[j] for row in wide], minlength=tree.size).astype(float)
        for j, tree in enumerate(table.trees)
    ]
    expected = naive.alteration(name, table.trees, table.codes, wide)
    assert alteration(costs, before, after) == pytest.approx(max(expected, 0.0), abs=1e-7)


@pytest.mark.parametrize("name", PLAIN)
@given(table=tables())
def test_the_root_costs_nothing_more_and_nothing_is_infinite(name, table):
    for cost in catalog.losses[name]().costs(table.domains):
        assert cost[0] == 0
        assert (cost < float("inf")).all()


@pytest.mark.parametrize("name", [n for n in PLAIN if catalog.losses[n].monotone])
@given(table=tables())
def test_a_more_general_value_never_costs_less(name, table):
    costs = catalog.losses[name]().costs(table.domains)
    for tree, cost in zip(table.trees, costs, strict=True):
        assert (cost[tree.parent] <= cost + 1e-12).all()


def test_entropy_may_fall_on_the_way_up():
    """The one exception, from its definition: a frequent sibling makes a wide value telling."""
    from shoal.hierarchies.base import Hierarchy
    from shoal.table.encode import Domain

    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "c": None}}).tree()
    counts = np.zeros(tree.size, np.int64)
    counts[tree.node("a")] = counts[tree.node("b")] = 1
    counts[tree.node("c")] = 1000
    (cost,) = catalog.losses["entropy"]().costs([Domain("q", tree, counts)])
    assert cost[tree.node("A")] < 0
