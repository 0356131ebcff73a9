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


def peel(rows, trees, costs, k, order, people=None, lend=True):
    """Published vector of every row, before any exchange. `order` is that of the attributes.

    With `lend` classes lend what they can spare.
    """
    people = list(people) if people is not None else list(range(len(rows)))
    together = {}  # all rows of a person are published alike
    for i, who in enumerate(people):
        together.setdefault(who, []).append(i)
    rows = [closure(rows, trees, together[who]) for who in people]
    rows = [tuple(row[j] for j in order) for row in rows]
    trees, costs = [trees[j] for j in order], [costs[j] for j in order]

    tuples = list(dict.fromkeys(rows))  # by their first row
    people_of = {t: len({people[i] for i, row in enumerate(rows) if row == t}) for t in tuples}
    classes = {}  # who asked for it → its tuples
    spare = {}  # what is kept of a tuple that its class can spare

    def kept(cell):
        return sum(int(c[v]) for c, v in zip(costs, cell, strict=True))

    def inside(cell):
        """Those left in a cell, those that can be borrowed, and the people of both."""
        gone = {t for members in classes.values() for t in members}
        fit = [t for t in sorted(tuples) if covers(trees, cell, t)]
        fit = [t for t in fit if price(costs, t, cell) <= ceiling]
        left, others = [t for t in fit if t not in gone], [t for t in fit if t in spare]
        return left, others, sum(people_of[t] for t in left), sum(people_of[t] for t in others)

    def asked(t, cell):
        """What a cell costs a tuple, with its part of what the borrowed lose; None: too few."""
        _, others, many, spared = inside(cell)
        if many == 0 or many + spared < k:
            return None
        ask = price(costs, t, cell)
        if many < k:
            mean = sum(people_of[o] * spare[o] for o in others) // spared
            ask += (k - many) * max(0, mean - kept(cell)) // many
        return ask if ask <= ceiling else None

    limits = ceilings(trees, costs, rows)
    ceiling = limits.pop(0)
    while True:
        left = [t for t in tuples if not any(t in members for members in classes.values())]
        if not left or sum(people_of[t] for t in [*left, *spare]) < k:
            break
        wanted = []
        for number, t in enumerate(tuples):
            fine = [(asked(t, c), levels(trees, c), c) for c in cells(t, trees)] * (t in left)
            fine = [one for one in fine if one[0] is not None]
            if fine:
                ask, _, cell = min(fine)
                # Of equally cheap cells the one of the most specific tuple.
                wanted.append((ask, sum(levels(trees, t)), number, cell))
        took = False
        for ask, _, number, cell in sorted(wanted):
            t = tuples[number]
            if any(t in members for members in classes.values()):
                continue
            left, others, many, _ = inside(cell)
            lent, loss = [], 0
            for other in sorted(others, key=spare.get):
                if many + sum(people_of[o] for o in lent) < k:
                    lent.append(other)
                    loss += people_of[other] * max(0, spare[other] - kept(cell))
            if many + sum(people_of[o] for o in lent) < k:
                continue
            if lent and price(costs, t, cell) + loss // many > ask:
                continue
            for other in lent:
                del spare[other]
                for members in classes.values():
                    if other in members:
                        members.remove(other)
            if lend and not lent:
                surplus, tight = many - k, closure(left, trees, range(len(left)))
                for one in left:
                    if people_of[one] <= surplus:
                        surplus -= people_of[one]
                        spare[one] = kept(tight)
            classes[t] = left + lent
            took = True
        if limits:
            ceiling = limits.pop(0)
        elif not took:
            break
    published = list(rows)
    for members in classes.values():
        tight = closure(members, trees, range(len(members)))
        published = [tight if row in members else p
                     for row, p in zip(rows, published, strict=True)]  # fmt: skip
    published = gaa(published, trees, costs, k, people=people)
    back = [order.index(j) for j in range(len(order))]
    return [tuple(row[j] for j in back) for row in published]
