"""Histograms of groups: sums of several groups, and of trials with and without a tuple."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.kernels.histogram import sum_groups, sum_trials


def flat(groups):
    """Histograms as three arrays."""
    start = np.cumsum([0, *map(len, groups)])
    pairs = [pair for one in groups for pair in sorted(one.items())]
    value, count = zip(*pairs, strict=True)
    return start, np.array(value, np.int32), np.array(count, np.int64)


@pytest.mark.parametrize("values", [5, 400])
def test_trials_are_sums_of_groups_and_single_tuples(values):
    """With few values, which all occur, and with many, of which few do."""
    rng = np.random.default_rng(values)
    tuples = [Counter({int(rng.integers(values)): int(rng.integers(1, 4))}) for _ in range(60)]
    group_of = rng.integers(0, 9, len(tuples))
    groups = [Counter() for _ in range(9)]
    for one, g in zip(tuples, group_of, strict=True):
        groups[g] += one
    groups = [one or Counter({0: 1}) for one in groups]
    trials = []
    for _ in range(300):
        minus = int(rng.integers(-1, len(tuples)))
        a = int(rng.integers(9)) if minus < 0 else int(group_of[minus])
        trials.append((a, int(rng.integers(-1, 9)), minus, int(rng.integers(-1, len(tuples)))))
    asked = [np.array(one, np.int64) for one in zip(*trials, strict=True)]
    start, value, count = sum_trials(*asked, flat(groups), flat(tuples), values)
    for t, (a, b, minus, plus) in enumerate(trials):
        expected = groups[a] + (groups[b] if b >= 0 else Counter())
        expected += tuples[plus] if plus >= 0 else Counter()
        expected -= tuples[minus] if minus >= 0 else Counter()  # values that are gone are left out
        part = slice(start[t], start[t + 1])
        found = list(zip(value[part].tolist(), count[part].tolist(), strict=True))
        assert found == sorted(expected.items())


def test_groups_are_summed_per_owner():
    groups = flat([Counter({1: 2, 3: 1}), Counter({1: 1}), Counter({0: 5})])
    start, value, count = sum_groups(np.array([0, 2, 3]), np.array([1, 0, 2]), *groups, 4)
    assert (start.tolist(), value.tolist(), count.tolist()) == ([0, 2, 3], [1, 3, 0], [3, 1, 5])
