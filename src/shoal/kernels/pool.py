"""The pool: people who are in no class yet, and which of them is nearest to a box.

A prefix tree over the distinct vectors of people, one column a level, that only ever gets emptier.
What the join of the box with a value keeps is found once a search and value, when it is first
needed. A node knows the fewest records and the first record of anybody below it; both are kept
true as people leave, as most candidates inside a box cost the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.boxes import NO_COST, kept_of_values


class Pool(NamedTuple):
    """People, by their vectors."""

    value: np.ndarray  # int32[nodes], level by level
    kids: np.ndarray  # int64[nodes + 1], where the children of a node begin
    low: np.ndarray  # int64[nodes], the first vector below
    high: np.ndarray  # int64[nodes], the vector after the last one below
    early: np.ndarray  # int64[nodes], the first record of anybody below
    least: np.ndarray  # int64[nodes], the fewest records of anybody below
    top: int  # number of nodes of the first level
    node: np.ndarray  # int64[vectors, q], the nodes on the way to a vector
    vector: np.ndarray  # int32[vectors, q]
    of: np.ndarray  # int64[people], the vector of each
    begin: np.ndarray  # int64[vectors + 1]: people of vector v are by_first[begin[v]:begin[v + 1]]
    by_first: np.ndarray  # int64[people], those with the same vector by first record
    by_size: np.ndarray  # int64[people], those with the same vector by records, then first record
    next_first: np.ndarray  # int64[vectors], the first place in by_first that may be alive
    next_size: np.ndarray  # int64[vectors], the same in by_size
    records: np.ndarray  # int64[people]
    first: np.ndarray  # int64[people]
    alive: np.ndarray  # bool[people]
    left: np.ndarray  # int64[1], people alive


class Values(NamedTuple):
    """The values of people, column by column, and what is known of them in the present search."""

    start: np.ndarray  # int64[q + 1]
    part: np.ndarray  # int64[values, words], each as a part of a box
    keeps: np.ndarray  # int64[values], what each keeps itself
    fewest: np.ndarray  # int64[q], the least that a value of the column keeps
    joined: np.ndarray  # int64[values], what the join with the box keeps
    search: np.ndarray  # int64[values], the search in which that was found
    tick: np.ndarray  # int64[1], the present search
    own: np.ndarray  # int64[q], what the box keeps
    rest: np.ndarray  # int64[q + 1], what others lose at least in the columns from here on
    stack: np.ndarray  # int64[q + 1, 4]


@lean_kernel
def head(pool, v, by_size):
    """The first person alive with vector v, by records or else by first record; -1: nobody."""
    order = pool.by_size if by_size else pool.by_first
    place = pool.next_size if by_size else pool.next_first
    at, stop = place[v], pool.begin[v + 1]
    while at < stop and not pool.alive[order[at]]:
        at += 1
    place[v] = at
    return order[at] if at < stop else np.int64(-1)


@lean_kernel
def leave(pool, p):
    """Take a person out."""
    pool.alive[p] = False
    pool.left[0] -= 1
    v = pool.of[p]
    q = pool.vector.shape[1]
    one, small = head(pool, v, False), head(pool, v, True)
    early = NO_COST if one < 0 else pool.first[one]
    least = NO_COST if one < 0 else pool.records[small]
    for j in range(q - 1, -1, -1):
        node = pool.node[v, j]
        if j < q - 1:
            early, least = NO_COST, NO_COST
            for kid in range(pool.kids[node], pool.kids[node + 1]):
                early = min(early, pool.early[kid])
                least = min(least, pool.least[kid])
        if pool.early[node] == early and pool.least[node] == least:
            return
        pool.early[node], pool.least[node] = early, least


@lean_kernel
def joined_with(shapes, values, j, value, box):
    """What column j of the join of the box with a value keeps."""
    at = values.start[j] + value
    if values.search[at] != values.tick[0]:
        values.search[at] = values.tick[0]
        values.joined[at] = kept_of_values(shapes, j, box, shapes.at[j], values.part[at], 0)
    return values.joined[at]


@lean_kernel
def nearest_person(shapes, pool, values, box, size):
    """The person whose join with the box loses least, each side as often as it has records.

    Of several the one with the first record. Returns the person, or -1, and the cost.
    """
    q = len(shapes.kind)
    values.tick[0] += 1
    for j in range(q):
        values.own[j] = kept_of_values(shapes, j, box, shapes.at[j], box, shapes.at[j])
    values.rest[q] = 0
    for j in range(q - 1, -1, -1):
        more = max(values.fewest[j] - values.own[j], np.int64(0))
        values.rest[j] = values.rest[j + 1] + more
    best, best_cost, best_first = np.int64(-1), NO_COST, NO_COST
    # First straight down to somebody near; then all that could be nearer.
    for straight in range(2):
        depth = 0
        at, stop = np.int64(0), np.int64(pool.top)
        mine, theirs = np.int64(0), np.int64(0)  # what box and person lose in the columns so far
        while True:
            if at == stop:
                if depth == 0 or straight == 0:
                    break
                depth -= 1
                at, stop = values.stack[depth, 0], values.stack[depth, 1]
                mine, theirs = values.stack[depth, 2], values.stack[depth, 3]
                continue
            if straight == 0:
                node, least_bound = np.int64(-1), NO_COST
                for kid in range(at, stop):
                    if pool.least[kid] == NO_COST:
                        continue
                    v = pool.value[kid]
                    keep = joined_with(shapes, values, depth, v, box)
                    lose = values.keeps[values.start[depth] + v] - keep
                    bound = size * (values.own[depth] - keep) + pool.least[kid] * lose
                    if bound < least_bound:
                        node, least_bound = np.int64(kid), bound
                if node < 0:
                    return best, best_cost  # nobody is left
                at = stop
            else:
                node = at
                at += 1
            if pool.least[node] == NO_COST:
                continue
            v = pool.value[node]
            keep = joined_with(shapes, values, depth, v, box)
            to_mine = mine + values.own[depth] - keep
            to_theirs = theirs + values.keeps[values.start[depth] + v] - keep
            bound = size * to_mine + pool.least[node] * (to_theirs + values.rest[depth + 1])
            if bound > best_cost or (bound == best_cost and pool.early[node] > best_first):
                continue
            if depth < q - 1 and pool.high[node] - pool.low[node] > 1:
                values.stack[depth, 0], values.stack[depth, 1] = at, stop
                values.stack[depth, 2], values.stack[depth, 3] = mine, theirs
                depth += 1
                at, stop = pool.kids[node], pool.kids[node + 1]
                mine, theirs = to_mine, to_theirs
                continue
            one = pool.low[node]
            for j in range(depth + 1, q):
                v = pool.vector[one, j]
                keep = joined_with(shapes, values, j, v, box)
                to_mine += values.own[j] - keep
                to_theirs += values.keeps[values.start[j] + v] - keep
            p = head(pool, one, to_theirs > 0)
            cost = size * to_mine + pool.records[p] * to_theirs
            if cost < best_cost or (cost == best_cost and pool.first[p] < best_first):
                best, best_cost, best_first = p, cost, pool.first[p]
    return best, best_cost


@kernel
def summarize(pool):
    """Fill in the way to each vector, and what the nodes know of the people below."""
    m, q = pool.vector.shape
    at = np.int64(0)
    for j in range(q):
        for v in range(m):
            new = v == 0
            if not new:
                for i in range(j + 1):
                    new = new or pool.vector[v, i] != pool.vector[v - 1, i]
            if new:
                pool.early[at], pool.least[at] = NO_COST, NO_COST
                at += 1
            node = at - 1
            pool.node[v, j] = node
            pool.early[node] = min(pool.early[node], pool.first[pool.by_first[pool.begin[v]]])
            pool.least[node] = min(pool.least[node], pool.records[pool.by_size[pool.begin[v]]])
