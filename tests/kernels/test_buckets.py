"""Groups of the most frequent values: as a heap of pairs gives them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.buckets import fill_buckets


def plainly(order, start, left, size):
    group, made = [-1] * len(order), 0
    heap = [(-many, value) for value, many in enumerate(left) if many]
    heapify(heap)
    while len(heap) >= size:
        for many, value in [heappop(heap) for _ in range(size)]:
            left[value] -= 1
            group[order[start[value] + left[value]]] = made
            if many < -1:
                heappush(heap, (many + 1, value))
        made += 1
    return group, left, made


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any),
    size=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_takes_the_most_frequent_values(counts, size, seed):
    order = np.random.default_rng(seed).permutation(sum(counts))
    start = np.append(0, np.cumsum(counts))
    group, left = np.full(len(order), -1), np.array(counts)
    made = fill_buckets(order, start, left, size, group)
    expected = plainly(order.tolist(), start.tolist(), list(counts), size)
    assert (group.tolist(), left.tolist(), made) == expected
