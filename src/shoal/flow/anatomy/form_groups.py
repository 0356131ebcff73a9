"""Groups in which no sensitive value occurs twice (Xiao and Tao 2006)."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Longs
from shoal.kernels.buckets import fill_buckets


def form_groups(values: Longs, size: int, rng: np.random.Generator) -> Longs | None:
    """Number the group of each record, int64[n]; None if some value has more than 1 / size of all.

    `values` numbers the sensitive value of each record. Each group has `size` records or more,
    which all have different values. As long as so many values are left, a group takes a random
    record of each of the most frequent ones. Of each other value one record is left at the most,
    which joins a random group that lacks the value (Xiao and Tao 2006).
    """
    count = np.bincount(values)
    if int(count.max()) * size > len(values):
        return None
    order = rng.permutation(len(values))
    order = order[np.argsort(values[order], kind="stable")]  # by value, at random within each
    start = np.append(0, np.cumsum(count))
    left = count.copy()
    group = np.full(len(values), -1)
    made = int(fill_buckets(order, start, left, size, group))
    for value in np.flatnonzero(left > 0).tolist():
        # It is one record if no value is too frequent, and some group lacks its value.
        have = np.zeros(made, np.bool_)
        have[group[(values == value) & (group >= 0)]] = True
        free = np.flatnonzero(~have)
        for record in order[start[value] : start[value] + left[value]]:
            at = int(rng.integers(len(free)))
            group[record] = free[at]
            free = np.delete(free, at)
    return group
