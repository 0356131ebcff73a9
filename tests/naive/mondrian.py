"""Mondrian as its definition reads: lists of tuples, every cut of a part written out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from shoal.hierarchies.free_values import FreeTree
from shoal.table.equivalence_classes import tally


class Column:
    """How the values of one column are joined and what they keep.

    A value is a node of a tree, or the set of leaves of a free value; 0 is the root.
    """

    def __init__(self, tree, cost, covers):
        self.tree, self.cost, self.covers = tree, cost, covers
        self.free = isinstance(tree, FreeTree)
        self.ranges = self.free and tree.kind == "ranges"

    def value(self, code):
        if not self.free:
            return int(code)
        if code >= self.tree.size:
            return frozenset(self.tree.members(self.covers.covers[code - self.tree.size]).tolist())
        return frozenset([int(code)])

    def join(self, values):
        if self.free:
            return frozenset().union(*values)
        top = values[0]
        for value in values:
            top = self.tree.join(top, value)
        return top

    def keeps(self, value):
        if not self.free:
            return Fraction(int(self.cost[value]))
        most, low, high = Fraction(int(self.cost.max())), min(value), max(value)
        if low == 0 or (self.ranges and low <= self.tree.last < high):
            return Fraction(0)
        if low == high:
            return most
        lost = self.tree.width((low, high) if self.ranges else tuple(sorted(value)))
        return most * (1 - lost)

    def several(self, whole, values):
        if self.ranges:
            return min(whole) != max(whole) or (whole == {0} and self.tree.size > 1)
        return len(whole) > 1 if self.free else any(v != values[0] for v in values)

    def special(self, whole):
        return 0 in whole or (self.ranges and max(whole) > self.tree.last)

    def branch(self, whole, value):
        """Where a value goes; None: to the rest."""
        if self.free:
            if 0 in value:
                return None
            return "missing" if self.ranges and min(value) > self.tree.last else "others"
        while value != whole and self.tree.parent[value] != whole:
            value = int(self.tree.parent[value])
        return None if value == whole else value

    def published(self, value):
        return self.tree.code(sorted(value)) if self.free else value


def mondrian(table, costs, k, cuts, models=()):
    """What is published of every row: nodes, or covers of free values."""
    columns = [Column(*one) for one in zip(table.trees, costs, table.covers, strict=True)]
    people = range(table.rows) if table.people is None else table.people.tolist()
    rows_of = {}
    for i, row in enumerate(table.unified.tolist()):
        rows_of.setdefault(tuple(row), []).append(i)
    values = [[c.value(v) for c, v in zip(columns, row, strict=True)] for row in rows_of]
    rows = list(rows_of.values())

    def people_in(part):
        return len({people[i] for t in part for i in rows[t]})

    def size(part):
        return sum(len(rows[t]) for t in part)

    def around(part):
        return [c.join([values[t][j] for t in part]) for j, c in enumerate(columns)]

    def kept(part):
        return sum(c.keeps(v) for c, v in zip(columns, around(part), strict=True))

    def holds(part):
        label = np.ones((table.rows, 1), np.int32)
        label[[i for t in part for i in rows[t]]] = 0
        classes = tally(label, table.people, table.sensitive)
        mine = classes.label[rows[part[0]][0]]
        return all(model.satisfied(classes)[mine] for model in models)

    def nearness(rest, t):
        both = kept([*rest, t])
        return size(rest) * (kept(rest) - both) + size([t]) * (kept([t]) - both)

    def branches(part, j):
        whole = around(part)[j]
        found, rest = {}, []
        for t in part:
            to = columns[j].branch(whole, values[t][j])
            (rest if to is None else found.setdefault(to, [])).append(t)
        groups = list(found.values())
        rest += [t for group in groups if people_in(group) < k for t in group]
        groups = [group for group in groups if people_in(group) >= k]
        if cuts == "relaxed" and rest and groups and people_in(rest) < k:
            before = list(rest)
            others = [t for t in part if t not in rest]
            for t in sorted(others, key=lambda t: (nearness(before, t), t)):
                (group,) = [group for group in groups if t in group]
                if people_in(rest) < k and people_in(group) - people_in([t]) >= k:
                    group.remove(t)
                    rest.append(t)
        while rest and people_in(rest) < k:
            small = min(groups, key=people_in)
            groups.remove(small)
            rest += small
        return [*groups, rest] if rest else groups

    def line(part, j, relaxed):
        first = {t: min(values[t][j]) for t in part}
        if columns[j].ranges:
            key = first
        else:
            key = {
                t: (-people_in([u for u in part if first[u] == first[t]]), first[t]) for t in part
            }
        order = sorted(part, key=lambda t: (key[t], t))
        places = [
            at for at in range(1, len(order))
            if relaxed or key[order[at]] != key[order[at - 1]]
        ]  # fmt: skip
        if not places:
            return []
        cut = max(places, key=lambda at: (min(people_in(order[:at]), people_in(order[at:])), -at))
        groups = [sorted(order[:cut]), sorted(order[cut:])]
        return groups if min(map(people_in, groups)) >= k else []

    def cut(part, refused=()):
        best = None
        for j, column in enumerate(columns):
            whole = around(part)[j]
            if j in refused or not column.several(whole, [values[t][j] for t in part]):
                continue
            along = not column.free or column.special(whole)
            if along:
                ways = [branches(part, j)]
            else:  # where cuts are relaxed, a strict one may still be better
                ways = [line(part, j, False)]
                ways += [line(part, j, True)] if cuts == "relaxed" else []
            for groups in ways:
                gain = sum(size(group) * (kept(group) - kept(part)) for group in groups)
                if len(groups) > 1 and (best is None or gain > best[0]):
                    best = gain, j, along, groups
        if best is None:
            return [part]
        _, j, along, groups = best
        while len(groups) > 1 and not all(map(holds, groups)):
            failing = [group for group in groups if not holds(group)]
            good = [group for group in groups if holds(group)]
            if not along:
                return cut(part, (*refused, j))
            if len(failing) == 1 and good:
                failing.append(min(good, key=people_in))
                good = [group for group in good if group is not failing[1]]
            groups = [*good, sorted(t for group in failing for t in group)]
        if len(groups) < 2:
            return cut(part, (*refused, j))
        return [small for group in groups for small in cut(sorted(group))]

    published = [None] * table.rows
    for part in cut(list(range(len(rows)))):
        vector = tuple(c.published(v) for c, v in zip(columns, around(part), strict=True))
        for t in part:
            for i in rows[t]:
                published[i] = vector
    return published
