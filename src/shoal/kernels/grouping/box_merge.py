"""Merging of boxes: GAA, the agglomerative algorithm, and adding units to the nearest box.

The same algorithms as in `merge` and `clusters`, for tables with free ranges or sets.
"""

from __future__ import annotations

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.grouping.clusters import pop_pair, push_pair
from shoal.kernels.grouping.merge import DONE, JUDGE, NEEDS_ROOM, PAUSED, pop, push
from shoal.kernels.search.box_index import add, drop, nearest, needs_rebuild, twin
from shoal.kernels.search.boxes import NO_COST, join_boxes, note_kept


@lean_kernel
def swallow(shapes, boxes, into, a, b, by_size):
    """Merge box b into box a; neither is in the index."""
    join_boxes(shapes, boxes.box[a], boxes.box[b])
    note_kept(shapes, boxes.box[a], boxes.keeps[a])
    if by_size:
        boxes.size[a] += boxes.size[b]
    boxes.first[a] = min(boxes.first[a], boxes.first[b])
    into[b] = a


@lean_kernel
def forget(merge, fails, c):
    """Reset the verdict on a class that has changed."""
    if fails[c]:
        merge.counts[2] -= 1
        fails[c] = False
    if merge.unjudged[c]:
        merge.counts[4] -= 1
        merge.unjudged[c] = False


@lean_kernel
def enlist(boxes, merge, fails, c, k, more):
    """Check k for a class, and push it onto the heap if it fails or needs a verdict."""
    fails[c] = merge.people[c] < k
    merge.unjudged[c] = more and not fails[c]
    if fails[c]:
        merge.counts[2] += 1
    if merge.unjudged[c]:
        merge.counts[4] += 1
    if fails[c] or merge.unjudged[c]:
        push(merge, merge.people[c], boxes.first[c], c)


@kernel
def begin(boxes, merge, fails, k, more):
    """Check k for all classes."""
    for c in range(len(merge.into)):
        enlist(boxes, merge, fails, c, k, more)
        merge.counts[1] += 1


@kernel
def merge_boxes(shapes, index, boxes, merge, fails, k, more, by_size, budget):
    """Merge the smallest class that fails with the nearest one until none fails."""
    pause = index.looks[0] + budget
    while merge.counts[0] > 0:
        if index.looks[0] >= pause:
            return PAUSED
        if needs_rebuild(index):
            return NEEDS_ROOM
        c = merge.heap[0, 2]
        current = (
            merge.into[c] == c
            and (fails[c] or merge.unjudged[c])
            and merge.heap[0, 0] == merge.people[c]
            and merge.heap[0, 1] == boxes.first[c]
        )
        if current and merge.unjudged[c]:
            return JUDGE
        pop(merge)
        if not current:
            continue
        if merge.counts[1] == 1:
            return DONE  # no class left to merge with
        drop(index, boxes, c)
        b, _ = nearest(shapes, index, boxes, boxes.box[c], boxes.size[c], NO_COST, NO_COST, -1)
        while b >= 0:  # and then those that have become equal
            drop(index, boxes, b)
            forget(merge, fails, b)
            merge.people[c] += merge.people[b]
            swallow(shapes, boxes, merge.into, c, b, by_size)
            merge.counts[1] -= 1
            b = twin(shapes, index, boxes, c)
        forget(merge, fails, c)
        enlist(boxes, merge, fails, c, k, more)
        add(index, boxes, c)
    return DONE


@kernel
def take_verdicts(merge, fails, ids, passes):
    """Take the verdicts of the other models."""
    for i in range(len(ids)):
        merge.unjudged[ids[i]] = False
        merge.counts[4] -= 1
        if not passes[i]:
            fails[ids[i]] = True
            merge.counts[2] += 1


@lean_kernel
def seek(shapes, index, boxes, state, c):
    """Find the nearest neighbour of cluster c, which is in the index, and push the pair."""
    b, cost = nearest(shapes, index, boxes, boxes.box[c], boxes.size[c], NO_COST, NO_COST, c)
    state.near[c] = b
    if b >= 0:
        mine, other = boxes.first[c], boxes.first[b]
        push_pair(state.heap, state.counts, cost, min(mine, other), max(mine, other), c)


@lean_kernel
def unite(shapes, boxes, state, small, a, b, by_size):
    """Merge two clusters that are no longer in the index into a new one."""
    d = state.counts[1]
    state.counts[1] += 1
    for w in range(boxes.box.shape[1]):
        boxes.box[d, w] = boxes.box[a, w]
    boxes.size[d], boxes.first[d] = boxes.size[a], boxes.first[a]
    state.into[d], state.into[a] = d, d
    swallow(shapes, boxes, state.into, d, b, by_size)
    state.people[d] = state.people[a] + state.people[b]
    small[a], small[b] = False, False
    return d


@kernel
def agglomerate(shapes, index, boxes, state, small, k, by_size, budget):
    """Merge the two closest clusters of fewer than k until at most one is left.

    `small` marks those clusters, which are in the index. Its first half is the initial clusters.
    Among equal pairs, the one with the earliest first record, then the one whose other is earlier.
    """
    n = len(state.into) // 2
    counts = state.counts
    pause = index.looks[0] + budget
    while counts[3] < n or (counts[0] > 0 and counts[2] > 1):
        if index.looks[0] >= pause:
            return PAUSED
        if needs_rebuild(index):
            return NEEDS_ROOM
        index.looks[0] += 1
        if counts[3] < n:
            if small[counts[3]]:
                seek(shapes, index, boxes, state, counts[3])
            counts[3] += 1
            continue
        c = pop_pair(state.heap, counts)
        if not small[c]:
            continue
        b = state.near[c]
        if not small[b]:
            seek(shapes, index, boxes, state, c)
            continue
        drop(index, boxes, c)
        d = c
        while b >= 0:  # and then those that have become equal
            drop(index, boxes, b)
            counts[2] -= 1
            d = unite(shapes, boxes, state, small, d, b, by_size)
            if state.people[d] >= k:
                counts[2] -= 1
                break
            b = twin(shapes, index, boxes, d)
        if state.people[d] < k:
            small[d] = True
            add(index, boxes, d)
            seek(shapes, index, boxes, state, d)
    return DONE


@kernel
def spread(shapes, index, boxes, into, done, by_size, budget):
    """Add the boxes from done[0] on, one by one, to the nearest box in the index."""
    pause = index.looks[0] + budget
    while done[0] < len(into):
        if index.looks[0] >= pause:
            return PAUSED
        if needs_rebuild(index):
            return NEEDS_ROOM
        x = done[0]
        done[0] += 1
        b, _ = nearest(shapes, index, boxes, boxes.box[x], boxes.size[x], NO_COST, NO_COST, -1)
        drop(index, boxes, b)
        swallow(shapes, boxes, into, b, x, by_size)
        same = twin(shapes, index, boxes, b)
        if same >= 0:
            drop(index, boxes, same)
            swallow(shapes, boxes, into, b, same, by_size)
        add(index, boxes, b)
    return DONE
