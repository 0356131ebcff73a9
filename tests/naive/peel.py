"""Lattice peeling as its definition reads: all cells of every record, one after the other."""

from __future__ import annotations

from itertools import product

from tests.naive.clusters import closure
from tests.naive.gaa import gaa


def at_level(tree, node, level):
    """The highest node above (or at) this one that is no higher than the level."""
    while node and tree.level[tree.parent[node]] <= level:
        node = int(tree.parent[node])
    return node


def cells(row, trees):
    """All cells of a row."""
    heights = [range(tree.height) for tree in trees]
    for up in product(*heights):
        yield tuple(at_level(t, v, x) for t, v, x in zip(trees, row, up, strict=True))


def levels(trees, cell):
    return tuple(int(t.level[v]) for t, v in zip(trees, cell, strict=True))


def covers(trees, cell, row):
    return all(t.covers(a, b) for t, a, b in zip(trees, cell, row, strict=True))


def price(costs, row, cell):
    return sum(int(c[x] - c[a]) for c, x, a in zip(costs, row, cell, strict=True))


def ceilings(trees, costs, rows):
    steps = [int(c[v] - c[t.parent[v]]) for t, c in zip(trees, costs, strict=True)
             for v in range(t.size)]  # fmt: skip
    highest = max(sum(int(c[v]) for c, v in zip(costs, row, strict=True)) for row in rows)
    found, at = [0], min((s for s in steps if s > 0), default=0)
    while found[-1] < highest:
        found.append(min(at, highest))
        at += at // 3 + 1
    return found


def peel(rows, trees, costs, k, order, people=None):
    """Published vector of every row, before any exchange. `order` is that of the attributes."""
    people = list(people) if people is not None else list(range(len(rows)))
    together = {}  # all rows of a person are published alike
    for i, who in enumerate(people):
        together.setdefault(who, []).append(i)
    rows = [closure(rows, trees, together[who]) for who in people]
    rows = [tuple(row[j] for j in order) for row in rows]
    trees, costs = [trees[j] for j in order], [costs[j] for j in order]

    left = set(range(len(rows)))
    classes = []

    def inside(cell):
        fit = [i for i in sorted(left) if covers(trees, cell, rows[i])]
        return [i for i in fit if price(costs, rows[i], cell) <= ceiling]

    def crowd(members):
        return len({people[i] for i in members})

    limits = ceilings(trees, costs, rows)
    ceiling = limits.pop(0)
    while crowd(left) >= k:
        wanted = []
        for i in sorted(left):
            fine = [c for c in cells(rows[i], trees) if crowd(inside(c)) >= k]
            fine = [c for c in fine if price(costs, rows[i], c) <= ceiling]
            if fine:
                cell = min(fine, key=lambda c: (price(costs, rows[i], c), levels(trees, c)))
                first = rows.index(rows[i])
                wanted.append((price(costs, rows[i], cell), first, cell))
        took = False
        for _, first, cell in sorted(wanted):
            if first in left and crowd(inside(cell)) >= k:
                classes.append(inside(cell))
                left -= set(classes[-1])
                took = True
        if limits:
            ceiling = limits.pop(0)
        elif not took:
            break
    published = list(rows)
    for members in classes:
        for i in members:
            published[i] = closure(rows, trees, members)
    published = gaa(published, trees, costs, k, people=people)
    back = [order.index(j) for j in range(len(order))]
    return [tuple(row[j] for j in back) for row in published]
