"""The losses against their definitions, and the worked example of Mauger 2023."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from shoal import catalog
from shoal.base.errors import BadPlan
from shoal.hierarchies.base import Hierarchy
from shoal.losses._integer_costs import exact_costs
from shoal.losses.weights import Weights
from shoal.table.encode import Domain
from tests.strategies import tables

RACE = Hierarchy.from_tree({"Mammal": {"Felid": ["Cat", "Lion"], "Dog": None}})
GENDER = Hierarchy.from_tree({"*": ["Male", "Female"]})
EXAMPLE = Weights(
    edge_weights={
        "race": {"Cat": 1, "Lion": 1, "Dog": 4, "Felid": 3},
        "gender": {"Male": 5, "Female": 5},
    }
)
PLAIN = sorted(set(catalog.losses) - {"weights"})


def test_cost_matrix_of_the_worked_example():
    matrix = EXAMPLE.cost_matrix({"race": RACE, "gender": GENDER})["race"]
    assert matrix.labels == ("Cat", "Lion", "Dog", "Felid", "Mammal")
    assert matrix.values.tolist() == [
        [0, 1, 4, 1, 4],
        [1, 0, 4, 1, 4],
        [4, 4, 0, 4, 4],
        [0, 0, 3, 0, 3],
        [0, 0, 0, 0, 0],
    ]
    assert matrix["Cat", "Dog"] == 4


def test_cost_matrix_of_the_other_worked_example():
    """The general matrix of Sec. 3, Mauger 2020, with numbers for the weights."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b", "c"], "B": ["d", "e"], "f": None}})
    weights = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "A": 10, "B": 20}
    matrix = Weights(edge_weights={"q": weights}).cost_matrix({"q": tree})["q"]
    assert matrix["a", "*"] == 11
    assert matrix["*", "a"] == 0
    assert matrix["a", "c"] == 1
    assert matrix["c", "a"] == 3
    assert matrix["e", "B"] == 5
    assert matrix["B", "e"] == 0
    assert matrix["A", "B"] == 10
    assert matrix["f", "d"] == 6
    assert matrix["d", "f"] == 24


def test_weights_are_checked():
    with pytest.raises(BadPlan, match="lack the values 'Dog'"):
        Weights(edge_weights={"race": {"Cat": 1, "Lion": 1, "Felid": 3}}).cost_matrix(
            {"race": RACE}
        )
    with pytest.raises(BadPlan, match="did you mean 'Lion'"):
        Weights(
            edge_weights={"race": {"Cat": 1, "Lyon": 1, "Lion": 1, "Felid": 3, "Dog": 1}}
        ).cost_matrix({"race": RACE})
    with pytest.raises(BadPlan, match="0 or more"):
        Weights(edge_weights={"race": {"Cat": -1}})
    with pytest.raises(BadPlan, match="none for column 'race'"):
        Weights(edge_weights={}).cost_matrix({"race": RACE})


def test_leaves_count_whether_or_not_they_occur():
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b", "c"], "d": None}}).tree()
    domain = Domain("q", tree, np.bincount([tree.node("a")], minlength=tree.size))
    (cost,) = catalog.losses["ncp"]().costs([domain])
    assert cost[tree.node("a")] - cost[tree.node("A")] == pytest.approx(2 / 4)


@pytest.mark.parametrize("name", PLAIN)
@given(table=tables())
def test_exact_costs_are_proportional(name, table):
    """Integers stand for the costs; where a loss falls on the way up, climbing is free."""
    loss = catalog.losses[name]()
    exact = exact_costs(loss, table.domains, table.rows)
    floats = loss.costs(table.domains)
    unit = max(float(cost.max()) for cost in floats)
    scale = max(int(cost.max()) for cost in exact)
    for tree, whole, cost in zip(table.trees, exact, floats, strict=True):
        assert whole[0] == 0
        assert (whole >= whole[tree.parent]).all()
        if loss.monotone and unit:
            assert np.allclose(whole / scale, cost / unit, atol=1e-9)


def test_equal_costs_stay_equal_as_integers():
    """A third three times is one: ties that rounding would break stay ties."""
    third = Hierarchy.from_tree({"*": ["a", "b", "c"]}).tree()
    seventh = Hierarchy.from_tree({"*": {"A": ["a", "b", "c", "d"], "B": ["e", "f", "g"]}}).tree()
    domains = [Domain(n, t, np.ones(t.size, np.int64)) for n, t in [("x", third), ("y", seventh)]]
    x, y = exact_costs(catalog.losses["ncp"](), domains, 1000)
    assert 3 * x[1] == 2 * (x[1] + x[1] // 2)
    a = y[seventh.node("a")] - y[seventh.node("A")]
    assert 7 * a == 3 * 7 * (y[seventh.node("e")] - y[seventh.node("B")]) // 2
