"""Groups of records with different values, the most frequent values first."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel, lean_kernel


@lean_kernel
def sink(heap, left, used, i):
    """Move the value at place i down to its place: more records come first, then lower numbers."""
    value = heap[i]
    while True:
        child = 2 * i + 1
        if child >= used:
            break
        if child + 1 < used and comes_first(left, heap[child + 1], heap[child]):
            child += 1
        if not comes_first(left, heap[child], value):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value


@lean_kernel
def comes_first(left, a, b):
    """Whether value a has more records left than b, or as many and the lower number."""
    return left[a] > left[b] or (left[a] == left[b] and a < b)


@kernel
def fill_buckets(order, start, left, size, group):
    """Take one record of each of the `size` most frequent values into a group, while there are.

    `order` lists the records by value, `start` is where each value begins, and `left` how many are
    not in a group yet; the last ones are taken first. Returns the number of groups.
    """
    heap = np.flatnonzero(left > 0)
    used, made = len(heap), 0
    for i in range(used // 2 - 1, -1, -1):
        sink(heap, left, used, i)
    while used >= size:
        for taken in range(size):  # they wait behind the heap
            heap[0], heap[used - 1 - taken] = heap[used - 1 - taken], heap[0]
            sink(heap, left, used - 1 - taken, 0)
        keep = used - size
        for i in range(used - size, used):
            value = heap[i]
            left[value] -= 1
            group[order[start[value] + left[value]]] = made
            if left[value] > 0:
                heap[keep] = value
                keep += 1
        for i in range(used - size, keep):  # back into the heap
            rise(heap, left, i)
        used = keep
        made += 1
    return made


@lean_kernel
def rise(heap, left, i):
    """Move the value at place i up to its place."""
    value = heap[i]
    while i > 0 and comes_first(left, value, heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = value
