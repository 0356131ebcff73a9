"""Groups of records with the same published values, and moves of records between them.

The groups are stored in an index of classes, which is updated with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.class_index import ABOVE, FIRST, grow_index, has_room, insert, remove


class Groups(NamedTuple):
    """The records of each group."""

    of: np.ndarray  # int64[n], the group of each record
    head: np.ndarray  # int64[groups], the first record of its list
    next: np.ndarray  # int64[n]
    last: np.ndarray  # int64[n], the previous record of the list
    free: np.ndarray  # int64[groups], a stack of unused groups
    mark: np.ndarray  # int64[1], the number of unused groups
    old: np.ndarray  # int32[q], scratch
    new: np.ndarray  # int32[q], scratch


@lean_kernel
def update_first(index, classes, g):
    """Update the index after a group's first record became an earlier one."""
    first = classes.first[g]
    t = index.leaf[g]
    index.node[t, FIRST] = first
    while t != 0:
        t = index.node[t, ABOVE]
        index.node[t, FIRST] = min(index.node[t, FIRST], first)


@lean_kernel
def enter_group(index, trees, classes, groups, i, vector):
    """Publish record i, which is in no group, with this vector."""
    groups.mark[0] -= 1
    g = groups.free[groups.mark[0]]
    for j in range(len(vector)):
        classes.vector[g, j] = vector[j]
    classes.size[g], classes.first[g], groups.head[g] = 1, i, -1
    same = insert(index, trees, classes, g)
    if same >= 0:
        groups.free[groups.mark[0]] = g
        groups.mark[0] += 1
        g = same
        classes.size[g] += 1
        if i < classes.first[g]:
            classes.first[g] = i
            update_first(index, classes, g)
    groups.of[i] = g
    groups.next[i], groups.last[i] = groups.head[g], -1
    if groups.head[g] >= 0:
        groups.last[groups.head[g]] = i
    groups.head[g] = i


@lean_kernel
def leave_group(index, trees, classes, groups, i):
    """Remove record i from its group."""
    g = groups.of[i]
    if groups.last[i] >= 0:
        groups.next[groups.last[i]] = groups.next[i]
    else:
        groups.head[g] = groups.next[i]
    if groups.next[i] >= 0:
        groups.last[groups.next[i]] = groups.last[i]
    if classes.size[g] > 1 and classes.first[g] != i:
        classes.size[g] -= 1
        return
    remove(index, trees, classes, g, True)
    classes.size[g] -= 1
    if classes.size[g] == 0:
        groups.free[groups.mark[0]] = g
        groups.mark[0] += 1
        return
    first = groups.head[g]
    r = first
    while r >= 0:
        first = min(first, r)
        r = groups.next[r]
    classes.first[g] = first
    insert(index, trees, classes, g)


@kernel
def start_groups(index, trees, classes, groups, vectors, begin, stop, fan):
    """Publish the records from `begin` to `stop` with their vectors, int32[n, q]."""
    for i in range(begin, stop):
        if not has_room(index, vectors.shape[1], fan):
            index = grow_index(index, 2 * len(index.node), 2 * len(index.pool) + 2 * fan)
        enter_group(index, trees, classes, groups, i, vectors[i])
    return index
