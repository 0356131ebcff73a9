"""Naive twins of the population estimates: sums, integrals and grids, as slow as they may be."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, factorial, log


def risk(f, people, cells=200_000):
    """E[1 / F | f] by its integral, with Simpson's rule: π ∫ s^(f−1) / (π + (1 − π) s) ds."""
    share = min(f / people, 1.0)
    h = 1 / cells

    def inside(s):
        return s ** (f - 1) / (share + (1 - share) * s)

    odd = sum(inside((2 * i + 1) * h) for i in range(cells // 2))
    even = sum(inside(2 * i * h) for i in range(1, cells // 2))
    return share * (inside(0) + 4 * odd + 2 * even + inside(1)) * h / 3


def risk_by_sum(f, people, terms=4000):
    """E[1 / F | f] by its definition: Σ_h (1/h) C(h−1, f−1) π^f (1−π)^(h−f)."""
    share = Fraction(f) / Fraction(people)
    chance, total = float(share) ** f, 0.0
    for h in range(f, f + terms):
        total += chance / h
        chance *= float(1 - share) * h / (h - f + 1)
    return total


def pitman_likelihood(sizes, alpha, theta):
    """The logarithm of Pitman's sampling formula, without what does not depend on α and θ."""
    u, n = len(sizes), sum(sizes)
    found = sum(log(theta + i * alpha) for i in range(1, u))
    found -= sum(log(theta + i) for i in range(1, n))
    return found + sum(log(i - alpha) for size in sizes for i in range(1, size))


def zayatz(sizes, n_population):
    """Zayatz 1991 with exact fractions: population uniques among N people."""
    n, classes = sum(sizes), len(sizes)

    def once(i):  # a class of i people has one in a sample of n of N people
        return Fraction(i * comb(n_population - i, n - 1), comb(n_population, n))

    given = sum(Fraction(1, classes) * once(i) for i in sizes if i <= n_population - n + 1)
    uniques = sizes.count(1)
    still = Fraction(uniques, classes) * once(1) / given
    return float(uniques * still * Fraction(n_population, n))


def shlosser(sizes, q):
    """The modified estimator of Shlosser (Haas and Stokes 1998), class by class."""
    again = sum(i * q * q * (1 - q * q) ** (i - 1) for i in sizes)
    twice = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes)
    away = sum((1 - q) ** i for i in sizes)
    once = sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    return len(sizes) + sizes.count(1) * again / twice * (away / once) ** 2


def slide_negative_binomial_classes(alpha, beta, fraction, records, most=4000):
    """The share of the population's classes with this many records in the sample."""
    chance, total = beta**alpha, 0.0
    for people in range(1, most):
        ways = comb(people, records)
        total += chance * ways * fraction**records * (1 - fraction) ** (people - records)
        chance *= (alpha + people - 1) / people * (1 - beta)
    return total


def poisson(x, mean):
    return mean**x * exp(-mean) / factorial(x)


def sample_size_needed(k, fraction, significance, truncated):
    mean = fraction * k
    seen = 1 - poisson(0, mean) if truncated else 1.0
    for f in range(1, k):
        if (1 - sum(poisson(x, mean) for x in range(f))) / seen <= significance:
            return f
    return k
