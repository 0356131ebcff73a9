"""Pitman's model of class sizes (Pitman 1995; Hoshino 2001, Applying Pitman's sampling formula)."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

import numpy as np

from shoal.populations.class_sizes import ClassSizes
from shoal.populations.estimate import Estimate, estimated, population_size
from shoal.populations.solving import digamma, digamma_of, root

NAME = "pitman"
LEAST, MOST = 1e-4, 1 - 1e-9  # α is searched between them
FAR = 1e4  # from there on, three terms of the series of the digamma are exact
WIDEST = 1e15  # theta + alpha is searched up to there


def pitman(sizes: ClassSizes, fraction: float) -> Estimate:
    """Population uniques, with the maximum-likelihood parameters of the sample's class sizes.

    >>> import numpy as np
    >>> sample = ClassSizes.of(np.repeat([1, 2, 3, 30], [50, 10, 5, 2]))
    >>> round(pitman(sample, 0.1).uniqueness, 4)
    0.1977
    """
    people = population_size(sizes, fraction)
    found = parameters(sizes)
    if found is None:
        return estimated(NAME, None, people, _reason(sizes))
    alpha, theta = found
    # Hoshino 2001: E[S_1] tends to Γ(θ+1) / Γ(θ+α) N^α. A finite N has fewer if θ > 1 − α/2, and
    # else more, by a share of about (1 − α)(1 − α/2 − θ) / N: less than that of one person.
    expected = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(people))
    return estimated(NAME, expected, people)


def parameters(sizes: ClassSizes) -> tuple[float, float] | None:
    """The most likely (α, θ) with 0 < α < 1 and θ > −α; None: the likelihood has no maximum there.

    For each α the most likely θ is found, and then the α at which the slope of the likelihood is 0.
    """
    if sizes.classes < 2 or sizes.classes == sizes.records:
        return None

    def slope(alpha: float) -> float:
        theta = _most_likely_theta(sizes, alpha)
        return float("-inf") if theta is None else slope_in_alpha(sizes, alpha, theta)

    low, high = LEAST, MOST
    if slope(low) <= 0 or slope(high) >= 0:
        return None
    alpha = root(slope, low, high)
    theta = _most_likely_theta(sizes, alpha)
    return None if theta is None else (alpha, theta)


def _most_likely_theta(sizes: ClassSizes, alpha: float) -> float | None:
    """The θ at which the likelihood is highest for this α; None: it grows for ever."""

    def slope(log_excess: float) -> float:
        return slope_in_theta(sizes, alpha, exp(log_excess) - alpha)

    low, high = log(1e-12), log(WIDEST)
    if slope(high) >= 0:
        return None
    if slope(low) <= 0:
        return exp(low) - alpha
    return exp(root(slope, low, high)) - alpha


def slope_in_theta(sizes: ClassSizes, alpha: float, theta: float) -> float:
    """d log L / dθ = Σ_{i=1}^{u−1} 1/(θ + iα) − Σ_{i=1}^{n−1} 1/(θ + i)."""
    first = _reciprocals(theta / alpha, sizes.classes - 1) / alpha
    return first - _reciprocals(theta, sizes.records - 1)


def slope_in_alpha(sizes: ClassSizes, alpha: float, theta: float) -> float:
    """d log L / dα = Σ_{i=1}^{u−1} i/(θ + iα) − Σ_j f_j Σ_{i=1}^{j−1} 1/(i − α)."""
    within = digamma(sizes.size.astype(np.float64) - alpha) - digamma_of(1 - alpha)
    return _shares(theta / alpha, sizes.classes - 1) / alpha - float(sizes.classes_of_size @ within)


def _reciprocals(x: float, m: int) -> float:
    """Σ_{i=1}^{m} 1/(x + i) for x > −1: a difference of digammas, without cancelling."""
    x += 1
    if x < FAR:
        return digamma_of(x + m) - digamma_of(x)
    y = x + m  # ψ(x) = ln x − 1/(2x) − 1/(12x²) + …
    return log1p(m / x) + m / (2 * x * y) + m * (x + y) / (12 * x * x * y * y)


def _shares(x: float, m: int) -> float:
    """Σ_{i=1}^{m} i/(x + i) for x > −1, without cancelling."""
    if x < 1000 * m:
        return m - x * _reciprocals(x, m)
    first = m * (m + 1) / 2  # Σ i, Σ i², Σ i³, Σ i⁴
    second = first * (2 * m + 1) / 3
    fourth = second * (3 * m * m + 3 * m - 1) / 5
    return first / x - second / x**2 + first**2 / x**3 - fourth / x**4


def _reason(sizes: ClassSizes) -> str:
    if sizes.classes == sizes.records:
        return "every record of the sample is unique, so that it has no most likely parameters"
    if sizes.classes < 2:
        return "the sample has one class only"
    return "the class sizes of the sample have no most likely parameters with alpha above 0"
