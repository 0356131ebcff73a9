"""Strongly connected components of a graph to which edges are added.

Edges of the graph H (Sec. 6.2.1, Tassa 2012) lead from every record to those whose published
vector covers it. Records with equal originals, and records of one group, reach each other, so
components of records are components of originals. Edges are only added, so components only unite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.search.class_index import NO_COST


class Graph(NamedTuple):
    """The graph H between components of originals, as chains of edges."""

    into: np.ndarray  # int64[components], the component into which this one was merged; or itself
    of: np.ndarray  # int64[tuples], the component of each original at the start
    out_head: np.ndarray  # int64[components]
    out_tail: np.ndarray
    in_head: np.ndarray
    in_tail: np.ndarray
    seen: np.ndarray  # int64[components], the last forward search that reached it
    back: np.ndarray  # int64[components], the last backward search that reached it
    met: np.ndarray  # int64[components], the last edge list that contained it
    queue: np.ndarray  # int64[components]
    mark: np.ndarray  # int64[3]: searches so far, edges used, edge lists visited


class Edges(NamedTuple):
    """The edges of Graph; replaced by larger arrays when they are full."""

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
def top_of(graph, c):
    """The component into which component c was merged."""
    while graph.into[c] != c:
        graph.into[c] = graph.into[graph.into[c]]  # halves the path for the next search
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
    """Append the edges from `head` to `tail` to those of component c."""
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
    """The same edges, with room for `room` more."""
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
    """Merge component c into another one."""
    graph.into[c] = into
    out, back = leaving(graph, edges), entering(graph, edges)
    append_chain(out, into, out.head[c], out.tail[c])
    append_chain(back, into, back.head[c], back.tail[c])


@lean_kernel
def follow(graph, chains, used, budget, seen, now, within, then):
    """Follow edges from the components in the queue, limited to those `within` the search `then`.

    Marks reached components in `seen` with `now`; returns how many, or -1 if the budget of edges is
    used up.
    """
    at = 0
    while at < used:
        here = graph.queue[at]
        at += 1
        graph.mark[2] += 1
        graph.met[here] = graph.mark[2]
        kept, e = np.int64(-1), chains.head[here]
        while e >= 0:
            budget -= 1
            if budget < 0:
                return -1
            c = top_of(graph, chains.far[e])
            after = chains.next[e]
            if graph.met[c] == graph.mark[2]:  # the component itself, or a repeated edge: drop it
                if kept < 0:
                    chains.head[here] = after
                else:
                    chains.next[kept] = after
                if after < 0:
                    chains.tail[here] = kept
                e = after
                continue
            graph.met[c] = graph.mark[2]
            kept = e
            if seen[c] != now and (then < 0 or within[c] == then):
                seen[c] = now
                graph.queue[used] = c
                used += 1
            e = after
    return used


@lean_kernel
def begin_at_new(graph, edges, first_edge, now, then):
    """Put the starts of the new edges into the queue, if the search `then` reached them."""
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
    """Merge all components on cycles through new edges into `to`.

    These components are reachable from `to` and reach the start of a new edge. Either of the two
    sets may be large while the other is small. So both are searched with a budget that doubles
    until one is complete, and the other is then searched only within that one.
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
