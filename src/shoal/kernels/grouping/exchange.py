"""Exchange of tuples between classes with enough people, to lower the loss.

There are three moves. A tuple moves to the class that loses least by it, if its own class can
spare it. A class is dissolved, and its tuples move to other classes. Two neighbours are
re-partitioned: one of the two new classes grows from a tuple, nearest first, and the loss of both
is known for every size. Most of the work is done in the `lookahead` of a round.
"""

from __future__ import annotations

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.lookahead import (
    LOOKS,
    WIDE,
    best_split,
    gain_by_dissolving,
    gain_by_leaving,
    nearest_class,
)
from shoal.kernels.grouping.merge import DONE, NEEDS_ROOM, PAUSED
from shoal.kernels.grouping.parts import (
    BEGIN,
    MOST_VISITS,
    MOVES,
    NEXT,
    ROUND,
    UNTIL,
    add,
    assign,
    empty,
    list_members,
    put,
    room_for,
    unlink,
)
from shoal.kernels.search.class_index import remove
from shoal.kernels.search.class_search import spent


@lean_kernel
def move_tuples(index, trees, classes, parts, ahead, work, scratch, k, fan, budget):
    """Move each tuple that its class can spare to the cheapest class, if that gains."""
    classes_, vector = len(parts.head), classes.vector
    left = scratch.vector  # the closure of the class without the tuple
    pause = spent(work) + budget
    while parts.at[NEXT] < parts.at[UNTIL]:
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[MOST_VISITS]:
            return DONE
        if not room_for(index, vector.shape[1], fan, 4):
            return NEEDS_ROOM
        work.visits[1] += 1
        x = parts.at[NEXT]
        parts.at[NEXT] += 1
        a, row = parts.of[x], classes_ + x
        if parts.class_people[a] - parts.people[x] < k:
            continue
        known = ahead.round[x] == parts.at[ROUND] and parts.changed[a] != parts.at[ROUND]
        gain = ahead.gain[x]
        if not known:
            gain = gain_by_leaving(trees, classes, parts, x, left, work)
        if gain == 0:
            continue
        b, cost = nearest_class(index, trees, classes, parts, ahead, x, a, work)
        if b < 0 or cost >= gain:
            continue
        if known:
            gain_by_leaving(trees, classes, parts, x, left, work)
        remove(index, trees, classes, a, True)
        remove(index, trees, classes, b, True)
        unlink(parts, x)
        classes.size[a] -= classes.size[row]
        parts.class_people[a] -= parts.people[x]
        assign(vector[a], left)
        add(trees, classes, parts, x, b)
        put(index, trees, classes, parts, a)
        if parts.head[b] >= 0:
            put(index, trees, classes, parts, b)
        parts.at[MOVES] += 1
    return DONE


@lean_kernel
def dissolve_classes(index, trees, classes, parts, ahead, work, scratch, order, k, fan, budget):
    """Dissolve a class if each of its tuples alone would cost less in another class.

    A class below k is dissolved at any cost. Several tuples that move to the same class may cost
    more or less than each alone, so the caller checks the total.
    """
    vector, members = classes.vector, scratch.members
    pause = spent(work) + budget
    while parts.at[NEXT] < parts.at[UNTIL]:
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[MOST_VISITS]:
            return DONE
        c = order[parts.at[NEXT]]
        if parts.head[c] < 0 or parts.class_people[c] >= 2 * k:
            parts.at[NEXT] += 1
            continue
        many = list_members(parts, c, members, 0)
        if not room_for(index, vector.shape[1], fan, 2 * many + 2):
            return NEEDS_ROOM
        work.visits[1] += 1 + many
        parts.at[NEXT] += 1
        gain, must = gain_by_dissolving(trees, classes, parts, c), parts.class_people[c] < k
        elsewhere = False  # whether there is another class
        for i in range(many):
            b, cost = nearest_class(index, trees, classes, parts, ahead, members[i], c, work)
            elsewhere = b >= 0
            if not elsewhere:
                break
            gain -= cost
            if gain <= 0 and not must:
                break
        if not elsewhere or (gain <= 0 and not must):
            continue
        remove(index, trees, classes, c, True)
        empty(classes, parts, c)
        for i in range(many):
            b, _ = nearest_class(index, trees, classes, parts, ahead, members[i], -1, work)
            remove(index, trees, classes, b, True)
            add(trees, classes, parts, members[i], b)
            put(index, trees, classes, parts, b)
        parts.at[MOVES] += 1
    return DONE


@lean_kernel
def find_neighbours(index, trees, classes, parts, ahead, work, a, near):
    """Write the nearest classes of the tuples of a class into `near`; returns how many."""
    found = 0
    x = parts.head[a]
    while x >= 0 and found < len(near):
        b, _ = nearest_class(index, trees, classes, parts, ahead, x, a, work)
        new = b >= 0
        for i in range(found):
            new = new and near[i] != b
        if new:
            near[found] = b
            found += 1
        x = parts.after[x]
    return found


@lean_kernel
def repartition(index, trees, classes, parts, ahead, work, scratch, order, k, fan, budget):
    """Re-partition each class with its neighbours, two at a time."""
    q = classes.vector.shape[1]
    pause = spent(work) + budget
    while parts.at[NEXT] < parts.at[UNTIL]:
        if spent(work) >= pause:
            return PAUSED
        if work.visits[0] >= parts.at[MOST_VISITS]:
            return DONE
        if not room_for(index, q, fan, 4 * len(scratch.near) + 4):
            return NEEDS_ROOM
        work.visits[1] += 1
        item, a = parts.at[NEXT] - parts.at[BEGIN], order[parts.at[NEXT]]
        parts.at[NEXT] += 1
        if parts.head[a] < 0:
            continue
        now = parts.at[ROUND]
        # Whether class a is as the lookahead supposed it to be.
        expected = ahead.split_round[item] == now and parts.changed[a] != now
        found = find_neighbours(index, trees, classes, parts, ahead, work, a, scratch.near)
        for i in range(found):
            b = scratch.near[i]
            if parts.head[a] < 0 or parts.head[b] < 0:
                expected = False
                continue  # it was merged into another class
            if parts.class_people[a] + parts.class_people[b] > WIDE * k:
                expected = expected and ahead.split_gain[item, i] <= 0
                continue
            first = list_members(parts, a, scratch.members, 0)
            many = list_members(parts, b, scratch.members, first)
            known = expected and ahead.partner[item, i] == b and parts.changed[b] != now
            if known:
                gain = ahead.split_gain[item, i]
                for member in range(many):
                    scratch.best[member] = ahead.split[item, i, member]
            else:
                gain = best_split(trees, classes, parts, scratch, first, many, k)
                work.visits[1] += max(many * many, LOOKS) // 4
                expected = expected and gain <= 0 and ahead.split_gain[item, i] <= 0
            if gain <= 0:
                continue
            remove(index, trees, classes, a, True)
            remove(index, trees, classes, b, True)
            empty(classes, parts, a)
            empty(classes, parts, b)
            for member in range(many):
                to = a if scratch.best[member] else b
                add(trees, classes, parts, scratch.members[member], to)
            if put(index, trees, classes, parts, a):
                expected = False
            if parts.head[b] >= 0:
                put(index, trees, classes, parts, b)
            parts.at[MOVES] += 1
    return DONE
