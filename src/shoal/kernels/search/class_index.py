"""An index of classes: a prefix tree over their vectors, with one attribute per level.

A branch with a single class ends in a leaf at once. Children are sorted by value. Values are
numbered in preorder of their hierarchy, so the values below a node are a run of neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

FAR = 2**31 - 1  # later than any record, more than any number of records
WIDE = 16  # with more children, stale lower bounds are cheaper than new ones


class Trees(NamedTuple):
    """The hierarchies of all attributes, one after the other."""

    start: np.ndarray  # int64[q + 1], where an attribute's nodes begin
    parent: np.ndarray  # int32[nodes], numbered within the attribute
    end: np.ndarray  # int32[nodes]
    cost: np.ndarray  # int64[nodes], cost from the node to the root
    step: np.ndarray  # int64[nodes], cost of the cheapest edge below the node; 0 below a leaf
    ahead: bool  # whether to add lower bounds for deeper attributes


# The columns of Index.node. Most time is spent on fetching nodes from memory: a row is half a line
# of the processor's cache, so one fetch loads a whole node.
HOLDS = 0  # the class of a leaf; -1 for an inner node
KIDS = 1  # where its children begin in the pool
USED = 2  # number of children
ROOM = 3  # log2 of the children that fit
LEAST = 4  # no class below is smaller
FIRST = 5  # no class below has an earlier first record
FAILS = 6  # classes below that fail the models
ABOVE = 7  # the parent node
VALUE, CHILD = 0, 1  # the columns of Index.pool: a child's value, and its node


class Index(NamedTuple):
    """The prefix tree. Node 0 is its root; a node is a leaf if it has a class."""

    node: np.ndarray  # int32[nodes, 8]; there are far fewer than 2 ** 31 records and places
    pool: np.ndarray  # int32[places, 2], the children of one node in a row, sorted by value
    leaf: np.ndarray  # int32[classes], the leaf of a class
    equal: np.ndarray  # int32[nodes of all trees], classes that have this value
    under: np.ndarray  # int32[nodes of all trees], classes that have this value or one below
    free: np.ndarray  # int32[nodes], a stack of unused nodes
    freed: np.ndarray  # int64[places], chains of returned runs of children
    chain: np.ndarray  # int64[32], heads of those chains, by log2 of their size
    mark: np.ndarray  # int64[2]: unused nodes left, places used so far


NOBODY = np.int64(-1)
NO_COST = np.int64(1) << 61


class IndexedClasses(NamedTuple):
    """The equivalence classes."""

    vector: np.ndarray  # int32[classes, q], published values
    size: np.ndarray  # int64[classes], records
    first: np.ndarray  # int64[classes], first record
    fails: np.ndarray  # bool[classes]


@kernel
def empty_index(classes, values, nodes, pool):
    """An empty index for this number of classes and values, with room for nodes and children."""
    free = np.empty(nodes, np.int32)
    for i in range(nodes):
        free[i] = nodes - 1 - i
    index = Index(
        np.zeros((nodes, 8), np.int32),
        np.empty((pool, 2), np.int32),
        np.zeros(classes, np.int32),
        np.zeros(values, np.int32),
        np.zeros(values, np.int32),
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
    index = empty_index(len(old.leaf), len(old.equal), nodes, pool)
    n = len(old.node)
    # Element by element: slices would take seconds to compile.
    for i in range(n):
        for j in range(old.node.shape[1]):
            index.node[i, j] = old.node[i, j]
    for i in range(len(old.pool)):
        index.pool[i, 0], index.pool[i, 1] = old.pool[i, 0], old.pool[i, 1]
        index.freed[i] = old.freed[i]
    for i in range(len(old.leaf)):
        index.leaf[i] = old.leaf[i]
    for i in range(len(old.equal)):
        index.equal[i], index.under[i] = old.equal[i], old.under[i]
    for i in range(len(old.chain)):
        index.chain[i] = old.chain[i]
    index.mark[1] = old.mark[1]
    for i in range(nodes - n):
        index.free[i] = nodes - 1 - i
    left = nodes - n
    for i in range(old.mark[0]):
        index.free[left] = old.free[i]
        left += 1
    index.mark[0] = left
    return index


@lean_kernel
def has_room(index, q, fan):
    """Whether one more class of q attributes fits; a node has at most `fan` children."""
    return index.mark[0] > q + 2 and index.mark[1] + 2 * fan + 4 * q + 8 < len(index.pool)


@lean_kernel
def take_node(index):
    """Take an unused node."""
    index.mark[0] -= 1
    t = index.free[index.mark[0]]
    index.node[t, HOLDS] = -1
    index.node[t, USED] = 0
    index.node[t, ROOM] = -1
    index.node[t, FAILS] = 0
    index.node[t, LEAST] = FAR
    index.node[t, FIRST] = FAR
    return t


@lean_kernel
def give_node(index, t):
    """Free a node, and the run of its children."""
    if index.node[t, ROOM] >= 0:
        give_run(index, index.node[t, KIDS], index.node[t, ROOM])
    index.free[index.mark[0]] = t
    index.mark[0] += 1


@lean_kernel
def take_run(index, room):
    """Take a run of 2 ** room places for children."""
    at = index.chain[room]
    if at >= 0:
        index.chain[room] = index.freed[at]
        return at
    at = index.mark[1]
    index.mark[1] += np.int64(1) << room
    return at


@lean_kernel
def give_run(index, at, room):
    """Free a run of places."""
    index.freed[at] = index.chain[room]
    index.chain[room] = at


@lean_kernel
def below(pool, base, used, value):
    """How many of the `used` children from `base` on have a smaller value than this."""
    lo, hi = base, base + used
    while lo < hi:
        mid = (lo + hi) // 2
        if pool[mid, VALUE] < value:
            lo = mid + 1
        else:
            hi = mid
    return lo - base


@lean_kernel
def add_child(index, t, at, value, child):
    """Insert a child at its place."""
    used = index.node[t, USED]
    room = index.node[t, ROOM]
    if room < 0 or used == np.int64(1) << room:
        new = take_run(index, room + 1)
        if room >= 0:
            old = index.node[t, KIDS]
            for i in range(used):
                index.pool[new + i, VALUE] = index.pool[old + i, VALUE]
                index.pool[new + i, CHILD] = index.pool[old + i, CHILD]
            give_run(index, old, room)
        index.node[t, KIDS] = new
        index.node[t, ROOM] = room + 1
    base = index.node[t, KIDS]
    for i in range(used, at, -1):
        index.pool[base + i, VALUE] = index.pool[base + i - 1, VALUE]
        index.pool[base + i, CHILD] = index.pool[base + i - 1, CHILD]
    index.pool[base + at, VALUE] = value
    index.pool[base + at, CHILD] = child
    index.node[child, ABOVE] = t
    index.node[t, USED] = used + 1


@lean_kernel
def add_leaf(index, classes, t, at, depth, c):
    """Insert a class under t, as the child at this place."""
    leaf = take_node(index)
    index.node[leaf, HOLDS] = c
    index.leaf[c] = leaf
    index.node[leaf, LEAST] = classes.size[c]
    index.node[leaf, FIRST] = classes.first[c]
    index.node[leaf, FAILS] = 1 if classes.fails[c] else 0
    add_child(index, t, at, classes.vector[c, depth], leaf)


@lean_kernel
def count(index, trees, classes, c, one):
    """Add `one` (1 or -1) to the counts of the values of class c and their ancestors."""
    for j in range(classes.vector.shape[1]):
        start = trees.start[j]
        value = classes.vector[c, j]
        index.equal[start + value] += one
        while value != 0:
            index.under[start + value] += one
            value = trees.parent[start + value]
        index.under[start] += one


@lean_kernel
def insert(index, trees, classes, c):
    """Insert class c, unless there is a class with equal published values: then return that."""
    q = classes.vector.shape[1]
    t = 0
    for depth in range(q):
        value = classes.vector[c, depth]
        base = index.node[t, KIDS]
        at = below(index.pool, base, index.node[t, USED], value)
        if at == index.node[t, USED] or index.pool[base + at, VALUE] != value:
            add_leaf(index, classes, t, at, depth, c)
            break
        t = index.pool[base + at, CHILD]
        there = index.node[t, HOLDS]
        if there < 0:
            continue
        same = depth + 1
        while same < q and classes.vector[there, same] == classes.vector[c, same]:
            same += 1
        if same == q:
            return there
        # Two classes share this branch: the present one moves one level down.
        index.node[t, HOLDS] = -1
        add_leaf(index, classes, t, 0, depth + 1, there)
    if trees.ahead:
        count(index, trees, classes, c, 1)
    size, first = classes.size[c], classes.first[c]
    fails = 1 if classes.fails[c] else 0
    t = index.node[index.leaf[c], ABOVE]
    while True:
        index.node[t, LEAST] = min(index.node[t, LEAST], size)
        index.node[t, FIRST] = min(index.node[t, FIRST], first)
        index.node[t, FAILS] += fails
        if t == 0:
            return -1
        t = index.node[t, ABOVE]


@lean_kernel
def remove(index, trees, classes, c, by_size):
    """Remove class c.

    Bounds that no class reaches any more stay valid, but updated ones make a search by size faster;
    a search that counts each side once hardly uses them.
    """
    if trees.ahead:
        count(index, trees, classes, c, -1)
    t = index.leaf[c]
    fails = index.node[t, FAILS]
    size, first = classes.size[c], classes.first[c]
    gone, stale = True, by_size
    depth, up = 0, t
    while up != 0:
        depth, up = depth + 1, index.node[up, ABOVE]
    while t != 0:
        kid, t = t, index.node[t, ABOVE]
        depth -= 1
        index.node[t, FAILS] -= fails
        base = index.node[t, KIDS]
        if gone:
            used = index.node[t, USED] - 1
            at = below(index.pool, base, used + 1, classes.vector[c, depth])
            for i in range(at, used):
                index.pool[base + i, VALUE] = index.pool[base + i + 1, VALUE]
                index.pool[base + i, CHILD] = index.pool[base + i + 1, CHILD]
            index.node[t, USED] = used
            give_node(index, kid)
            if used == 0 and t != 0:
                continue
            gone = False
        # If nothing changes here, nothing changes further up.
        stale = stale and (index.node[t, LEAST] == size or index.node[t, FIRST] == first)
        if stale and index.node[t, USED] <= WIDE:
            least, early = FAR, FAR
            for i in range(index.node[t, USED]):
                kid = index.pool[base + i, CHILD]
                least = min(least, index.node[kid, LEAST])
                early = min(early, index.node[kid, FIRST])
            stale = least != index.node[t, LEAST] or early != index.node[t, FIRST]
            index.node[t, LEAST] = least
            index.node[t, FIRST] = early
