"""The algorithms of Tassa 2012 as they read: every record by itself, every pair looked at.

Records are lists of nodes; `costs` are integers from each node to the root. Of equally good
records the first one is taken, in the expansion after those that are covered already.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def join(trees, a, b):
    return [tree.join(int(x), int(y)) for tree, x, y in zip(trees, a, b, strict=True)]


def covers(trees, wide, narrow):
    return all(v <= w < t.end[v] for t, v, w in zip(trees, wide, narrow, strict=True))


def height(costs, vector):
    """What is lost by publishing this vector, up to what does not depend on it."""
    return -sum(int(cost[v]) for cost, v in zip(costs, vector, strict=True))


def closure(trees, rows):
    whole = list(rows[0])
    for row in rows[1:]:
        whole = join(trees, whole, row)
    return whole


def optimal(trees, costs, rows, k):
    """Algorithm 1: the least (k,1)-anonymization."""
    published = []
    for i, row in enumerate(rows):
        others = [other for j, other in enumerate(rows) if j != i]
        closures = [closure(trees, [row, *some]) for some in combinations(others, k - 1)]
        published.append(min(closures, key=lambda vector: height(costs, vector)))
    return published


def expand(trees, costs, rows, k):
    """Algorithm 2: (k,1)-anonymization by expansion."""
    published = []
    for i, row in enumerate(rows):
        inside, vector = {i}, [int(v) for v in row]
        while len(inside) < k:
            best = min(
                (j for j in range(len(rows)) if j not in inside),
                key=lambda j: (
                    height(costs, join(trees, vector, rows[j])),
                    not covers(trees, vector, rows[j]),
                    j,
                ),
            )
            inside.add(best)
            vector = join(trees, vector, rows[best])
        published.append(vector)
    return published


def cheapest(trees, costs, rows, row, k):
    """The least height of a vector that covers this row and at least k rows."""
    above = []
    for tree, value in zip(trees, row, strict=True):
        nodes = [int(value)]
        while int(tree.parent[nodes[-1]]) != nodes[-1]:
            nodes.append(int(tree.parent[nodes[-1]]))
        above.append(nodes)
    return min(
        height(costs, vector)
        for vector in product(*above)
        if sum(covers(trees, vector, other) for other in rows) >= k
    )


def nearest(trees, costs, rows, i, q):
    """Step 3 of Algorithm 6: the q records nearest to record i; equal records come together."""
    others = [j for j in range(len(rows)) if j != i]

    def distance(j):
        return height(costs, join(trees, rows[i], rows[j])), rows.index(rows[j]), j

    return sorted(others, key=distance)[:q]


def cover(trees, costs, rows, published, k, order):
    """Algorithm 3: the (1,k)-anonymizer."""
    published = [list(vector) for vector in published]
    for i in order:
        outside = [j for j in range(len(rows)) if not covers(trees, published[j], rows[i])]
        lacking = k - (len(rows) - len(outside))

        def price(j, i=i):
            wider = join(trees, published[j], rows[i])
            return height(costs, wider) - height(costs, published[j]), j

        for j in sorted(outside, key=price)[: max(lacking, 0)]:
            published[j] = join(trees, published[j], rows[i])
    return published


def matches(trees, rows, published):
    """Definition 6: for every record the published ones that some perfect matching gives it.

    Edge (i, j) is in a perfect matching iff i can be reached from j over edges of H (Prop. 10);
    published[i] covers rows[i].
    """
    n = len(rows)
    edge = np.array([[covers(trees, published[j], rows[i]) for j in range(n)] for i in range(n)])
    reach = edge.copy()
    for via in range(n):
        reach |= np.outer(reach[:, via], reach[via])
    return [{j for j in range(n) if edge[i, j] and (i == j or reach[j, i])} for i in range(n)]


def conceal(trees, costs, rows, published, k, order):
    """Algorithm 5: from (k,k)-anonymity to k-concealment."""
    published = [list(vector) for vector in published]
    for i in order:
        while len(found := matches(trees, rows, published)[i]) < k:
            near = [j for j in range(len(rows)) if covers(trees, published[j], rows[i])]
            best = min(
                (j for j in near if j not in found),
                key=lambda j: (height(costs, join(trees, published[i], rows[j])), j),
            )
            published[i] = join(trees, published[i], rows[best])
    return published


def diversify(trees, costs, rows, published, secret, enough, wanted, order):
    """Algorithm 7, and its form for l-diversity.

    `enough(values)` says whether the sensitive values of the matches will do, and
    `wanted(values, value)` whether one more of this value would help.
    """
    published = [list(vector) for vector in published]
    for i in order:
        while not enough(values := [secret[j] for j in sorted(matches(trees, rows, published)[i])]):
            found = matches(trees, rows, published)[i]

            def price(j, i=i):
                mine, theirs = published[i], published[j]
                both = (join(trees, theirs, rows[i]), theirs), (join(trees, mine, rows[j]), mine)
                return sum(height(costs, wide) - height(costs, old) for wide, old in both), j

            j = min(
                (
                    j
                    for j in range(len(rows))
                    if j not in found and wanted(values, secret[j])
                ),
                key=price,
            )  # fmt: skip
            published[i], published[j] = (
                join(trees, published[i], rows[j]),
                join(trees, published[j], rows[i]),
            )
    return published
