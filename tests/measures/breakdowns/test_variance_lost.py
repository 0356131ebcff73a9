"""The share of the variance that is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.measures.breakdowns.variance_lost import variance_lost
from tests.naive import microaggregation as naive


@given(rows=st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2))
def test_agrees_with_its_naive_twin(rows):
    before, after = zip(*rows, strict=True)
    assume(len(set(before)) > 1)
    found = variance_lost(np.array(before, float), np.array(after, float))
    assert found == pytest.approx(naive.variance_lost(before, after))


def test_means_lose_what_the_variance_lacks():
    before = np.array([1.0, 4.0, 4.0, 10.0, 12.0, 30.0])
    after = np.array([3.0, 3.0, 3.0, 52 / 3, 52 / 3, 52 / 3])
    assert variance_lost(before, after) == pytest.approx(1 - after.var() / before.var())


def test_without_variance_there_is_no_share():
    assert variance_lost(np.ones(3), np.ones(3)) is None
    assert variance_lost(np.ones(0), np.ones(0)) is None
