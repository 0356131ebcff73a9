"""Minimal sample uniques against brute force; scores by their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import BadInput
from shoal.measures.samples.special_uniques import special_uniques
from tests.naive import special_uniques as naive

TABLES = st.integers(1, 5).flatmap(
    lambda q: st.lists(
        st.lists(st.integers(-1, 3), min_size=q, max_size=q), min_size=1, max_size=25
    )
)


def found_in(rows, most, *fraction):
    names = tuple("abcdefgh"[: len(rows[0])])
    return special_uniques(names, np.array(rows, np.int32), most, *fraction)


@given(TABLES, st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_minimal_uniques_are_those_of_brute_force(rows, most):
    found = found_in(rows, most)
    most = min(most, len(rows[0]))
    expected = naive.minimal_uniques(rows, most)
    for i, sets in enumerate(expected):
        by_size = [sum(len(one) == m for one in sets) for m in range(1, most + 1)]
        assert found.counts[i].tolist() == by_size
        assert found.scores[i] == naive.score(sets, most)
        assert found.smallest[i] == min(map(len, sets), default=0)
        if sets:
            assert tuple("abcdefgh".index(n) for n in found.columns_of(i)) in sets
    every = [s for m in range(1, most + 1) for s in combinations(range(len(rows[0])), m)]
    assert len(found.sets) == len(every)
    for one in found.sets:
        some = tuple("abcdefgh".index(name) for name in one.columns)
        assert one.minimal == sum(some in sets for sets in expected)
        assert one.average_risk == pytest.approx(naive.average_risk(rows, some))
        values = [tuple(row[j] for j in some) for row in rows]
        assert one.unique == sum(values.count(value) == 1 for value in values)


def test_many_records_and_columns():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, [2, 3, 4, 5, 6, 7, 8], (400, 7)).tolist()
    found = found_in(rows, 4)
    expected = naive.minimal_uniques(rows, 4)
    assert found.scores.tolist() == [naive.score(sets, 4) for sets in expected]


def test_dis_scores_have_the_probability_of_a_correct_match_as_mean():
    rng = np.random.default_rng(4)
    found = found_in(rng.integers(0, 4, (60, 4)).tolist(), 4)
    u, p, fraction = found.unique, found.pairs, found.fraction
    expected = fraction * u / (fraction * u + 2 * (1 - fraction) * p)
    assert found.correct_match == pytest.approx(expected)
    assert found.dis_scores.sum() / u == pytest.approx(expected)
    assert (np.argsort(found.dis_scores) == np.argsort(found.scores)).all()


@given(TABLES, st.integers(1, 5), st.floats(0.001, 1))
@settings(max_examples=150, deadline=None)
def test_dis_scores_of_each_record(rows, most, fraction):
    most = min(most, len(rows[0]))
    found = found_in(rows, most, fraction).dis_scores.tolist()
    assert found == pytest.approx(naive.dis_scores(rows, most, fraction))


def test_dis_scores_are_cut_off_at_one():
    """The first record is unique on each column, the others only on all of them."""
    rows = [[9, 9, 9], *([a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1))]
    found = found_in(rows, 3, 1.0)
    assert found.dis_scores.tolist() == pytest.approx(naive.dis_scores(rows, 3, 1.0))
    assert found.dis_scores[0] == 1.0 > found.dis_scores[1] > 0


def test_a_table_without_uniques():
    found = found_in([[1, 2], [1, 2], [0, 2], [0, 2]], 2)
    assert found.scores.tolist() == found.dis_scores.tolist() == [0.0] * 4
    assert found.as_dict()["records"] == found.special == 0


def test_special_uniques_are_unique_on_fewer_columns_than_there_are():
    """The fifth record is unique on b alone; the others only on both columns."""
    found = found_in([[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]], 2)
    assert found.special == 1
    assert found.unique == 5
    assert found.contributions() == {"a": pytest.approx(4 / 5), "b": 1.0}


def test_too_many_sets():
    with pytest.raises(BadInput, match=r"too many sets of up to 20 of 40 .* ask for up to \d"):
        found_in_wide(40, 20)
    with pytest.raises(BadInput, match="62 columns or fewer"):
        found_in_wide(70, 2)
    with pytest.raises(BadInput, match="1 column or more, got 0"):
        found_in([[1, 2]], 0)


def found_in_wide(columns, most):
    names = tuple(f"c{j}" for j in range(columns))
    return special_uniques(names, np.zeros((20, columns), np.int32), most)
