"""What chance would give if a column and a quasi-identifier were independent.

Leaves are the values of a quasi-identifier (kernels/relations.py).
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p

from shoal.kernels import lean_kernel


@lean_kernel
def surprise(people, leaves, known, single, size, total, rare):
    """How little chance it has that people with a value show so few leaves, as a logarithm.

    `known` is the number of people of the table who have these leaves. There are C(L, s) sets of s
    of the L leaves that occur, and all n people have a leaf of one of them with a probability of at
    most the sum of (known / total)^n; s can be 1 to min(n, L). It is 0 if unseen leaves are not
    rare, by the people whose leaf nobody else has (`single`).
    """
    away = 1 - known / total
    if people < 2 or known >= total or single > rare * people * away + 1e-9:
        return 0.0
    ways = lgamma(size + 1.0) - lgamma(leaves + 1.0) - lgamma(size - leaves + 1.0)
    return -people * log(known / total) - ways - log(float(min(people, size)))


@lean_kernel
def greatest_surprise(people, known, total):
    """What `surprise` is at most, at the cost of one logarithm: no ways to count."""
    return -people * log(known / total) if known < total else 0.0


@lean_kernel
def alone_by_chance(people, total, sizes, often, begin, stop):
    """Of so many people with a value, how many have their leaf alone by chance.

    A leaf with the share p has exactly one of n people with the probability n p (1 - p)^(n - 1).
    `sizes` are the sizes of leaves, rising, and `often` how many leaves have each.
    """
    found = 0.0
    for s in range(begin, stop):
        share = sizes[s] / total
        if share >= 1 or share * (people - 1) > 60:  # then it is less than one in 10^24
            break
        found += often[s] * people * share * exp((people - 1) * log1p(-share))
    return found


@lean_kernel
def band_of(people):
    """Which values are judged together: the logarithm of their people; two or three count as one.

    Whether one person would be enough is judged by values of two or three.
    """
    band = 0
    while people > 1:
        people >>= 1
        band += 1
    return max(band, 1)
