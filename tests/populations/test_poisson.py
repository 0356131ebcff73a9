"""Class sizes of the population by a test of Poisson models, against sums of their definition."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.populations.poisson import accepted_sizes, sample_size_needed
from tests.naive import populations as naive


@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [2, 5, 20])
def test_sample_size_is_its_twin(k, fraction, truncated):
    for significance in (0.01, 0.05, 0.2):
        found = sample_size_needed(k, fraction, significance, truncated=truncated)
        assert found == naive.sample_size_needed(k, fraction, significance, truncated)
        assert 1 <= found <= k


@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("fraction", [0.05, 0.3, 1.0])
def test_accepted_sizes_are_the_largest_that_are_accepted(fraction, truncated):
    f = np.arange(1, 9)
    found = accepted_sizes(f, fraction, 0.05, truncated)
    for one, k in zip(f, found, strict=True):
        assert sample_size_needed(k, fraction, 0.05, truncated=truncated) <= one
        assert sample_size_needed(k + 1, fraction, 0.05, truncated=truncated) > one


@pytest.mark.parametrize("truncated", [True, False])
def test_many_people_and_tiny_fractions(truncated):
    """As many people as there can be are tried by halving; nothing is divided by zero."""
    found = sample_size_needed(10**7, 0.5, truncated=truncated)
    assert 5_000_000 < found < 5_010_000
    assert sample_size_needed(10**18, 1e-9, truncated=truncated) < 2 * 10**9
    assert sample_size_needed(3, 1e-17, truncated=truncated) == (2 if truncated else 1)
    for fraction in (1e-17, 1e-300):
        accepted = accepted_sizes(np.array([1, 2]), fraction, truncated=truncated)
        assert accepted[1] > 10**12
        assert (accepted[0] == 1) == truncated
