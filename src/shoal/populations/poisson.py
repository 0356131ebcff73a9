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


def accepted_sizes(
    sizes: Longs, fraction: float, significance: float = 0.01, truncated: bool = True
) -> Longs:
    """The largest k that classes of the sample with these sizes are taken to have, int64[sizes].

    A class is taken to have k people or more if and only if it has `sample_size_needed` of k.

    >>> accepted_sizes(np.array([3, 4, 9]), 0.1).tolist()
    [3, 6, 34]
    """
    from scipy.special import pdtr, pdtrc

    sizes = np.asarray(sizes, np.int64)
    # The probability of so many rises with k, so the largest k is found by halving.
    low, high = sizes.copy(), np.maximum(sizes, np.ceil(sizes / fraction)).astype(np.int64)
    while (low < high).any():
        k = (low + high + 1) // 2
        above = pdtrc(sizes - 1, fraction * k)  # P(X >= f)
        if truncated:
            above = above / (1 - pdtr(0, fraction * k))
        fine = (above <= significance) | (k <= sizes)
        low, high = np.where(fine, k, low), np.where(fine, high, k - 1)
    return low
