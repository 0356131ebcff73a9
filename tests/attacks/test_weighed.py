"""Probabilities of records and of sensitive values, against all perfect matchings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from shoal.attacks._weighed import SCALE, _concentrated, _in_order, _weigh, weigh, weighed_values
from shoal.base.progress import silent
from shoal.catalog import models
from shoal.measures.key_sets import views
from shoal.measures.verify import check_all, of_rows, seen_in_all_ways
from shoal.table.match_graph import link
from shoal.table.sensitive import Sensitive
from tests.attacks.test_matching import UNEQUAL, graphs, linked
from tests.naive import concealment as naive
from tests.naive import matchings
from tests.strategies import examples
from tests.table.test_match_graph import as_published, releases


def chances(table, released):
    """The share of all perfect matchings that pair each record and each published one."""
    rows = table.codes.tolist()
    fits = [[naive.covers(table.trees, wide, row) for wide in released] for row in rows]
    return matchings.chances(np.array(fits))


def linked_case(case):
    table, released, order = case
    old = table.sensitive[0]
    secret = Sensitive(old.name, old.codes[order], old.values, old.hierarchy)
    published = as_published(table, released, secret)
    return link(table, published), published, secret, chances(table, released)


@settings(deadline=None, max_examples=examples(60))
@given(releases(sensitive=True))
def test_sensitive_values_are_weighed_by_all_perfect_matchings(case):
    linkage, _, secret, chance = linked_case(case)
    expected = chance @ np.eye(len(secret.values))[secret.codes]  # float64[n, values]
    found = weighed_values(linkage, "s").histograms["s"].dense()[linkage.original.label]
    assert found == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=examples(60))
@given(releases(sensitive=True), st.sampled_from([1.1, 1.5, 2.0, 3.0]))
def test_a_share_holds_only_if_it_holds_counted_and_weighed(case, l):  # noqa: E741
    linkage, published, secret, chance = linked_case(case)
    model = models.make({"name": "frequency-l-diversity", "column": "s", "l": l})
    belief = (chance @ np.eye(len(secret.values))[secret.codes]).max(axis=1)
    possible = chance > 0
    counted = (possible @ np.eye(len(secret.values))[secret.codes]).max(axis=1)
    share = np.maximum(belief, counted / possible.sum(axis=1))
    (check,) = check_all(views(published, ()), [model], linkage)
    assert check.reached == pytest.approx(1 / share.max())
    assert check.holds == bool((share <= 1 / l + 1e-9).all())
    each = [
        of_rows(model, model.levels(classes), published, linkage)
        for classes in seen_in_all_ways(model, published, linkage)
    ]
    assert len(each) == 2
    assert np.minimum(*each) == pytest.approx(1 / share)


def test_an_almost_certain_record_does_not_hide_behind_others():
    """Record 0 has two matches; its own one has two of three perfect matchings."""
    weights = weigh(linked(UNEQUAL))
    assert weights.highest().max() == pytest.approx(2 / 3)
    assert not weights.sampled_people


@settings(deadline=None, max_examples=examples(60))
@given(graph=graphs())
def test_the_highest_belief_is_that_of_all_perfect_matchings(graph):
    covers, originals, classes = graph
    most = matchings.chances(covers).max(axis=1)
    found = weigh(linked(covers, originals, classes)).highest()
    assert found[originals] == pytest.approx(most)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_sampled_is_bounded_from_above(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((7, 7)) < 0.4
    covers |= np.eye(7, dtype=bool)
    linkage = linked(covers)
    found = _weigh(linkage, silent, exact=0)
    most = matchings.chances(covers).max(axis=1)
    assert (found.highest() >= most - 1e-9).all()
    assert (found.highest() <= most + 0.15).all()


def test_somebody_who_never_moved_is_not_called_safe():
    """A cycle that is hardly ever walked: beliefs of a half, of which the chains see nothing."""
    n = 500
    covers = np.arange(n)
    fits = np.stack([covers, (covers + 1) % n], 1)
    start = np.arange(0, 2 * n + 1, 2)
    originals = np.stack([covers, (covers - 1) % n], 1)  # who fits record g: g, and g - 1
    originals.sort(axis=1)
    held = (originals == covers[:, None]).astype(np.int64)
    from shoal.table.match_graph import MatchGraph

    ones = np.ones(n, np.int64)
    linkage = MatchGraph.of_groups(
        ones, ones, start, originals.ravel().astype(np.int32), held.ravel()
    )
    assert fits.shape == originals.shape
    assert (weigh(linkage).highest() > 0.5 - 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
def test_samples_do_not_depend_on_the_order_of_the_tables(seed):
    rng = np.random.default_rng(seed)
    n = 9
    covers = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.3)
    people, records = rng.permutation(n), rng.permutation(n)
    turned = covers[np.ix_(people, records)]
    held = np.argsort(people)[records]  # who holds which record, so that `linked` finds a matching
    turned, of = turned[held], people[held]
    one = _weigh(linked(covers), silent, exact=0).highest()
    other = _weigh(linked(turned), silent, exact=0).highest()
    by = _in_order(linked(covers))[1]
    assert sorted(by.tolist()) == list(range(n))
    assert other == pytest.approx(one[of])


def test_bounds_hold_for_everybody_together():
    """Three standard errors would be too few: some of many pairs are further away by chance."""
    rng = np.random.default_rng(7)
    covers = np.eye(8, dtype=bool) | (rng.random((8, 8)) < 0.45)
    truth = matchings.chances(covers).max(axis=1)
    many = 25
    whole = np.kron(np.eye(many, dtype=bool), covers)
    found = _weigh(linked(whole), silent, exact=0)
    assert found._errors_added(800) == pytest.approx(student.isf(0.01 / 800, 2 * 16 - 1))
    assert (found.highest() >= np.tile(truth, many) - 1e-9).all()


def test_the_upper_bound_concentrates_a_distribution():
    mean = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    found = _concentrated(mean, mean + 0.15 * (mean > 0))
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found[0] == pytest.approx([0.65, 0.21, 0.14])
    assert found[1].tolist() == [1.0, 0.0, 0.0]


def test_estimates_that_do_not_quite_add_up_make_no_share_too_large():
    """Of two values, each half of every class, none has a share of more than one half."""
    mean = np.array([[0.5 - 4e-9, 0.5 - 3e-9], [0.5 + 1e-9, 0.5 + 2e-9], [0.3, 0.6999]])
    found = _concentrated(mean, np.full((3, 2), 0.5))
    assert (found == [0.5, 0.5]).all()


def test_a_value_that_is_possible_is_never_lost():
    """However unlikely a value is: distinct values stay distinct."""
    assert SCALE * 1e-9 > 1
