"""Clusters that are filled from a pool of units, and classes that are merged in random order.

Units are boxes in an index, from which they are removed one by one. When half of them are gone, the
index should be rebuilt.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.grouping.box_merge import swallow
from shoal.kernels.grouping.clusters import merge_into
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.box_index import STANDS, add, drop, nearest, needs_rebuild, twin
from shoal.kernels.search.boxes import NO_COST, RANGE, join_boxes
from shoal.kernels.search.class_index import has_room, insert, remove
from shoal.kernels.search.class_search import cheapest, spent
from shoal.kernels.search.farthest import farthest

FEW = 64  # up to this number of units the index is not rebuilt


@lean_kernel
def thinned(index):
    """Whether half of the units are gone."""
    return len(index.by_first) > FEW and 2 * index.mark[0] < len(index.by_first)


@kernel
def k_member(shapes, index, boxes, label, box, state, k, budget):
    """Fill clusters of k units while there are k left.

    A cluster begins with the unit farthest from the last one taken, and adds the unit that
    increases the loss of all its records least. `state` is int64[4]: the last unit taken, clusters
    so far, units and records of the current one; `box` is its closure. Pauses after `budget`
    visits.
    """
    pause = index.looks[0] + budget
    while state[2] > 0 or index.mark[0] >= k:
        if index.looks[0] >= pause:
            return PAUSED
        if thinned(index):
            return NEEDS_ROOM
        if state[2] == 0:
            b = farthest(shapes, index, boxes, boxes.box[state[0]])
            for w in range(len(box)):
                box[w] = boxes.box[b, w]
            state[3] = 0
        else:
            b, _ = nearest(shapes, index, boxes, box, state[3], NO_COST, NO_COST, -1)
            join_boxes(shapes, box, boxes.box[b])
        drop(index, boxes, b)
        state[0] = b
        state[2] += 1
        state[3] += boxes.size[b]
        label[b] = state[1]
        if state[2] == k:
            state[1] += 1
            state[2] = 0
    return DONE


@lean_kernel
def count_values(index, boxes, count):
    """Count the units of each value."""
    for i in range(len(count)):
        count[i] = 0
    for b in range(len(boxes.where)):
        if boxes.where[b] == STANDS:
            for j in range(index.vector.shape[1]):
                count[index.start[j] + index.vector[boxes.place[b], j]] += 1


@lean_kernel
def take(index, boxes, b, count):
    """Remove a unit from the pool."""
    for j in range(index.vector.shape[1]):
        count[index.start[j] + index.vector[boxes.place[b], j]] -= 1
    drop(index, boxes, b)


@lean_kernel
def centre(shapes, index, count, box):
    """The centre of the remaining units: for ranges the median, otherwise the most frequent value.

    Among equally frequent values, the first.
    """
    for j in range(len(shapes.kind)):
        lo, hi = index.start[j], index.start[j + 1]
        best = lo
        if shapes.kind[j] == RANGE:
            below = count[best]
            while 2 * below < index.mark[0]:
                best += 1
                below += count[best]
        else:
            for value in range(lo, hi):
                if count[value] > count[best]:
                    best = value
        for w in range(shapes.at[j + 1] - shapes.at[j]):
            box[shapes.at[j] + w] = index.part[best, w]


@kernel
def mdav(shapes, index, boxes, label, count, box, state, k, budget):
    """Form two clusters of k at opposite ends while 3 k units are left, then one or two more.

    The second begins with the unit farthest from the first unit of the other. `count` is
    int64[values]; `state` is int64[4]: clusters so far, units of the current one, its first unit,
    whether a second one follows; `box` is scratch space. Pauses after `budget` visits.
    """
    count_values(index, boxes, count)
    pause = index.looks[0] + budget
    while state[1] > 0 or state[3] == 1 or index.mark[0] >= 2 * k:
        if index.looks[0] >= pause:
            return PAUSED
        if thinned(index):
            return NEEDS_ROOM
        if state[1] > 0:
            own = boxes.box[state[2]]
            b, _ = nearest(shapes, index, boxes, own, 1, NO_COST, NO_COST, -1)
        elif state[3] == 1:
            b = farthest(shapes, index, boxes, boxes.box[state[2]])
            state[2], state[3] = b, 2
        else:
            state[3] = 1 if index.mark[0] >= 3 * k else 0
            centre(shapes, index, count, box)
            index.looks[0] += len(count)
            b = farthest(shapes, index, boxes, box)
            state[2] = b
        take(index, boxes, b, count)
        label[b] = state[0]
        state[1] += 1
        if state[1] == k:
            state[0] += 1
            state[1] = 0
    for b in range(len(label)):
        if boxes.where[b] == STANDS:
            label[b] = state[0]
    return DONE


@lean_kernel
def strike(small, place, mark, c):
    """Remove class c from the list of those that are too small."""
    mark[0] -= 1
    last = small[mark[0]]
    small[place[c]] = last
    place[last] = place[c]
    place[c] = -1


@kernel
def merge_any(shapes, index, boxes, people, into, small, place, mark, draws, k, budget):
    """Merge a random class of fewer than k with the nearest, until there is none.

    `small` lists those classes, `place` is the place of each in it, or -1. `mark` is int64[3]:
    their number, draws used, all classes. A draw is a random number in [0, 1).
    """
    pause = index.looks[0] + budget
    while mark[0] > 0 and mark[2] > 1:
        if index.looks[0] >= pause:
            return PAUSED
        if needs_rebuild(index):
            return NEEDS_ROOM
        c = small[np.int64(draws[mark[1]] * mark[0])]
        mark[1] += 1
        drop(index, boxes, c)
        b, _ = nearest(shapes, index, boxes, boxes.box[c], boxes.size[c], NO_COST, NO_COST, -1)
        while b >= 0:  # and then those that have become equal
            drop(index, boxes, b)
            if place[b] >= 0:
                strike(small, place, mark, b)
            people[c] += people[b]
            swallow(shapes, boxes, into, c, b, True)
            mark[2] -= 1
            b = twin(shapes, index, boxes, c)
        if people[c] >= k:
            strike(small, place, mark, c)
        add(index, boxes, c)
    return DONE


@lean_kernel
def fill_trees(index, trees, classes, mark, fan, budget):
    """Insert all classes into the index of trees; mark[3] is how many are in it."""
    while mark[3] < len(classes.size):
        if budget == 0:
            return PAUSED
        if not has_room(index, 2 * classes.vector.shape[1], 2 * fan):
            return NEEDS_ROOM
        budget -= 1
        insert(index, trees, classes, mark[3])
        mark[3] += 1
    return DONE


@lean_kernel
def merge_any_of_trees(
    index, trees, classes, people, into, small, place, mark, draws, work, k, fan, budget
):
    """The same as `merge_any` over the index of trees, which is filled."""
    q = classes.vector.shape[1]
    pause = spent(work) + budget
    while mark[0] > 0 and mark[2] > 1:
        if spent(work) >= pause:
            return PAUSED
        if not has_room(index, 2 * q, 2 * fan):
            return NEEDS_ROOM
        work.visits[1] += 1
        c = small[np.int64(draws[mark[1]] * mark[0])]
        mark[1] += 1
        remove(index, trees, classes, c, True)
        b, _ = cheapest(index, trees, classes, 0, c, True, np.int64(1), False, 0, 0, work)
        remove(index, trees, classes, b, True)
        same = merge_into(index, trees, classes, into, c, b)
        for other in (np.int64(b), np.int64(same)):  # and the one that has become equal
            if other >= 0:
                if place[other] >= 0:
                    strike(small, place, mark, other)
                people[c] += people[other]
                mark[2] -= 1
        if people[c] >= k:
            strike(small, place, mark, c)
    return DONE


@kernel
def closures(shapes, box, label, clusters):
    """The least box that covers each cluster, int64[clusters, words]."""
    whole = np.zeros((clusters, box.shape[1]), np.int64)
    begun = np.zeros(clusters, np.bool_)
    for i in range(len(label)):
        c = label[i]
        if begun[c]:
            join_boxes(shapes, whole[c], box[i])
        else:
            begun[c] = True
            for w in range(box.shape[1]):
                whole[c, w] = box[i, w]
    return whole
