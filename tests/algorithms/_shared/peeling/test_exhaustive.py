"""Tables on which no search can lose less: the best of all partitions, and a quick bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.peeling import exhaustive, recreate
from shoal.algorithms._shared.peeling.exhaustive import best_of_all, is_best
from shoal.algorithms._shared.peeling.recreate import Recreating, recreated
from shoal.algorithms.peel import Peel
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from tests.algorithms._shared.peeling.test_recreate import (
    least_lost,
    one_class,
    problem_of,
    random_table,
)
from tests.strategies import examples, tables


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(persons=True, most_rows=7, most_columns=3), k=st.integers(1, 4))
def test_the_best_of_all_partitions_is_that_of_a_naive_search(table, k):
    if table.person_count < k:
        return
    problem = problem_of(table, k)
    label = best_of_all(problem)
    assert np.bincount(label, problem.start.people)[label].min() >= k
    assert problem.lost(label) == least_lost(problem)
    if is_best(problem, one_class(problem)):
        assert problem.lost(one_class(problem)) == least_lost(problem)


def test_too_many_tuples_are_left_to_the_search():
    assert best_of_all(problem_of(random_table(40, 3, 1), 2)) is None


@pytest.mark.parametrize("seconds", [1e300, None])
def test_a_tiny_table_is_not_searched(seconds, monkeypatch):
    """However much time there is: what is published is the best, found at once."""
    monkeypatch.setattr(Recreating, "__init__", lambda *_: pytest.fail("it searched"))
    problem = problem_of(random_table(6, 3, 2), 2)
    made = Peel(effort="high", seconds=seconds).recode(
        problem.table, [KAnonymity(k=2)], NLLM(), np.random.default_rng(0)
    )
    assert problem.lost_by(made) == least_lost(problem)


def test_what_equals_a_bound_is_not_searched(monkeypatch):
    """Classes that lose nothing are the best; one class of all records, which loses all, is not."""
    monkeypatch.setattr(exhaustive, "FEW", 0)
    table = random_table(40, 3, 3)
    label = np.arange(len(problem_of(table, 1).start))
    assert is_best(problem_of(table, 1), label)
    problem = problem_of(random_table(30, 1, 3), 2)
    best = recreated(problem, one_class(problem))
    assert not is_best(problem, one_class(problem))
    assert problem.lost(best) < problem.lost(one_class(problem))


def test_too_few_people_for_two_classes_are_not_searched():
    problem = problem_of(random_table(30, 3, 4), 16)
    assert is_best(problem, one_class(problem))
    problem = problem_of(random_table(30, 3, 4), 15)
    assert not is_best(problem, one_class(problem))


def test_a_limit_on_the_time_ends_after_much_work_too(monkeypatch):
    monkeypatch.setattr(recreate, "LOOKS", 1_000)
    monkeypatch.setattr(recreate, "MORE_LOOKS", 0)
    problem = problem_of(random_table(40, 4, 5), 3)
    label = recreated(problem, one_class(problem), 1e300)
    assert problem.lost(label) < problem.lost(one_class(problem))
    assert "of 1e+300 seconds, as 100 times the work of high effort was done" in problem.notes[0]
