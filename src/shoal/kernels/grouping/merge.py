"""The greedy merge of GAA over an index of classes (Algorithm 1, Mauger 2023)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.strategy import choose
from shoal.kernels.levels import SIZE, badness_of_both, join_lists, push_worst
from shoal.kernels.search.class_index import ABOVE, FAILS, has_room, insert, remove
from shoal.kernels.search.class_search import cheapest, spent

DONE, PAUSED, NEEDS_ROOM, JUDGE = 0, 1, 2, 3


class Merge(NamedTuple):
    """The state of a merge, so that it can pause and continue."""

    into: np.ndarray  # int64[classes], the class into which this one was merged; itself while alive
    people: np.ndarray  # int64[classes], what k counts: each person is in one class only
    unjudged: np.ndarray  # bool[classes], large enough, but not yet judged by the other models
    turn: np.ndarray  # int64[classes], the class with the lowest is next, then the first record
    draws: np.ndarray  # int64[2 * classes] or empty: turns of the classes and of those merged later
    heap: np.ndarray  # int64[places, 3]: turn, first record, class
    counts: np.ndarray  # int64[6]: heap used, alive, failing, inserted so far, unjudged, merges


@lean_kernel
def earlier(heap, i, j):
    """Whether entry i comes before entry j: the lower turn, then the first record."""
    if heap[i, 0] != heap[j, 0]:
        return heap[i, 0] < heap[j, 0]
    return heap[i, 1] < heap[j, 1]


@lean_kernel
def push(merge, turn, first, c):
    """Push a class that fails, or may fail, onto the heap."""
    heap = merge.heap
    i = merge.counts[0]
    merge.counts[0] += 1
    while i > 0:
        above = (i - 1) // 2
        if heap[above, 0] < turn or (heap[above, 0] == turn and heap[above, 1] <= first):
            break
        heap[i, 0], heap[i, 1], heap[i, 2] = heap[above, 0], heap[above, 1], heap[above, 2]
        i = above
    heap[i, 0], heap[i, 1], heap[i, 2] = turn, first, c


@lean_kernel
def pop(merge):
    """Pop the class whose turn it is from the heap."""
    heap = merge.heap
    last = merge.counts[0] - 1
    merge.counts[0] = last
    turn, first, c = heap[last, 0], heap[last, 1], heap[last, 2]
    i = 0
    while True:
        kid = 2 * i + 1
        if kid >= last:
            break
        if kid + 1 < last and earlier(heap, kid + 1, kid):
            kid += 1
        if turn < heap[kid, 0] or (turn == heap[kid, 0] and first <= heap[kid, 1]):
            break
        heap[i, 0], heap[i, 1], heap[i, 2] = heap[kid, 0], heap[kid, 1], heap[kid, 2]
        i = kid
    heap[i, 0], heap[i, 1], heap[i, 2] = turn, first, c


@lean_kernel
def take_turn(merge, c, i):
    """Give a class its turn: by its people, or the i-th that was drawn."""
    merge.turn[c] = merge.draws[i] if len(merge.draws) else merge.people[c]


@lean_kernel
def absorb(classes, merge, a, b):
    """Merge class b into class a, which keeps its published values."""
    merge.people[a] += merge.people[b]  # no person is in both
    for c in (a, b):
        if classes.fails[c]:
            merge.counts[2] -= 1
            classes.fails[c] = False
        if merge.unjudged[c]:
            merge.counts[4] -= 1
            merge.unjudged[c] = False
    classes.size[a] += classes.size[b]
    classes.first[a] = min(classes.first[a], classes.first[b])
    merge.into[b] = a
    merge.counts[1] -= 1


@lean_kernel
def settle(index, trees, classes, merge, c, k, more):
    """Insert a class into the index, unless there is one with equal published values: return that.

    A class with fewer people than k fails; otherwise, if there are `more` models, they judge it
    later.
    """
    classes.fails[c] = merge.people[c] < k
    same = insert(index, trees, classes, c)
    if same >= 0:
        classes.fails[c] = False  # not counted as failing yet
        return same
    merge.unjudged[c] = more and not classes.fails[c]
    if classes.fails[c]:
        merge.counts[2] += 1
    if merge.unjudged[c]:
        merge.counts[4] += 1
    if classes.fails[c] or merge.unjudged[c]:
        push(merge, merge.turn[c], classes.first[c], c)
    return -1


@lean_kernel
def start_merge(index, trees, classes, merge, k, more, fan, budget):
    """Fill the index and the heap, class by class; may pause."""
    while merge.counts[3] < len(classes.size):
        if budget <= 0:
            return PAUSED
        budget -= 1
        if not has_room(index, classes.vector.shape[1], fan):
            return NEEDS_ROOM
        take_turn(merge, merge.counts[3], merge.counts[3])
        settle(index, trees, classes, merge, merge.counts[3], k, more)
        merge.counts[1] += 1
        merge.counts[3] += 1
    return DONE


@lean_kernel
def take_verdicts(index, classes, merge, ids, passes):
    """Take the verdicts of the other models."""
    for i in range(len(ids)):
        c = ids[i]
        merge.unjudged[c] = False
        merge.counts[4] -= 1
        if passes[i]:
            continue
        classes.fails[c] = True
        merge.counts[2] += 1
        t = index.leaf[c]
        index.node[t, FAILS] += 1
        while t != 0:
            t = index.node[t, ABOVE]
            index.node[t, FAILS] += 1


@lean_kernel
def survivors(into):
    """The final class of every class."""
    for c in range(len(into)):
        top = c
        while into[top] != top:
            top = into[top]
        here = c
        while into[here] != top:
            above = into[here]
            into[here] = top
            here = above
    return into


def make_go_on(judged):
    """The merge, by cost alone or by a rule on sensitive values; each is compiled separately."""

    @lean_kernel
    def go_on(
        index, trees, classes, lists, merge, work, k, more, by_size, only_small, rule, fan, budget
    ):
        """Merge until no class fails, or pause.

        It pauses when the `budget` of visits is used up, the index needs room, or `more` models
        must judge. A class is judged only when its turn comes, together with all that wait for it.
        """
        q = classes.vector.shape[1]
        pause = spent(work) + budget
        while merge.counts[0] > 0:
            if spent(work) >= pause:
                return PAUSED
            if not has_room(index, q, fan):
                return NEEDS_ROOM
            c = merge.heap[0, 2]
            current = (
                merge.into[c] == c
                and (classes.fails[c] or merge.unjudged[c])
                and merge.heap[0, 0] == merge.turn[c]
                and merge.heap[0, 1] == classes.first[c]
            )
            if current and (merge.unjudged[c] or (only_small and merge.counts[4] > 0)):
                return JUDGE
            pop(merge)
            if not current:
                continue
            if merge.counts[1] == 1:
                return DONE  # no class left to merge with
            work.visits[1] += 1
            remove(index, trees, classes, c, by_size)
            only_failing = only_small and merge.counts[2] > 1
            if not judged:
                b, _ = cheapest(
                    index, trees, classes, 0, c, by_size, np.int64(1), only_failing, 0, 0, work
                )
            else:
                b = choose(
                    index, trees, classes, lists, merge.into, work, c, by_size, only_failing,
                    rule[0], rule[1], rule[2] == 1,
                )  # fmt: skip
            remove(index, trees, classes, b, by_size)
            for j in range(q):
                start = trees.start[j]
                top = classes.vector[c, j]
                other = classes.vector[b, j]
                while not (top <= other < trees.end[start + top]):
                    top = trees.parent[start + top]
                classes.vector[c, j] = top
            absorb(classes, merge, c, b)
            if judged:
                join_lists(lists, c, b)
            made = len(merge.into) + merge.counts[5]
            merge.counts[5] += 1
            take_turn(merge, c, made)
            same = settle(index, trees, classes, merge, c, k, more)
            if same >= 0:
                # Classes with equal published values become one.
                remove(index, trees, classes, same, by_size)
                absorb(classes, merge, c, same)
                if judged:
                    join_lists(lists, c, same)
                take_turn(merge, c, made)
                settle(index, trees, classes, merge, c, k, more)
            if judged:
                if rule[1] == SIZE:
                    lists.badness[c] = -merge.people[c]
                else:
                    lists.badness[c] = badness_of_both(lists, rule[1], c, -1, classes.size[c])
                push_worst(lists, lists.badness[c], c)
        return DONE

    return go_on


merge_by_cost = make_go_on(False)
merge_by_rule = make_go_on(True)
