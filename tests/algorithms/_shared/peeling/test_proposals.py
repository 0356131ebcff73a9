"""Cells that the linear program proposes: they cover their tuples, and lead to better classes."""

from __future__ import annotations

from dataclasses import replace

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


def check(search, problem):
    """Every cell covers its tuple and k people, and probabilities rise to one."""
    found, people = search.proposals, search.formed.people
    trees, vector = problem.layout.shapes, search.formed.vector.tolist()
    assert found.start[-1] == len(found.which) == len(found.upto)
    for x in range(search.n):
        part = slice(found.start[x], found.start[x + 1])
        cells = found.cell[found.which[part]].tolist()
        assert len({tuple(cell) for cell in cells}) == len(cells)
        for cell in cells:
            assert covers(trees, cell, vector[x])
            inside = [covers(trees, cell, other) for other in vector]
            assert people[inside].sum() >= problem.k
        upto = found.upto[part]
        assert (np.diff(upto, prepend=0.0) > 0).all()
        assert not len(upto) or upto[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=examples(40), deadline=None)
@given(table=tables(persons=True, most_rows=9, most_columns=3), k=st.integers(2, 4))
def test_every_cell_covers_its_tuple_and_k_people(weighted, table, k):
    if weighted:
        weight = np.random.default_rng(table.rows).integers(1, 9, table.rows)
        table = replace(table, people=None, weight=weight)
    if table.person_count < k:
        return
    problem = problem_of(table, k)
    search, _ = proposed(problem)
    check(search, problem)


def test_people_with_many_records_do_not_count_for_k():
    """Ten records of each person: groups of k records would be cells of a single person."""
    table = random_table(120, 3, 7)
    codes = np.repeat(table.codes, 10, axis=0)
    table = replace(table, codes=codes, people=np.repeat(np.arange(120), 10), sensitive=())
    problem = problem_of(table, 5)
    search, found = proposed(problem)
    assert len(found.cell) > 0
    check(search, problem)


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


def test_where_the_work_is_not_enough_what_is_proposed_is_right():
    """Interrupted in the first pass over all cells: groups of the classes, if any."""
    problem = problem_of(random_table(300, 3, 5), 4)
    for looks in (0, 1, 100, 10_000):
        search, _ = proposed(problem, looks)
        check(search, problem)
