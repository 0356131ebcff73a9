"""Clustering of people with several records (Algorithms 1, 5, 6 and 7, Wang 2018)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.hitting import PAUSES, smallest_hitting_set
from shoal.kernels.search.box_index import AWAY, add, drop, nearest, needs_rebuild
from shoal.kernels.search.boxes import NO_COST, join_boxes, note_kept

# The kinds of demands on a class.
PEOPLE = 0  # minimum number of people
VALUES = 1  # minimum number of distinct values
PERSON_SHARE = 2  # maximum share of records of one person
VALUE_SHARE = 3  # maximum share of records with one value
OWNERS_SHARE = 4  # maximum share of people with one value
HITTING = 5  # minimum size of a hitting set
NO, YES, LATER = 0, 1, -1  # an answer, or a pause before it is known
SLACK = 1e-9  # tolerance for rounding errors

NO_END = np.int64(1) << 62  # no limit

DONE, PAUSED, NEEDS_REBUILD = 0, 1, 2


class People(NamedTuple):
    """All people, with records and sensitive values; values of all columns share one numbering."""

    records: np.ndarray  # int64[people]
    first: np.ndarray  # int64[people, columns + 1]: value[first[p, c]:first[p, c + 1]]
    value: np.ndarray  # int32[holdings], each value once per person, ascending
    amount: np.ndarray  # int64[holdings], records of the person with it
    values: int


class Demands(NamedTuple):
    """The requirements on every class."""

    kind: np.ndarray  # int64[demands]
    column: np.ndarray  # int64[demands], the sensitive column that it is about
    bound: np.ndarray  # float64[demands]


class Forming(NamedTuple):
    """The class that is being formed, with running counts (Algorithms 5 and 6)."""

    who: np.ndarray  # int64[people], its people
    mark: np.ndarray  # int64[3]: people, records, most records of one person
    rows: np.ndarray  # int64[values], records with each value
    owners: np.ndarray  # int64[values], people with each value
    sums: np.ndarray  # int64[columns, 3]: distinct values, most records, most owners of one
    first: np.ndarray  # int64[people + 1], scratch: values of its people, one after the other
    value: np.ndarray  # int32[holdings], scratch
    chosen: np.ndarray  # bool[values], scratch
    banned: np.ndarray  # bool[values], scratch
    used: np.ndarray  # int64[values], scratch
    tick: np.ndarray  # int64[1], scratch
    person: np.ndarray  # int64[people + 3], scratch
    at: np.ndarray  # int64[people + 3], scratch
    hit: np.ndarray  # int64[demands, bound + 3]: a hitting set that is too small, if one is known
    seen: np.ndarray  # int64[demands, 2]: its size, and how many people it is known to hit
    budget: np.ndarray  # int64[1], scratch
    state: np.ndarray  # int64[5]: the state of the search for a hitting set, and its demand


@lean_kernel
def clear(people, forming):
    """Start a new class."""
    for i in range(forming.mark[0]):
        p = forming.who[i]
        for h in range(people.first[p, 0], people.first[p, people.first.shape[1] - 1]):
            forming.rows[people.value[h]] = 0
            forming.owners[people.value[h]] = 0
    forming.mark[:] = 0
    forming.sums[:] = 0
    forming.seen[:] = 0


@lean_kernel
def admit(people, forming, p):
    """Add a person to the counts."""
    forming.who[forming.mark[0]] = p
    forming.mark[0] += 1
    forming.mark[1] += people.records[p]
    forming.mark[2] = max(forming.mark[2], people.records[p])
    for c in range(people.first.shape[1] - 1):
        sums = forming.sums[c]
        for h in range(people.first[p, c], people.first[p, c + 1]):
            v = people.value[h]
            if forming.owners[v] == 0:
                sums[0] += 1
            forming.rows[v] += people.amount[h]
            forming.owners[v] += 1
            sums[1] = max(sums[1], forming.rows[v])
            sums[2] = max(sums[2], forming.owners[v])


@lean_kernel
def still_hit(people, forming, column, d):
    """Whether the hitting set found before still hits everybody."""
    size = forming.seen[d, 0]
    for i in range(forming.seen[d, 1], forming.mark[0]):
        p = forming.who[i]
        met = False
        for h in range(people.first[p, column], people.first[p, column + 1]):
            for s in range(size):
                met = met or forming.hit[d, s] == people.value[h]
        if not met:
            return False
    return size > 0


@lean_kernel
def hit_by_fewer(people, forming, d, column, fewest):
    """Whether fewer values than this hit everybody: then the class violates EIR l-diversity.

    NO, YES or LATER. As in Algorithm 5 the last result is reused: a hitting set that also hits the
    people who joined since is still valid. Only if it is not, a new one is searched.
    """
    if forming.state[1] == 0 and still_hit(people, forming, column, d):
        forming.seen[d, 1] = forming.mark[0]
        return YES
    used = 0
    forming.first[0] = 0
    for i in range(forming.mark[0]):
        p = forming.who[i]
        for h in range(people.first[p, column], people.first[p, column + 1]):
            forming.value[used] = people.value[h]
            used += 1
        forming.first[i + 1] = used
    forming.budget[0] = NO_END
    size = smallest_hitting_set(
        forming.first, forming.value, 0, forming.mark[0], fewest - 1, forming.chosen,
        forming.banned, forming.used, forming.tick, forming.person, forming.at, forming.hit[d],
        forming.budget, forming.state,
    )  # fmt: skip
    if size == PAUSES:
        forming.state[4] = d
        return LATER
    if size < fewest:
        forming.seen[d, 0], forming.seen[d, 1] = size, forming.mark[0]
        return YES
    return NO


@lean_kernel
def satisfied(people, forming, demands):
    """Whether the class satisfies all demands; fast checks come first.

    NO, YES or LATER: then call it again for the same class to continue.
    """
    number, records, most = forming.mark[0], forming.mark[1], forming.mark[2]
    for d in range(len(demands.kind)):
        kind, bound = demands.kind[d], demands.bound[d]
        sums = forming.sums[demands.column[d]]
        if kind == PEOPLE:
            fine = number >= bound
        elif kind == VALUES:
            fine = sums[0] >= bound
        elif kind == PERSON_SHARE:
            fine = most <= bound * records * (1 + SLACK)
        elif kind == VALUE_SHARE:
            fine = sums[1] <= bound * records * (1 + SLACK)
        elif kind == OWNERS_SHARE:
            fine = sums[2] <= bound * number * (1 + SLACK)
        else:
            # It needs at least this number of people and distinct values.
            fine = number >= bound and sums[0] >= bound
        if not fine:
            return NO
    for d in range(forming.state[4] if forming.state[1] > 0 else 0, len(demands.kind)):
        if demands.kind[d] != HITTING:
            continue
        hit = hit_by_fewer(people, forming, d, demands.column[d], np.int64(demands.bound[d]))
        if hit == LATER:
            return LATER
        if hit == YES:
            return NO
    return YES


class Clusters(NamedTuple):
    """The finished classes: chains of people."""

    of: np.ndarray  # int64[people], the class of each; -1: none yet, or suppressed
    head: np.ndarray  # int64[classes]
    next: np.ndarray  # int64[people]
    mark: np.ndarray  # int64[2]: classes so far, people of `order` visited


@lean_kernel
def call_up(people, forming, clusters, c):
    """Add the people of class c to the counts."""
    p = clusters.head[c]
    while p >= 0:
        admit(people, forming, p)
        p = clusters.next[p]


@lean_kernel
def found_class(shapes, done, done_index, forming, clusters, box, order_of):
    """Finish the current class and add it to the index."""
    c = clusters.mark[0]
    clusters.mark[0] += 1
    clusters.head[c] = -1
    first = NO_COST
    for i in range(forming.mark[0]):
        p = forming.who[i]
        clusters.of[p] = c
        clusters.next[p] = clusters.head[c]
        clusters.head[c] = p
        first = min(first, order_of[p])
    for w in range(len(box)):
        done.box[c, w] = box[w]
    done.size[c], done.first[c] = forming.mark[1], first
    note_kept(shapes, box, done.keeps[c])
    add(done_index, done, c)


@kernel
def cluster(
    shapes, pool, pool_index, done, done_index, people, demands, forming, clusters, order, box,
    budget,
):  # fmt: skip
    """Algorithm 1, lines 2 to 19, for so many people; the last class may not satisfy all demands.

    `order` is the order in which people are chosen to start a class. Returns PAUSED if the budget
    is used up, NEEDS_REBUILD if the index of classes must be rebuilt; the current class persists.
    """
    n = len(order)
    forming.state[0] = 10 * budget
    pause = pool_index.looks[0] + done_index.looks[0] + budget
    while True:
        if needs_rebuild(done_index):
            return NEEDS_REBUILD
        if forming.mark[0] == 0:
            while clusters.mark[1] < n and pool.where[order[clusters.mark[1]]] == AWAY:
                clusters.mark[1] += 1
            if clusters.mark[1] == n:
                return DONE
            p = order[clusters.mark[1]]
            drop(pool_index, pool, p)
            box[:] = pool.box[p]
            admit(people, forming, p)
            pool_index.looks[0] += 1
        good = satisfied(people, forming, demands)
        while good != YES:
            if good == LATER or pool_index.looks[0] + done_index.looks[0] >= pause:
                return PAUSED
            size = forming.mark[1]
            p, near = nearest(shapes, pool_index, pool, box, size, NO_COST, NO_COST, -1)
            if p < 0:
                return DONE  # nobody is left: the people of the current class are residual
            c, _ = nearest(shapes, done_index, done, box, size, near, -1, -1)
            if c < 0:
                drop(pool_index, pool, p)
                join_boxes(shapes, box, pool.box[p])
                admit(people, forming, p)
            else:
                drop(done_index, done, c)
                join_boxes(shapes, box, done.box[c])
                before = forming.mark[0]
                call_up(people, forming, clusters, c)
                done_index.looks[0] += forming.mark[0] - before
            good = satisfied(people, forming, demands)
        found_class(shapes, done, done_index, forming, clusters, box, pool.first)
        clear(people, forming)


@kernel
def handle(
    shapes, pool, done, done_index, people, demands, forming, clusters, p, suppression, box,
    set_aside, at, budget,
):  # fmt: skip
    """Algorithm 7: add person p to the nearest class that still satisfies the models, or suppress.

    `suppression` is the loss of suppressing p; -1: nobody is suppressed. `set_aside` gets the
    classes that would violate a model; the caller puts them back. `at` is int64[2]: how many these
    are, and the class that is being tried, -1: none. PAUSED: call it again to continue.
    """
    forming.state[0] = 10 * budget
    pause = done_index.looks[0] + budget
    while True:
        if at[1] < 0:
            if done_index.looks[0] >= pause:
                return PAUSED
            c, cost = nearest(
                shapes, done_index, done, pool.box[p], people.records[p], NO_COST, NO_COST, -1
            )
            if c < 0 or 0 <= suppression < cost:
                break
            drop(done_index, done, c)
            clear(people, forming)
            call_up(people, forming, clusters, c)
            done_index.looks[0] += forming.mark[0]
            admit(people, forming, p)
            at[1] = c
        good = satisfied(people, forming, demands)
        if good == LATER:
            return PAUSED
        c = at[1]
        at[1] = -1
        if good == YES:
            box[:] = done.box[c]
            join_boxes(shapes, box, pool.box[p])
            found_class(shapes, done, done_index, forming, clusters, box, pool.first)
            break
        set_aside[at[0]] = c
        at[0] += 1
    clear(people, forming)
    return DONE
