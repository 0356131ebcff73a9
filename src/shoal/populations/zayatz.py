"""The estimator of Zayatz (1991): how many sample uniques are unique in the population."""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from shoal.populations.class_sizes import ClassSizes
from shoal.populations.estimate import Estimate, estimated, population_size

NAME = "zayatz"


def zayatz(sizes: ClassSizes, fraction: float) -> Estimate:
    """Population uniques, if class sizes of the population were spread as those of the sample.

    A class of i people has one of them in the sample with a hypergeometric probability; by Bayes'
    rule that gives the share of the sample uniques whose class has i = 1.

    >>> sample = ClassSizes.of(np.repeat([1, 2, 3, 30], [50, 10, 5, 2]))
    >>> round(zayatz(sample, 0.1).uniqueness, 4)
    0.2078
    """
    people = round(population_size(sizes, fraction))
    if not sizes.uniques:
        return estimated(NAME, 0.0, people)
    records, size = sizes.records, sizes.size[sizes.size <= people - sizes.records + 1]
    # log of i C(N−i, n−1) / C(N, n); C(N, n) cancels out. Larger classes cannot have one only.
    chance = np.array(
        [log(i) + lgamma(people - i + 1) - lgamma(people - i - records + 2) for i in size.tolist()]
    )
    chance = np.exp(chance - chance[0])  # that of size 1 is 1
    one = float(sizes.classes_of_size[: len(size)] @ chance)
    still_unique = sizes.uniques / one
    return estimated(NAME, sizes.uniques * still_unique / fraction, people)
