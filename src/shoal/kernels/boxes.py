"""Boxes: published vectors whose values are nodes of trees, ranges of numbers or sets of values.

A box is a row of whole numbers: one for a node, two for the first and the last value of a range,
and a bit for each value of a set. Node 0, the root, is the first of all values of a range, and the
first bit of a set: with it nothing is kept. What a box keeps is a sum over its columns, and never
grows when boxes are joined, so that joining a and b loses what both keep less what the join keeps.

The index for the nearest box is a few balanced trees over sorted boxes, of doubling sizes: a new
box goes into the smallest, and trees that are full are merged into the next. Each node knows what
all boxes below have in common, which bounds what a join with any of them can keep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

TREE, RANGE, SET = 0, 1, 2
BLOCK = 8  # boxes in a leaf of the index
NO_COST = np.int64(1) << 61


class Shapes(NamedTuple):
    """The columns: how their values may be published, and what that keeps."""

    kind: np.ndarray  # int64[q]
    at: np.ndarray  # int64[q + 1], where the numbers of a column begin in a box
    start: np.ndarray  # int64[q + 1], where the nodes or values of a column begin below
    parent: np.ndarray  # int32[nodes], of a tree, numbered within the column
    end: np.ndarray  # int32[nodes]
    worth: np.ndarray  # int64[nodes]: of a node what it keeps, of a value in a range its place
    most: np.ndarray  # int64[q], what a single value of a range or set keeps
    unit: np.ndarray  # int64[q], what each further value of a set loses


@lean_kernel
def bits(word):
    """How many bits of a number are set."""
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean_kernel
def kept_of_values(shapes, j, a, at, b, bt):
    """What column j of a join keeps: its numbers are a[at], a[at + 1] … and b[bt], b[bt + 1] …"""
    start = shapes.start[j]
    kind = shapes.kind[j]
    if kind == TREE:
        top, other = a[at], b[bt]
        while not (top <= other < shapes.end[start + top]):
            top = np.int64(shapes.parent[start + top])
        return shapes.worth[start + top]
    if kind == RANGE:
        low, high = min(a[at], b[bt]), max(a[at + 1], b[bt + 1])
        span = shapes.worth[start + high] - shapes.worth[start + low]
        return max(shapes.most[j] - span, np.int64(0))
    if (a[at] | b[bt]) & 1:
        return np.int64(0)
    count = np.int64(0)
    for w in range(shapes.at[j + 1] - shapes.at[j]):
        count += bits(a[at + w] | b[bt + w])
    return shapes.most[j] - shapes.unit[j] * (count - 1)


@lean_kernel
def kept_by_join(shapes, j, a, b):
    """What column j of the join of two boxes keeps."""
    return kept_of_values(shapes, j, a, shapes.at[j], b, shapes.at[j])


@lean_kernel
def kept(shapes, a):
    """What a box keeps."""
    total = np.int64(0)
    for j in range(len(shapes.kind)):
        total += kept_by_join(shapes, j, a, a)
    return total


@lean_kernel
def join_boxes(shapes, a, b):
    """Make box a cover box b too."""
    for j in range(len(shapes.kind)):
        at = shapes.at[j]
        if shapes.kind[j] == TREE:
            start = shapes.start[j]
            top, other = a[at], b[at]
            while not (top <= other < shapes.end[start + top]):
                top = np.int64(shapes.parent[start + top])
            a[at] = top
        elif shapes.kind[j] == RANGE:
            a[at], a[at + 1] = min(a[at], b[at]), max(a[at + 1], b[at + 1])
        else:
            for w in range(at, shapes.at[j + 1]):
                a[w] |= b[w]


@lean_kernel
def before(a, b):
    """Whether box a comes before box b in the order of the index."""
    for w in range(len(a)):
        if a[w] != b[w]:
            return a[w] < b[w]
    return False


class Boxes(NamedTuple):
    """The boxes that can be found."""

    box: np.ndarray  # int64[boxes, words]
    size: np.ndarray  # int64[boxes], what each counts
    first: np.ndarray  # int64[boxes], its first record
    keeps: np.ndarray  # int64[boxes], what it keeps
    alive: np.ndarray  # bool[boxes]
    place: np.ndarray  # int64[boxes], where it stands in `order`


class Forest(NamedTuple):
    """Trees of doubling sizes. Tree t has the boxes order[begin[t] : begin[t] + used[t]]."""

    order: np.ndarray  # int64[places]
    spare: np.ndarray  # int64[places], scratch for merging
    begin: np.ndarray  # int64[trees + 1]
    used: np.ndarray  # int64[trees]
    root: np.ndarray  # int64[trees], where its nodes begin; node i has the children 2i + 1, 2i + 2
    low: np.ndarray  # int64[nodes, words]: least node or value, what all sets have
    high: np.ndarray  # int64[nodes, words]: greatest value, what any set has
    least: np.ndarray  # int64[nodes], no box below counts less
    early: np.ndarray  # int64[nodes], no box below has an earlier first record
    poor: np.ndarray  # int64[nodes], no box below keeps less
    alive: np.ndarray  # int64[nodes], boxes below that are alive


@kernel
def make_forest(boxes, words, smallest):
    """An empty forest for so many boxes, the smallest tree with room for `smallest`."""
    trees = 1
    room = np.int64(max(smallest, BLOCK))
    places = room
    while room < boxes:
        room *= 2
        places += room
        trees += 1
    begin = np.zeros(trees + 1, np.int64)
    root = np.zeros(trees + 1, np.int64)
    size = np.int64(max(smallest, BLOCK))
    for t in range(trees):
        begin[t + 1] = begin[t] + size
        blocks = np.int64(1)
        while blocks * BLOCK < size:
            blocks *= 2
        root[t + 1] = root[t] + 2 * blocks
        size *= 2
    nodes = root[trees]
    return Forest(
        np.zeros(places, np.int64), np.zeros(places, np.int64), begin, np.zeros(trees, np.int64),
        root, np.zeros((nodes, words), np.int64), np.zeros((nodes, words), np.int64),
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
    )  # fmt: skip


@lean_kernel
def envelop(shapes, boxes, forest, node, b, fresh):
    """Let a node know of one more box below."""
    mine = boxes.box[b]
    low, high = forest.low[node], forest.high[node]
    if fresh:
        for w in range(len(mine)):
            low[w] = mine[w]
            high[w] = mine[w]
        forest.least[node], forest.early[node] = boxes.size[b], boxes.first[b]
        forest.poor[node], forest.alive[node] = boxes.keeps[b], 1
        return
    for j in range(len(shapes.kind)):
        at = shapes.at[j]
        if shapes.kind[j] == TREE:
            start = shapes.start[j]
            top, other = low[at], mine[at]
            while not (top <= other < shapes.end[start + top]):
                top = np.int64(shapes.parent[start + top])
            low[at] = top
        elif shapes.kind[j] == RANGE:
            low[at] = min(low[at], mine[at])
            high[at + 1] = max(high[at + 1], mine[at + 1])
        else:
            for w in range(at, shapes.at[j + 1]):
                low[w] &= mine[w]
                high[w] |= mine[w]
    forest.least[node] = min(forest.least[node], boxes.size[b])
    forest.early[node] = min(forest.early[node], boxes.first[b])
    forest.poor[node] = min(forest.poor[node], boxes.keeps[b])
    forest.alive[node] += 1


@lean_kernel
def blocks_of(forest, t):
    """How many leaves tree t has room for."""
    return (forest.root[t + 1] - forest.root[t]) // 2


@lean_kernel
def build_tree(shapes, boxes, forest, t):
    """Fill in the nodes of tree t; its boxes are sorted."""
    root, blocks = forest.root[t], blocks_of(forest, t)
    for node in range(root, forest.root[t + 1]):
        forest.alive[node] = 0
    for i in range(forest.used[t]):
        b = forest.order[forest.begin[t] + i]
        boxes.place[b] = forest.begin[t] + i
        node = blocks - 1 + i // BLOCK
        while True:
            envelop(shapes, boxes, forest, root + node, b, forest.alive[root + node] == 0)
            if node == 0:
                break
            node = (node - 1) // 2


@lean_kernel
def add_box(shapes, boxes, forest, b):
    """Put a box into the forest: trees that are full move into the first that has room."""
    boxes.alive[b] = True
    boxes.place[b] = -1  # where it stood before, if it did, it stands no more
    t, total = 0, np.int64(1)
    trees = len(forest.used)
    while t < trees - 1 and total + forest.used[t] > forest.begin[t + 1] - forest.begin[t]:
        total += forest.used[t]
        t += 1
    # All boxes of the trees up to t, sorted: merged one tree after the other, from the back, so
    # that nothing is overwritten that is still needed.
    count = 1
    forest.spare[0] = b
    for s in range(t + 1):
        start, mine = forest.begin[s], 0
        for i in range(forest.used[s]):
            other = forest.order[start + i]
            if boxes.alive[other] and boxes.place[other] == start + i:
                forest.order[start + mine] = other
                mine += 1
        i, j, out = count - 1, mine - 1, count + mine - 1
        while j >= 0:
            other = forest.order[start + j]
            if i >= 0 and before(boxes.box[other], boxes.box[forest.spare[i]]):
                forest.spare[out] = forest.spare[i]
                i -= 1
            else:
                forest.spare[out] = other
                j -= 1
            out -= 1
        count += mine
        forest.used[s] = 0
    for i in range(count):
        forest.order[forest.begin[t] + i] = forest.spare[i]
    forest.used[t] = count
    for s in range(t):
        for node in range(forest.root[s], forest.root[s + 1]):
            forest.alive[node] = 0
    build_tree(shapes, boxes, forest, t)


@lean_kernel
def fill_forest(shapes, boxes, forest, order):
    """Put sorted boxes into the last tree, all at once."""
    t = len(forest.used) - 1
    for i in range(len(order)):
        forest.order[forest.begin[t] + i] = order[i]
        boxes.alive[order[i]] = True
    forest.used[t] = len(order)
    build_tree(shapes, boxes, forest, t)


@lean_kernel
def drop_box(boxes, forest, b):
    """Take a box out; its place is used again when its tree is built anew."""
    boxes.alive[b] = False
    place = boxes.place[b]
    t = 0
    while place >= forest.begin[t + 1]:
        t += 1
    node = blocks_of(forest, t) - 1 + (place - forest.begin[t]) // BLOCK
    while True:
        forest.alive[forest.root[t] + node] -= 1
        if node == 0:
            return
        node = (node - 1) // 2


@lean_kernel
def kept_at_most(shapes, j, a, low, high):
    """What column j of a join of box a with a box below a node can keep at most."""
    at, start = shapes.at[j], shapes.start[j]
    kind = shapes.kind[j]
    if kind == TREE:
        mine, top = a[at], low[at]
        if mine <= top < shapes.end[start + mine] or top <= mine < shapes.end[start + top]:
            return shapes.worth[start + mine]
        while not (top <= mine < shapes.end[start + top]):
            top = np.int64(shapes.parent[start + top])
        return shapes.worth[start + top]
    if kind == RANGE:
        first, last = a[at], a[at + 1]
        if low[at] > last:
            last = low[at]
        elif high[at + 1] < first:
            first = high[at + 1]
        span = shapes.worth[start + last] - shapes.worth[start + first]
        return max(shapes.most[j] - span, np.int64(0))
    if (a[at] | low[at]) & 1:
        return np.int64(0)
    count, meets = np.int64(0), False
    for w in range(at, shapes.at[j + 1]):
        count += bits(a[w] | low[w])
        meets = meets or (a[w] & high[w]) != 0
    if not meets:
        alone = np.int64(1)
        for w in range(at, shapes.at[j + 1]):
            alone += bits(a[w])
        count = max(count, alone)
    return shapes.most[j] - shapes.unit[j] * (count - 1)


@lean_kernel
def nearest_box(shapes, boxes, forest, a, size, keeps, limit, limit_first, stack):
    """The box whose join with a loses least, each side as often as it counts.

    Of several the one with the first record. Only what costs less than `limit`, or as much with an
    earlier record than `limit_first`. Returns the box, or -1, and the cost. `stack`, int64[128, 2],
    holds nodes still to be looked at, with the least that a join with a box below can lose.
    """
    q = len(shapes.kind)
    best, best_cost, best_first = np.int64(-1), limit, limit_first
    for t in range(len(forest.used)):
        if forest.used[t] == 0:
            continue
        root, blocks = forest.root[t], blocks_of(forest, t)
        stack[0, 0], stack[0, 1], depth = 0, 0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth, 0]
            if stack[depth, 1] > best_cost:
                continue
            if node < blocks - 1:
                # Both children with their bounds; the nearer one is looked at first.
                left, right = NO_COST, NO_COST
                for side in range(2):
                    n = root + 2 * node + 1 + side
                    if forest.alive[n] == 0:
                        continue
                    most = np.int64(0)
                    for j in range(q):
                        most += kept_at_most(shapes, j, a, forest.low[n], forest.high[n])
                    bound = size * (keeps - most)
                    bound += forest.least[n] * max(forest.poor[n] - most, np.int64(0))
                    late = forest.early[n] > best_first
                    if bound > best_cost or (bound == best_cost and late):
                        continue
                    if side == 0:
                        left = bound
                    else:
                        right = bound
                near = 0 if left <= right else 1
                for turn in range(2):  # what is pushed last is looked at first
                    side = near if turn == 1 else 1 - near
                    bound = left if side == 0 else right
                    if bound < NO_COST:
                        stack[depth, 0], stack[depth, 1] = 2 * node + 1 + side, bound
                        depth += 1
                continue
            begin = forest.begin[t] + (node - blocks + 1) * BLOCK
            stop = min(begin + BLOCK, forest.begin[t] + forest.used[t])
            for place in range(begin, stop):
                b = forest.order[place]
                if not boxes.alive[b] or boxes.place[b] != place:
                    continue
                joined = np.int64(0)
                for j in range(q):
                    joined += kept_by_join(shapes, j, a, boxes.box[b])
                cost = size * (keeps - joined) + boxes.size[b] * (boxes.keeps[b] - joined)
                first = boxes.first[b]
                if cost < best_cost or (cost == best_cost and first < best_first):
                    best, best_cost, best_first = b, cost, first
    return best, best_cost


@kernel
def kept_by_each(shapes, box):
    """What each box keeps, int64[boxes]."""
    keeps = np.empty(len(box), np.int64)
    for b in range(len(box)):
        keeps[b] = kept(shapes, box[b])
    return keeps
