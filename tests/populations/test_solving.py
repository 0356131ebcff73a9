"""Digamma and roots against the libraries that are too slow to load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import psi

from shoal.populations.solving import digamma, digamma_of, root


def test_digamma_is_that_of_scipy():
    x = np.concatenate([np.logspace(-9, 12, 400), np.arange(1, 50), np.linspace(1.3, 1.6, 50)])
    assert [digamma_of(one) for one in x.tolist()] == pytest.approx(digamma(x), rel=1e-14)
    assert digamma(x) == pytest.approx(psi(x), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_root(sign):
    assert root(lambda x: sign * (x**3 - 0.2), 0.0, 1.0) == pytest.approx(0.2 ** (1 / 3), rel=1e-15)


def test_root_of_a_function_that_is_flat_on_one_side():
    count = []

    def steep(x):
        count.append(x)
        return -1e-9 if x < 0.123 else 1e9

    assert root(steep, 0.0, 1.0) == pytest.approx(0.123, rel=1e-14)
    assert len(count) < 200
