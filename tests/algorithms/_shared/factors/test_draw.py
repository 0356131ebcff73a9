"""The draw of rows: every pair has the probability 1/k, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms._shared.factors.draw import _perfect_matching, draw_rows

DRAWS = 3_000


def circle(n, k):
    """Each person is a member of the next k rows: all of them are one component."""
    person = np.repeat(np.arange(n), k)
    return person, (person + np.tile(np.arange(k), n)) % n


def regular(n, k, rng):
    """A random graph in which everybody has k pairs: k permutations that share no pair."""
    while True:
        rows = np.stack([rng.permutation(n) for _ in range(k)], axis=1)
        if all(len(set(one)) == k for one in rows.tolist()):
            return np.repeat(np.arange(n), k), rows.ravel()


def apart(n, k):
    """Two components."""
    person, row = circle(n, k)
    return np.append(person, person + n), np.append(row, row + n)


def drawn(person, row, k, draws=DRAWS):
    """Draws of a graph, int64[draws, n]: at once, as its copies are components of a large one."""
    n = len(person) // k
    copy = n * np.arange(draws)[:, None]
    people, rows = (copy + person).ravel(), (copy + row).ravel()
    found = draw_rows(people, rows, k, np.random.default_rng(0))
    return found.reshape(draws, n) - copy


CASES = [(circle(n, k), k) for n, k in [(3, 2), (4, 3), (7, 4), (7, 5), (6, 6), (9, 7)]]
CASES += [(regular(8, k, np.random.default_rng(k)), k) for k in (2, 3, 4)]
CASES += [(apart(5, 3), 3), (circle(1, 1), 1)]


@pytest.mark.parametrize(("pairs", "k"), CASES)
def test_every_pair_has_the_same_probability(pairs, k):
    person, row = pairs
    n = len(person) // k
    found = drawn(person, row, k)
    assert (np.sort(found, axis=1) == np.arange(n)).all(), "every draw is a perfect matching"
    often = np.zeros((n, n))
    for i in range(n):
        often[i] = np.bincount(found[:, i], minlength=n)
    known = np.zeros((n, n), bool)
    known[person, row] = True
    assert not often[~known].any(), "only members are drawn"
    spread = np.sqrt(DRAWS * (1 / k) * (1 - 1 / k))
    assert np.abs(often[known] - DRAWS / k).max() <= 5 * spread  # once in a million pairs


@pytest.mark.parametrize(
    ("pairs", "n"),
    [
        (circle(20_000, 5), 20_000),
        (circle(3_000, 301), 3_000),
        (regular(9, 3, np.random.default_rng(0)), 9),
        (np.divmod(np.arange(400), 20), 20),
        (circle(1, 1), 1),
    ],
)
def test_a_perfect_matching_is_found_in_whatever_order_the_pairs_are(pairs, n):
    """By random walks: a search for any maximum matching did not end on some real tables."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(pairs[0]))
    matched = _perfect_matching(pairs[0][order], pairs[1][order], rng)
    assert np.sort(pairs[0][order][matched]).tolist() == list(range(n))
    assert np.sort(pairs[1][order][matched]).tolist() == list(range(n))


def test_components_are_drawn_independently():
    """To know the rows of one component says nothing about the other, not even the odd step."""
    person, row = apart(3, 3)
    rng = np.random.default_rng(0)
    both = np.zeros((3, 3))
    for _ in range(900):
        found = draw_rows(person, row, 3, rng)
        both[found[0], found[3] - 3] += 1
    assert np.abs(both - 100).max() <= 5 * np.sqrt(100)


@pytest.mark.parametrize("k", [4, 5])
def test_one_known_row_leaves_the_others_of_a_class_open(k):
    """In a class of k people, who share all rows, the others are certain to 1 / (k - 1)."""
    person, row = np.divmod(np.arange(k * k), k)
    found = drawn(person, row, k, draws=12_000)
    found = found[found[:, 0] == 0]
    often = np.bincount(found[:, 1], minlength=k)
    assert often[0] == 0
    fair = len(found) / (k - 1)
    assert np.abs(often[1:] - fair).max() <= 6 * np.sqrt(fair)


def test_with_two_rows_each_one_known_row_gives_the_component_away():
    """A limit that the documentation states: a cycle has two perfect matchings."""
    found = drawn(*circle(6, 2), 2, draws=200)
    assert len({tuple(one) for one in found.tolist()}) == 2
