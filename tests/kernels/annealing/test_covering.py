"""Open classes by their bits: the same class as by looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms._shared.peeling.recreate import Recreating
from shoal.kernels.annealing import covering
from tests.algorithms._shared.peeling.test_recreate import problem_of, random_table


def covers(search, opened, a, t):
    """Whether the cell of a class covers a tuple, by the hierarchies."""
    trees = search.trees
    for j, (top, value) in enumerate(
        zip(opened.cell[a].tolist(), search.formed.vector[t].tolist(), strict=True)
    ):
        while value > top:  # a parent has a lower number
            value = trees.parent[trees.start[j] + value]
        if value != top:
            return False
    return True


def by_looking(search, opened, open_classes, t, floor):
    """What the best class keeps that covers a tuple, above a floor."""
    return max(
        (
            search.formed.keeps[a]
            for a in open_classes
            if search.formed.keeps[a] > floor and covers(search, opened, a, t)
        ),
        default=-1,
    )


@pytest.mark.parametrize("narrow", [512, 0])
def test_the_best_class_is_the_one_found_by_looking_at_all(monkeypatch, narrow):
    """Classes are opened and closed at random; more of them than a word has bits."""
    monkeypatch.setattr(covering, "NARROW", narrow)
    rows, k = 400, 3
    problem = problem_of(random_table(rows, 3, 1), k)
    n = len(problem.start)
    search = Recreating(problem, np.arange(n) % 90)
    part = search._cut(1)[0]
    opened = search._open(part)
    rng, found = np.random.default_rng(2), 0
    # Cells of all sizes: a tuple, with some attributes some steps up.
    trees, classes = search.trees, set(np.flatnonzero(opened.slot >= 0).tolist())
    assert len(classes) == 90
    for _ in range(400):
        a = int(rng.integers(0, 90))
        covering.remove(trees, opened, a)
        classes.discard(a)
        if rng.random() < 0.8:
            cell = search.formed.vector[rng.integers(0, n)].copy()
            for j in range(len(cell)):
                for _ in range(rng.integers(0, 4)):
                    cell[j] = max(0, trees.parent[trees.start[j] + cell[j]])
            opened.cell[a] = cell
            search.formed.keeps[a] = rng.integers(0, 50)
            covering.insert(trees, opened, a)
            classes.add(a)
        t, floor = int(rng.integers(0, n)), int(rng.integers(-1, 30))
        best = covering.best_covering(trees, search.formed, opened, t, floor)
        expected = by_looking(search, opened, classes, t, floor)
        assert (search.formed.keeps[best] if best >= 0 else -1) == expected
        if best >= 0:
            assert best in classes
            assert covers(search, opened, best, t)
            found += 1
    assert found > 100
    assert opened.many[0] == 90  # slots are used again
