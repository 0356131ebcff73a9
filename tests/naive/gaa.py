"""GAA as its definition reads: lists of classes, a scan of all of them for every merge."""

from __future__ import annotations

from math import exp, log


def merge_cost(trees, costs, a, b, size_a, size_b):
    """MC of Mauger 2020; with sizes of 1 it is Def. 6 of Mauger 2023."""
    total = 0
    for tree, cost, x, y in zip(trees, costs, a, b, strict=True):
        top = tree.join(x, y)
        total += size_a * int(cost[x] - cost[top]) + size_b * int(cost[y] - cost[top])
    return total


def badness(kind, members, secret):
    """Minus the l-diversity (Def. 11) or the distance in norm 1 (Def. 14) of some rows."""
    shares = {v: [secret[i] for i in members].count(v) / len(members) for v in sorted(set(secret))}
    if kind == "l":
        entropy = 0.0
        for share in shares.values():
            if share:
                entropy -= share * log(share)
        bad = -exp(entropy)
    else:
        bad = sum(abs(share - secret.count(v) / len(secret)) for v, share in shares.items())
    return round(bad * 2**40) / 2**40


def gaa(
    rows, trees, costs, k, weight="size", candidates="all", people=None,
    strategy="S1", secret=None, scope="table", passes=lambda members: True, start="smallest",
    draws=(),
):  # fmt: skip
    """Published vector of every row. `rows` are lists of nodes, `costs` integers to the root.

    `secret` is the sensitive value of every row; `passes` says whether a class satisfies the models
    other than k. `draws` are the turns if the start is arbitrary: of each class, in the order of
    the first rows, and then of each merge.
    """
    people = people if people is not None else range(len(rows))
    together = {}  # all rows of a person are published alike
    for row, who in zip(rows, people, strict=True):
        known = together.setdefault(who, [int(v) for v in row])
        together[who] = [t.join(x, int(y)) for t, x, y in zip(trees, known, row, strict=True)]
    rows = [together[who] for who in people]
    classes = {}  # published values → the numbers of their rows
    for i, row in enumerate(rows):
        classes.setdefault(tuple(int(v) for v in row), []).append(i)

    def people_in(vector):
        return len({people[i] for i in classes[vector]})

    draws = list(draws)
    turn = {v: draws.pop(0) for v in classes} if start == "arbitrary" else {}
    while True:
        failing = [v for v in classes if people_in(v) < k or not passes(classes[v])]
        if not failing or len(classes) == 1:
            break
        small = min(failing, key=lambda v: min(classes[v]))
        if start == "smallest":
            small = min(failing, key=lambda v: (people_in(v), min(classes[v])))
        if start == "arbitrary":
            small = min(failing, key=lambda v: turn[v])
        others = [v for v in failing if v != small] if candidates == "small" else []
        others = others or [v for v in classes if v != small]

        def cost(v, small=small):
            sizes = (len(classes[small]), len(classes[v])) if weight == "size" else (1, 1)
            return merge_cost(trees, costs, small, v, *sizes)

        def bad(v, small=small):
            rest = [w for w in classes if w not in (small, v)] if scope == "table" else []
            if strategy.endswith("-k") or strategy == "k-then-cost":
                return max([-people_in(small) - people_in(v), *(-people_in(w) for w in rest)])
            kind = "l" if strategy in ("S2", "S3", "S4", "l-diversity") else "t"
            both = badness(kind, classes[small] + classes[v], secret)
            return max([both, *(badness(kind, classes[w], secret) for w in rest)])

        keys = {
            "S1": lambda v: (cost(v),),
            "S2": lambda v: (cost(v), bad(v)),
            "S3": lambda v: (bad(v), cost(v)),
            "S4": lambda v: (cost(v) / -bad(v), cost(v)),
            "S7": lambda v: (cost(v) * bad(v), cost(v)),
            "l-diversity": lambda v: (bad(v),),
        }
        keys |= {"S5": keys["S2"], "S6": keys["S3"], "t-closeness": keys["l-diversity"]}
        keys |= {"cost-then-k": keys["S2"], "k-then-cost": keys["S3"], "cost-per-k": keys["S4"]}
        partner = min(others, key=lambda v: (*keys[strategy](v), min(classes[v])))
        members = classes.pop(small) + classes.pop(partner)
        joined = tuple(t.join(x, y) for t, x, y in zip(trees, small, partner, strict=True))
        classes[joined] = classes.get(joined, []) + members
        if start == "arbitrary":
            turn[joined] = draws.pop(0)
    published = [None] * len(rows)
    for vector, members in classes.items():
        for i in members:
            published[i] = vector
    return published
