"""Clustering algorithms as their definitions read: lists of records, a scan of all pairs."""

from __future__ import annotations

import numpy as np

from shoal.hierarchies.base import Hierarchy
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from tests.naive.gaa import gaa, merge_cost


def units_of(rows, trees, people):
    """The rows of each person, and what covers them; by first row."""
    people = people if people is not None else range(len(rows))
    units = {}
    for i, who in enumerate(people):
        units.setdefault(who, []).append(i)
    return list(units.values()), [closure(rows, trees, members) for members in units.values()]


def closure(rows, trees, members):
    """The least vector that covers some rows (Def. 3, Tassa 2012)."""
    vector = tuple(int(v) for v in rows[members[0]])
    for i in members:
        vector = tuple(t.join(x, int(y)) for t, x, y in zip(trees, vector, rows[i], strict=True))
    return vector


def publish(rows, trees, clusters):
    """The closure of its cluster for every row; clusters are lists of rows."""
    published = [None] * len(rows)
    for members in clusters:
        for i in members:
            published[i] = closure(rows, trees, members)
    return published


def join_equal(clusters, rows, trees):
    """Clusters with the same closure are one."""
    equal = {}
    for members in clusters:
        equal.setdefault(closure(rows, trees, members), []).extend(members)
    return list(equal.values())


def agglomerative(rows, trees, costs, k, weight="size", people=None):
    """Published vector of every row (Gionis, Mazza, Tassa 2008)."""
    units, vectors = units_of(rows, trees, people)
    wide = [None] * len(rows)  # every row as its person's closure
    for members, vector in zip(units, vectors, strict=True):
        for i in members:
            wide[i] = vector
    owner = {i: u for u, members in enumerate(units) for i in members}

    def people_in(members):
        return len({owner[i] for i in members})

    def cost(a, b):
        sizes = (len(a), len(b)) if weight == "size" else (1, 1)
        return merge_cost(trees, costs, closure(wide, trees, a), closure(wide, trees, b), *sizes)

    small, aside = join_equal(units, wide, trees), []
    while True:
        aside += [c for c in small if people_in(c) >= k]
        small = join_equal([c for c in small if people_in(c) < k], wide, trees)
        if any(people_in(c) >= k for c in small):
            continue  # two with the same closure were large enough together
        if len(small) < 2:
            break
        pairs = [(a, b) for a in small for b in small if min(a) < min(b)]
        a, b = min(pairs, key=lambda pair: (cost(*pair), min(pair[0]), min(pair[1])))
        small = [c for c in small if c not in (a, b)] + [a + b]
    aside = join_equal(aside, wide, trees)
    for u in sorted({owner[i] for members in small for i in members}):
        nearest = min(aside, key=lambda c: (cost(c, units[u]), min(c)))
        aside = [c for c in aside if c is not nearest] + [nearest + units[u]]
        aside = join_equal(aside, wide, trees)
    return publish(wide, trees, aside)


def agglomerative_boxes(boxes, sizes, k, cost, join):
    """The box that is published of every unit, where values may be free; units by first record.

    `cost(a, size of a, b, size of b)` is that of a join, `join(a, b)` the box that covers both.
    """

    def around(units):
        box = boxes[units[0]]
        for u in units:
            box = join(box, boxes[u])
        return box

    def size(units):
        return sum(sizes[u] for u in units)

    def far(a, b):
        return cost(around(a), size(a), around(b), size(b))

    def alike(clusters):
        different = []
        for units in clusters:
            same = [other for other in different if around(other) == around(units)]
            if same:
                same[0].extend(units)
            else:
                different.append(list(units))
        return different

    small, aside = alike([[u] for u in range(len(boxes))]), []
    while True:
        aside += [units for units in small if len(units) >= k]
        small = alike([units for units in small if len(units) < k])
        if any(len(units) >= k for units in small):
            continue
        if len(small) < 2:
            break
        pairs = [(a, b) for a in small for b in small if min(a) < min(b)]
        a, b = min(pairs, key=lambda pair: (far(*pair), min(pair[0]), min(pair[1])))
        small = [units for units in small if units not in (a, b)] + [a + b]
    aside = alike(aside)
    for u in sorted(u for units in small for u in units):
        near = min(aside, key=lambda units: (far(units, [u]), min(units)))
        aside = alike([units for units in aside if units is not near] + [[*near, u]])
    published = [None] * len(boxes)
    for units in aside:
        for u in units:
            published[u] = around(units)
    return published


def k_member(rows, trees, costs, k, begin, people=None):
    """Published vector of every row (Byun et al. 2007); `begin` is the unit picked at first."""
    units, vectors = units_of(rows, trees, people)

    def size(members):
        return sum(len(units[u]) for u in members)

    def loss(members):
        around = closure(vectors, trees, members)
        return -size(members) * sum(int(c[v]) for c, v in zip(costs, around, strict=True))

    def growth(members, u):
        return loss([*members, u]) - loss(members) - loss([u])

    def distance(u, v):
        return merge_cost(trees, costs, vectors[u], vectors[v], 1, 1)

    left, clusters, last = list(range(len(units))), [], begin
    while len(left) >= k:
        last = min(left, key=lambda u: (-distance(last, u), u))
        cluster = [last]
        left.remove(last)
        while len(cluster) < k:
            last = min(left, key=lambda u: (growth(cluster, u), u))
            cluster.append(last)
            left.remove(last)
        clusters.append(cluster)
    if left:
        clusters = join_equal(clusters, vectors, trees)
    for u in left:
        nearest = min(clusters, key=lambda c: (growth(c, u), min(c)))
        clusters = [c for c in clusters if c is not nearest] + [[*nearest, u]]
        clusters = join_equal(clusters, vectors, trees)
    return publish(rows, trees, [[i for u in c for i in units[u]] for c in clusters])


def mdav(rows, trees, costs, k, people=None):
    """Published vector of every row (Domingo-Ferrer, Mateo-Sanz 2002; Torra 2005)."""
    units, vectors = units_of(rows, trees, people)

    def distance(a, b):
        return merge_cost(trees, costs, a, b, 1, 1)

    left, clusters = list(range(len(units))), []

    def farthest(vector):
        return min(left, key=lambda u: (-distance(vector, vectors[u]), u))

    def gather(u):
        others = sorted(
            (v for v in left if v != u), key=lambda v: (distance(vectors[u], vectors[v]), v)
        )
        cluster = [u, *others[: k - 1]]
        clusters.append(cluster)
        for v in cluster:
            left.remove(v)

    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        columns = [[vectors[u][j] for u in left] for j in range(len(trees))]
        centre = [min(set(column), key=lambda v: (-column.count(v), v)) for column in columns]
        one = farthest(centre)
        gather(one)
        if two:
            gather(farthest(vectors[one]))
    if left:
        clusters.append(left)
    return publish(rows, trees, [[i for u in c for i in units[u]] for c in clusters])


def kaca(rows, trees, costs, k, draws, people=None):
    """Published vector of every row (Li et al. 2006); `draws` choose among the small classes."""
    units, vectors = units_of(rows, trees, people)
    classes = join_equal([[u] for u in range(len(units))], vectors, trees)
    small = [c for c in classes if len(c) < k]

    def strike(c):
        at = next(i for i, one in enumerate(small) if one is c)
        small[at] = small[-1]
        small.pop()

    def cost(a, b):
        sizes = [sum(len(units[u]) for u in c) for c in (a, b)]
        return merge_cost(trees, costs, *(closure(vectors, trees, c) for c in (a, b)), *sizes)

    for draw in draws:
        if not small or len(classes) == 1:
            break
        chosen = small[int(draw * len(small))]
        partner = min(
            (c for c in classes if c is not chosen), key=lambda c: (cost(chosen, c), min(c))
        )
        while partner is not None:
            if any(c is partner for c in small):
                strike(partner)
            classes = [c for c in classes if c is not partner]
            chosen.extend(partner)
            mine = closure(vectors, trees, chosen)
            same = (c for c in classes if c is not chosen and closure(vectors, trees, c) == mine)
            partner = next(same, None)
        if len(chosen) >= k:
            strike(chosen)
    return publish(rows, trees, [[i for u in c for i in units[u]] for c in classes])


def forest(rows, trees, costs, k, people=None):
    """Published vector of every row (Aggarwal et al. 2005)."""
    units, vectors = units_of(rows, trees, people)
    n = len(units)
    out = {}
    component = {u: {u} for u in range(n)}

    def distance(u, v):
        return merge_cost(trees, costs, vectors[u], vectors[v], 1, 0)

    while any(len(c) < k for c in component.values()):
        here = next(component[u] for u in range(n) if len(component[u]) < k)
        (root,) = [u for u in here if u not in out]
        outside = [v for v in range(n) if v not in here]
        out[root] = min(outside, key=lambda v: (distance(root, v), vectors.index(vectors[v]), v))
        both = here | component[out[root]]
        for u in both:
            component[u] = both
    trees_of_units = {id(c): c for c in component.values()}.values()
    parts = [part for nodes in trees_of_units for part in cut(out, nodes, k)]
    return publish(rows, trees, [[i for u in part for i in units[u]] for part in parts])


def path(out, v):
    """From a unit to the root."""
    return [v, *path(out, out[v])] if v in out else [v]


def cut(out, nodes, k):
    """The parts of one tree."""
    most = max(2 * k - 1, 3 * k - 5)
    left, parts = set(nodes), []
    for v in sorted(nodes, key=lambda v: (-len(path(out, v)), v)):
        if len(left) <= most:
            break
        below = {u for u in left if v in path(out, u)}
        if len(below) < k:
            continue
        if len(left - below) < k:
            return parts + star(out, left, v, k, most)
        parts += [below] if len(below) <= most else star(out, below, v, k, most)
        left -= below
    return [*parts, left]


def star(out, nodes, v, k, most):
    """Parts of a tree all of whose subtrees at v are smaller than k."""
    subtrees = [{u for u in nodes if kid in path(out, u)} for kid in nodes if out.get(kid) == v]
    subtrees.append({u for u in nodes if v not in path(out, u)})
    subtrees = [s for s in subtrees if s]
    assert all(len(s) < k for s in subtrees)
    subtrees.sort(key=lambda s: (-len(s), min(s, key=lambda u: len(path(out, u)))))
    parts, rest = [], {v}.union(*subtrees)

    def gather(enough):
        part = set()
        for s in subtrees:
            if len(part) < enough:
                part = part | s
        return part

    while len(rest) > most:
        part = gather(k)
        if len(rest) - len(part) < k:
            part = gather(k - 1)
            part = part | {v} if len(part) == k - 1 else part
            parts, rest = [*parts, part], rest - part
            break
        parts, rest = [*parts, part], rest - part
        subtrees = [s for s in subtrees if s <= rest]
    parts.append(rest)
    assert all(k <= len(part) <= most for part in parts)
    return parts


def sequential(rows, trees, costs, k, label, passes, order, people=None):
    """Published vector of every row (Goldberger, Tassa 2010) from the clusters `label` of units.

    `order` is the order of attributes in which units are sorted before a cluster is cut.
    """
    units, vectors = units_of(rows, trees, people)

    def around(members):
        return closure(vectors, trees, members)

    def size(members):
        return sum(len(units[u]) for u in members)

    def loss(members):
        kept = sum(int(c[v]) for c, v in zip(costs, around(members), strict=True))
        return -size(members) * kept

    def by_values(u):
        return [vectors[u][j] for j in order], u

    def halves(members):
        if len(members) < 2 * k:
            return [members]
        members = sorted(members, key=by_values)
        places = range(k, len(members) - k + 1)
        at = min(places, key=lambda p: (loss(members[:p]) + loss(members[p:]), p))
        return halves(members[:at]) + halves(members[at:])

    clusters = [[u for u in range(len(units)) if label[u] == c] for c in range(max(label) + 1)]
    for _ in range(passes):
        moved = False
        for u in range(len(units)):
            (own,) = [c for c, members in enumerate(clusters) if u in members]
            rest = [v for v in clusters[own] if v != u]

            def change(c, u=u, clusters=clusters):
                return loss([*clusters[c], u]) - loss(clusters[c])

            others = [c for c, members in enumerate(clusters) if members and c != own]
            if not others:
                continue
            best = min(others, key=lambda c: (change(c), c))
            if not rest or change(best) < loss(clusters[own]) - loss(rest):
                clusters[own], moved = rest, True
                clusters[best] = [*clusters[best], u]
        clusters = [half for members in clusters if members for half in halves(members)]
        if not moved:
            break
    wide = publish(rows, trees, [[i for u in members for i in units[u]] for members in clusters])
    merged = gaa(wide, trees, costs, k, "size", "all", people)
    together = {}
    for u, members in enumerate(units):
        together.setdefault(merged[members[0]], []).append(u)
    parts = [half for members in together.values() for half in halves(members)]
    return publish(rows, trees, [[i for u in part for i in units[u]] for part in parts])


def diversify(published, table, costs, models, w):
    """Algorithm 8 of Tassa 2012 on published vectors."""
    rows, trees = [tuple(v) for v in published], table.trees
    clusters = join_equal([[i] for i in range(len(rows))], rows, trees)
    whole = float(len(rows)) * float(sum(int(c.max()) for c in costs))

    def seen(members):
        label = np.ones((len(rows), 1), np.int32)
        label[members] = 0
        classes = tally(label, table.people, table.sensitive)
        return classes, classes.label[members[0]]

    def fails(members):
        classes, c = seen(members)
        return not all(model.satisfied(classes)[c] for model in models)

    def lacks(members):
        classes, c = seen(members)
        gap = 0.0
        for model in models:
            short = model.required - float(model.levels(classes)[c])
            gap += max(short if model.higher_is_safer else -short, 0.0)
        return round(min(gap, 1e280) * 2**40) / 2**40

    def cost(a, b):
        vectors = closure(rows, trees, a), closure(rows, trees, b)
        information = merge_cost(trees, costs, *vectors, len(a), len(b))
        total = w * (information / (whole or 1.0)) + (1 - w) * lacks(a + b)
        return total, information, min(b)

    while len(clusters) > 1 and any(fails(c) for c in clusters):
        worst = min((c for c in clusters if fails(c)), key=lambda c: (-lacks(c), min(c)))
        others = [c for c in clusters if c is not worst]
        partner = min(others, key=lambda c: cost(worst, c))
        clusters = [c for c in others if c is not partner] + [worst + partner]
        clusters = join_equal(clusters, rows, trees)
    return publish(rows, trees, clusters)


def larger_table(seed, rows):
    """Enough different rows for the index to split, grow, free and reuse its nodes."""
    rng = np.random.default_rng(seed)
    shapes = (
        Hierarchy.ranges([2, 4, 8]).tree(range(25)),
        Hierarchy.from_tree({"top": {"A": {"B": ["c", "d"], "e": None}, "f": None}}).tree(),
        Hierarchy.prefixes().tree([f"{i:03}" for i in range(0, 1000, 7)]),
    )
    leaves = [np.flatnonzero(t.end == np.arange(t.size) + 1) for t in shapes]
    codes = np.stack([rng.choice(leaf, rows) for leaf in leaves], axis=1).astype(np.int32)
    people = None
    if seed % 2:
        people = np.unique(rng.integers(0, rows, rows), return_inverse=True)[1]
    return Table(("a", "b", "c"), shapes, codes, people, (True,) * 3)


def free_table(seed):
    """Chains of single children and general values: with many losses climbing costs nothing."""
    rng = np.random.default_rng(seed)
    parents = [
        {"b": "a"},
        {"b": "a", "c": "a"},
        {"b": "a", "c": "b"},
        {"b": "a", "c": "b", "d": "a"},
    ]
    shapes = [Hierarchy.from_parents(parents[i]).tree() for i in rng.integers(0, 4, 3)]
    rows = int(rng.integers(5, 14))
    codes = np.stack([rng.integers(0, t.size, rows) for t in shapes], axis=1).astype(np.int32)
    return Table(("a", "b", "c"), tuple(shapes), codes, None, (True,) * 3)
