"""An index of classes for exact nearest-merge search.

A prefix tree over the class vectors, one attribute a level; a branch with a single class in it
ends in a leaf at once. Children are kept sorted by their value. Values are numbered in preorder
of their hierarchy, so the children that meet the sought value x in one ancestor a are a run of
neighbours: [a, end[a]) without the run of the ancestor before. The search goes from x upwards,
takes those runs one after the other, and stops when even x's own share of the cost passes the
best cost found.

Costs are integers, so sums are exact in any order and ties are real ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel

WIDE = 64  # children beyond which stale lower bounds are cheaper than a new look


class Trees(NamedTuple):
    """The hierarchies of all attributes, one after the other."""

    start: np.ndarray  # int64[q + 1], where an attribute's nodes begin
    parent: np.ndarray  # int32[nodes], numbered within the attribute
    end: np.ndarray  # int32[nodes]
    cost: np.ndarray  # int64[nodes], cost from the node to the root


class Index(NamedTuple):
    """The prefix tree. Node 0 is its root; a node is a leaf when `holds` names a class."""

    holds: np.ndarray  # int32[nodes], the class of a leaf; -1 for an inner node
    kids: np.ndarray  # int64[nodes], where the children begin in the pool
    used: np.ndarray  # int32[nodes], number of children
    room: np.ndarray  # int32[nodes], log2 of the children that fit
    least: np.ndarray  # int64[nodes], no class below is smaller
    first: np.ndarray  # int64[nodes], no class below has an earlier first record
    fails: np.ndarray  # int32[nodes], classes below that fail the models
    value: np.ndarray  # int32[pool], the child's value
    child: np.ndarray  # int32[pool], the child's node
    free: np.ndarray  # int32[nodes], a stack of unused nodes
    freed: np.ndarray  # int64[pool], chains of returned runs of children
    chain: np.ndarray  # int64[32], heads of those chains, by log2 of their size
    mark: np.ndarray  # int64[2]: unused nodes left, pool used so far


class Classes(NamedTuple):
    """The equivalence classes."""

    vector: np.ndarray  # int32[classes, q], published values
    size: np.ndarray  # int64[classes], records
    first: np.ndarray  # int64[classes], first record
    fails: np.ndarray  # bool[classes]


@kernel
def empty_index(nodes, pool):
    """Make an index without classes, with room for so many nodes and children."""
    free = np.empty(nodes, np.int32)
    for i in range(nodes):
        free[i] = nodes - 1 - i
    index = Index(
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int32),
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int32),
        np.empty(pool, np.int32),
        np.empty(pool, np.int32),
        free,
        np.empty(pool, np.int64),
        np.full(32, -1, np.int64),
        np.array([nodes, 0], np.int64),
    )
    take_node(index)  # the root
    return index


@kernel
def grow_index(old, nodes, pool):
    """The same index with room for more."""
    index = empty_index(nodes, pool)
    n, p = len(old.holds), len(old.value)
    index.holds[:n] = old.holds
    index.kids[:n] = old.kids
    index.used[:n] = old.used
    index.room[:n] = old.room
    index.least[:n] = old.least
    index.first[:n] = old.first
    index.fails[:n] = old.fails
    index.value[:p] = old.value
    index.child[:p] = old.child
    index.freed[:p] = old.freed
    index.chain[:] = old.chain
    index.mark[1] = old.mark[1]
    left = 0
    for i in range(nodes - n):
        index.free[i] = nodes - 1 - i
    left = nodes - n
    for i in range(old.mark[0]):
        index.free[left] = old.free[i]
        left += 1
    index.mark[0] = left
    return index


@kernel
def has_room(index, q, fan):
    """Whether one more class of q attributes surely fits; no node has more than `fan` children."""
    return index.mark[0] > q + 2 and index.mark[1] + 2 * fan + 4 * q + 8 < len(index.value)


@kernel
def take_node(index):
    """Take an unused node."""
    index.mark[0] -= 1
    t = index.free[index.mark[0]]
    index.holds[t] = -1
    index.used[t] = 0
    index.room[t] = -1
    index.fails[t] = 0
    index.least[t] = np.int64(1) << 62
    index.first[t] = np.int64(1) << 62
    return t


@kernel
def give_node(index, t):
    """Return a node, and the run of its children."""
    if index.room[t] >= 0:
        give_run(index, index.kids[t], index.room[t])
    index.free[index.mark[0]] = t
    index.mark[0] += 1


@kernel
def take_run(index, room):
    """Take a run of 2 ** room places for children."""
    at = index.chain[room]
    if at >= 0:
        index.chain[room] = index.freed[at]
        return at
    at = index.mark[1]
    index.mark[1] += np.int64(1) << room
    return at


@kernel
def give_run(index, at, room):
    """Return a run of places."""
    index.freed[at] = index.chain[room]
    index.chain[room] = at


@kernel
def below(index, t, value):
    """How many children of t have a smaller value than this."""
    base = index.kids[t]
    lo, hi = 0, index.used[t]
    while lo < hi:
        mid = (lo + hi) // 2
        if index.value[base + mid] < value:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel
def add_child(index, t, at, value, child):
    """Put a child into its place."""
    used = index.used[t]
    room = index.room[t]
    if room < 0 or used == np.int64(1) << room:
        new = take_run(index, room + 1)
        if room >= 0:
            old = index.kids[t]
            for i in range(used):
                index.value[new + i] = index.value[old + i]
                index.child[new + i] = index.child[old + i]
            give_run(index, old, room)
        index.kids[t] = new
        index.room[t] = room + 1
    base = index.kids[t]
    for i in range(used, at, -1):
        index.value[base + i] = index.value[base + i - 1]
        index.child[base + i] = index.child[base + i - 1]
    index.value[base + at] = value
    index.child[base + at] = child
    index.used[t] = used + 1


@kernel
def tell(index, t, size, first, fails):
    """Let a node know of a class below it."""
    index.least[t] = min(index.least[t], size)
    index.first[t] = min(index.first[t], first)
    index.fails[t] += fails


@kernel
def insert(index, classes, c):
    """Insert class c, unless a class with equal published values is there: then return that."""
    q = classes.vector.shape[1]
    fails = 1 if classes.fails[c] else 0
    other = find(index, classes, c)
    if other >= 0:
        return other
    t = 0
    for depth in range(q):
        tell(index, t, classes.size[c], classes.first[c], fails)
        value = classes.vector[c, depth]
        at = below(index, t, value)
        base = index.kids[t]
        if at == index.used[t] or index.value[base + at] != value:
            leaf = take_node(index)
            index.holds[leaf] = c
            tell(index, leaf, classes.size[c], classes.first[c], fails)
            add_child(index, t, at, value, leaf)
            return -1
        kid = index.child[base + at]
        if index.holds[kid] >= 0:
            # Two classes share this branch: the one that is there moves one level down.
            there = index.holds[kid]
            leaf = take_node(index)
            index.holds[leaf] = there
            tell(index, leaf, index.least[kid], index.first[kid], index.fails[kid])
            index.holds[kid] = -1
            add_child(index, kid, 0, classes.vector[there, depth + 1], leaf)
        t = kid
    return -1


@kernel
def find(index, classes, c):
    """The class with the same published values as c; -1 when there is none."""
    q = classes.vector.shape[1]
    t = 0
    for depth in range(q):
        value = classes.vector[c, depth]
        at = below(index, t, value)
        base = index.kids[t]
        if at == index.used[t] or index.value[base + at] != value:
            return -1
        t = index.child[base + at]
        there = index.holds[t]
        if there >= 0:
            for j in range(depth + 1, q):
                if classes.vector[there, j] != classes.vector[c, j]:
                    return -1
            return there
    return -1


@kernel
def remove(index, classes, c, path):
    """Take class c out; `path` is scratch space, int32[q + 1, 2]."""
    q = classes.vector.shape[1]
    t = 0
    depth = 0
    while index.holds[t] < 0 and depth < q:
        at = below(index, t, classes.vector[c, depth])
        path[depth, 0] = t
        path[depth, 1] = at
        t = index.child[index.kids[t] + at]
        depth += 1
    fails = 1 if classes.fails[c] else 0
    size, first = classes.size[c], classes.first[c]
    give_node(index, t)
    gone = True
    for d in range(depth - 1, -1, -1):
        t = path[d, 0]
        index.fails[t] -= fails
        base = index.kids[t]
        if gone:
            used = index.used[t] - 1
            for i in range(path[d, 1], used):
                index.value[base + i] = index.value[base + i + 1]
                index.child[base + i] = index.child[base + i + 1]
            index.used[t] = used
            if used == 0 and d > 0:
                give_node(index, t)
                continue
            gone = False
        stale = index.least[t] == size or index.first[t] == first
        if stale and index.used[t] <= WIDE:
            least, early = np.int64(1) << 62, np.int64(1) << 62
            for i in range(index.used[t]):
                kid = index.child[base + i]
                least = min(least, index.least[kid])
                early = min(early, index.first[kid])
            index.least[t] = least
            index.first[t] = early


@kernel
def merge_cost(trees, x, size_x, y, size_y, depth, cost, limit):
    """Cost of merging two vectors from attribute `depth` on, added to `cost`.

    MC of Sec. 3, Mauger 2020. Gives up, with a cost above the limit, once it is passed.
    """
    for j in range(depth, len(x)):
        start = trees.start[j]
        a, b = x[j], y[j]
        if a != b:
            top = a
            while not (top <= b < trees.end[start + top]):
                top = trees.parent[start + top]
            up = trees.cost[start + top]
            cost += size_x * (trees.cost[start + a] - up) + size_y * (trees.cost[start + b] - up)
            if cost > limit:
                return cost
    return cost


@kernel
def nearest(index, trees, classes, c, by_size, only_failing, stack, spent):
    """The class whose merge with c costs least; of several, the one with the first record.

    Class c itself must not be in the index. Costs count each side `by_size`, or once.
    `stack` is scratch space, int64[q + 1, 9]; `spent[0]` counts the visited nodes.
    Returns the class (-1 when there is none) and the cost.
    """
    x = classes.vector[c]
    size_x = classes.size[c] if by_size else np.int64(1)
    best = np.int64(-1)
    best_cost = np.int64(1) << 62
    best_first = np.int64(1) << 62

    # A line of the stack is a node on the way down: (0) the node, (1) x's share of the cost so
    # far, (2) what one record of the other side has to rise so far, (3) the ancestor a of x's
    # value where they meet, (4, 5) the run of children below a, (6, 7) the part of that run
    # already done, (8) the next child.
    depth = 0
    enter = True
    stack[0, 0] = 0
    stack[0, 1] = 0
    stack[0, 2] = 0
    while depth >= 0:
        line = stack[depth]
        t = line[0]
        start = trees.start[depth]
        if enter:
            enter = False
            spent[0] += 1
            a = np.int64(x[depth])
            line[3] = a
            line[4] = below(index, t, a)
            line[5] = below(index, t, trees.end[start + a])
            line[6] = line[4]
            line[7] = line[4]
            line[8] = line[4]
        if line[8] == line[6]:
            line[8] = line[7]  # jump over what is already done
        if line[8] >= line[5]:
            a = line[3]
            if a == 0:
                depth -= 1
                continue
            a = np.int64(trees.parent[start + a])
            own = size_x * (trees.cost[start + x[depth]] - trees.cost[start + a])
            least = index.least[t] if by_size else np.int64(1)
            if line[1] + own + least * line[2] > best_cost:
                depth -= 1
                continue
            line[3] = a
            line[6], line[7] = line[4], line[5]
            line[4] = below(index, t, a)
            line[5] = below(index, t, trees.end[start + a])
            line[8] = line[4]
            continue
        place = index.kids[t] + line[8]
        line[8] += 1
        kid = index.child[place]
        size_y = index.least[kid] if by_size else np.int64(1)
        meet = trees.cost[start + line[3]]
        share = line[1] + size_x * (trees.cost[start + x[depth]] - meet)
        rise = line[2] + trees.cost[start + index.value[place]] - meet
        cost = share + size_y * rise
        if cost > best_cost or (cost == best_cost and index.first[kid] > best_first):
            continue
        if only_failing and index.fails[kid] == 0:
            continue
        there = index.holds[kid]
        if there < 0:
            depth += 1
            stack[depth, 0] = kid
            stack[depth, 1] = share
            stack[depth, 2] = rise
            enter = True
            continue
        spent[0] += 1
        vector = classes.vector[there]
        cost = merge_cost(trees, x, size_x, vector, size_y, depth + 1, cost, best_cost)
        if cost < best_cost or (cost == best_cost and classes.first[there] < best_first):
            best, best_cost, best_first = np.int64(there), cost, classes.first[there]
    return best, best_cost
