"""From the expansion to (1,k)-anonymity and k-concealment (Algorithms 3 and 5, Tassa 2012)."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.matching.components import add_edge, close_cycles, component, more_edges
from shoal.kernels.matching.group_search import covering, reach, widened
from shoal.kernels.matching.groups import enter_group, leave_group
from shoal.kernels.search.class_index import NO_COST, grow_index, has_room
from shoal.kernels.search.tuple_index import covered, join


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
def widen(
    index, trees, classes, groups, tuples, original, graph, edges, i, row, fan, stack, found
):  # fmt: skip
    """Generalize record i so that it covers a row, and merge components on new cycles."""
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
    graph.met[to] = graph.mark[2]
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
            if graph.met[c] != graph.mark[2]:
                graph.met[c] = graph.mark[2]
                add_edge(graph, edges, c, to)
    if graph.mark[1] > before:
        close_cycles(graph, edges, to, before)
    return index, edges


@lean_kernel
def count_matches(classes, groups, original, graph, u, found, many):
    """The number of records in these groups that are matches of original u (Def. 6)."""
    mine = component(graph, u)
    total = np.int64(0)
    for f in range(many):
        g = found[f]
        if component(graph, original[groups.head[g]]) == mine:
            total += classes.size[g]
    return total


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
