"""Class sizes of the population by a test of Poisson models (El Emam and Dankar 2008).

The hypothesis is that a class has k people. It is rejected if so many of them would hardly be in
the sample. The expected size f / π is not used: it takes a class for large because it was sampled.
"""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Floats, Longs

LARGEST = 2**62  # people


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
    mean = np.array([fraction * k])
    low, high = 1, k  # k records are k people; the probability falls with f
    while low < high:
        f = (low + high) // 2
        if _tail(np.array([f]), mean, truncated)[0] <= significance:
            high = f
        else:
            low = f + 1
    return low


def accepted_sizes(
    sizes: Longs, fraction: float, significance: float = 0.01, truncated: bool = True
) -> Longs:
    """The largest k that classes of the sample with these sizes are taken to have, int64[sizes].

    A class is taken to have k people or more if and only if it has `sample_size_needed` of k.

    >>> accepted_sizes(np.array([3, 4, 9]), 0.1).tolist()
    [3, 6, 34]
    """
    sizes = np.asarray(sizes, np.int64)
    # The probability of so many rises with k, so the largest k is found by halving.
    with np.errstate(over="ignore"):  # more people than can be counted are LARGEST
        most = np.minimum(np.ceil(sizes / fraction), LARGEST).astype(np.int64)
    low, high = sizes.copy(), np.maximum(sizes, most)
    while (low < high).any():
        k = low + (high - low + 1) // 2
        above = _tail(sizes, fraction * k.astype(np.float64), truncated)
        fine = (above <= significance) | (k <= sizes)
        low, high = np.where(fine, k, low), np.where(fine, high, k - 1)
    return low


def _tail(f: Longs, mean: Floats, truncated: bool) -> Floats:
    """The probability of f records or more; `truncated`: given that there is one."""
    from scipy.special import pdtrc

    above = pdtrc(f - 1.0, mean)
    if not truncated:
        return np.asarray(above)
    some = -np.expm1(-mean)  # 1 - exp(-mean) would be 0 for a small mean
    return np.where(f == 1, 1.0, np.divide(above, some, out=np.zeros_like(above), where=some > 0))
