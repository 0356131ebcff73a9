"""Exchange of tuples between classes with enough people, to lower the loss.

There are three moves. A tuple moves to the class that loses least by it, if its own class can
spare it. A class is dissolved, and its tuples move to other classes. Two neighbours are
re-partitioned: one of the two new classes grows from a tuple, nearest first, and the loss of both
is known for every size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.search.class_index import insert, remove
from shoal.kernels.search.class_search import cheapest, spent
from shoal.kernels.search.tuple_index import join

SEEDS = 6  # tuples tried as the start of a new class
LOOKS = 20_000  # approximate number of pairs of tuples visited per re-partition
WIDE = 6  # neighbours with more than WIDE * k people are not re-partitioned


class Parts(NamedTuple):
    """The classes and the tuples in them; tuple x is class number `len(head) + x` of the index."""

    head: np.ndarray  # int64[classes], the first of its tuples, or -1
    after: np.ndarray  # int64[tuples], the next one of the same class
    before: np.ndarray  # int64[tuples]
    of: np.ndarray  # int64[tuples], its class
    class_people: np.ndarray  # int64[classes]
    people: np.ndarray  # int64[tuples]
    at: np.ndarray  # int64[3]: the next item, moves made, visits after which to end


class Scratch(NamedTuple):
    """Scratch space."""

    vector: np.ndarray  # int32[q]
    members: np.ndarray  # int64[tuples]
    order: np.ndarray  # int64[tuples]
    rest: np.ndarray  # int64[tuples + 1]
    inside: np.ndarray  # bool[tuples]
    best: np.ndarray  # bool[tuples]
    near: np.ndarray  # int64[neighbours]


@lean_kernel
def room_for(index, q, fan, times):
    """Whether this number of classes fits."""
    nodes, places = times * (q + 2), times * (2 * fan + 4 * q + 8)
    return index.mark[0] > nodes and index.mark[1] + places < len(index.pool)


@lean_kernel
def kept(trees, vector):
    """The cost from a vector to the roots: what each record keeps."""
    total = np.int64(0)
    for j in range(len(vector)):
        total += trees.cost[trees.start[j] + vector[j]]
    return total


@lean_kernel
def kept_by_both(trees, vector, other):
    """The same for the join of two vectors."""
    total = np.int64(0)
    for j in range(len(vector)):
        start = trees.start[j]
        top, value = vector[j], other[j]
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        total += trees.cost[start + top]
    return total


@lean_kernel
def assign(vector, other):
    """Copy a vector."""
    for j in range(len(vector)):
        vector[j] = other[j]


@lean_kernel
def unlink(parts, x):
    """Remove a tuple from the list of its class."""
    after, before = parts.after[x], parts.before[x]
    if before >= 0:
        parts.after[before] = after
    else:
        parts.head[parts.of[x]] = after
    if after >= 0:
        parts.before[after] = before


@lean_kernel
def link(parts, x, c):
    """Put a tuple on the list of a class."""
    head = parts.head[c]
    parts.after[x], parts.before[x], parts.of[x] = head, -1, c
    if head >= 0:
        parts.before[head] = x
    parts.head[c] = x


@lean_kernel
def link_all(parts):
    """Put all tuples on the lists of their classes."""
    for x in range(len(parts.of) - 1, -1, -1):
        link(parts, x, parts.of[x])


@lean_kernel
def empty(classes, parts, c):
    """Remove all tuples from a class."""
    parts.head[c], parts.class_people[c], classes.size[c] = -1, 0, 0


@lean_kernel
def add(trees, classes, parts, x, c):
    """Add a tuple to a class that is not in the index; the class covers it afterwards."""
    tuple_ = len(parts.head) + x
    if parts.head[c] < 0:
        assign(classes.vector[c], classes.vector[tuple_])
    else:
        join(trees, classes.vector[c], classes.vector[tuple_])
    classes.size[c] += classes.size[tuple_]
    parts.class_people[c] += parts.people[x]
    link(parts, x, c)


@lean_kernel
def put(index, trees, classes, parts, c):
    """Insert a class into the index; a class with equal published values is merged into it."""
    same = insert(index, trees, classes, c)
    if same < 0:
        return
    remove(index, trees, classes, same, True)
    x = parts.head[same]
    while x >= 0:
        after = parts.after[x]
        link(parts, x, c)
        x = after
    classes.size[c] += classes.size[same]
    classes.first[c] = min(classes.first[c], classes.first[same])
    parts.class_people[c] += parts.class_people[same]
    empty(classes, parts, same)
    insert(index, trees, classes, c)


@lean_kernel
def fill_index(index, trees, classes, parts, fan, budget):
    """Insert all classes into the index, or pause."""
    while parts.at[0] < len(parts.head):
        if budget <= 0:
            return PAUSED
        budget -= 1
        if not room_for(index, classes.vector.shape[1], fan, 2):
            return NEEDS_ROOM
        if parts.head[parts.at[0]] >= 0:
            put(index, trees, classes, parts, parts.at[0])
        parts.at[0] += 1
    return DONE


@lean_kernel
def nearest_class(index, trees, classes, x, work):
    """The class that a tuple joins at the lowest cost, and that cost; the tuple's row is x."""
    return cheapest(index, trees, classes, 0, x, True, np.int64(1), False, 0, 0, work)


@lean_kernel
def move_tuples(index, trees, classes, parts, work, scratch, k, fan, budget):
    """Move each tuple that its class can spare to the cheapest class, if that gains."""
    classes_, vector = len(parts.head), classes.vector
    pause = spent(work) + budget
    while parts.at[0] < len(parts.of):
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[2]:
            return DONE
        if not room_for(index, vector.shape[1], fan, 4):
            return NEEDS_ROOM
        work.visits[1] += 1
        x = parts.at[0]
        parts.at[0] += 1
        a, row = parts.of[x], classes_ + x
        if parts.class_people[a] - parts.people[x] < k:
            continue
        left = scratch.vector  # the closure of the class without the tuple
        begun = False
        y = parts.head[a]
        while y >= 0:
            if y != x and not begun:
                assign(left, vector[classes_ + y])
                begun = True
            elif y != x:
                join(trees, left, vector[classes_ + y])
            work.visits[1] += 1
            y = parts.after[y]
        size, kept_a = classes.size[row], kept(trees, vector[a])
        gain = size * (kept(trees, vector[row]) - kept_a)
        gain += (classes.size[a] - size) * (kept(trees, left) - kept_a)
        if gain == 0:
            continue
        remove(index, trees, classes, a, True)
        b, cost = nearest_class(index, trees, classes, row, work)
        if b < 0 or cost >= gain:
            insert(index, trees, classes, a)
            continue
        remove(index, trees, classes, b, True)
        unlink(parts, x)
        classes.size[a] -= size
        parts.class_people[a] -= parts.people[x]
        assign(vector[a], left)
        add(trees, classes, parts, x, b)
        put(index, trees, classes, parts, a)
        if parts.head[b] >= 0:
            put(index, trees, classes, parts, b)
        parts.at[1] += 1
    return DONE


@lean_kernel
def list_members(parts, c, members, at):
    """Write the tuples of a class into `members`, from `at` on; returns where they end."""
    x = parts.head[c]
    while x >= 0:
        members[at] = x
        at += 1
        x = parts.after[x]
    return at


@lean_kernel
def dissolve_classes(index, trees, classes, parts, work, scratch, order, k, fan, budget):
    """Dissolve a class if each of its tuples alone would cost less in another class.

    A class below k is dissolved at any cost. Several tuples that move to the same class may cost
    more or less than each alone, so the caller checks the total.
    """
    classes_, vector = len(parts.head), classes.vector
    pause = spent(work) + budget
    while parts.at[0] < len(order):
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[2]:
            return DONE
        c = order[parts.at[0]]
        if parts.head[c] < 0 or parts.class_people[c] >= 2 * k:
            parts.at[0] += 1
            continue
        many = list_members(parts, c, scratch.members, 0)
        if not room_for(index, vector.shape[1], fan, 2 * many + 2):
            return NEEDS_ROOM
        work.visits[1] += 1 + many
        parts.at[0] += 1
        gain, must = np.int64(0), parts.class_people[c] < k
        kept_c = kept(trees, vector[c])
        for i in range(many):
            row = classes_ + scratch.members[i]
            gain += classes.size[row] * (kept(trees, vector[row]) - kept_c)
        remove(index, trees, classes, c, True)
        elsewhere = False  # whether there is another class
        for i in range(many):
            b, cost = nearest_class(index, trees, classes, classes_ + scratch.members[i], work)
            elsewhere = b >= 0
            if not elsewhere:
                break
            gain -= cost
            if gain <= 0 and not must:
                break
        if not elsewhere or (gain <= 0 and not must):
            insert(index, trees, classes, c)
            continue
        empty(classes, parts, c)
        for i in range(many):
            x = scratch.members[i]
            b, _ = nearest_class(index, trees, classes, classes_ + x, work)
            remove(index, trees, classes, b, True)
            add(trees, classes, parts, x, b)
            put(index, trees, classes, parts, b)
        parts.at[1] += 1
    return DONE


@lean_kernel
def best_split(trees, classes, parts, scratch, a, b, k):
    """The best split of the tuples of two classes; returns how many tuples, and the gain.

    `scratch.best` marks which of `scratch.members` are in the first class.
    """
    classes_, vector, members = len(parts.head), classes.vector, scratch.members
    inside, order, rest, grown = scratch.inside, scratch.order, scratch.rest, scratch.vector
    many = list_members(parts, b, members, list_members(parts, a, members, 0))
    size = classes.size[a] + classes.size[b]
    everyone = parts.class_people[a] + parts.class_people[b]
    now = classes.size[a] * kept(trees, vector[a]) + classes.size[b] * kept(trees, vector[b])
    best = now
    seeds = max(1, min(SEEDS, LOOKS // (many * many)))
    for number in range(seeds):
        seed = number * many // seeds
        for i in range(many):
            inside[i] = False
        assign(grown, vector[classes_ + members[seed]])
        inside[seed] = True
        order[0] = seed
        for done in range(1, many):
            near, most = -1, np.int64(-1)
            for i in range(many):
                if not inside[i]:
                    both = kept_by_both(trees, grown, vector[classes_ + members[i]])
                    if both > most:
                        near, most = i, both
            inside[near] = True
            order[done] = near
            join(trees, grown, vector[classes_ + members[near]])
        # What the tuples outside keep, for every size of the growing class.
        assign(grown, vector[classes_ + members[order[many - 1]]])
        for i in range(many - 1, 0, -1):
            join(trees, grown, vector[classes_ + members[order[i]]])
            rest[i] = kept(trees, grown)
        assign(grown, vector[classes_ + members[seed]])
        part, people = np.int64(0), np.int64(0)
        for i in range(many - 1):
            x = members[order[i]]
            join(trees, grown, vector[classes_ + x])
            part += classes.size[classes_ + x]
            people += parts.people[x]
            if people >= k and everyone - people >= k:
                total = part * kept(trees, grown) + (size - part) * rest[i + 1]
                if total > best:
                    best = total
                    for other in range(many):
                        scratch.best[other] = False
                    for other in range(i + 1):
                        scratch.best[order[other]] = True
    return many, best - now


@lean_kernel
def repartition(index, trees, classes, parts, work, scratch, order, k, fan, budget):
    """Re-partition each class with its neighbours, two at a time."""
    classes_ = len(parts.head)
    q = classes.vector.shape[1]
    pause = spent(work) + budget
    while parts.at[0] < len(order):
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[2]:
            return DONE
        if not room_for(index, q, fan, 4 * len(scratch.near) + 4):
            return NEEDS_ROOM
        work.visits[1] += 1
        a = order[parts.at[0]]
        parts.at[0] += 1
        if parts.head[a] < 0:
            continue
        found = 0
        remove(index, trees, classes, a, True)
        x = parts.head[a]
        while x >= 0 and found < len(scratch.near):
            b, _ = nearest_class(index, trees, classes, classes_ + x, work)
            new = b >= 0
            for i in range(found):
                new = new and scratch.near[i] != b
            if new:
                scratch.near[found] = b
                found += 1
            x = parts.after[x]
        insert(index, trees, classes, a)
        for i in range(found):
            b = scratch.near[i]
            if parts.head[a] < 0 or parts.head[b] < 0:
                continue  # it was merged into another class
            if parts.class_people[a] + parts.class_people[b] > WIDE * k:
                continue
            many, gain = best_split(trees, classes, parts, scratch, a, b, k)
            work.visits[1] += max(many * many, LOOKS) // 4
            if gain <= 0:
                continue
            remove(index, trees, classes, a, True)
            remove(index, trees, classes, b, True)
            empty(classes, parts, a)
            empty(classes, parts, b)
            for member in range(many):
                to = a if scratch.best[member] else b
                add(trees, classes, parts, scratch.members[member], to)
            put(index, trees, classes, parts, a)
            if parts.head[b] >= 0:
                put(index, trees, classes, parts, b)
            parts.at[1] += 1
    return DONE
