"""Naive twins of the analyses: record by record, on lists of texts, as slow as it may be."""

from __future__ import annotations

import re
from collections import Counter
from math import atanh, exp, log2, sqrt, tanh

Z = 1.959963984540054


# What a value means


def interval(label, whole):
    """The mean and the variance of the numbers that a published label stands for; None: none."""
    if label in (None, "*", ""):
        return None
    found = re.fullmatch(r"\[(-?[\d.]+), (-?[\d.]+)([\])])", label)
    if not found:
        return float(label), 0.0
    low, high = float(found[1]), float(found[2])
    if not whole:
        return (low + high) / 2, (high - low) ** 2 / 12
    every = range(int(low) - 1, int(high) + 2)
    inside = [n for n in every if low <= n < high or (found[3] == "]" and n == high)]
    mean = sum(inside) / len(inside)
    return mean, sum((n - mean) ** 2 for n in inside) / len(inside)


def shares(label, labels, paths):
    """The share of each original value in a published one, learned from all labels of the table.

    `paths` leads from each original value up to the root. None: missing or suppressed.
    """
    root = next(iter(paths.values()))[-1]
    if label is None or label == root:
        return None
    if label in paths and not any(label in path[1:] for path in paths.values()):
        return {label: 1.0}
    below = {value: path for value, path in paths.items() if label in path}
    children = Counter()  # records at or below each child of the label
    leaves = Counter()
    for path in below.values():
        leaves[path[path.index(label) - 1]] += 1
    for one in labels:
        for child in leaves:
            if one is not None and any(child in path and one in path for path in paths.values()):
                mine = [p for p in paths.values() if child in p and one in p]
                children[child] += any(p.index(one) <= p.index(child) for p in mine)
    weights = children if sum(children.values()) else leaves
    found = {}
    for child in leaves:
        part = weights[child] / sum(weights.values())
        if part:
            for value, share in shares(child, labels, paths).items():
                found[value] = found.get(value, 0.0) + part * share
    return found


# Statistics


def moments(numbers):
    """(mean, low, high), (variance, low, high) of pairs (number, variance within)."""
    there = [one for one in numbers if one is not None]
    n = len(there)
    if not n:
        return None, None
    mean = sum(x for x, _ in there) / n
    if n < 2:
        return (mean, mean, mean), None
    second = sum((x - mean) ** 2 + v for x, v in there) / n
    fourth = sum((x - mean) ** 4 + 6 * (x - mean) ** 2 * v + 9 / 5 * v * v for x, v in there) / n
    variance = second * n / (n - 1)
    half = Z * sqrt(variance / n)
    error = sqrt(max(0.0, fourth - second**2) / n)
    factor = exp(Z * error / second) if second else 1.0
    return (mean, mean - half, mean + half), (variance, variance / factor, variance * factor)


def correlation(left, right):
    """(r, low, high) of two lists of pairs (number, variance within)."""
    both = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    n = len(both)
    if n < 2:
        return None
    mx, my = sum(a[0] for a, _ in both) / n, sum(b[0] for _, b in both) / n
    vx = sum((a[0] - mx) ** 2 + a[1] for a, _ in both) / n
    vy = sum((b[0] - my) ** 2 + b[1] for _, b in both) / n
    if not vx or not vy:
        return None
    scale = sqrt(vx * vy)
    r = sum((a[0] - mx) * (b[0] - my) for a, b in both) / n / scale
    r = max(-1.0, min(1.0, r))
    influence = [
        (a[0] - mx) * (b[0] - my) / scale
        - r / 2 * (((a[0] - mx) ** 2 + a[1]) / vx + ((b[0] - my) ** 2 + b[1]) / vy)
        for a, b in both
    ]
    if 1 - r * r < 1e-12:
        return r, r, r
    half = Z * sqrt(sum(i * i for i in influence)) / n / (1 - r * r)
    return r, tanh(atanh(r) - half), tanh(atanh(r) + half)


def contingency(left, right):
    """How many records have each pair of values, from lists of shares."""
    cells = {}
    for a, b in zip(left, right, strict=True):
        for x, p in (a or {}).items():
            for y, q in (b or {}).items():
                cells[x, y] = cells.get((x, y), 0.0) + p * q
    return cells


def cramer(cells):
    """Cramér's V with the correction of Bergsma 2013; None if it is not defined."""
    n = sum(cells.values())
    rows, columns = Counter(), Counter()
    for (x, y), count in cells.items():
        rows[x] += count
        columns[y] += count
    r, c = (sum(1 for v in side.values() if v > 0) for side in (rows, columns))
    if min(r, c) < 2 or n < 1:
        return None
    phi = sum(v * v / (rows[x] * columns[y]) for (x, y), v in cells.items() if v > 0) - 1
    more = max(n - 1, 1e-9)
    phi = max(0.0, phi - (r - 1) * (c - 1) / more)
    least = min(r - (r - 1) ** 2 / more, c - (c - 1) ** 2 / more) - 1
    return min(1.0, sqrt(phi / least)) if least > 0 and n > 1 else 0.0


def distance(was, now):
    """Half the sum of the differences of all shares."""
    n, m = sum(was.values()), sum(now.values())
    if not n or not m:
        return None
    return sum(abs(was.get(k, 0) / n - now.get(k, 0) / m) for k in {*was, *now}) / 2


def kept(originals, published):
    """The mutual information of two lists, in percent of the entropy of the first."""

    def entropy(values):
        n = len(values)
        return -sum(c / n * log2(c / n) for c in Counter(values).values())

    if not entropy(originals):
        return None
    both = entropy(originals) + entropy(published)
    return 100 * (both - entropy(list(zip(originals, published, strict=True)))) / entropy(originals)
