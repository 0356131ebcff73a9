"""What a table loses at best, by brute force: every combination of levels, every partition.

Losses are added up from their definitions (`tests.naive.losses`), node by node, and never from the
cost arrays of the package.
"""

from __future__ import annotations

from itertools import product

from tests.naive import losses as define
from tests.naive.clusters import closure, units_of
from tests.naive.full_domain import at_level, height


class Meter:
    """What releases of a table lose by one loss: percent of alteration (Def. 7, Mauger 2023)."""

    def __init__(self, table, name, weights=None):
        self.trees = table.trees
        self.rows = [tuple(int(v) for v in row) for row in table.codes]
        self.columns = [[row[j] for row in self.rows] for j in range(len(self.trees))]
        self.weights, self.names = weights, table.names
        self.importance = table.importance or (1.0,) * len(self.trees)
        self.seven = define.SEVEN if name in ("mean", "auto") else (name,)
        self.known = {}
        roots = [(0,) * len(self.trees)] * len(self.rows)
        possible = {metric: self.lost(metric, roots) for metric in self.seven}
        self.able = {metric: most for metric, most in possible.items() if most > 1e-12}

    def cost(self, metric, j, low, high):
        """What it costs to publish `high` of a value `low` of a column."""
        key = metric, j, low, high
        if key not in self.known:
            tree = self.trees[j]
            if metric == "weights":
                self.known[key] = sum(self.weight(j, x) for x, _ in define.path(tree, low, high))
            elif metric == "lm":  # eq. 1, Tassa 2012
                values = define.leaves(tree, 0)
                more = define.leaves(tree, high) - define.leaves(tree, low)
                self.known[key] = more / (values - 1) if values > 1 else 0.0
            else:
                self.known[key] = define.cost(metric, self.trees, j, low, high, self.columns[j])
            self.known[key] *= self.importance[j]
        return self.known[key]

    def weight(self, j, node):
        """The edge above a node; above a missing value it is that of the most expensive edge."""
        given = self.weights[self.names[j]]
        label = self.trees[j].labels[node]
        return max(given.values(), default=0.0) if label is None else given[label]

    def lost(self, metric, published):
        """The sum over all cells; a suppressed record (None) is published as the roots."""
        total = 0.0
        for row, wide in zip(self.rows, published, strict=True):
            for j, low in enumerate(row):
                total += self.cost(metric, j, low, 0 if wide is None else wide[j])
        return total

    def percent(self, published):
        """The alteration; of `mean` the mean of those metrics by which anything can be lost."""
        if not self.able:
            return 0.0
        shares = [self.lost(metric, published) / most for metric, most in self.able.items()]
        return max(0.0, 100 * sum(shares) / len(shares))

    def record(self, i, j, node):
        """Percent of the table's loss that publishing `node` of one cell takes."""
        key = self.rows[i][j], j, node
        if key not in self.known:
            parts = [self.cost(one, j, key[0], node) / most for one, most in self.able.items()]
            self.known[key] = 100 * sum(parts) / len(parts) if parts else 0.0
        return self.known[key]


def allowed(table, j, node):
    """Whether `at_most` lets a column publish a node: nothing below it is more than so many levels.

    The tests limit levels of trees, and a node is as high as the longest way down.
    """
    tops = table.tops[j] if table.tops else None
    if tops is None:
        return True
    return height(table.trees[j], node) <= tops.at_most.level


def within(table, vector):
    """Whether `at_most` allows all values of a vector."""
    return all(allowed(table, j, node) for j, node in enumerate(vector))


def fewest_suppressed(table, k):
    """The fewest records that any release suppresses whose classes have k people, within at_most.

    All records of a person are in one class.
    """
    units = units_of(table.codes, table.trees, table.people)[0]

    def fine(members):
        rows = [i for one in members for i in units[one]]
        return len(members) >= k and within(table, closure(table.codes, table.trees, rows))

    def gone(parting):
        return sum(len(units[one]) for members in parting for one in members if not fine(members))

    return min(map(gone, partitions(list(range(len(units))))))


def releases(table, k, limit):
    """What is published of every record at each node of the lattice that is k-anonymous.

    A class of fewer than k people is suppressed (None), `limit` records at the most; nodes at which
    nothing is published are left out.
    """
    people = list(range(table.rows)) if table.people is None else table.people.tolist()
    wide = [None] * table.rows
    for members in units_of(table.codes, table.trees, table.people)[0]:
        for i in members:
            wide[i] = closure(table.codes, table.trees, members)
    lifted = [
        [{v: at_level(tree, v, level) for v in range(tree.size)} for level in levels]
        for tree in table.trees
        for levels in [range(height(tree, 0) + 1)]
    ]
    for node in product(*lifted):
        published = [tuple(up[v] for up, v in zip(node, row, strict=True)) for row in wide]
        published = [value if within(table, value) else None for value in published]
        people_of = {}
        for value, who in zip(published, people, strict=True):
            people_of.setdefault(value, set()).add(who)
        shown = [
            value if value is not None and len(people_of[value]) >= k else None
            for value in published
        ]
        if any(shown) and shown.count(None) <= limit:
            yield shown


def average_class_size(published, k):
    """(records / classes) / k (LeFevre 2006, C_AVG); suppressed records are one class more."""
    return len(published) / len(set(published)) / k


def partitions(items):
    """All ways to part some items into classes."""
    if not items:
        yield []
        return
    first, *others = items
    for parting in partitions(others):
        yield [(first,), *parting]
        for i in range(len(parting)):
            yield [*parting[:i], (first, *parting[i]), *parting[i + 1 :]]


def least_of_partitions(table, k, meter):
    """The least alteration of any release in which every class has at least k people.

    A class may be published as any values that cover it, and a record may be suppressed.
    """
    people = list(range(table.rows)) if table.people is None else table.people.tolist()
    known = {}

    def lost(members):
        if members not in known:
            found = [sum(meter.record(i, j, 0) for i in members for j in range(len(table.trees)))]
            if len({people[i] for i in members}) >= k:
                found.append(
                    sum(
                        min(
                            (
                                sum(meter.record(i, j, node) for i in members)
                                for node in range(tree.size)
                                if all(tree.covers(node, meter.rows[i][j]) for i in members)
                                and allowed(table, j, node)
                            ),
                            default=float("inf"),
                        )
                        for j, tree in enumerate(table.trees)
                    )
                )
            known[members] = min(found)
        return known[members]

    return min(sum(map(lost, parting)) for parting in partitions(list(range(table.rows))))
