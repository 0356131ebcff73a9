"""Lookahead: the searches of a round of moves, made before the first move of the round.

Until then nothing changes, so threads can share these searches. The moves follow one after the
other. A move uses what was found, unless a class that matters has changed in the meantime: the
nearest class is compared with all classes that have changed, and whatever else is no longer certain
is computed again. The result is therefore the same as without lookahead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.merge import DONE, PAUSED
from shoal.kernels.grouping.parts import (
    BEGIN,
    CHANGED,
    ROUND,
    assign,
    kept,
    kept_by_both,
    list_members,
    widen,
)
from shoal.kernels.search.class_search import cheapest_but, spent
from shoal.kernels.search.tuple_index import join

SEEDS = 6  # tuples tried as the start of a new class
LOOKS = 20_000  # approximate number of pairs of tuples visited per re-partition
WIDE = 6  # neighbours with more than WIDE * k people are not re-partitioned


class Ahead(NamedTuple):
    """What was found for the items of this round."""

    round: np.ndarray  # int64[tuples], the round of the search for the nearest class
    nearest: np.ndarray  # int64[tuples], that class
    cost: np.ndarray  # int64[tuples]
    visits: np.ndarray  # int64[tuples], nodes that were visited
    gain: np.ndarray  # int64[tuples] by leaving its class
    split_round: np.ndarray  # int64[items], the round in which splits were tried
    partner: np.ndarray  # int64[items, neighbours], the other class of a split
    split_gain: np.ndarray  # int64[items, neighbours]
    split: np.ndarray  # bool[items, neighbours, tuples], who is in the first class


class Scratch(NamedTuple):
    """Scratch space of one thread."""

    vector: np.ndarray  # int32[q]
    members: np.ndarray  # int64[tuples]
    order: np.ndarray  # int64[tuples]
    rest: np.ndarray  # int64[tuples + 1]
    keeps: np.ndarray  # int64[tuples]
    inside: np.ndarray  # bool[tuples]
    best: np.ndarray  # bool[tuples]
    near: np.ndarray  # int64[neighbours]
    own: np.ndarray  # int64[tuples]
    at: np.ndarray  # int64[2]: the next item of this thread, and where its items end


@lean_kernel
def search_nearest(index, trees, classes, row, own, work):
    """The class that a tuple joins at the lowest cost, and that cost.

    Its own one in the index is ignored; -1: it is not in the index.
    """
    return cheapest_but(index, trees, classes, 0, row, True, np.int64(1), False, own, 0, work)


@lean_kernel
def search_ahead(index, trees, classes, parts, ahead, x, own, work):
    """Search for the nearest class of a tuple, and remember it for this round."""
    before = work.visits[0]
    b, cost = search_nearest(index, trees, classes, len(parts.head) + x, own, work)
    ahead.nearest[x], ahead.cost[x], ahead.round[x] = b, cost, parts.at[ROUND]
    ahead.visits[x] = work.visits[0] - before
    return b, cost


@lean_kernel
def cost_up_to(trees, classes, row, c, limit):
    """The cost of a tuple in a class; above the limit, any number above it."""
    mine, other = classes.vector[row], classes.vector[c]
    size, other_size = classes.size[row], classes.size[c]
    total = np.int64(0)
    for j in range(len(mine)):
        if mine[j] == other[j]:
            continue
        start = trees.start[j]
        top = mine[j]
        while not (top <= other[j] < trees.end[start + top]):
            top = trees.parent[start + top]
        total += size * trees.cost[start + mine[j]] + other_size * trees.cost[start + other[j]]
        total -= (size + other_size) * trees.cost[start + top]
        if total > limit:
            break
    return total


@lean_kernel
def nearest_class(index, trees, classes, parts, ahead, x, own, work):
    """The nearest class of a tuple but its own one, and the cost: now, in the midst of a round."""
    row = len(parts.head) + x
    b, cost = ahead.nearest[x], ahead.cost[x]
    known = ahead.round[x] == parts.at[ROUND] and b >= 0
    if not known or parts.changed[b] == parts.at[ROUND]:
        return search_nearest(index, trees, classes, row, own, work)
    work.visits[0] += ahead.visits[x]
    work.visits[1] += parts.at[CHANGED] // 8
    for i in range(parts.at[CHANGED]):
        c = parts.changes[i]
        if c == own or parts.head[c] < 0:
            continue
        other = cost_up_to(trees, classes, row, c, cost)
        if other < cost or (other == cost and classes.first[c] < classes.first[b]):
            b, cost = c, other
    return b, cost


@lean_kernel
def gain_by_leaving(trees, classes, parts, x, left, work):
    """What a tuple and its class gain if it leaves; `left` is then the closure of the class."""
    classes_, vector, a = len(parts.head), classes.vector, parts.of[x]
    row, begun = classes_ + x, False
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
    return gain + (classes.size[a] - size) * (kept(trees, left) - kept_a)


@lean_kernel
def look_ahead_moves(index, trees, classes, parts, ahead, work, scratch, k, budget):
    """Search for the nearest class of each tuple that its class can spare."""
    pause = spent(work) + budget
    while scratch.at[0] < scratch.at[1]:
        if spent(work) >= pause:
            return PAUSED
        work.visits[1] += 1
        x = scratch.at[0]
        scratch.at[0] += 1
        a = parts.of[x]
        if parts.class_people[a] - parts.people[x] < k:
            continue
        ahead.gain[x] = gain_by_leaving(trees, classes, parts, x, scratch.vector, work)
        if ahead.gain[x] == 0:
            ahead.round[x], ahead.nearest[x] = parts.at[ROUND], -1
            continue
        search_ahead(index, trees, classes, parts, ahead, x, a, work)
    return DONE


@lean_kernel
def gain_by_dissolving(trees, classes, parts, c):
    """What the tuples of a class gain if each is published as it is."""
    gain, kept_c = np.int64(0), kept(trees, classes.vector[c])
    x = parts.head[c]
    while x >= 0:
        row = len(parts.head) + x
        gain += classes.size[row] * (kept(trees, classes.vector[row]) - kept_c)
        x = parts.after[x]
    return gain


@lean_kernel
def look_ahead_dissolving(index, trees, classes, parts, ahead, work, scratch, order, k, budget):
    """Search for the nearest classes of the tuples of each class that might be dissolved."""
    pause = spent(work) + budget
    while scratch.at[0] < scratch.at[1]:
        if spent(work) >= pause:
            return PAUSED
        work.visits[1] += 1
        c = order[scratch.at[0]]
        scratch.at[0] += 1
        if parts.head[c] < 0 or parts.class_people[c] >= 2 * k:
            continue
        gain, must = gain_by_dissolving(trees, classes, parts, c), parts.class_people[c] < k
        x = parts.head[c]
        while x >= 0 and (gain > 0 or must):
            work.visits[1] += 1
            b, cost = search_ahead(index, trees, classes, parts, ahead, x, c, work)
            if b < 0:
                break
            gain -= cost
            x = parts.after[x]
    return DONE


@lean_kernel
def kept_together(trees, classes, parts, members, lo, hi, closure):
    """What these tuples keep as one class."""
    size = np.int64(0)
    for i in range(lo, hi):
        row = len(parts.head) + members[i]
        size += classes.size[row]
        if i == lo:
            assign(closure, classes.vector[row])
        else:
            join(trees, closure, classes.vector[row])
    return size * kept(trees, closure)


@lean_kernel
def people_of(parts, members, lo, hi):
    """The people of these tuples."""
    people = np.int64(0)
    for i in range(lo, hi):
        people += parts.people[members[i]]
    return people


@lean_kernel
def grow(trees, classes, parts, scratch, near, many):
    """Make the growing class cover one more tuple; returns what each record then keeps less.

    `scratch.rest` is what each tuple outside keeps together with the class. It changes only for
    the columns in which the class becomes more general, which few tuples of a class cause.
    """
    classes_, vector, members = len(parts.head), classes.vector, scratch.members
    grown, lost = scratch.vector, np.int64(0)
    for j in range(len(grown)):
        start, old = trees.start[j], grown[j]
        value, top = vector[classes_ + members[near], j], old
        while not (top <= value < trees.end[start + top]):
            top = trees.parent[start + top]
        if top == old:
            continue
        grown[j] = top
        end, cost = trees.end[start + top], trees.cost[start + top]
        lost += trees.cost[start + old] - cost
        for i in range(many):
            value = vector[classes_ + members[i], j]
            if scratch.inside[i] or value < top or value >= end:
                continue  # a value outside meets both in the same node
            meet = old
            while not (meet <= value < trees.end[start + meet]):
                meet = trees.parent[start + meet]
            scratch.rest[i] += cost - trees.cost[start + meet]
    return lost


@lean_kernel
def best_split(trees, classes, parts, scratch, first, many, k):
    """The best split of the tuples of two classes, and the gain.

    `scratch.members` are the `first` tuples of the first class and then those of the second one,
    `many` in all; `scratch.best` marks which of them are in the first class afterwards.
    """
    classes_, vector, members = len(parts.head), classes.vector, scratch.members
    inside, order, rest, grown = scratch.inside, scratch.order, scratch.rest, scratch.vector
    keeps = scratch.keeps  # of the growing class, for every size
    now = kept_together(trees, classes, parts, members, 0, first, grown)
    now += kept_together(trees, classes, parts, members, first, many, grown)
    everyone, size = people_of(parts, members, 0, many), np.int64(0)
    for i in range(many):
        size += classes.size[classes_ + members[i]]
    best = now
    seeds = max(1, min(SEEDS, LOOKS // (many * many)))
    for number in range(seeds):
        seed = number * many // seeds
        assign(grown, vector[classes_ + members[seed]])
        for i in range(many):
            inside[i] = False
            rest[i] = kept_by_both(trees, grown, vector[classes_ + members[i]])
        inside[seed] = True
        order[0], keeps[0] = seed, rest[seed]
        for done in range(1, many):
            near, most = -1, np.int64(-1)
            for i in range(many):
                if not inside[i] and rest[i] > most:
                    near, most = i, rest[i]
            inside[near] = True
            order[done] = near
            keeps[done] = keeps[done - 1] - grow(trees, classes, parts, scratch, near, many)
        # What the tuples outside keep, for every size of the growing class.
        assign(grown, vector[classes_ + members[order[many - 1]]])
        rest[many - 1] = kept(trees, grown)
        for i in range(many - 2, 0, -1):
            less = widen(trees, grown, vector[classes_ + members[order[i]]])
            rest[i] = rest[i + 1] - less
        part, people = np.int64(0), np.int64(0)
        for i in range(many - 1):
            x = members[order[i]]
            part += classes.size[classes_ + x]
            people += parts.people[x]
            if people >= k and everyone - people >= k:
                total = part * keeps[i] + (size - part) * rest[i + 1]
                if total > best:
                    best = total
                    for other in range(many):
                        scratch.best[other] = False
                    for other in range(i + 1):
                        scratch.best[order[other]] = True
    return best - now


@lean_kernel
def look_ahead_splits(index, trees, classes, parts, ahead, work, scratch, order, k, budget):
    """Find the neighbours of each class and the best splits, one after the other.

    A later split starts from the tuples that the class has after the earlier ones.
    """
    pause = spent(work) + budget
    while scratch.at[0] < scratch.at[1]:
        if spent(work) >= pause:
            return PAUSED
        work.visits[1] += 1
        item, a = scratch.at[0] - parts.at[BEGIN], order[scratch.at[0]]
        scratch.at[0] += 1
        if parts.head[a] < 0:
            continue
        found = 0
        x = parts.head[a]
        while x >= 0 and found < len(scratch.near):
            b, _ = search_ahead(index, trees, classes, parts, ahead, x, a, work)
            new = b >= 0
            for i in range(found):
                new = new and scratch.near[i] != b
            if new:
                scratch.near[found] = b
                found += 1
            x = parts.after[x]
        if parts.class_people[a] > WIDE * k:
            continue
        own = list_members(parts, a, scratch.own, 0)
        for i in range(len(scratch.near)):
            ahead.partner[item, i], ahead.split_gain[item, i] = -1, 0
        for i in range(found):
            b = scratch.near[i]
            people = people_of(parts, scratch.own, 0, own) + parts.class_people[b]
            if people > WIDE * k:
                continue
            for member in range(own):
                scratch.members[member] = scratch.own[member]
            many = list_members(parts, b, scratch.members, own)
            if many > ahead.split.shape[2]:
                break  # tuples without people
            gain = best_split(trees, classes, parts, scratch, own, many, k)
            work.visits[1] += max(many * many, LOOKS) // 4
            ahead.partner[item, i], ahead.split_gain[item, i] = b, gain
            if gain <= 0:
                continue
            own = 0
            for member in range(many - 1, -1, -1):  # the order in which they will be linked
                ahead.split[item, i, member] = scratch.best[member]
                if scratch.best[member]:
                    scratch.own[own] = scratch.members[member]
                    own += 1
        ahead.split_round[item] = parts.at[ROUND]
    return DONE
