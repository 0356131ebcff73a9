"""Full-domain generalization as its definition reads: every combination of levels is tried."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from shoal.models.k_anonymity import KAnonymity
from shoal.table.equivalence_classes import tally
from shoal.table.sensitive import Sensitive
from tests.naive.clusters import closure, units_of
from tests.naive.models import TABLE_LEVELS, at_most

LASTING = {
    "k-anonymity", "distinct-l-diversity", "p-sensitivity",
    "ir-k-anonymity", "ir-kl-anonymity", "eir-l-diversity",
}  # fmt: skip


@lru_cache(10_000)
def height(tree, v):
    """The longest way down."""
    below = [u for u in range(1, tree.size) if u != v and int(tree.parent[u]) == v]
    return max((1 + height(tree, u) for u in below), default=0)


def at_level(tree, v, level):
    """The lowest value above v, or itself, that stands at the level or higher."""
    while height(tree, v) < level and v != 0:
        v = int(tree.parent[v])
    return v


def discernibility(published):
    """The records that each one looks like, itself included; of a suppressed one the whole table.

    (Bayardo, Agrawal 2005, C_DM.)
    """
    return sum(
        len(published) if one is None else sum(other == one for other in published)
        for one in published
    )


def left_in(table, published, rows, models):
    """The rows whose class satisfies the models in the table of these rows alone."""
    if not rows or not models:
        return rows
    people = None
    if table.people is not None:
        seen = sorted({int(table.people[i]) for i in rows})
        people = np.array([seen.index(int(table.people[i])) for i in rows])
    secrets = []
    for one in table.sensitive:
        drawn = [one.values[one.codes[i]] for i in rows]
        values = [v for v in dict.fromkeys(drawn) if v is not None]
        codes = np.array([-1 if v is None else values.index(v) for v in drawn], np.int32)
        secrets.append(Sensitive.of(one.name, codes, values, one.hierarchy))
    classes = tally(np.array([published[i] for i in rows], np.int32), people, secrets)
    holds = [all(m.satisfied(classes)[c] for m in models) for c in range(len(classes))]
    return [i for i, c in zip(rows, classes.label, strict=True) if holds[c]]


def less_risky(table, published, rows, models, costs):
    """The rows without the smallest classes, one after the other, until the table satisfies these.

    Of equally large ones those that keep least go first, then those whose first row comes first.
    """
    rows = list(rows)
    while rows:
        members = {}
        for i in rows:
            members.setdefault(published[i], []).append(i)

        def people(one):
            return len({i if table.people is None else int(table.people[i]) for i in one})

        each = [people(one) for one in members.values() for _ in range(people(one))]
        if all(at_most(TABLE_LEVELS[m.name](each, **m.options()), m.required) for m in models):
            break
        gone = min(
            members.items(),
            key=lambda one: (
                people(one[1]),
                len(one[1]) * sum(int(c[v]) for c, v in zip(costs, one[0], strict=True)),
                one[1][0],
            ),
        )[1]
        rows = [i for i in rows if i not in gone]
    return rows


def worth_of(objective, costs, published, rows):
    """What a node is worth if these rows are published: the higher the better."""
    if objective == "loss":
        return sum(int(c[v]) for i in rows for c, v in zip(costs, published[i], strict=True))
    shown = [one if i in rows else None for i, one in enumerate(published)]
    return -discernibility(shown) if objective == "discernibility" else len(set(shown))


def full_domain(table, models, costs, suppression, objective="loss"):
    """What is published of every row (None: left out) at the best node, or None; nodes tried."""
    limit = int(suppression * table.rows + 1e-9)
    units, _ = units_of(table.codes, table.trees, table.people)
    wide = [None] * table.rows
    for members in units:
        for i in members:
            wide[i] = closure(table.codes, table.trees, members)
    is_monotone = [m for m in models if m.name in LASTING]
    # alpha-k-anonymity rules out classes of fewer than k people, whatever else is published.
    is_monotone += [KAnonymity(k=m.k) for m in models if m.name == "alpha-k-anonymity" and m.k > 1]
    of_table = [m for m in models if m.name in TABLE_LEVELS]
    others = [m for m in models if m.name not in LASTING and m not in of_table]
    best, answer, nodes = None, None, 0
    for levels in product(*(range(height(tree, 0) + 1) for tree in table.trees)):
        nodes += 1
        published = [
            tuple(at_level(*one) for one in zip(table.trees, row, levels, strict=True))
            for row in wide
        ]
        rows = left_in(table, published, list(range(table.rows)), is_monotone)
        while True:
            fewer = left_in(table, published, rows, others)
            if len(fewer) == len(rows):
                fewer = less_risky(table, published, rows, of_table, costs)
            if len(fewer) == len(rows):
                break
            rows = fewer
        if not rows or table.rows - len(rows) > limit:
            continue
        worth = worth_of(objective, costs, published, set(rows))
        if best is None or worth > best:
            best = worth
            answer = [published[i] if i in rows else None for i in range(table.rows)]
    return answer, nodes
