"""The steps of k-concealment after the expansion (Algorithms 3, 5, 6 and 7, Tassa 2012).

Published records with equal vectors form a group; the groups are in an index that changes with
them. Edges of the graph H (Sec. 6.2.1) lead from every record to those whose published vector
covers it; records with equal originals, and records of one group, reach each other, so that
strongly connected components are components of originals. Edges are only ever added, so
components only ever unite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.class_index import (
    ABOVE,
    CHILD,
    FIRST,
    HOLDS,
    KIDS,
    NO_COST,
    NOBODY,
    USED,
    VALUE,
    below,
    grow_index,
    has_room,
    insert,
    remove,
)
from shoal.kernels.search.tuple_index import covered, join, nearest_many

TRIALS = 20  # of Step 5 of Algorithm 6, until something else than the expansion comes out


class Groups(NamedTuple):
    """Who is published alike."""

    of: np.ndarray  # int64[n], the group of each record
    head: np.ndarray  # int64[groups], the first of a chain of its records
    next: np.ndarray  # int64[n]
    last: np.ndarray  # int64[n], the record before
    free: np.ndarray  # int64[groups], a stack of unused groups
    mark: np.ndarray  # int64[1], how many of them are left
    old: np.ndarray  # int32[q], scratch
    new: np.ndarray  # int32[q], scratch


class Graph(NamedTuple):
    """The graph H between components of originals, as chains of edges."""

    into: np.ndarray  # int64[components], the component that this one was united with; or itself
    of: np.ndarray  # int64[tuples], the component of each original at the start
    out_head: np.ndarray  # int64[components]
    out_tail: np.ndarray
    in_head: np.ndarray
    in_tail: np.ndarray
    seen: np.ndarray  # int64[components], the last search that reached it from the front
    back: np.ndarray  # int64[components], the last search that reached it from behind
    told: np.ndarray  # int64[components], the last list of edges in which it was met
    queue: np.ndarray  # int64[components]
    mark: np.ndarray  # int64[3]: searches so far, edges used, lists looked through


class Edges(NamedTuple):
    """The edges of Graph; there may be more than there was room for at first."""

    start: np.ndarray  # int64[edges]
    end: np.ndarray  # int64[edges]
    out_next: np.ndarray  # int64[edges], the next edge that leaves the same component
    in_next: np.ndarray  # int64[edges], the next edge that enters the same component


class Chains(NamedTuple):
    """The edges of every component in one direction: those that leave it, or that enter it."""

    head: np.ndarray  # int64[components], the first edge; -1: none
    tail: np.ndarray  # int64[components], the last one
    next: np.ndarray  # int64[edges], the next edge of the same component
    far: np.ndarray  # int64[edges], the component at the other end


@lean_kernel
def reach(index, trees, classes, row, enough, stack):
    """How many published records cover a row, and the nearest group that does not.

    Returns as soon as `enough` records cover it. The distance is what the group's vector loses
    when it is widened to cover the row; of equally near groups the one with the first record.
    `stack` is int64[q, 9].
    """
    q = len(row)
    vector, node, pool = classes.vector, index.node, index.pool
    begin, parent, end, price, step = (
        trees.start, trees.parent, trees.end, trees.cost, trees.step,
    )  # fmt: skip
    count = np.int64(0)
    best, best_cost, best_first = NOBODY, NO_COST, NO_COST
    depth = 0
    t = np.int64(0)
    rise = np.int64(0)
    out = np.int64(0)  # whether some value on the way does not cover the row's
    enter = True
    start = begin[0]
    a = np.int64(0)
    lo, hi, done_lo, done_hi, at = (
        np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0),
    )  # fmt: skip
    while True:
        if enter:
            enter = False
            start = begin[depth]
            a = np.int64(row[depth])
            kids, used = node[t, KIDS], node[t, USED]
            lo = below(pool, kids, used, a)
            hi = lo + below(pool, kids + lo, used - lo, end[start + a])
            done_lo, done_hi, at = lo, lo, lo
            if rise + step[start + a] > best_cost:  # only the value itself is still worth it
                alone = lo < hi and pool[kids + lo, VALUE] == a
                done_lo, done_hi = lo + (1 if alone else 0), hi
        if at == done_lo:
            at = done_hi
        if at >= hi:
            if a != 0:
                a = np.int64(parent[start + a])
                done_lo, done_hi = lo, hi
                kids, used = node[t, KIDS], node[t, USED]
                lo = below(pool, kids, lo, a)
                hi += below(pool, kids + hi, used - hi, end[start + a])
                at = lo
                if rise + step[start + a] > best_cost:
                    alone = lo < done_lo and pool[kids + lo, VALUE] == a
                    done_lo, done_hi = lo + (1 if alone else 0), hi
                continue
            if depth == 0:
                return count, best, best_cost
            depth -= 1
            start = begin[depth]
            t, rise, out, a = (
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3],
            )  # fmt: skip
            lo, hi, done_lo, done_hi, at = (
                stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7],
                stack[depth, 8],
            )  # fmt: skip
            continue
        place = node[t, KIDS] + at
        at += 1
        value = pool[place, VALUE]
        kid = pool[place, CHILD]
        cost = rise + price[start + value] - price[start + a]
        beyond = np.int64(1) if out == 1 or value != a else np.int64(0)
        late = cost > best_cost or (cost == best_cost and node[kid, FIRST] > best_first)
        if beyond == 1 and late:
            continue
        there = node[kid, HOLDS]
        if there < 0:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = t, rise, out, a
            stack[depth, 4], stack[depth, 5], stack[depth, 6] = lo, hi, done_lo
            stack[depth, 7], stack[depth, 8] = done_hi, at
            depth += 1
            t, rise, out = np.int64(kid), cost, beyond
            enter = True
            continue
        for j in range(depth + 1, q):
            base = begin[j]
            wide, mine = vector[there, j], row[j]
            top = wide
            while not (top <= mine < end[base + top]):
                top = parent[base + top]
            if top != wide:
                beyond = np.int64(1)
                cost += price[base + wide] - price[base + top]
                if cost > best_cost:
                    break
        if beyond == 0:
            count += classes.size[there]
            if count >= enough:
                return count, NOBODY, NO_COST
            continue
        first = classes.first[there]
        if cost < best_cost or (cost == best_cost and first < best_first):
            best, best_cost, best_first = np.int64(there), cost, first


@lean_kernel
def covering(index, trees, classes, row, stack, found):
    """Write the groups that cover a row into `found`; returns how many they are."""
    q = len(row)
    node, pool = index.node, index.pool
    count = 0
    depth = 0
    t = np.int64(0)
    a = np.int64(row[0])
    more = True  # whether ancestors are left to be looked for among the children of t
    while True:
        if not more:
            if depth == 0:
                return count
            depth -= 1
            t, a = stack[depth, 0], stack[depth, 1]
            more = a >= 0
            continue
        base, used = node[t, KIDS], node[t, USED]
        at = below(pool, base, used, a)
        hit = at < used and pool[base + at, VALUE] == a
        a = np.int64(trees.parent[trees.start[depth] + a]) if a != 0 else np.int64(-1)
        more = a >= 0
        if not hit:
            continue
        kid = pool[base + at, CHILD]
        there = node[kid, HOLDS]
        if there < 0:
            stack[depth, 0], stack[depth, 1] = t, a
            depth += 1
            t, a, more = np.int64(kid), np.int64(row[depth]), True
            continue
        inside = True
        for j in range(depth + 1, q):
            wide = classes.vector[there, j]
            if row[j] < wide or row[j] >= trees.end[trees.start[j] + wide]:
                inside = False
                break
        if inside:
            found[count] = there
            count += 1


@lean_kernel
def hear_first(index, classes, g):
    """Tell the index that a group's first record is an earlier one now."""
    first = classes.first[g]
    t = index.leaf[g]
    index.node[t, FIRST] = first
    while t != 0:
        t = index.node[t, ABOVE]
        index.node[t, FIRST] = min(index.node[t, FIRST], first)


@lean_kernel
def enter_group(index, trees, classes, groups, i, vector):
    """Publish record i, which is in no group, as this vector."""
    groups.mark[0] -= 1
    g = groups.free[groups.mark[0]]
    for j in range(len(vector)):
        classes.vector[g, j] = vector[j]
    classes.size[g], classes.first[g], groups.head[g] = 1, i, -1
    same = insert(index, trees, classes, g)
    if same >= 0:
        groups.free[groups.mark[0]] = g
        groups.mark[0] += 1
        g = same
        classes.size[g] += 1
        if i < classes.first[g]:
            classes.first[g] = i
            hear_first(index, classes, g)
    groups.of[i] = g
    groups.next[i], groups.last[i] = groups.head[g], -1
    if groups.head[g] >= 0:
        groups.last[groups.head[g]] = i
    groups.head[g] = i


@lean_kernel
def leave_group(index, trees, classes, groups, i):
    """Take record i out of its group."""
    g = groups.of[i]
    if groups.last[i] >= 0:
        groups.next[groups.last[i]] = groups.next[i]
    else:
        groups.head[g] = groups.next[i]
    if groups.next[i] >= 0:
        groups.last[groups.next[i]] = groups.last[i]
    if classes.size[g] > 1 and classes.first[g] != i:
        classes.size[g] -= 1
        return
    remove(index, trees, classes, g, True)
    classes.size[g] -= 1
    if classes.size[g] == 0:
        groups.free[groups.mark[0]] = g
        groups.mark[0] += 1
        return
    first = groups.head[g]
    r = first
    while r >= 0:
        first = min(first, r)
        r = groups.next[r]
    classes.first[g] = first
    insert(index, trees, classes, g)


@kernel
def start_groups(index, trees, classes, groups, vectors, begin, stop, fan):
    """Publish the records from `begin` to `stop` as their vectors, int32[n, q]."""
    for i in range(begin, stop):
        if not has_room(index, vectors.shape[1], fan):
            index = grow_index(index, 2 * len(index.node), 2 * len(index.pool) + 2 * fan)
        enter_group(index, trees, classes, groups, i, vectors[i])
    return index


@kernel
def anonymize_1k(index, trees, classes, groups, tuples, original, order, done, k, fan, stack):
    """Algorithm 3 for the records in `order`; `done` marks originals that k records cover."""
    q = tuples.vector.shape[1]
    for i in order:
        u = original[i]
        if done[u]:
            continue
        done[u] = True
        row = tuples.vector[u]
        while True:
            count, g, _ = reach(index, trees, classes, row, k, stack)
            if count >= k or g < 0:
                break
            if not has_room(index, q, 2 * fan):
                index = grow_index(index, 2 * len(index.node), 2 * len(index.pool) + 2 * fan)
            groups.new[:] = classes.vector[g]
            join(trees, groups.new, row)
            j = classes.first[g]
            leave_group(index, trees, classes, groups, j)
            enter_group(index, trees, classes, groups, j, groups.new)
    return index


@kernel
def randomized(tuples, trees, expanded, k, q, begin, stop, start, records, rng, out):
    """Algorithm 6: for each record the expansion, or the closure of random near records.

    Tuples from `begin` to `stop`; `records[start[u] : start[u + 1]]` are the records of tuple u.
    """
    width = tuples.vector.shape[1]
    stack = np.empty((width, 8), np.int64)
    heap = np.empty((q + 2, 3), np.int64)
    near = np.empty(q, np.int64)
    vector = np.empty(width, np.int32)
    for u in range(begin, stop):
        # The record itself is among the nearest, and is left out.
        found = nearest_many(tuples, trees, tuples.vector[u], q + 1, stack, heap)
        used = 0
        for h in range(found):
            v = heap[h, 2]
            for _ in range(tuples.size[v] - (1 if v == u else 0)):
                if used < q:
                    near[used] = v
                    used += 1
        for r in range(start[u], start[u + 1]):
            i = records[r]
            out[i] = expanded[u]
            if rng.random() < 0.5:
                continue
            for _ in range(TRIALS):
                vector[:] = tuples.vector[u]
                for pick in range(k - 1):
                    other = pick + np.int64(rng.random() * (used - pick))
                    near[pick], near[other] = near[other], near[pick]
                    join(trees, vector, tuples.vector[near[pick]])
                if not np.array_equal(vector, out[i]):
                    break
            if np.array_equal(vector, out[i]):
                raise_one(trees, vector, rng)
            out[i] = vector


@kernel
def raise_one(trees, vector, rng):
    """Replace one value that can be wider by its parent, any of them."""
    can = 0
    for j in range(len(vector)):
        can += 1 if vector[j] != 0 else 0
    if can == 0:
        return
    left = np.int64(rng.random() * can)
    for j in range(len(vector)):
        if vector[j] != 0:
            if left == 0:
                vector[j] = trees.parent[trees.start[j] + vector[j]]
                return
            left -= 1


@lean_kernel
def top_of(graph, c):
    """The component that component c was united with."""
    while graph.into[c] != c:
        graph.into[c] = graph.into[graph.into[c]]  # the next one to ask has half the way
        c = graph.into[c]
    return c


@lean_kernel
def component(graph, u):
    """The component that original u is in now."""
    return top_of(graph, graph.of[u])


@lean_kernel
def leaving(graph, edges):
    """The edges that leave each component."""
    return Chains(graph.out_head, graph.out_tail, edges.out_next, edges.end)


@lean_kernel
def entering(graph, edges):
    """The edges that enter each component."""
    return Chains(graph.in_head, graph.in_tail, edges.in_next, edges.start)


@lean_kernel
def append_chain(chains, c, head, tail):
    """Put edges from `head` to `tail` at the end of those of component c."""
    if head < 0:
        return
    if chains.head[c] < 0:
        chains.head[c] = head
    else:
        chains.next[chains.tail[c]] = head
    chains.tail[c] = tail


@lean_kernel
def add_edge(graph, edges, a, b):
    """Add an edge from component a to component b."""
    e = graph.mark[1]
    graph.mark[1] += 1
    edges.start[e], edges.end[e] = a, b
    edges.out_next[e], edges.in_next[e] = -1, -1
    append_chain(leaving(graph, edges), a, e, e)
    append_chain(entering(graph, edges), b, e, e)


@kernel
def more_edges(graph, edges, room):
    """The same edges, with room for so many more."""
    used = graph.mark[1]
    if used + room <= len(edges.start):
        return edges
    size = 2 * (used + room)
    grown = Edges(
        np.empty(size, np.int64), np.empty(size, np.int64),
        np.empty(size, np.int64), np.empty(size, np.int64),
    )  # fmt: skip
    grown.start[:used] = edges.start[:used]
    grown.end[:used] = edges.end[:used]
    grown.out_next[:used] = edges.out_next[:used]
    grown.in_next[:used] = edges.in_next[:used]
    return grown


@kernel
def start_graph(graph, start, end):
    """Fill in the edges between components."""
    none = Edges(
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    )
    edges = more_edges(graph, none, len(start) + 1)
    for e in range(len(start)):
        add_edge(graph, edges, start[e], end[e])
    return edges


@lean_kernel
def unite(graph, edges, into, c):
    """Make component c a part of another one."""
    graph.into[c] = into
    out, back = leaving(graph, edges), entering(graph, edges)
    append_chain(out, into, out.head[c], out.tail[c])
    append_chain(back, into, back.head[c], back.tail[c])


@lean_kernel
def follow(graph, chains, used, budget, seen, now, within, then):
    """Follow edges from the components in the queue; what is `within` the search `then` only.

    Marks what is reached in `seen` with `now`; returns how many were, or -1 when the budget of
    edges is spent.
    """
    at = 0
    while at < used:
        here = graph.queue[at]
        at += 1
        graph.mark[2] += 1
        graph.told[here] = graph.mark[2]
        kept, e = np.int64(-1), chains.head[here]
        while e >= 0:
            budget -= 1
            if budget < 0:
                return -1
            c = top_of(graph, chains.far[e])
            after = chains.next[e]
            if graph.told[c] == graph.mark[2]:  # it is within, or told before: drop it
                if kept < 0:
                    chains.head[here] = after
                else:
                    chains.next[kept] = after
                if after < 0:
                    chains.tail[here] = kept
                e = after
                continue
            graph.told[c] = graph.mark[2]
            kept = e
            if seen[c] != now and (then < 0 or within[c] == then):
                seen[c] = now
                graph.queue[used] = c
                used += 1
            e = after
    return used


@lean_kernel
def begin_at_new(graph, edges, first_edge, now, then):
    """Put the starts of the new edges into the queue, if the search `then` saw them."""
    used = 0
    for e in range(first_edge, graph.mark[1]):
        c = top_of(graph, edges.start[e])
        if graph.back[c] != now and (then < 0 or graph.seen[c] == then):
            graph.back[c] = now
            graph.queue[used] = c
            used += 1
    return used


@lean_kernel
def close_cycles(graph, edges, to, first_edge):
    """Unite all components on cycles through the edges that were added, all of them into `to`.

    Those are what can be reached from `to` and reaches the start of a new edge. Either of the
    two sets may be large while the other is small: both are sought with a budget that doubles
    until one is complete, and the other is then sought only within that.
    """
    out, back = leaving(graph, edges), entering(graph, edges)
    budget = 64
    while True:
        graph.mark[0] += 1
        now = graph.mark[0]
        graph.queue[0] = to
        graph.seen[to] = now
        if follow(graph, out, 1, budget, graph.seen, now, graph.back, -1) >= 0:
            graph.mark[0] += 1
            later = graph.mark[0]
            graph.back[to] = later
            used = begin_at_new(graph, edges, first_edge, later, now)
            used = follow(graph, back, used, NO_COST, graph.back, later, graph.seen, now)
            break
        graph.mark[0] += 1
        now = graph.mark[0]
        used = begin_at_new(graph, edges, first_edge, now, -1)
        if follow(graph, back, used, budget, graph.back, now, graph.seen, -1) >= 0:
            graph.mark[0] += 1
            later = graph.mark[0]
            graph.seen[to] = later
            graph.queue[0] = to
            used = follow(graph, out, 1, NO_COST, graph.seen, later, graph.back, now)
            break
        budget *= 2
    for c in graph.queue[:used]:
        if c != to:
            unite(graph, edges, to, c)


@kernel
def widen(
    index, trees, classes, groups, tuples, original, graph, edges, i, row, fan, stack, found
):  # fmt: skip
    """Make what is published of record i cover a row too, and unite what thereby is on a cycle."""
    q = len(row)
    if not has_room(index, q, 2 * fan):
        index = grow_index(index, 2 * len(index.node), 2 * len(index.pool) + 2 * fan)
    groups.old[:] = classes.vector[groups.of[i]]
    groups.new[:] = groups.old
    join(trees, groups.new, row)
    leave_group(index, trees, classes, groups, i)
    enter_group(index, trees, classes, groups, i, groups.new)
    many = covered(tuples, trees, groups.new, stack, found)
    edges = more_edges(graph, edges, many)
    to = component(graph, original[i])
    before = graph.mark[1]
    graph.mark[2] += 1
    graph.told[to] = graph.mark[2]
    for f in range(many):
        u = found[f]
        inside = True
        for j in range(q):
            wide = groups.old[j]
            v = tuples.vector[u, j]
            if v < wide or v >= trees.end[trees.start[j] + wide]:
                inside = False
                break
        if not inside:
            c = component(graph, u)
            if graph.told[c] != graph.mark[2]:
                graph.told[c] = graph.mark[2]
                add_edge(graph, edges, c, to)
    if graph.mark[1] > before:
        close_cycles(graph, edges, to, before)
    return index, edges


@lean_kernel
def count_matches(classes, groups, original, graph, u, found, many):
    """Published records among these groups that are matches of original u (Def. 6)."""
    mine = component(graph, u)
    total = np.int64(0)
    for f in range(many):
        g = found[f]
        if component(graph, original[groups.head[g]]) == mine:
            total += classes.size[g]
    return total


@lean_kernel
def widened(trees, vector, row):
    """What a vector loses when it is widened to cover a row."""
    cost = np.int64(0)
    for j in range(len(vector)):
        base = trees.start[j]
        top = vector[j]
        while not (top <= row[j] < trees.end[base + top]):
            top = trees.parent[base + top]
        cost += trees.cost[base + vector[j]] - trees.cost[base + top]
    return cost


@kernel
def conceal(
    index, trees, classes, groups, tuples, original, graph, edges, order, done, k, fan, stack
):  # fmt: skip
    """Algorithm 5 for the records in `order`; `done` marks originals that have k matches."""
    near = np.empty(len(classes.size), np.int64)
    inside = np.empty(len(tuples.size), np.int64)
    for i in order:
        u = original[i]
        if done[u]:
            continue
        done[u] = True
        row = tuples.vector[u]
        while True:
            many = covering(index, trees, classes, row, stack, near)
            if count_matches(classes, groups, original, graph, u, near, many) >= k:
                break
            mine = component(graph, u)
            vector = classes.vector[groups.of[i]]
            best, best_cost = np.int64(-1), NO_COST
            for f in range(many):
                r = groups.head[near[f]]
                if component(graph, original[r]) == mine:
                    continue
                while r >= 0:
                    cost = widened(trees, vector, tuples.vector[original[r]])
                    if cost < best_cost or (cost == best_cost and r < best):
                        best, best_cost = r, cost
                    r = groups.next[r]
            if best < 0:
                break
            index, edges = widen(
                index, trees, classes, groups, tuples, original, graph, edges, i,
                tuples.vector[original[best]], fan, stack, inside,
            )  # fmt: skip
    return index, edges


class Wanted(NamedTuple):
    """What the sensitive values of a person's matches must be."""

    secret: np.ndarray  # int32[n], the value of each record
    distinct: int  # at least so many different values (p-sensitivity); 0: any
    diversity: float  # the most frequent one at most 1 / so much of them; 0: any
    tally: np.ndarray  # int64[values], scratch


@lean_kernel
def look_at_matches(classes, groups, original, graph, u, found, many, wanted):
    """Count the values of the matches of original u: different ones, the most frequent, all."""
    wanted.tally[:] = 0
    mine = component(graph, u)
    distinct, top, total = 0, np.int64(0), np.int64(0)
    for f in range(many):
        r = groups.head[found[f]]
        if component(graph, original[r]) != mine:
            continue
        total += classes.size[found[f]]
        while r >= 0:
            value = wanted.secret[r]
            if wanted.tally[value] == 0:
                distinct += 1
            wanted.tally[value] += 1
            top = max(top, wanted.tally[value])
            r = groups.next[r]
    return distinct, top, total


@lean_kernel
def covers(trees, wide, row):
    """Whether a vector covers a row."""
    for j in range(len(row)):
        if row[j] < wide[j] or row[j] >= trees.end[trees.start[j] + wide[j]]:
            return False
    return True


@kernel
def best_partner(
    trees, classes, groups, tuples, original, graph, i, wanted, few, top, start, records, stack
):  # fmt: skip
    """The record that is no match of record i, would help, and costs least to make one.

    Step 5 of Algorithm 7. Where there are too `few` different values, a new value helps; else one
    that is less frequent than the most frequent. Records come in the order of what it costs to
    cover them, which is one part of the cost and so a lower bound of it.
    """
    u = original[i]
    row, mine = tuples.vector[u], classes.vector[groups.of[i]]
    home = component(graph, u)
    n, size = len(original), np.int64(64)
    while True:
        heap = np.empty((min(size, n) + 1, 3), np.int64)
        many = nearest_many(tuples, trees, mine, min(size, n), stack, heap)
        best, best_cost = np.int64(-1), NO_COST
        complete = size >= n
        for h in range(many):
            if heap[h, 0] > best_cost:
                complete = True
                break
            v = heap[h, 2]
            for place in range(start[v], start[v + 1]):
                r = records[place]
                held = wanted.tally[wanted.secret[r]]
                if held > 0 if few else held >= top:
                    continue
                vector = classes.vector[groups.of[r]]
                if component(graph, v) == home and covers(trees, vector, row):
                    continue  # a match already
                cost = heap[h, 0] + widened(trees, vector, row)
                if cost < best_cost or (cost == best_cost and r < best):
                    best, best_cost = r, cost
        if complete:
            return best
        size *= 4


@kernel
def diversify(
    index, trees, classes, groups, tuples, original, graph, edges, order, wanted,
    start, records, fan, stack,
):  # fmt: skip
    """Algorithm 7, for p-sensitivity and for l-diversity, for the records in `order`.

    Returns how often it made a match besides.
    """
    near = np.empty(len(classes.size), np.int64)
    inside = np.empty(len(tuples.size), np.int64)
    made = 0
    for i in order:
        u = original[i]  # an equal one may have been sound before, and not be it any more
        row = tuples.vector[u]
        while True:
            many = covering(index, trees, classes, row, stack, near)
            distinct, top, total = look_at_matches(
                classes, groups, original, graph, u, near, many, wanted
            )
            few = distinct < wanted.distinct
            if not few and total * (1 + 1e-9) >= wanted.diversity * top:
                break
            j = best_partner(
                trees, classes, groups, tuples, original, graph, i, wanted, few, top, start,
                records, stack,
            )  # fmt: skip
            if j < 0:
                break  # everybody who could help is a match
            made += 1
            index, edges = widen(
                index, trees, classes, groups, tuples, original, graph, edges, j, row, fan,
                stack, inside,
            )  # fmt: skip
            index, edges = widen(
                index, trees, classes, groups, tuples, original, graph, edges, i,
                tuples.vector[original[j]], fan, stack, inside,
            )  # fmt: skip
    return index, edges, made
