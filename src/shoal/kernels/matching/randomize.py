"""Algorithm 6 of Tassa 2012: a random choice between the expansion and other near records."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel
from shoal.kernels.search.tuple_index import join, nearest_many

TRIALS = 20  # of Step 5 of Algorithm 6, to get something other than the expansion


@kernel
def randomized(tuples, trees, expanded, k, q, begin, stop, start, records, rng, out):
    """Algorithm 6: for each record the expansion, or the closure of random near records.

    Tuples from `begin` to `stop`; `records[start[u] : start[u + 1]]` are the records of tuple u.
    """
    width = tuples.vector.shape[1]
    stack = np.empty((width, 8), np.int64)
    heap = np.empty((q + 2, 3), np.int64)
    near = np.empty(q, np.int64)
    vector = np.empty(width, np.int32)
    for u in range(begin, stop):
        # The record itself is among the nearest; it is skipped.
        found = nearest_many(tuples, trees, tuples.vector[u], q + 1, stack, heap)
        used = 0
        for h in range(found):
            v = heap[h, 2]
            for _ in range(tuples.size[v] - (1 if v == u else 0)):
                if used < q:
                    near[used] = v
                    used += 1
        for r in range(start[u], start[u + 1]):
            i = records[r]
            out[i] = expanded[u]
            if rng.random() < 0.5:
                continue
            for _ in range(TRIALS):
                vector[:] = tuples.vector[u]
                for pick in range(k - 1):
                    other = pick + np.int64(rng.random() * (used - pick))
                    near[pick], near[other] = near[other], near[pick]
                    join(trees, vector, tuples.vector[near[pick]])
                if not np.array_equal(vector, out[i]):
                    break
            if np.array_equal(vector, out[i]):
                raise_one(trees, vector, rng)
            out[i] = vector


@kernel
def raise_one(trees, vector, rng):
    """Replace one random value that is not the root by its parent."""
    can = 0
    for j in range(len(vector)):
        can += 1 if vector[j] != 0 else 0
    if can == 0:
        return
    left = np.int64(rng.random() * can)
    for j in range(len(vector)):
        if vector[j] != 0:
            if left == 0:
                vector[j] = trees.parent[trees.start[j] + vector[j]]
                return
            left -= 1
