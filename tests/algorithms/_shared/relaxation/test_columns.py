"""The groups of a partition, against a list of all its rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.relaxation.columns import Columns, of_classes
from tests.strategies import examples


def naive_groups(label, size, keeps, k):
    """The rows of each class one by one."""
    found = []
    for one in sorted(set(label.tolist())):
        tuples = np.flatnonzero(label == one)
        rows = np.repeat(tuples, size[tuples]).tolist()
        for at in range(0, len(rows), k):
            group = rows[min(at, len(rows) - k) :][:k]
            times = tuple((t, group.count(t)) for t in sorted(set(group)))
            if (times, keeps[tuples[0]]) not in found:
                found.append((times, keeps[tuples[0]]))
    return found


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data(), k=st.integers(1, 6))
def test_the_groups_of_classes(data, k):
    n = data.draw(st.integers(1, 12))
    label = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    size = np.array(data.draw(st.lists(st.integers(1, 20), min_size=n, max_size=n)))
    for one in set(label.tolist()):
        first = np.flatnonzero(label == one)[0]
        size[first] += max(0, k - size[label == one].sum())
    keeps = label * 10 + 3
    groups = of_classes(label, size, keeps, k)
    found = [
        (
            tuple(zip(groups.member[lo:hi].tolist(), groups.times[lo:hi].tolist(), strict=True)),
            keep,
        )
        for (lo, hi), keep in zip(pairwise(groups.start.tolist()), groups.keeps, strict=True)
    ]
    columns = Columns(n, k)
    columns.add(groups)
    assert list(dict.fromkeys(found)) == naive_groups(label, size, keeps, k)
    assert len(columns) == len(set(found))


def test_a_billion_equal_rows_are_few_groups():
    groups = of_classes(np.zeros(2, np.int64), np.array([10**9, 3]), np.ones(2, np.int64), 5)
    assert len(groups) <= 3
