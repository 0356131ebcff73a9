"""Laws that hold for every loss of the catalog."""

from __future__ import annotations

import pytest
from hypothesis import given

from shoal import catalog
from tests.strategies import tables

PLAIN = sorted(set(catalog.losses) - {"weights"})


@pytest.mark.parametrize("name", PLAIN)
@given(table=tables())
def test_the_root_costs_nothing_more_and_nothing_is_infinite(name, table):
    for cost in catalog.losses[name]().costs(table.domains):
        assert cost[0] == 0
        assert (cost < float("inf")).all()


@pytest.mark.parametrize("name", sorted(set(PLAIN) - {"entropy"}))
@given(table=tables())
def test_a_wider_value_never_costs_less(name, table):
    costs = catalog.losses[name]().costs(table.domains)
    for tree, cost in zip(table.trees, costs, strict=True):
        assert (cost[tree.parent] <= cost + 1e-12).all()


def test_entropy_may_fall_on_the_way_up():
    """The one exception, from its definition: a frequent sibling makes a wide value telling."""
    import numpy as np

    from shoal.hierarchies.base import Hierarchy
    from shoal.table.encode import Domain

    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "c": None}}).tree()
    counts = np.zeros(tree.size, np.int64)
    counts[tree.node("a")] = counts[tree.node("b")] = 1
    counts[tree.node("c")] = 1000
    (cost,) = catalog.losses["entropy"]().costs([Domain("q", tree, counts)])
    assert cost[tree.node("A")] < 0
