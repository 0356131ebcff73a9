"""The losses as their definitions read, on labels and dictionaries.

The naive twin of a new loss goes into a file of its own, see `cost`.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from math import log2


def path(tree, low, high):
    """Edges (child, parent) from a node up to one that covers it."""
    edges = []
    while low != high:
        edges.append((low, int(tree.parent[low])))
        low = int(tree.parent[low])
    return edges


@lru_cache(10_000)
def level(tree, node):
    kids = [v for v in range(1, tree.size) if tree.parent[v] == node]
    return 1 + max(level(tree, kid) for kid in kids) if kids else 0


def height(tree):
    return level(tree, 0) + 1


@lru_cache(10_000)
def leaves(tree, node):
    kids = [v for v in range(1, tree.size) if tree.parent[v] == node]
    return sum(leaves(tree, kid) for kid in kids) if kids else 1


def w1(j, trees):
    if len(trees) == 1:
        return 1.0
    powers = [(height(tree) - 1) ** len(trees) for tree in trees]
    return 1 - powers[j] / sum(powers) if sum(powers) else 1.0


def w2(j, trees):
    return max(height(tree) for tree in trees) / height(trees[j])


def edge(metric, j, trees, x, above):
    """The weight of one edge (Sec. 3.2, Mauger 2023; levels skipped as in Mauger 2020)."""
    tree = trees[j]
    h, lost = height(tree), leaves(tree, above) - leaves(tree, x)
    share = lost / leaves(tree, 0)
    if metric == "distortion":
        steps = range(level(tree, x) + 1, level(tree, above) + 1)
        whole = sum(1 / (h - i) for i in range(1, h))
        return sum(1 / (h - i) for i in steps) / whole * w1(j, trees)
    return {
        "ncp": share,
        "total": (level(tree, above) - level(tree, x)) / (h - 1),
        "llm": lost * w2(j, trees),
        "nllm": share * w2(j, trees),
        "wllm": lost * w1(j, trees),
        "wnllm": share * w1(j, trees),
    }[metric]


def cost(metric, trees, j, low, high, column=None):
    """The cost of generalizing one value. `column` is the original column, for entropy."""
    tree = trees[j]
    if metric not in HERE:
        return twin(metric)(trees, j, low, high, column)
    if metric == "lm":
        values = leaves(tree, 0)
        return 0.0 if values == 1 else (leaves(tree, high) - leaves(tree, low)) / (values - 1)
    if metric == "entropy":
        return bits(tree, high, column) - bits(tree, low, column)
    return sum(edge(metric, j, trees, x, above) for x, above in path(tree, low, high))


def bits(tree, node, column):
    inside = [int(v) for v in column if tree.covers(node, int(v))]
    shares = [inside.count(v) / len(inside) for v in set(inside)]
    return -sum(share * log2(share) for share in shares)


SEVEN = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
HERE = {*SEVEN, "lm", "entropy", "mean", "auto"}


def twin(metric):
    """The cost function of a loss that is not defined in this file."""
    file = f"loss_{metric.replace('-', '_')}"
    try:
        return importlib.import_module(f"tests.naive.{file}").cost
    except (ModuleNotFoundError, AttributeError):
        raise AssertionError(
            f"the loss {metric!r} has no naive twin: write tests/naive/{file}.py with a function "
            "cost(trees, j, low, high, column) that returns the cost of generalizing the node "
            "`low` of column j to the node `high`, straight from the definition of the loss"
        ) from None


def alteration(metric, trees, original, published):
    """Def. 7, Mauger 2023; Def. 9 for the mean, of those metrics that could lose anything."""
    if metric in ("mean", "auto"):
        roots = [[0] * len(trees)] * len(original)
        able = [one for one in SEVEN if alteration(one, trees, original, roots) > 0]
        found = [alteration(one, trees, original, published) for one in able]
        return sum(found) / len(found) if found else 0.0
    lost = possible = 0.0
    for row, wide in zip(original, published, strict=True):
        for j in range(len(trees)):
            column = [r[j] for r in original]
            lost += cost(metric, trees, j, int(row[j]), int(wide[j]), column)
            possible += cost(metric, trees, j, int(row[j]), 0, column)
    return 100 * lost / possible if possible > 0 else 0.0
