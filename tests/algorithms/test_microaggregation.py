"""Microaggregation: MDAV as a scan finds it, and sums of squares that no other classes undercut."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms._shared.points.square_clusters import best_cut, mdav_clusters, path_through
from shoal.algorithms._shared.points.standardized import Standardized
from shoal.algorithms.microaggregation import Microaggregation
from shoal.base.progress import silent
from tests.naive import microaggregation as numbers
from tests.naive import squares as naive
from tests.strategies import examples

SPOT = st.tuples(st.integers(-6, 6), st.integers(-3, 3), st.integers(0, 2))


def points(rows, cost=3.0):
    """Two columns of numbers and one of categories."""
    x = np.array(rows, np.float64)
    codes = int(x[:, 2].max()) + 1
    return Standardized(x, np.array([0.0, 0.0, cost]), np.array([0, 0, 0, codes]))


def groups_of(label):
    return sorted(sorted(np.flatnonzero(label == one).tolist()) for one in np.unique(label))


def squares_of(found, label):
    units = found.x.tolist()
    groups = [[units[i] for i in group] for group in groups_of(label)]
    return sum(naive.within(group, found.cost.tolist()) for group in groups)


@settings(max_examples=examples(150))
@given(rows=st.lists(SPOT, min_size=2, max_size=60), k=st.integers(2, 5))
def test_mdav_finds_what_a_scan_finds(rows, k):
    found = points(rows)
    try:
        expected = naive.mdav(found.x.tolist(), found.cost.tolist(), k)
    except naive.Unsure:
        return
    assert groups_of(mdav_clusters(found, k, silent)) == sorted(map(sorted, expected))


@pytest.mark.parametrize("seed", range(3))
def test_mdav_finds_what_a_scan_finds_in_a_larger_tree(seed):
    rng = np.random.default_rng(seed)
    rows = [*zip(rng.normal(0, 9, 400), rng.lognormal(0, 1, 400), rng.integers(0, 5, 400))]  # noqa: B905
    found = points(rows)
    expected = naive.mdav(found.x.tolist(), found.cost.tolist(), 3 + seed, same=0)
    assert groups_of(mdav_clusters(found, 3 + seed, silent)) == sorted(map(sorted, expected))


@settings(max_examples=examples(150))
@given(rows=st.lists(SPOT, min_size=2, max_size=14), k=st.integers(2, 4))
def test_no_cut_of_the_path_has_a_lower_sum_of_squares(rows, k):
    if len(rows) < k:
        return
    found = points(rows)
    clusters = mdav_clusters(found, k, silent)
    path = path_through(found, clusters, silent)
    assert sorted(path.tolist()) == list(range(len(rows)))
    label = best_cut(found, path, k, silent)
    sizes = np.bincount(label)
    assert k <= sizes.min()
    assert sizes.max() < 2 * k
    ordered = [found.x[u].tolist() for u in path]
    best = naive.lowest_cut(ordered, found.cost.tolist(), k)
    assert squares_of(found, label) == pytest.approx(best)
    assert squares_of(found, label) <= squares_of(found, clusters) + 1e-9


def table_of(*columns):
    return pa.table({name: list(one) for name, one in zip("abc", columns, strict=False)})


def plan_of(k, columns=("a",), how="mean", **options):
    return {
        "columns": {name: {"role": "quasi", "microaggregate": how} for name in columns},
        "models": [{"name": "k-anonymity", "k": k}],
        "algorithm": {"name": "microaggregation", **options},
        "seed": 1,
    }


def squares_in(table, release, name="a"):
    """The sum of squares within the published classes, and the smallest of them."""
    groups = {}
    for old, new in zip(table[name].to_pylist(), release.frame.to_pylist(), strict=True):
        groups.setdefault(tuple(new.values()), []).append(old)
    units = [[[float(one)] for one in group] for group in groups.values()]
    return sum(naive.within(group, [0]) for group in units), min(map(len, units))


@settings(max_examples=examples(25))
@given(
    values=st.lists(st.integers(0, 12), min_size=2, max_size=9).filter(lambda v: len(set(v)) > 1),
    k=st.integers(2, 3),
)
def test_no_classes_of_one_column_have_a_lower_sum_of_squares(values, k):
    """By trying all partitions, also those that are no ranges; equal values may be separated."""
    if len(values) < k:
        return
    table = table_of([1000 * one for one in values])  # means are not rounded to the same number
    release = shoal.anonymize(table, plan_of(k), keep_order=True)
    found, smallest = squares_in(table, release)
    assert smallest >= k
    assert found == pytest.approx(naive.lowest([[v] for v in table["a"].to_pylist()], [0], k))


def test_large_numbers_that_differ_by_little_are_told_apart():
    """As floats all of them would be the same number."""
    large = 10**17
    table = table_of([large + one for one in (0, 2, 6, 8)])
    release = shoal.anonymize(table, plan_of(2), keep_order=True)
    assert [one - large for one in release.frame["a"].to_pylist()] == [1, 1, 7, 7]


def test_equal_values_are_separated_where_that_helps():
    table = table_of([0, 50, 50, 50, 50, 100])
    release = shoal.anonymize(table, plan_of(3), keep_order=True)
    assert sorted(release.frame["a"].to_pylist()) == [33, 33, 33, 67, 67, 67]
    assert release.smallest_class == 3


@pytest.mark.parametrize("method", ["mdav", "shortest-path"])
def test_numbers_are_weighed_by_their_deviation(method):
    """A column in thousands counts no more than one in units."""
    rng = np.random.default_rng(1)
    one, other = rng.permutation(40), rng.permutation(40)
    small, large = table_of(one, other), table_of(one, other * 1000)
    both = [
        shoal.anonymize(table, plan_of(4, ("a", "b"), method=method), keep_order=True)
        for table in (small, large)
    ]
    assert both[0].frame["a"].to_pylist() == both[1].frame["a"].to_pylist()


@pytest.mark.parametrize("method", ["mdav", "shortest-path"])
@pytest.mark.parametrize("lacking", [0, 3])
def test_categories_and_missing_values(method, lacking):
    """Classes without a missing number are possible, so no number is lost to one."""
    rng = np.random.default_rng(2)
    age = rng.integers(20, 60, 60).tolist()
    age[:lacking] = [None] * lacking
    table = pa.table({"a": pa.array(age, pa.int64()), "sex": rng.choice(["f", "m"], 60)})
    plan = plan_of(3, method=method)
    plan["columns"]["sex"] = "quasi"
    release = shoal.anonymize(table, plan, keep_order=True)
    groups = {}
    for old, new in zip(table.to_pylist(), release.frame.to_pylist(), strict=True):
        groups.setdefault(tuple(new.values()), []).append(old)
    assert min(map(len, groups.values())) >= 3
    for (shown, sex), inside in groups.items():
        exact = numbers.number([one["a"] for one in inside], "mean")
        assert (shown is None) == (exact is None)
        assert shown is None or Fraction(shown) == round(exact)
        assert sex in ("*", inside[0]["sex"])
    assert release.frame["a"].null_count == lacking


@pytest.mark.parametrize("method", ["mdav", "shortest-path"])
def test_a_person_counts_once(method):
    rng = np.random.default_rng(3)
    table = pa.table({"a": rng.integers(0, 1000, 60), "who": np.arange(60) % 20})
    plan = plan_of(4, method=method)
    plan["columns"]["who"] = "person"
    release = shoal.anonymize(table, plan)
    people = {}
    for row in release.frame.to_pylist():
        people.setdefault(row["a"], set()).add(row["who"])
    assert min(map(len, people.values())) >= 4
    assert len(people) > 2


def test_the_importance_of_a_column_counts():
    rng = np.random.default_rng(4)
    table = table_of(rng.permutation(60), rng.permutation(60))
    lost = []
    for importance in (1, 100):
        plan = plan_of(3, ("a", "b"))
        plan["columns"]["a"]["importance"] = importance
        release = shoal.anonymize(table, plan, keep_order=True)
        lost.append(squares_in(table, release)[0])
    assert lost[1] < lost[0] / 4


def test_the_order_of_the_records_changes_nothing():
    rng = np.random.default_rng(5)
    table = table_of(rng.integers(0, 9, 80), rng.integers(0, 9, 80))
    turned = table.take(rng.permutation(80))
    both = [shoal.anonymize(one, plan_of(3, ("a", "b"))).frame for one in (table, turned)]
    rows = [sorted(map(str, one.to_pylist())) for one in both]
    assert rows[0] == rows[1]


def test_fewer_people_than_k_are_refused():
    with pytest.raises(shoal.CannotReach):
        shoal.anonymize(table_of([1, 2, 3]), plan_of(4))


def test_it_is_not_tried_by_auto():
    """Auto compares losses, and classes by squares rarely have a low one."""
    plan = plan_of(3) | {"algorithm": "auto"}
    release = shoal.anonymize(table_of(range(40)), plan)
    assert release.plan.algorithm.name != "microaggregation"
    assert not Microaggregation.minimizes_loss


def test_progress_is_reported_and_a_run_can_be_stopped():
    class Enough(Exception):
        pass

    def stop(stage, share):
        if stage in ("filling clusters", "joining clusters", "cutting") and share > 0:
            seen.append(stage)
            if stage == "cutting":
                raise Enough

    rng = np.random.default_rng(6)
    seen = []
    with pytest.raises(Enough):
        shoal.anonymize(table_of(rng.random(500), rng.random(500)), plan_of(3, "ab"), progress=stop)
    assert {"filling clusters", "joining clusters"} <= set(seen)
