"""Class sizes of the population by Poisson models (El Emam and Dankar 2008)."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Floats, Longs


def expected_sizes(sizes: Longs, fraction: float) -> Floats:
    """The expected size in the population of classes with these sizes in the sample: f / π.

    >>> expected_sizes(np.array([1, 3]), 0.1)
    array([10., 30.])
    """
    return np.asarray(sizes, np.float64) / fraction


def probability_of_at_least(k: int, sizes: Longs, fraction: float) -> Floats:
    """The probability that a class with f records has k people or more in the population.

    Those who were not sampled are Poisson with mean f (1 − π) / π, so that f / π are expected.

    >>> probability_of_at_least(5, np.array([1, 5]), 0.1).round(4)
    array([0.9788, 1.    ])
    """
    from scipy.special import pdtrc

    sizes = np.asarray(sizes, np.int64)
    rest = sizes * (1 - fraction) / fraction  # float64[classes], the mean of those not sampled
    lacking = k - sizes  # int64[classes]
    found: Floats = np.where(lacking <= 0, 1.0, pdtrc(np.maximum(lacking - 1, 0), rest))
    return found


def sample_size_needed(
    k: int, fraction: float, significance: float = 0.01, *, truncated: bool = True
) -> int:
    """The smallest sample class for which fewer than k people in the population are rejected.

    A class of k people has Poisson(π k) records in the sample. `truncated`: given that it has one
    at least, as nobody sees the others (zero-truncated). A class of the sample with f records is
    taken to have k people or more if so many records have at most this probability.

    >>> sample_size_needed(5, 0.1), sample_size_needed(5, 0.1, truncated=False)
    (4, 4)
    """
    from scipy.special import pdtr, pdtrc

    mean = fraction * k
    for f in range(1, k):
        above = float(pdtrc(f - 1, mean))  # P(X ≥ f)
        if truncated:
            above /= 1 - float(pdtr(0, mean))
        if above <= significance:
            return f
    return k  # k records are k people
