"""The naive twin of k-map: people of the table are all that is known, or class sizes are estimated.

With a table of the population it is compared in tests/laws/test_population_models.py.
"""

from math import exp, factorial

VARIANTS = [
    {"k": 2},
    {"k": 3, "estimator": "poisson", "sampling_fraction": 0.3, "significance": 0.4},
    {"k": 4, "sampling_fraction": 0.2, "significance": 0.3},
    {"k": 4, "sampling_fraction": 1.0},
]


def taken_for(f, k, estimator="zero-truncated-poisson", sampling_fraction=None, significance=0.01):
    """Whether a class with f people in the sample is taken to have k in the population."""
    if sampling_fraction is None or f >= k:
        return f >= k
    mean = sampling_fraction * k
    fewer = sum(mean**i * exp(-mean) / factorial(i) for i in range(f))
    some = 1 - exp(-mean) if estimator != "poisson" else 1
    return (1 - fewer) / some <= significance


def level(one, k, **rest):
    k = one.hidden_among
    while taken_for(one.hidden_among, k + 1, **rest):
        k += 1
    return k


def satisfied(one, k, **rest):
    return taken_for(one.hidden_among, k, **rest)
