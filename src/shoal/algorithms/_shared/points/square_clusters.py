"""Clusters of near points: MDAV, a path through its clusters, and the best cut of a path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.algorithms._shared.indexed import run_steps
from shoal.algorithms._shared.points.standardized import Standardized
from shoal.base.arrays import Floats, Longs
from shoal.base.progress import Progress
from shoal.kernels.points import squares as kernels
from shoal.kernels.points.point_tree import plant


def mdav_clusters(found: Standardized, k: int, progress: Progress) -> Longs:
    """The clusters of MDAV."""
    n, d = found.x.shape
    points = plant(found.x, found.cost)
    often, squares, total = found.often, found.squares, found.x.sum(axis=0)
    label, spot = np.full(n, -1), np.zeros(d)
    state = np.array([0, 0, 0, 0, n])

    def step(pieces: int) -> int:
        outcome: int = kernels.mdav_points(
            points, often, found.start, squares, total, label, spot, state, k, pieces
        )
        return outcome

    _run(step, lambda: progress("filling clusters", 1 - int(state[4]) / n))
    return label


def path_through(found: Standardized, label: Longs, progress: Progress) -> Longs:
    """The units in an order that keeps clusters together: from each to the nearest, int64[units].

    Within a cluster, units that are nearer to the cluster before come first.
    """
    centre = _centres(found, label)
    route = np.zeros(len(centre), np.int64)  # it begins where MDAV did, far from the middle
    points = plant(centre, found.cost)
    done, spot = np.array([1]), np.zeros(centre.shape[1])

    def step(pieces: int) -> int:
        outcome: int = kernels.walk(points, route, spot, done, pieces)
        return outcome

    _run(step, lambda: progress("joining clusters", int(done[0]) / len(route)))
    rank = np.empty_like(route)
    rank[route] = np.arange(len(route))
    turn = rank[label]
    before, after = (
        _apart(found, centre[route[np.clip(turn + to, 0, len(route) - 1)]]) for to in (-1, 1)
    )
    return np.lexsort((before - after, turn))


def _centres(found: Standardized, label: Longs) -> Floats:
    """The centre of each cluster; of categories the most frequent one, float64[clusters, d]."""
    many = np.bincount(label)
    centre = np.empty((len(many), found.x.shape[1]))
    for j, cost in enumerate(found.cost.tolist()):
        if cost == 0:
            centre[:, j] = np.bincount(label, found.x[:, j]) / many
            continue
        pair, often = np.unique(
            np.stack([label, found.x[:, j].astype(np.int64)], axis=1), axis=0, return_counts=True
        )
        order = np.lexsort((pair[:, 1], -often, pair[:, 0]))
        first = np.searchsorted(pair[order, 0], np.arange(len(many)))
        centre[:, j] = pair[order[first], 1]
    return centre


def _apart(found: Standardized, spots: Floats) -> Floats:
    """The squared distance of each unit from its own spot."""
    numbers = (found.x - spots) ** 2
    kinds = (found.x != spots) * found.cost
    return np.asarray(np.where(found.cost == 0, numbers, kinds).sum(axis=1))


def best_cut(found: Standardized, path: Longs, k: int, progress: Progress) -> Longs:
    """The runs of the path with the lowest sum of squares, int64[units]."""
    n = len(path)
    x = np.ascontiguousarray(found.x[path])
    best, last = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    done, often = np.zeros(1, np.int64), np.zeros(max(int(found.start[-1]), 1), np.int64)

    def step(pieces: int) -> int:
        outcome: int = kernels.cut_path(
            x, found.cost, often, found.start, k, best, last, done, pieces
        )
        return outcome

    _run(step, lambda: progress("cutting", int(done[0]) / n))
    label, at, run = np.empty(n, np.int64), n, 0
    while at > 0:
        label[path[at - int(last[at]) : at]] = run
        at, run = at - int(last[at]), run + 1
    return label


def _run(step: Callable[[int], int], report: Callable[[], None]) -> None:
    """Run a kernel that never needs more room."""
    run_steps(lambda _, pieces: step(pieces), None, lambda same: same, report)
