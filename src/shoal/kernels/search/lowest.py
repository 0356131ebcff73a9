"""The k lowest caps among the rows of a run of tuples, found with a heap."""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel


@lean_kernel
def push(heap, used, cap, rows):
    """Push a cap with its number of rows onto a heap with the highest on top."""
    at = used
    while at > 0 and heap[(at - 1) // 2, 0] < cap:
        heap[at, 0], heap[at, 1] = heap[(at - 1) // 2, 0], heap[(at - 1) // 2, 1]
        at = (at - 1) // 2
    heap[at, 0], heap[at, 1] = cap, rows


@lean_kernel
def pop(heap, used):
    """Pop the highest cap from a heap."""
    cap, rows = heap[used - 1, 0], heap[used - 1, 1]
    at, below = 0, 1
    while below < used - 1:
        if below + 1 < used - 1 and heap[below + 1, 0] > heap[below, 0]:
            below += 1
        if heap[below, 0] <= cap:
            break
        heap[at, 0], heap[at, 1] = heap[below, 0], heap[below, 1]
        at, below = below, 2 * below + 1
    heap[at, 0], heap[at, 1] = cap, rows


@lean_kernel
def lowest_rows(tuples, begin, to, cap, size, k, heap):
    """Put the rows with the lowest caps of a run on a heap: k of them, and ties of the highest.

    Returns how many tuples are on the heap, their rows, and the sum of their caps.
    """
    used, rows, total = 0, np.int64(0), np.int64(0)
    for i in range(begin, to):
        x = tuples[i]
        if rows >= k and cap[x] >= heap[0, 0]:
            continue
        many = min(size[x], k)
        push(heap, used, cap[x], many)
        used += 1
        rows += many
        total += many * cap[x]
        while rows - heap[0, 1] >= k:
            rows -= heap[0, 1]
            total -= heap[0, 1] * heap[0, 0]
            pop(heap, used)
            used -= 1
    return used, rows, total


@lean_kernel
def lowest(tuples, begin, to, cap, size, k, heap):
    """The sum of the k lowest caps among the rows of a run, which has at least k."""
    _, rows, total = lowest_rows(tuples, begin, to, cap, size, k, heap)
    return total - (rows - k) * heap[0, 0]


@lean_kernel
def level_of(heap, used, rows, k, keeps):
    """The lowest level to which caps must rise so that the k lowest have the mean `keeps`.

    `heap` is as `lowest_rows` has left it. Up to its highest cap the same rows remain the lowest.
    """
    highest = heap[0, 0]
    if keeps >= highest:
        return keeps
    low, high = np.int64(0), highest
    while low < high:
        level = (low + high) // 2
        total = -(rows - k) * highest
        for i in range(used):
            total += heap[i, 1] * max(heap[i, 0], level)
        if total >= k * keeps:
            high = level
        else:
            low = level + 1
    return low
