"""Individual risk with sampling weights (Benedetti and Franconi 1998; Polettini 2003).

A class has f records in the sample and an estimated F̂ people in the population; π = f / F̂. Given
f, the people F of the class are negative binomial, and the risk of a record is E[1 / F | f]. The
hypergeometric form (π^f / f) ₂F₁(f, f; f + 1; 1 − π) equals π J_f with

    J_f = ∫₀¹ s^(f−1) / (π + (1 − π) s) ds,   (1 − π) J_{f+1} + π J_f = 1 / f,

and, by Euler's transformation, (π / f) ₂F₁(1, 1; f + 1; 1 − π), whose terms are all positive.
"""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Floats, Longs

STEPS = 30  # classes up to this size by the recurrence, if π is at most 1/2
TERMS = 64  # of the series: each is at most half of the one before, or their sum is known by then


def individual_risk(sizes: Longs, people: Floats) -> Floats:
    """The exact risk of a record of each class; `sizes` are f, `people` F̂. Both [classes].

    >>> individual_risk(np.array([1, 2, 3, 4]), np.array([45.5, 100.0, 108.0, 4.0])).round(8)
    array([0.08579129, 0.01877883, 0.01355297, 0.25      ])
    """
    f, share = _shares(sizes, people)
    risk = np.empty(len(f))
    steps = (share <= 0.5) & (f <= STEPS)
    risk[steps] = _by_recurrence(f[steps], share[steps])
    risk[~steps] = _by_series(f[~steps], share[~steps])
    return risk


def approximate_risk(sizes: Longs, people: Floats) -> Floats:
    """The same with π / (f − (1 − π)) for classes of three records or more.

    >>> approximate_risk(np.array([1, 2, 3]), np.array([45.5, 100.0, 108.0])).round(8)
    array([0.08579129, 0.01877883, 0.01369863])
    """
    f, share = _shares(sizes, people)
    small = f <= 2
    risk = share / np.where(small, 1.0, f - (1 - share))
    risk[small] = individual_risk(f[small], f[small] / share[small])
    return risk


def _shares(sizes: Longs, people: Floats) -> tuple[Longs, Floats]:
    """f and π; a class has at least as many people as records."""
    f = np.asarray(sizes, np.int64)
    return f, f / np.maximum(np.asarray(people, np.float64), f)


def _by_recurrence(f: Longs, share: Floats) -> Floats:
    """π J_f, from J_1 = ln(1/π) / (1 − π) on; an error does not grow while π ≤ 1 − π."""
    value = -np.log(share) / (1 - share)  # float64[classes], J_1
    for size in range(1, int(f.max(initial=1))):
        further = f > size
        value[further] = (1 / size - share[further] * value[further]) / (1 - share[further])
    return share * value


def _by_series(f: Longs, share: Floats) -> Floats:
    """(π / f) Σ_k k! / ((f + 1) … (f + k)) (1 − π)^k."""
    term = share / f
    total = term.copy()
    for k in range(1, TERMS):
        term = term * ((1 - share) * k / (f + k))
        total += term
    return total
