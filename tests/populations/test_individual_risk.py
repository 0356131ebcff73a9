"""Individual risk against figures of the literature, the sum of its definition and its integral."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import hyp2f1

from shoal.populations.individual_risk import approximate_risk, individual_risk
from tests.naive import populations as naive

# f and F̂ of the published example, and the risks.
SIZES = np.array([3, 1, 3, 1, 2, 2, 1, 3])
PEOPLE = np.array([108, 45.5, 108, 17, 100, 100, 123.5, 108])
EXACT = [
    0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297,
]  # fmt: skip


def test_the_published_example():
    assert individual_risk(SIZES, PEOPLE) == pytest.approx(EXACT, abs=5e-9)
    near = [0.01369863 if one == 0.01355297 else one for one in EXACT]
    assert approximate_risk(SIZES, PEOPLE) == pytest.approx(near, abs=5e-9)


@pytest.mark.parametrize("share", [1e-6, 0.01, 0.3, 0.499, 0.5, 0.501, 0.9, 0.999999, 1.0])
@pytest.mark.parametrize("f", [1, 2, 3, 7, 29, 30, 31, 80])
def test_it_is_the_hypergeometric_function(f, share):
    [found] = individual_risk(np.array([f]), np.array([f / share]))
    assert found == pytest.approx(share / f * hyp2f1(1, 1, f + 1, 1 - share), rel=2e-12)


def test_it_is_the_sum_and_the_integral():
    for f, people in [(1, 4), (2, 9), (3, 4.5), (6, 60), (31, 62), (40, 45)]:
        [found] = individual_risk(np.array([f]), np.array([people]))
        assert found == pytest.approx(naive.risk_by_sum(f, people), rel=1e-9)
        assert found == pytest.approx(naive.risk(f, people, 4000), rel=1e-5)


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(1, 10**6)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_laws(pairs):
    """Between f / F̂² … 1 / f; more people in the population never raise it."""
    f = np.array([one for one, _ in pairs])
    people = np.array([one * factor for one, factor in pairs])
    risk = individual_risk(f, people)
    assert (risk <= 1 / f * (1 + 1e-12)).all()
    assert (risk >= 1 / people * (1 - 1e-9)).all()  # Jensen: E[1/F] ≥ 1/E[F]
    assert (individual_risk(f, people * 2) <= risk * (1 + 1e-9)).all()


def test_a_class_has_at_least_as_many_people_as_records():
    assert individual_risk(np.array([4]), np.array([2.0])) == pytest.approx([0.25])


def test_a_large_class_of_a_small_sample():
    """No overflow and no cancellation, where powers of π underflow."""
    found = individual_risk(np.array([5000, 10**6]), np.array([5e9, 1e9]))
    assert found == pytest.approx([1e-6 / 4999, 1e-3 / 999_999], rel=1e-3)


def test_a_population_without_end_gives_no_warning():
    """1 - π is 1 there, and the approximation for three records divides by f - 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = approximate_risk(np.array([1, 2, 3]), np.full(3, 1e20))
    assert (found >= 0).all()
    assert (found < 1e-18).all()
