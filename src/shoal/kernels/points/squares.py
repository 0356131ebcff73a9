"""Clusters by squared distance: MDAV, a path through clusters, and where to cut it best."""

from __future__ import annotations

import numpy as np

from shoal.kernels import kernel
from shoal.kernels.grouping.merge import DONE, PAUSED
from shoal.kernels.points.point_tree import farthest, nearest, pluck


@kernel
def mdav_points(points, often, start, squares, total, label, spot, state, k, budget):
    """Form two clusters of k at opposite ends while 3 k points are left, then one or two more.

    As `mdav` of boxes, with the distances of `point_tree`. `often`, `start` and `squares` are about
    the categories of the points that are left, `total` has the sums of their numbers, and `spot` is
    scratch space. `state` is int64[5]: clusters so far, points of the current one, its first point,
    whether a second one follows, points left. Pauses after `budget` visits.
    """
    pause = points.looks[0] + budget
    d = points.x.shape[1]
    while state[1] > 0 or state[3] == 1 or state[4] >= 2 * k:
        if points.looks[0] >= pause:
            return PAUSED
        if state[1] > 0:
            spot[:] = points.x[points.place[state[2]]]
            u = nearest(points, spot)
        elif state[3] == 1:
            spot[:] = points.x[points.place[state[2]]]
            u = farthest(points, spot, often, start, squares, 0)
            state[2], state[3] = u, 2
        else:
            state[3] = 1 if state[4] >= 3 * k else 0
            for j in range(d):
                spot[j] = total[j] / state[4]
            u = farthest(points, spot, often, start, squares, state[4])
            state[2] = u
        at = points.place[u]
        for j in range(d):
            total[j] -= points.x[at, j]
            if points.cost[j] > 0:
                code = start[j] + np.int64(points.x[at, j])
                squares[j] -= 2 * often[code] - 1
                often[code] -= 1
        pluck(points, u)
        label[u] = state[0]
        state[1] += 1
        state[4] -= 1
        if state[1] == k:
            state[0] += 1
            state[1] = 0
    for u in range(len(label)):
        if label[u] < 0:
            label[u] = state[0]
    return DONE


@kernel
def walk(points, path, spot, done, budget):
    """Visit all points: from each to the nearest that is left. `path[0]` is given.

    `done` is int64[1], the points on the path so far. Pauses after `budget` visits.
    """
    pause = points.looks[0] + budget
    while done[0] < len(path):
        if points.looks[0] >= pause:
            return PAUSED
        here = path[done[0] - 1]
        pluck(points, here)
        spot[:] = points.x[points.place[here]]
        path[done[0]] = nearest(points, spot)
        done[0] += 1
    return DONE


@kernel
def cut_path(x, cost, often, start, k, best, last, done, budget):
    """Where to cut a path into runs of k to 2 k - 1 points with the lowest sum of squares.

    The shortest path of Hansen and Mukherjee 2003: `best[i]` is the lowest sum of the first i
    points, and `last[i]` the size of the last run of that cut. A longer run is never better, as it
    could be cut once more; only if there are fewer than 2 k points, they are one run. `often` is
    scratch space, full of zeros, for each category. `done` is int64[1], the points so far. Pauses
    after `budget` visits.
    """
    n, d = x.shape
    mean = np.zeros(d)
    while done[0] < n:
        if budget <= 0:
            return PAUSED
        i = done[0] + 1  # runs that end before point i
        mean[:] = 0.0
        within, pairs = 0.0, 0.0
        for m in range(1, min(2 * k, i + 1)):
            at = i - m
            for j in range(d):
                if cost[j] == 0:
                    away = x[at, j] - mean[j]
                    mean[j] += away / m
                    within += away * (x[at, j] - mean[j])
                else:
                    code = start[j] + np.int64(x[at, j])
                    pairs += cost[j] * (m - 1 - often[code])  # apart from those in the run
                    often[code] += 1
            if m >= k and best[at] + within + pairs / m < best[i]:
                best[i] = best[at] + within + pairs / m
                last[i] = m
        for m in range(1, min(2 * k, i + 1)):
            for j in range(d):
                if cost[j] > 0:
                    often[start[j] + np.int64(x[i - m, j])] = 0
        budget -= 2 * k * d
        done[0] = i
    return DONE
