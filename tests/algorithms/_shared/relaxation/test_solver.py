"""The exact solver of small programs, and what happens without it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from shoal.algorithms._shared.relaxation.columns import Columns, Groups
from shoal.algorithms._shared.relaxation.master import Master
from shoal.algorithms._shared.relaxation.solver import is_installed, solve_exactly

LOW, HIGH = np.zeros(3), np.full(3, 20.0)


@pytest.fixture
def columns():
    """Tuples 0 and 1 keep 10 together, 1 and 2 keep 6: prices 10 and 6 in the mean."""
    found = Columns(3, 2)
    found.add(
        Groups(np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.ones(4, np.int64), np.array([10, 6]))
    )
    return found


def test_prices_and_weights_of_the_optimum(columns):
    """Both groups have the tuple 1: the whole weight is for the one that keeps more."""
    size = np.ones(3, np.int64)
    found = solve_exactly(columns, size, 10.0, LOW, HIGH)
    assert found.weight.tolist() == pytest.approx([2.0, 0.0])
    assert found.price @ size == pytest.approx(20.0)
    assert found.price[0] + found.price[1] == pytest.approx(20.0)
    assert found.price[1] + found.price[2] >= 12.0 - 1e-6


def test_without_the_solver_the_first_order_method_is_used(columns, monkeypatch):
    size = np.ones(3, np.int64)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert not is_installed()
    assert solve_exactly(columns, size, 10.0, LOW, HIGH) is None
    price = np.full(3, 10.0)
    for _ in range(20):
        price, _ = Master(columns, size, 10.0).solve(price, LOW, HIGH)
    assert price @ size == pytest.approx(20.0, abs=0.1)
    assert columns.weight.tolist() == pytest.approx([2.0, 0.0], abs=0.1)


def test_a_solver_that_fails_is_not_believed(columns):
    """Prices that cannot pay for the groups: no prices, instead of wrong ones."""
    assert solve_exactly(columns, np.ones(3, np.int64), 10.0, LOW, np.full(3, 1.0)) is None
