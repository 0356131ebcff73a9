"""Points in a tree of boxes: the nearest and the farthest one by squared distance.

A column of a point is a number, or the code of a category. Two numbers are apart by the square of
their difference, two categories by the cost of the column or not at all. The tree is balanced, and
node i has the children 2 i + 1 and 2 i + 2. Points are removed one by one, and the boxes shrink.

Bounds are computed like distances, column by column in the same order. Rounding is monotone, so no
bound is on the wrong side of a distance, and ties stay ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

LEAF = 8  # points of a leaf at the most
FAR = 1e300


class Points(NamedTuple):
    """Points in a tree; `place` and `unit` translate between them and their order in the tree."""

    x: np.ndarray  # float64[n, d], in the order of the tree
    unit: np.ndarray  # int64[n], the number of each point: among equals the lowest wins
    place: np.ndarray  # int64[n], where the point with each number is
    here: np.ndarray  # bool[n], whether it is still there
    cost: np.ndarray  # float64[d], 0: a number; otherwise what two categories are apart
    begin: np.ndarray  # int64[nodes], the first point of each node
    end: np.ndarray  # int64[nodes], after the last
    low: np.ndarray  # float64[nodes, d], of the points that are still there
    high: np.ndarray  # float64[nodes, d]
    first: np.ndarray  # int64[nodes], the lowest number in each node; n: it is empty
    stack: np.ndarray  # int64[64], scratch space
    looks: np.ndarray  # int64[1], visits so far


@kernel
def plant(x, cost):
    """Put all points into a tree."""
    n, d = x.shape
    leaves = 1
    while leaves * LEAF < n:
        leaves *= 2
    nodes = 2 * leaves - 1
    points = Points(
        x.copy(), np.arange(n), np.arange(n), np.ones(n, np.bool_), cost,
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros((nodes, d)),
        np.zeros((nodes, d)), np.zeros(nodes, np.int64), np.zeros(64, np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip
    points.end[0] = n
    for node in range(leaves - 1):
        begin, end = points.begin[node], points.end[node]
        middle = (begin + end) // 2
        halve(points, begin, end, middle, widest(points, begin, end))
        points.begin[2 * node + 1], points.end[2 * node + 1] = begin, middle
        points.begin[2 * node + 2], points.end[2 * node + 2] = middle, end
    for i in range(n):
        points.place[points.unit[i]] = i
    for node in range(nodes - 1, -1, -1):
        shrink(points, node)
    return points


@lean_kernel
def widest(points, begin, end):
    """The column in which points differ most."""
    best, most = 0, -1.0
    for j in range(points.x.shape[1]):
        total, squares = 0.0, 0.0
        low, high = points.x[begin, j], points.x[begin, j]
        for i in range(begin, end):
            value = points.x[i, j]
            total += value
            squares += value * value
            low, high = min(low, value), max(high, value)
        spread = squares / (end - begin) - (total / (end - begin)) ** 2
        if points.cost[j] > 0:
            spread = points.cost[j] / 4 if low < high else 0.0
        if spread > most:
            best, most = j, spread
    return best


@lean_kernel
def halve(points, begin, end, middle, j):
    """Move the points so that none before the middle has a larger value in column j."""
    low, high = begin, end - 1
    while low < high:
        pivot = points.x[(low + high) // 2, j]
        left, right = low, high
        while left <= right:
            while points.x[left, j] < pivot:
                left += 1
            while points.x[right, j] > pivot:
                right -= 1
            if left <= right:
                exchange(points, left, right)
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@lean_kernel
def exchange(points, a, b):
    """Exchange two points."""
    for j in range(points.x.shape[1]):
        points.x[a, j], points.x[b, j] = points.x[b, j], points.x[a, j]
    points.unit[a], points.unit[b] = points.unit[b], points.unit[a]


@lean_kernel
def shrink(points, node):
    """Compute the box of a node anew: of its points, or of its children."""
    d, n = points.x.shape[1], len(points.unit)
    left, right = 2 * node + 1, 2 * node + 2
    for j in range(d):
        points.low[node, j], points.high[node, j] = FAR, -FAR
    points.first[node] = n
    if right < len(points.end):
        points.first[node] = min(points.first[left], points.first[right])
        for j in range(d):
            points.low[node, j] = min(points.low[left, j], points.low[right, j])
            points.high[node, j] = max(points.high[left, j], points.high[right, j])
        return
    for i in range(points.begin[node], points.end[node]):
        if points.here[i]:
            points.first[node] = min(points.first[node], points.unit[i])
            for j in range(d):
                points.low[node, j] = min(points.low[node, j], points.x[i, j])
                points.high[node, j] = max(points.high[node, j], points.x[i, j])


@lean_kernel
def pluck(points, u):
    """Remove the point with this number."""
    at = points.place[u]
    points.here[at] = False
    node = 0
    while 2 * node + 2 < len(points.end):
        node = 2 * node + 1 if at < points.end[2 * node + 1] else 2 * node + 2
    shrink(points, node)
    while node > 0:
        node = (node - 1) // 2
        shrink(points, node)


@lean_kernel
def distance(points, i, spot):
    """The squared distance of the point at place i."""
    total = 0.0
    for j in range(len(spot)):
        if points.cost[j] == 0:
            total += (points.x[i, j] - spot[j]) * (points.x[i, j] - spot[j])
        elif points.x[i, j] != spot[j]:
            total += points.cost[j]
    return total


@lean_kernel
def at_least(points, node, spot):
    """A lower bound on the distance of all points of a node."""
    total = 0.0
    for j in range(len(spot)):
        low, high = points.low[node, j], points.high[node, j]
        if low <= spot[j] <= high:
            continue
        if points.cost[j] > 0:
            total += points.cost[j]
        elif spot[j] < low:
            total += (low - spot[j]) * (low - spot[j])
        else:
            total += (high - spot[j]) * (high - spot[j])
    return total


@lean_kernel
def nearest(points, spot):
    """The number of the nearest point, among equals the lowest; -1: there is none."""
    n, top = len(points.unit), 1
    best, best_far = n, FAR
    points.stack[0] = 0
    while top > 0:
        top -= 1
        node = points.stack[top]
        points.looks[0] += 1
        if points.first[node] == n:
            continue
        bound = at_least(points, node, spot)
        if bound > best_far or (bound == best_far and points.first[node] > best):
            continue
        left = 2 * node + 1
        if left < len(points.end):
            near = at_least(points, left, spot) <= at_least(points, left + 1, spot)
            points.stack[top] = left + 1 if near else left
            points.stack[top + 1] = left if near else left + 1  # the nearer one comes first
            top += 2
            continue
        for i in range(points.begin[node], points.end[node]):
            if points.here[i]:
                far = distance(points, i, spot)
                if far < best_far or (far == best_far and points.unit[i] < best):
                    best, best_far = points.unit[i], far
    return best if best < n else -1


@lean_kernel
def distance_from_centre(points, i, centre, often, start, many, squares):
    """The squared distance of the point at place i from the centre of all that are there.

    `often` counts the points with each category, `start` is where each column begins in it, and
    `squares` has the sum of the squares of these counts. A category is a vector of zeros and a one.
    """
    total = 0.0
    for j in range(len(centre)):
        if points.cost[j] == 0:
            total += (points.x[i, j] - centre[j]) * (points.x[i, j] - centre[j])
        else:
            same = often[start[j] + np.int64(points.x[i, j])]
            total += points.cost[j] / 2 * (1 + squares[j] / many / many - 2 * same / many)
    return total


@lean_kernel
def at_most(points, node, spot, squares, many):
    """An upper bound on the distance of all points of a node.

    `many` is above 0 for the distance from the centre of so many points, 0 for that from a point.
    """
    total = 0.0
    for j in range(len(spot)):
        low, high = points.low[node, j], points.high[node, j]
        if points.cost[j] > 0:
            if many > 0:
                total += points.cost[j] / 2 * (1 + squares[j] / many / many)
            elif low < high or low != spot[j]:
                total += points.cost[j]
            continue
        total += max((low - spot[j]) * (low - spot[j]), (high - spot[j]) * (high - spot[j]))
    return total


@lean_kernel
def farthest(points, spot, often, start, squares, many):
    """The number of the farthest point, among equals the lowest; -1: there is none.

    `many` is above 0 for the distance from the centre of so many points, 0 for that from a point.
    """
    n, top = len(points.unit), 1
    best, best_far = n, -1.0
    points.stack[0] = 0
    while top > 0:
        top -= 1
        node = points.stack[top]
        points.looks[0] += 1
        if points.first[node] == n:
            continue
        bound = at_most(points, node, spot, squares, many)
        if bound < best_far or (bound == best_far and points.first[node] > best):
            continue
        left = 2 * node + 1
        if left < len(points.end):
            far = at_most(points, left, spot, squares, many)
            wide = far >= at_most(points, left + 1, spot, squares, many)
            if points.first[left] == n:
                wide = False
            points.stack[top] = left + 1 if wide else left
            points.stack[top + 1] = left if wide else left + 1  # the farther one comes first
            top += 2
            continue
        for i in range(points.begin[node], points.end[node]):
            if points.here[i]:
                if many > 0:
                    away = distance_from_centre(points, i, spot, often, start, many, squares)
                else:
                    away = distance(points, i, spot)
                if away > best_far or (away == best_far and points.unit[i] < best):
                    best, best_far = points.unit[i], away
    return best if best < n else -1
