"""Clusters over an index: the two closest are merged, units join the nearest cluster.

A cluster is a row of class_index.IndexedClasses; its vector is the closure of its records. In
agglomeration `fails` marks the clusters that are still too small: those in the index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.class_index import has_room, insert, remove
from shoal.kernels.search.class_search import cheapest, spent
from shoal.kernels.search.tuple_index import join


class Agglomeration(NamedTuple):
    """The state of an agglomeration, so that it can pause and continue.

    A union is a new cluster: n initial clusters become at most 2 n - 1.
    """

    into: np.ndarray  # int64[2 n], the union that contains this cluster; itself if there is none
    people: np.ndarray  # int64[2 n], what k counts
    near: np.ndarray  # int64[2 n], the nearest cluster in the last search
    heap: np.ndarray  # int64[2 n + 1, 4]: cost, earlier and later first record of the pair, cluster
    counts: np.ndarray  # int64[4]: heap used, clusters so far, too small, steps of the start


@lean_kernel
def before(heap, i, cost, early, late):
    """Whether entry i comes before this pair: cheaper, or with earlier records."""
    if heap[i, 0] != cost:
        return heap[i, 0] < cost
    if heap[i, 1] != early:
        return heap[i, 1] < early
    return heap[i, 2] < late


@lean_kernel
def put(heap, i, cost, early, late, c):
    """Write an entry."""
    heap[i, 0], heap[i, 1], heap[i, 2], heap[i, 3] = cost, early, late, c


@lean_kernel
def push_pair(heap, counts, cost, early, late, c):
    """Push a pair onto the heap."""
    i = counts[0]
    counts[0] += 1
    while i > 0:
        above = (i - 1) // 2
        if before(heap, above, cost, early, late):
            break
        put(heap, i, heap[above, 0], heap[above, 1], heap[above, 2], heap[above, 3])
        i = above
    put(heap, i, cost, early, late, c)


@lean_kernel
def pop_pair(heap, counts):
    """Pop the first pair from the heap; returns its cluster."""
    first = heap[0, 3]
    counts[0] -= 1
    last = counts[0]
    cost, early, late, c = heap[last, 0], heap[last, 1], heap[last, 2], heap[last, 3]
    i = 0
    while True:
        kid = 2 * i + 1
        if kid >= last:
            break
        if kid + 1 < last and before(heap, kid + 1, heap[kid, 0], heap[kid, 1], heap[kid, 2]):
            kid += 1
        if not before(heap, kid, cost, early, late):
            break
        put(heap, i, heap[kid, 0], heap[kid, 1], heap[kid, 2], heap[kid, 3])
        i = kid
    put(heap, i, cost, early, late, c)
    return first


@lean_kernel
def seek(index, trees, classes, state, c, by_size, work):
    """Find the nearest neighbour of cluster c, which is in the index, and push the pair.

    Every pair is on the heap at least once with its true cost: the later of the two clusters has
    seen the other. An entry whose partner is gone is too cheap rather than too expensive, so it is
    popped in time to search again.
    """
    remove(index, trees, classes, c, by_size)
    b, cost = cheapest(index, trees, classes, 0, c, by_size, np.int64(1), False, 0, 0, work)
    insert(index, trees, classes, c)
    state.near[c] = b
    if b >= 0:
        mine, other = classes.first[c], classes.first[b]
        push_pair(state.heap, state.counts, cost, min(mine, other), max(mine, other), c)


@lean_kernel
def unite(trees, classes, state, a, b):
    """Merge two clusters that are no longer in the index into a new one."""
    d = state.counts[1]
    state.counts[1] += 1
    for j in range(classes.vector.shape[1]):
        classes.vector[d, j] = classes.vector[a, j]
    join(trees, classes.vector[d], classes.vector[b])
    classes.size[d] = classes.size[a] + classes.size[b]
    classes.first[d] = min(classes.first[a], classes.first[b])
    state.people[d] = state.people[a] + state.people[b]
    state.into[a], state.into[b], state.into[d] = d, d, d
    classes.fails[a], classes.fails[b] = False, False
    return d


@lean_kernel
def settle_union(index, trees, classes, state, d, k, by_size, work):
    """Set a new cluster aside if it is large enough; otherwise find its nearest neighbour."""
    while state.people[d] < k:
        classes.fails[d] = True
        same = insert(index, trees, classes, d)
        if same < 0:
            state.counts[2] += 1
            seek(index, trees, classes, state, d, by_size, work)
            return
        # Clusters with the same closure become one.
        remove(index, trees, classes, same, by_size)
        state.counts[2] -= 1
        d = unite(trees, classes, state, same, d)
    classes.fails[d] = False


@lean_kernel
def agglomerate(index, trees, classes, state, work, k, by_size, fan, budget):
    """Merge the two closest clusters of fewer than k until at most one is left, or pause.

    The closest pair has the lowest cost; among equals, the earliest first record, then the earlier
    first record of the other cluster.
    """
    n, q = len(state.into) // 2, classes.vector.shape[1]
    counts = state.counts
    pause = spent(work) + budget
    while counts[3] < 2 * n or (counts[0] > 0 and counts[2] > 1):
        if spent(work) >= pause:
            return PAUSED
        if not has_room(index, 2 * q, 2 * fan):
            return NEEDS_ROOM
        work.visits[1] += 1
        if counts[3] < n:
            c = counts[3]
            classes.fails[c] = state.people[c] < k
            if classes.fails[c]:
                insert(index, trees, classes, c)
                counts[2] += 1
            counts[3] += 1
        elif counts[3] < 2 * n:
            c = counts[3] - n
            if classes.fails[c]:
                seek(index, trees, classes, state, c, by_size, work)
            counts[3] += 1
        else:
            c = pop_pair(state.heap, counts)
            if not classes.fails[c]:
                continue
            b = state.near[c]
            if not classes.fails[b]:
                seek(index, trees, classes, state, c, by_size, work)
                continue
            remove(index, trees, classes, c, by_size)
            remove(index, trees, classes, b, by_size)
            counts[2] -= 2
            d = unite(trees, classes, state, c, b)
            settle_union(index, trees, classes, state, d, k, by_size, work)
    return DONE


@lean_kernel
def place(index, trees, classes, into, c):
    """Insert a cluster into the index; one with the same closure is merged."""
    same = insert(index, trees, classes, c)
    if same >= 0:
        remove(index, trees, classes, same, True)
        classes.size[c] += classes.size[same]
        classes.first[c] = min(classes.first[c], classes.first[same])
        into[same] = c
        insert(index, trees, classes, c)
    return same


@lean_kernel
def spread(index, trees, classes, into, clusters, work, by_size, fan, done, budget):
    """Insert the first `clusters` rows into the index; the others join the nearest, one by one.

    `done` is int64[1], the number of finished rows.
    """
    q = classes.vector.shape[1]
    pause = spent(work) + budget
    while done[0] < len(into):
        if spent(work) >= pause:
            return PAUSED
        if not has_room(index, 2 * q, 2 * fan):
            return NEEDS_ROOM
        work.visits[1] += 1
        x = done[0]
        done[0] += 1
        if x < clusters:
            place(index, trees, classes, into, x)
            continue
        b, _ = cheapest(index, trees, classes, 0, x, by_size, np.int64(1), False, 0, 0, work)
        remove(index, trees, classes, b, by_size)
        join(trees, classes.vector[b], classes.vector[x])
        classes.size[b] += classes.size[x]
        classes.first[b] = min(classes.first[b], classes.first[x])
        into[x] = b
        place(index, trees, classes, into, b)
    return DONE


@lean_kernel
def nearest_few(index, trees, classes, c, work, found, costs):
    """The nearest clusters of c, nearest first, up to the size of `found`; returns how many.

    Cluster c must not be in the index.
    """
    used = 0
    while used < len(found):
        b, cost = cheapest(index, trees, classes, 0, c, True, np.int64(1), False, 0, 0, work)
        if b < 0:
            break
        found[used], costs[used] = b, cost
        used += 1
        remove(index, trees, classes, b, True)
    for i in range(used):
        insert(index, trees, classes, found[i])
    return used


@lean_kernel
def merge_costs(trees, classes, c, others, costs):
    """The cost of merging c with each of the others."""
    for i in range(len(others)):
        b = others[i]
        cost = np.int64(0)
        for j in range(classes.vector.shape[1]):
            start = trees.start[j]
            mine, other = classes.vector[c, j], classes.vector[b, j]
            top = mine
            while not (top <= other < trees.end[start + top]):
                top = trees.parent[start + top]
            cost += classes.size[c] * (trees.cost[start + mine] - trees.cost[start + top])
            cost += classes.size[b] * (trees.cost[start + other] - trees.cost[start + top])
        costs[i] = cost


@lean_kernel
def merge_into(index, trees, classes, into, a, b):
    """Merge b into a, both not in the index, and insert a; returns an equal cluster or -1."""
    join(trees, classes.vector[a], classes.vector[b])
    classes.size[a] += classes.size[b]
    classes.first[a] = min(classes.first[a], classes.first[b])
    into[b] = a
    return place(index, trees, classes, into, a)
