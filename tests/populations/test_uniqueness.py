"""Population uniqueness against published figures and naive twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal import datasets
from shoal.populations.class_sizes import ClassSizes
from shoal.populations.pitman import _reciprocals, _shares, pitman
from shoal.populations.pitman import parameters as pitman_parameters
from shoal.populations.slide_negative_binomial import (
    classes_in_population,
    slide_negative_binomial,
)
from shoal.populations.slide_negative_binomial import parameters as slide_parameters
from shoal.populations.uniqueness import population_uniqueness
from shoal.populations.zayatz import zayatz
from tests.naive import populations as naive

SMALL = [1] * 50 + [2] * 10 + [3] * 5 + [30] * 2


def sizes(given):
    return ClassSizes.of(np.array(given))


@pytest.fixture(scope="module")
def adult():
    table = datasets.adult().select(
        "age sex race marital-status education native-country workclass occupation "
        "salary-class".split()
    )
    return sizes(list(Counter(zip(*(c.to_pylist() for c in table.columns), strict=True)).values()))


def test_adult(adult):
    """../shared/risk.md: four digits count."""
    assert adult.records == 30_162
    assert adult.uniques / adult.records == 0.5142895033485844
    assert adult.classes / adult.records == 0.6465751607983555
    assert pitman(adult, 0.1).uniqueness == pytest.approx(0.27685, abs=5e-6)
    assert zayatz(adult, 0.1).uniqueness == pytest.approx(0.32074, abs=5e-6)


def test_the_rule_of_dankar(adult):
    small, large = population_uniqueness(adult, 0.1), population_uniqueness(adult, 0.2)
    assert small.chosen == "pitman"
    assert small.uniqueness == small.by_name("pitman").uniqueness
    others = [large.by_name(n).uniqueness for n in ("zayatz", "slide-negative-binomial")]
    assert large.uniqueness == min(others)
    assert large.by_name(large.chosen).uniqueness == min(others)


def test_never_more_than_the_sample():
    for fraction in (0.001, 0.05, 0.3, 0.8, 0.999, 1.0):
        found = population_uniqueness(sizes(SMALL), fraction)
        assert 0 <= found.uniqueness <= found.sample == 50 / 145


def test_the_whole_population_is_counted():
    assert population_uniqueness(sizes(SMALL), 1.0).uniqueness == 50 / 145


@pytest.mark.parametrize("given", [SMALL, [1] * 20 + [2] * 5 + [10], [1, 2, 4, 40, 41, 1, 1]])
def test_pitman_has_the_highest_likelihood(given):
    alpha, theta = pitman_parameters(sizes(given))
    best = naive.pitman_likelihood(given, alpha, theta)
    for a in np.linspace(0.01, 0.99, 50):
        for t in np.exp(np.linspace(np.log(1e-3), 6, 50)) - a:
            assert naive.pitman_likelihood(given, a, t) <= best + 1e-9


@pytest.mark.parametrize("x", [-0.5, 0.0, 3.0, 9e3, 1.1e4, 1e7, 1e12])
@pytest.mark.parametrize("m", [1, 2, 50, 3000])
def test_sums_do_not_cancel(x, m):
    i = np.arange(1, m + 1)
    assert _reciprocals(x, m) == pytest.approx((1 / (x + i)).sum(), rel=1e-10)
    assert _shares(x, m) == pytest.approx((i / (x + i)).sum(), rel=1e-9)


@pytest.mark.parametrize("given", [SMALL, [1] * 9 + [2, 3], [1, 1, 2, 2, 9, 30]])
def test_zayatz_is_its_twin(given):
    people = 10 * sum(given)
    assert zayatz(sizes(given), 0.1).uniques == pytest.approx(naive.zayatz(given, people))


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.6])
def test_slide_negative_binomial_gives_the_sample(fraction):
    """The parameters give the sample's numbers of classes of one and of two records."""
    classes = classes_in_population(sizes(SMALL), fraction)
    assert classes == pytest.approx(naive.shlosser(SMALL, fraction))
    alpha, beta = slide_parameters(sizes(SMALL), fraction)
    for records, count in ((1, 50), (2, 10)):
        share = naive.slide_negative_binomial_classes(alpha, beta, fraction, records)
        assert classes * share == pytest.approx(count, rel=1e-6)
    found = slide_negative_binomial(sizes(SMALL), fraction)
    assert found.uniques == pytest.approx(classes * beta**alpha)


def test_slide_negative_binomial_finds_the_population_that_it_assumes():
    """Classes of 1 + negative binomial people, sampled: within 15 % of the true uniques."""
    rng = np.random.default_rng(7)
    people = 1 + rng.negative_binomial(0.6, 0.15, 40_000)
    sampled = rng.binomial(people, 0.3)
    found = slide_negative_binomial(sizes(sampled[sampled > 0]), 0.3)
    assert found.uniques == pytest.approx((people == 1).sum(), rel=0.15)


def test_estimators_that_do_not_converge_say_why():
    unique = population_uniqueness(sizes([1] * 10), 0.05)
    assert unique.by_name("pitman").uniqueness is None
    assert "every record" in unique.by_name("pitman").reason
    assert "two records" in unique.by_name("slide-negative-binomial").reason
    assert (unique.expected, unique.chosen) == ("pitman", "zayatz")
    assert unique.uniqueness == 1.0
    alike = population_uniqueness(sizes([40, 41, 42]), 0.05)
    assert alike.by_name("pitman").reason
    assert alike.uniqueness == 0.0
    assert population_uniqueness(sizes([7]), 0.05).by_name("pitman").reason.endswith("class only")
