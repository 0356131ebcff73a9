"""An index of boxes, and the search for the nearest one.

Most boxes are in a prefix tree over their vectors, with one column per level. Boxes are only
removed from the tree; new ones go to a short list. When the list grows long, the tree is rebuilt.
What the join of a box with a value keeps is computed once per search and value, when it is first
needed. A node stores the least size and the first record of all boxes below it; both are updated
when boxes leave, as many candidates inside a box cost the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.boxes import NO_COST, SET, kept_by_join, kept_of_values

AWAY, STANDS, WAITS = 0, 1, 2  # where a box is: not in the index, in the tree, in the list
SHORT = 32  # minimum number of boxes that may be in the list
SHARE = 16  # or 1 / SHARE of the boxes in the tree
FEW = 64  # sets with up to so many values are compared value by value


class Boxes(NamedTuple):
    """The boxes of an index."""

    box: np.ndarray  # int64[boxes, words]
    size: np.ndarray  # int64[boxes], the weight of each
    first: np.ndarray  # int64[boxes], its first record
    keeps: np.ndarray  # int64[boxes, q], what each column of it keeps
    where: np.ndarray  # int64[boxes]
    place: np.ndarray  # int64[boxes], its vector in the tree, or its place in the list


class Index(NamedTuple):
    """The prefix tree, the list, and scratch space of searches."""

    value: np.ndarray  # int32[nodes], level by level
    kids: np.ndarray  # int64[nodes + 1], where the children of a node begin
    low: np.ndarray  # int64[nodes], the first vector below
    high: np.ndarray  # int64[nodes], the vector after the last one below
    early: np.ndarray  # int64[nodes], the first record of all below
    least: np.ndarray  # int64[nodes], the least size of all below; NO_COST: nothing is left
    top: int  # number of nodes of the first level
    node: np.ndarray  # int64[vectors, q], the nodes on the way to a vector
    vector: np.ndarray  # int32[vectors, q]
    begin: np.ndarray  # int64[vectors + 1], the boxes of v are by_first[begin[v]:begin[v + 1]]
    by_first: np.ndarray  # int64[boxes], those with the same vector by first record
    by_size: np.ndarray  # int64[boxes], those with the same vector by size, then first record
    next_first: np.ndarray  # int64[vectors], the first place in by_first still in use
    next_size: np.ndarray  # int64[vectors], the same in by_size
    waiting: np.ndarray  # int64[places], the list
    mark: np.ndarray  # int64[2]: boxes in the tree, boxes in the list
    start: np.ndarray  # int64[q + 1], where the values of a column begin below
    part: np.ndarray  # int64[values, words], each as a part of a box
    keeps: np.ndarray  # int64[values], what each keeps by itself
    single: np.ndarray  # int64[values], the value of a set with one value; -1: anything else
    joined: np.ndarray  # int64[values], what the join with the box keeps
    search: np.ndarray  # int64[values], the search in which that was found
    tick: np.ndarray  # int64[1], the current search
    looks: np.ndarray  # int64[1], boxes and nodes visited so far; kernels pause by it
    own: np.ndarray  # int64[q], what the box keeps
    held: np.ndarray  # int64[q, FEW + 1]: how many values its set has, and which ones; -1: too many
    rest: np.ndarray  # int64[q + 1], scratch of `farthest`: the most that columns from here on add
    turn: np.ndarray  # int64[q], the columns, the slowest to compare last
    stack: np.ndarray  # int64[q + 1, 4]


@lean_kernel
def head(index, boxes, v, by_size, skip):
    """The first box in the tree with vector v, by size or by first record; -1: none.

    The box `skip` does not count.
    """
    order = index.by_size if by_size else index.by_first
    place = index.next_size if by_size else index.next_first
    at, stop = place[v], index.begin[v + 1]
    passed = False
    while at < stop:
        b = order[at]
        if boxes.where[b] == STANDS and boxes.place[b] == v:
            if not passed:
                place[v] = at
            if b != skip:
                return b
            passed = True
        at += 1
    if not passed:
        place[v] = at
    return np.int64(-1)


@lean_kernel
def needs_rebuild(index):
    """Whether the tree should be rebuilt before another box is added."""
    return index.mark[1] >= min(len(index.waiting), max(SHORT, index.mark[0] // SHARE))


@lean_kernel
def add(index, boxes, b):
    """Put a box on the list; there must be room."""
    boxes.where[b], boxes.place[b] = WAITS, index.mark[1]
    index.waiting[index.mark[1]] = b
    index.mark[1] += 1


@lean_kernel
def drop(index, boxes, b):
    """Remove a box."""
    if boxes.where[b] == WAITS:
        index.mark[1] -= 1
        last = index.waiting[index.mark[1]]
        index.waiting[boxes.place[b]] = last
        boxes.place[last] = boxes.place[b]
        boxes.where[b] = AWAY
        return
    boxes.where[b] = AWAY
    index.mark[0] -= 1
    v = boxes.place[b]
    one, small = head(index, boxes, v, False, -1), head(index, boxes, v, True, -1)
    early = NO_COST if one < 0 else boxes.first[one]
    least = NO_COST if one < 0 else boxes.size[small]
    q = index.vector.shape[1]
    for j in range(q - 1, -1, -1):
        node = index.node[v, j]
        if j < q - 1:
            early, least = NO_COST, NO_COST
            index.looks[0] += index.kids[node + 1] - index.kids[node]
            for kid in range(index.kids[node], index.kids[node + 1]):
                early = min(early, index.early[kid])
                least = min(least, index.least[kid])
        if index.early[node] == early and index.least[node] == least:
            return
        index.early[node], index.least[node] = early, least


@lean_kernel
def begin_search(shapes, index, box):
    """Store what the box keeps, and the values of its small sets."""
    index.tick[0] += 1
    for j in range(len(shapes.kind)):
        index.own[j] = kept_by_join(shapes, j, box, box)
        index.held[j, 0] = -1
        at, words = shapes.at[j], shapes.at[j + 1] - shapes.at[j]
        if shapes.kind[j] != SET or box[at] & 1:
            continue
        count = np.int64(0)
        few = min(FEW, 4 * words)  # with more values it is faster to count the bits of all words
        for w in range(words):
            word = box[at + w]
            if word == 0:
                continue
            for bit in range(64):
                if (word >> bit) & 1:
                    if count < few:
                        index.held[j, count + 1] = 64 * w + bit
                    count += 1
        if count <= few:
            index.held[j, 0] = count


@lean_kernel
def kept_with(shapes, index, j, box, other, ot, keeps):
    """What column j of the join of the box with another keeps; `keeps` is what the other keeps.

    Its numbers are other[ot], other[ot + 1] and so on.
    """
    count = index.held[j, 0]
    if count < 0:
        return kept_of_values(shapes, j, box, shapes.at[j], other, ot)
    if other[ot] & 1:
        return np.int64(0)
    common = np.int64(0)
    for i in range(1, count + 1):
        one = index.held[j, i]
        common += (other[ot + one // 64] >> (one % 64)) & 1
    return index.own[j] + keeps - shapes.most[j] + shapes.unit[j] * (common - 1)


@lean_kernel
def joined_with(shapes, index, j, value, box):
    """What column j of the join of the box with a value keeps."""
    at = index.start[j] + value
    one = index.single[at]
    if one >= 0:
        # The set grows by this value or by nothing.
        if (box[shapes.at[j]] & 1) or one == 0:
            return np.int64(0)
        held = (box[shapes.at[j] + one // 64] >> (one % 64)) & 1
        return index.own[j] - (np.int64(0) if held else shapes.unit[j])
    if index.search[at] != index.tick[0]:
        index.search[at] = index.tick[0]
        index.joined[at] = kept_with(shapes, index, j, box, index.part[at], 0, index.keeps[at])
    return index.joined[at]


@lean_kernel
def nearest(shapes, index, boxes, box, size, limit, limit_first, skip):
    """The box whose join with this one loses least, each side multiplied by its weight.

    Among equals, the box with the first record; never the box `skip`. Only boxes that cost less
    than `limit`, or the same with an earlier record than `limit_first`. Returns the box, or -1, and
    the cost.
    """
    q = len(shapes.kind)
    begin_search(shapes, index, box)
    best, best_cost, best_first = np.int64(-1), limit, limit_first
    looks = 1 + index.mark[1]
    for place in range(index.mark[1]):
        b = index.waiting[place]
        if b == skip:
            continue
        mine, theirs, cost = np.int64(0), np.int64(0), np.int64(0)
        for i in range(q):
            j = index.turn[i]
            keep = kept_with(shapes, index, j, box, boxes.box[b], shapes.at[j], boxes.keeps[b, j])
            mine += index.own[j] - keep
            theirs += boxes.keeps[b, j] - keep
            cost = size * mine + boxes.size[b] * theirs
            if cost > best_cost:
                break
        if cost < best_cost or (cost == best_cost and boxes.first[b] < best_first):
            best, best_cost, best_first = b, cost, boxes.first[b]
    if index.mark[0] == 0:
        index.looks[0] += looks
        return best, best_cost
    # First directly to a near box, unless one is known; then all that could be nearer.
    for straight in range(0 if best_cost == NO_COST else 1, 2):
        depth = 0
        at, stop = np.int64(0), np.int64(index.top)
        mine, theirs = np.int64(0), np.int64(0)  # the loss of both in the columns so far
        while True:
            if at == stop:
                if depth == 0 or straight == 0:
                    break
                depth -= 1
                at, stop = index.stack[depth, 0], index.stack[depth, 1]
                mine, theirs = index.stack[depth, 2], index.stack[depth, 3]
                continue
            node = at
            at += 1
            looks += 1
            if straight == 0:
                looks += stop - at
                node, cheapest = np.int64(-1), NO_COST
                for kid in range(at - 1, stop):
                    if index.least[kid] == NO_COST:
                        continue
                    v = index.value[kid]
                    keep = joined_with(shapes, index, depth, v, box)
                    lose = index.keeps[index.start[depth] + v] - keep
                    bound = size * (index.own[depth] - keep) + index.least[kid] * lose
                    if node < 0 or bound < cheapest:
                        node, cheapest = np.int64(kid), bound
                at = stop
            if index.least[node] == NO_COST:
                continue
            v = index.value[node]
            keep = joined_with(shapes, index, depth, v, box)
            to_mine = mine + index.own[depth] - keep
            to_theirs = theirs + index.keeps[index.start[depth] + v] - keep
            bound = size * to_mine + index.least[node] * to_theirs
            if bound > best_cost or (bound == best_cost and index.early[node] >= best_first):
                continue
            if depth < q - 1 and index.high[node] - index.low[node] > 1:
                index.stack[depth, 0], index.stack[depth, 1] = at, stop
                index.stack[depth, 2], index.stack[depth, 3] = mine, theirs
                depth += 1
                at, stop = index.kids[node], index.kids[node + 1]
                mine, theirs = to_mine, to_theirs
                continue
            one = index.low[node]
            for j in range(depth + 1, q):
                v = index.vector[one, j]
                keep = joined_with(shapes, index, j, v, box)
                to_mine += index.own[j] - keep
                to_theirs += index.keeps[index.start[j] + v] - keep
            b = head(index, boxes, one, to_theirs > 0, skip)
            if b < 0:
                continue
            cost = size * to_mine + boxes.size[b] * to_theirs
            if cost < best_cost or (cost == best_cost and boxes.first[b] < best_first):
                best, best_cost, best_first = b, cost, boxes.first[b]
    index.looks[0] += looks
    return best, best_cost


@lean_kernel
def value_of(shapes, index, j, box):
    """The number of the value that a box has in column j; -1: no box in the tree has it."""
    words = shapes.at[j + 1] - shapes.at[j]
    lo, hi = index.start[j], index.start[j + 1]
    while lo < hi:  # values are sorted, word by word
        mid = (lo + hi) // 2
        w = 0
        while w < words and index.part[mid, w] == box[shapes.at[j] + w]:
            w += 1
        if w == words:
            return mid - index.start[j]
        if index.part[mid, w] < box[shapes.at[j] + w]:
            lo = mid + 1
        else:
            hi = mid
    return np.int64(-1)


@lean_kernel
def twin(shapes, index, boxes, c):
    """A box in the index that equals box c, which is not in it; -1: none.

    Among several, the one with the first record. The nearest may be another box at no cost.
    """
    box = boxes.box[c]
    best, best_first = np.int64(-1), NO_COST
    for i in range(index.mark[1]):
        b = index.waiting[i]
        same = True
        for w in range(len(box)):
            if boxes.box[b, w] != box[w]:
                same = False
                break
        if same and boxes.first[b] < best_first:
            best, best_first = b, boxes.first[b]
    if index.mark[0] == 0:
        return best
    node, lo, hi = np.int64(0), np.int64(0), np.int64(index.top)
    for j in range(len(shapes.kind)):
        value = value_of(shapes, index, j, box)
        if value < 0:
            return best
        stop = hi
        while lo < hi:
            mid = (lo + hi) // 2
            if index.value[mid] < value:
                lo = mid + 1
            else:
                hi = mid
        if lo == stop or index.value[lo] != value:
            return best
        node = lo
        lo, hi = index.kids[node], index.kids[node + 1]
    b = head(index, boxes, index.low[node], False, -1)
    if b >= 0 and boxes.first[b] < best_first:
        return b
    return best


@kernel
def settle(index, boxes):
    """Fill in the path to each vector of a new tree, and the summaries of its nodes."""
    m, q = index.vector.shape
    at = np.int64(0)
    for j in range(q):
        for v in range(m):
            new = v == 0
            if not new:
                for i in range(j + 1):
                    new = new or index.vector[v, i] != index.vector[v - 1, i]
            if new:
                index.early[at], index.least[at] = NO_COST, NO_COST
                at += 1
            node = at - 1
            index.node[v, j] = node
            first, small = index.by_first[index.begin[v]], index.by_size[index.begin[v]]
            index.early[node] = min(index.early[node], boxes.first[first])
            index.least[node] = min(index.least[node], boxes.size[small])
    for v in range(m):
        for i in range(index.begin[v], index.begin[v + 1]):
            boxes.where[index.by_first[i]] = STANDS
            boxes.place[index.by_first[i]] = v
