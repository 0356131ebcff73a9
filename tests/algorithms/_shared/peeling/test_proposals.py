"""Cells that the linear program proposes: they cover their tuples, and lead to better classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.peeling.recreate import Recreating
from shoal.kernels.annealing.proposals import no_proposals
from tests.algorithms._shared.peeling.test_recreate import one_class, problem_of, random_table
from tests.naive.peel import covers
from tests.strategies import examples, tables


def proposed(problem, looks=10**8):
    search = Recreating(problem, one_class(problem))
    search.propose(looks, lambda share: None)
    return search, search.proposals


@settings(max_examples=examples(40), deadline=None)
@given(table=tables(persons=True, most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_every_cell_covers_its_tuples_and_probabilities_add_up(table, k):
    if table.person_count < k:
        return
    problem = problem_of(table, k)
    search, found = proposed(problem)
    trees, vector = problem.layout.shapes, search.formed.vector
    for x in range(search.n):
        part = slice(found.start[x], found.start[x + 1])
        for row in found.row[part]:
            cell = found.cell[row].tolist()
            assert covers(trees, cell, vector[x].tolist())
            inside = [covers(trees, cell, other) for other in vector.tolist()]
            assert search.formed.size[inside].sum() >= k
        upto = found.upto[part]
        assert (np.diff(upto, prepend=0.0) > 0).all()
        assert upto[-1:] == pytest.approx(1.0) or not len(upto)


@pytest.mark.parametrize("k", [4, 12])
def test_with_them_the_same_work_finds_better_classes(k):
    lost = []
    for with_them in (False, True):
        problem = problem_of(random_table(600, 4, 3), k)
        search, _ = proposed(problem)
        if not with_them:
            search.proposals = no_proposals(search.n, search.q)
        part = search._cut(1)[0]
        _, step = search._steps(part, 0.0, 3_000 * search.n, 0)[0]
        while not step(1_000_000):
            pass
        search.note_best()
        lost.append(problem.lost(search.label()))
    assert lost[1] < lost[0]


def test_where_the_work_is_not_enough_nothing_wrong_is_proposed():
    """Interrupted in the first pass over all cells: groups of the classes, if any."""
    problem = problem_of(random_table(300, 3, 5), 4)
    for looks in (0, 1, 100, 10_000):
        _, found = proposed(problem, looks)
        assert found.start[-1] == len(found.row) == len(found.upto)
        assert found.row.max(initial=-1) < len(found.cell)
