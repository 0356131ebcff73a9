"""Class sizes of the population by Poisson models, against sums of their definition."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.populations.poisson import expected_sizes, probability_of_at_least, sample_size_needed
from tests.naive import populations as naive


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_probability_is_its_sum(k, fraction):
    f = np.arange(1, 9)
    found = probability_of_at_least(k, f, fraction)
    assert found == pytest.approx([naive.at_least(k, one, fraction) for one in f], abs=1e-12)
    assert expected_sizes(f, fraction) == pytest.approx(f / fraction)


@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [2, 5, 20])
def test_sample_size_is_its_twin(k, fraction, truncated):
    for significance in (0.01, 0.05, 0.2):
        found = sample_size_needed(k, fraction, significance, truncated=truncated)
        assert found == naive.sample_size_needed(k, fraction, significance, truncated)
        assert 1 <= found <= k
