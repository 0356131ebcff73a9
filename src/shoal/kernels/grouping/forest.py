"""A forest of nearest neighbours, and how its trees are cut (Aggarwal et al. 2005)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.tuple_index import nearest_many


class Forest(NamedTuple):
    """Edges between units, and their components."""

    out: np.ndarray  # int64[units], the end of its edge; -1: it has none
    up: np.ndarray  # int64[units], towards the representative of its component
    many: np.ndarray  # int64[units], units of the component, at its representative
    root: np.ndarray  # int64[units], the unit without an edge, at its representative


class Members(NamedTuple):
    """The units of each tuple, in the order of the table."""

    of_unit: np.ndarray  # int64[units], its tuple
    start: np.ndarray  # int64[tuples + 1]
    unit: np.ndarray  # int64[units]


@lean_kernel
def component(up, i):
    """The representative of the component of i."""
    while up[i] != i:
        up[i] = up[up[i]]
        i = up[i]
    return i


@lean_kernel
def grow(tuples, trees, members, forest, k, begin, stop, stack, heap):
    """Extend the component of each unit from `begin` to `stop` until it has k units.

    The root of a component gets an edge to the nearest unit outside. Of the c + 1
    nearest units at least one is outside a component of c units. `heap` is int64[k + 2, 3].
    """
    up, many, root = forest.up, forest.many, forest.root
    for i in range(begin, stop):
        while True:
            here = component(up, i)
            if many[here] >= k:
                break
            u = root[here]
            vector = tuples.vector[members.of_unit[u]]
            used = nearest_many(tuples, trees, vector, many[here] + 1, stack, heap)
            v = np.int64(-1)
            for place in range(used):
                t = heap[place, 2]
                for at in range(members.start[t], members.start[t + 1]):
                    if component(up, members.unit[at]) != here:
                        v = members.unit[at]
                        break
                if v >= 0:
                    break
            forest.out[u] = v
            there = component(up, v)
            top = root[there]
            if many[here] > many[there]:
                here, there = there, here
            up[here] = there
            many[there] += many[here]
            root[there] = top


@kernel
def depths(out):
    """Edges from each unit to the root of its tree, and that root."""
    n = len(out)
    depth = np.full(n, -1, np.int64)
    top = np.empty(n, np.int64)
    path = np.empty(n, np.int64)
    for i in range(n):
        length = 0
        v = i
        while depth[v] < 0 and out[v] >= 0:
            path[length] = v
            length += 1
            v = out[v]
        if depth[v] < 0:
            depth[v], top[v] = 0, v
        for at in range(length - 1, -1, -1):
            depth[path[at]] = depth[v] + length - at
            top[path[at]] = top[v]
    return depth, top


@kernel
def cut_trees(out, k):
    """Cut trees of more than max(2 k - 1, 3 k - 5) units into parts of at least k.

    Units are visited from the deepest to the root, among equally deep ones the first. If a subtree
    has k units and leaves k, the edge above it is cut. If it leaves fewer, all subtrees of the unit
    (including the rest of the tree) are smaller than k, and are combined.
    Returns the part of each unit and the number of parts.
    """
    n = len(out)
    most = max(2 * k - 1, 3 * k - 5)
    depth, top = depths(out)
    order = np.argsort(-depth, kind="mergesort")
    start = np.zeros(n + 1, np.int64)
    for v in range(n):
        if out[v] >= 0:
            start[out[v] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    kids = np.empty(n, np.int64)
    filled = start[:-1].copy()
    left = np.zeros(n, np.int64)  # units left of a tree, at its root
    for v in range(n):
        left[top[v]] += 1
        if out[v] >= 0:
            kids[filled[out[v]]] = v
            filled[out[v]] += 1
    below = np.ones(n, np.int64)  # units left of the subtree
    group = np.full(n, -1, np.int64)  # the part of a unit and of those that hang on it
    parts = 0
    for v in order:
        tree = top[v]
        if left[tree] > most and below[v] >= k:
            rest = left[tree] - below[v]
            left[tree] = rest if rest >= k else 0
            if rest >= k and below[v] <= most:
                group[v] = parts
                parts += 1
            else:
                above = rest if rest < k else 0
                parts = merge_subtrees(v, kids[start[v] : start[v + 1]], below, above, tree, k,
                                     most, group, parts)  # fmt: skip
        elif out[v] >= 0:
            below[out[v]] += below[v]
    part = np.empty(n, np.int64)
    for i in range(n - 1, -1, -1):
        v = order[i]
        if group[v] >= 0:
            part[v] = group[v]
        elif out[v] >= 0:
            part[v] = part[out[v]]
        else:
            part[v] = parts
            parts += 1
    return part, parts


@kernel
def merge_subtrees(v, kids, below, above, tree, k, most, group, parts):
    """Combine the subtrees of v, all smaller than k, into parts, the largest first.

    The rest of the tree `above` v counts as a subtree too, attached to the root of the tree. As
    long as too many units remain, parts of k or more are formed without v. If the last of them
    would leave too few for v, subtrees with k - 1 units form a part with v, or, if they have more,
    without it. Two parts of k or more are always found (Aggarwal et al. 2005).
    """
    item = np.empty(len(kids) + 1, np.int64)
    size = np.empty(len(kids) + 1, np.int64)
    used = 0
    left = np.int64(1)
    for kid in kids:
        if group[kid] < 0:
            item[used], size[used] = kid, below[kid]
            left += below[kid]
            used += 1
    if above > 0:
        item[used], size[used] = tree, above
        left += above
        used += 1
    item, size = item[:used], size[:used]
    by_unit = np.argsort(item, kind="mergesort")
    item, size = item[by_unit], size[by_unit]
    by_size = np.argsort(-size, kind="mergesort")
    item, size = item[by_size], size[by_size]
    at = 0
    with_v = np.int64(-1)
    while left > most:
        stop, sum_ = at, np.int64(0)
        while sum_ < k:
            sum_ += size[stop]
            stop += 1
        last = left - sum_ < k
        if last:
            stop, sum_ = at, np.int64(0)
            while sum_ < k - 1:
                sum_ += size[stop]
                stop += 1
            if sum_ == k - 1:
                with_v = parts
        for i in range(at, stop):
            group[item[i]] = parts
        parts += 1
        left -= sum_
        at = stop
        if last:
            break
    for i in range(at, used):
        group[item[i]] = parts
    group[v] = parts if with_v < 0 else with_v
    return parts + 1
