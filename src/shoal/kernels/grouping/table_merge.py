"""Merging of any classes, given as boxes: who is nearest, and merges of chosen pairs."""

from __future__ import annotations

from shoal.kernels import kernel
from shoal.kernels.grouping.box_merge import swallow
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.box_index import add, drop, nearest, needs_rebuild, twin
from shoal.kernels.search.boxes import NO_COST


@kernel
def find_nearest(shapes, index, boxes, ids, near, cost, at, budget):
    """Find the nearest class of each of `ids`, all in the index, and what the merge costs."""
    pause = index.looks[0] + budget
    while at[0] < len(ids):
        if index.looks[0] >= pause:
            return PAUSED
        c = ids[at[0]]
        at[0] += 1
        near[c], cost[c] = nearest(
            shapes, index, boxes, boxes.box[c], boxes.size[c], NO_COST, NO_COST, c
        )
    return DONE


@kernel
def merge_pairs(shapes, index, boxes, into, people, changed, first, second, at, budget):
    """Merge the classes first[i] and second[i], unless an earlier merge took one of them."""
    stop = min(len(first), at[0] + budget)
    while at[0] < stop:
        if needs_rebuild(index):
            return NEEDS_ROOM
        c, b = first[at[0]], second[at[0]]
        at[0] += 1
        if into[c] != c or into[b] != b:
            continue
        drop(index, boxes, c)
        changed[c] = True
        while b >= 0:  # then classes that are now published with the same values
            drop(index, boxes, b)
            changed[b] = True
            people[c] += people[b]
            swallow(shapes, boxes, into, c, b, True)
            b = twin(shapes, index, boxes, c)
        add(index, boxes, c)
    return DONE if at[0] == len(first) else PAUSED
