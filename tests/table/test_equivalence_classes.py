"""Classes: who cannot be told from whom."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.equivalence_classes import tally


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=40),
)
def test_candidates_of_linked_people(rows):
    """People with a row in every class that the person has a row in."""
    label = [row[0] for row in rows]
    people = np.unique([row[1] for row in rows], return_inverse=True)[1]
    classes = tally(np.array([[c] for c in label], np.int32), people)
    mine = {p: {c for c, q in zip(label, people, strict=True) if q == p} for p in people}
    for i, who in enumerate(people):
        alike = [other for other in mine if mine[who] <= mine[other]]
        assert classes.candidates[i] == len(alike)
    for c, found in zip(classes.label, classes.candidates, strict=True):
        assert classes.fewest_candidates[c] <= found <= classes.people[c] <= classes.size[c]


def test_two_classes_of_three_with_one_person_in_both():
    """Each class alone is a crowd of three; somebody in both is found at once."""
    codes = np.array([[1], [1], [1], [2], [2], [2]], np.int32)
    classes = tally(codes, np.array([0, 1, 2, 0, 3, 4]))
    assert classes.people.tolist() == [3, 3]
    assert classes.candidates.tolist() == [1, 3, 3, 1, 3, 3]
    assert classes.smallest == 1


def test_many_people_with_the_same_classes_are_counted_once():
    """Half a million pairs: all people are in both classes, so the answer is shared."""
    people = np.tile(np.arange(250_000), 2)
    codes = np.repeat([[0], [1]], 250_000, axis=0).astype(np.int32)
    assert tally(codes, people).smallest == 250_000


def test_codes_of_any_size():
    codes = np.array([[-1, 2**31 - 1], [-1, 2**31 - 1], [0, -(2**31)]], np.int32)
    assert tally(codes).size.tolist() == [2, 1]


@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=60))
def test_groups_in_order_of_first_appearance(rows):
    classes = tally(np.array(rows, np.int32))
    seen = list(dict.fromkeys(map(tuple, rows)))
    assert classes.label.tolist() == [seen.index(tuple(row)) for row in rows]
    assert classes.size.tolist() == [rows.count(list(row)) for row in seen]
    assert classes.first.tolist() == [rows.index(list(row)) for row in seen]
