"""The slide negative binomial model of class sizes (Chen and Keller-McNulty 1998).

A class of the population has 1 + X people, X negative binomial with parameters α and β. Every
person is in the sample with the same probability π, so that with

    G(s) = s (β / (1 − (1 − β) s))^α

the sample is expected to have K π G'(1 − π) classes of one record and K π² G''(1 − π) / 2 classes
of two. K, the number of classes in the population, is estimated first (Haas and Stokes 1998, the
modified estimator of Shlosser, D_Sh3). Population uniques are K β^α.
"""

from __future__ import annotations

from math import exp, log, log1p, sqrt

import numpy as np

from shoal.populations.class_sizes import ClassSizes
from shoal.populations.estimate import Estimate, estimated, population_size
from shoal.populations.solving import root

NAME = "slide-negative-binomial"
LEAST = 1e-9  # β is searched from there to 1 minus as much


def slide_negative_binomial(sizes: ClassSizes, fraction: float) -> Estimate:
    """Population uniques by the parameters with the sample's classes of one and of two records.

    >>> sample = ClassSizes.of(np.repeat([1, 2, 3, 30], [50, 10, 5, 2]))
    >>> round(slide_negative_binomial(sample, 0.5).uniqueness, 4)
    0.2549
    """
    people = population_size(sizes, fraction)
    if fraction == 1:
        return estimated(NAME, float(sizes.uniques), people)
    if not sizes.uniques:
        return estimated(NAME, 0.0, people)
    if not sizes.pairs:
        return estimated(NAME, None, people, "the sample has no class of two records")
    found = parameters(sizes, fraction)
    if found is None:
        reason = "no parameters give the sample's numbers of classes of one and of two records"
        return estimated(NAME, None, people, reason)
    alpha, beta = found
    return estimated(NAME, classes_in_population(sizes, fraction) * beta**alpha, people)


def classes_in_population(sizes: ClassSizes, fraction: float) -> float:
    """The modified estimator of Shlosser (D_Sh3, Haas and Stokes 1998)."""
    i, f, q = sizes.size, sizes.classes_of_size, fraction
    away = (1 - q) ** i
    seen_once = f @ (i * q * (1 - q) ** (i - 1.0))
    again = f @ (i * q**2 * (1 - q**2) ** (i - 1.0))
    twice = f @ ((1 - q**2) ** i - away)
    factor = again / twice * (f @ away / seen_once) ** 2
    return sizes.classes + sizes.uniques * float(factor)


def parameters(sizes: ClassSizes, fraction: float) -> tuple[float, float] | None:
    """α and β that give the expected classes of one and of two records; None: there are none.

    For each β the ratio of the two gives one α; the β is searched that gives the first number.
    """
    classes = classes_in_population(sizes, fraction)
    ratio = 2 * sizes.pairs / (fraction * sizes.uniques)  # G'' / G'

    def excess(beta: float) -> float:
        alpha = alpha_of(beta, fraction, ratio)
        return classes * fraction * slope(alpha, beta, fraction) - sizes.uniques

    grid = 1 / (1 + np.exp(-np.linspace(log(LEAST), -log(LEAST), 200)))
    values = np.array([excess(beta) for beta in grid])
    change = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    if not len(change):
        return None
    at = int(change[-1])
    beta = root(excess, float(grid[at]), float(grid[at + 1]))
    return alpha_of(beta, fraction, ratio), beta


def alpha_of(beta: float, fraction: float, ratio: float) -> float:
    """The α at which G''/G' has this ratio: α A (2 + B + α B) = ratio (1 + α B)."""
    r, s = 1 - beta, 1 - fraction
    a, b = r / (1 - r * s), r * s / (1 - r * s)
    half = (a * (2 + b) - ratio * b) / 2
    root = sqrt(half * half + a * b * ratio)
    # Of two ways to write the positive root, the one that does not cancel.
    return (root - half) / (a * b) if half < 0 else ratio / (half + root)


def slope(alpha: float, beta: float, fraction: float) -> float:
    """G'(1 − π)."""
    r, s = 1 - beta, 1 - fraction
    height = exp(alpha * (log(beta) - log1p(-r * s)))
    return height * (1 + s * alpha * r / (1 - r * s))
