"""The distances against a linear program that solves the transport problem."""

from __future__ import annotations

from datetime import date
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import BadHierarchy, BadPlan
from shoal.hierarchies.base import Hierarchy
from shoal.models import _distances as distances
from shoal.table.equivalence_classes import tally
from shoal.table.sensitive import Histogram, Sensitive
from tests.strategies import examples, tables

optimize = pytest.importorskip("scipy.optimize")


def transport(p, q, ground):
    """The least work to turn p into q, ground[i][j] the distance from i to j."""
    m = len(p)
    leaves = np.kron(np.eye(m), np.ones(m))  # what leaves i is p[i] …
    arrives = np.kron(np.ones(m), np.eye(m))  # … and what arrives at j is q[j]
    best = optimize.linprog(
        np.asarray(ground, float).ravel(),
        A_eq=np.vstack([leaves, arrives]),
        b_eq=np.concatenate([p, q]),
        method="highs",
    )
    assert best.success
    return best.fun


def histogram_of(quasi, values, hierarchy=None):
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    codes = np.array([-1 if v is None else distinct.index(v) for v in values], np.int32)
    column = Sensitive.of("s", codes, distinct, hierarchy)
    rows = np.unique(quasi, return_inverse=True)[1].astype(np.int32).reshape(-1, 1)
    return tally(rows, None, [column]).histograms["s"]


def of_table(table):
    return tally(table.codes, None, table.sensitive).histograms["s"]


@settings(max_examples=examples(60))
@given(table=tables(most_rows=12, sensitive=True))
def test_equal_and_l1_are_transport_between_equally_far_values(table):
    histogram = of_table(table)
    m = len(histogram.total)
    work = [transport(p, histogram.overall, 1 - np.eye(m)) for p in histogram.dense()]
    assert distances.equal(histogram) == pytest.approx(work, abs=1e-9)
    assert distances.l1(histogram) == pytest.approx([2 * w for w in work], abs=1e-9)


@settings(max_examples=examples(60))
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(-20, 20))),
        min_size=2,
        max_size=14,
    )
)
def test_ordered_is_transport_on_ranks(rows):
    histogram = histogram_of([q for q, _ in rows], [v for _, v in rows])
    values = histogram.column.values
    line = sorted(range(len(values)), key=lambda v: (values[v] is None, values[v]))
    rank = np.argsort(line)
    ground = np.abs(rank[:, None] - rank[None, :]) / max(len(values) - 1, 1)
    work = [transport(p, histogram.overall, ground) for p in histogram.dense()]
    assert distances.ordered(histogram) == pytest.approx(work, abs=1e-9)


@settings(max_examples=examples(150))
@given(table=tables(most_rows=14, sensitive=True))
def test_hierarchical_is_transport_on_the_tree(table):
    """On any tree: unbalanced, with chains, values at inner nodes, and missing ones."""
    histogram = of_table(table)
    tree, nodes = histogram.column.tree, histogram.column.nodes
    top = max(int(tree.level[0]), 1)
    ground = [[tree.level[tree.join(a, b)] / top if a != b else 0 for b in nodes] for a in nodes]
    work = [transport(p, histogram.overall, ground) for p in histogram.dense()]
    assert distances.hierarchical(histogram) == pytest.approx(work, abs=1e-9)


@settings(max_examples=examples(60))
@given(table=tables(sensitive=True))
def test_kl_is_its_formula_and_bounds_the_variational_distance(table):
    histogram = of_table(table)
    kl = distances.kl(histogram)
    formula = [
        sum(p * np.log(p / q) for p, q in zip(row, histogram.overall, strict=True) if p > 0)
        for row in histogram.dense()
    ]
    assert kl == pytest.approx(formula, abs=1e-12)
    assert (distances.equal(histogram) <= np.sqrt(np.maximum(kl, 0) / 2) + 1e-9).all()  # Pinsker


def test_a_single_value_is_at_no_distance():
    for value, hierarchy in (("a", Hierarchy.from_levels([["a", "*"]])), (None, Hierarchy.flat())):
        histogram = histogram_of([1, 1, 2], [value] * 3, hierarchy)
        for distance in (
            distances.equal,
            distances.l1,
            distances.kl,
            distances.ordered,
            distances.hierarchical,
        ):
            assert distance(histogram).tolist() == [0, 0]


def test_the_ends_of_an_order_are_one_apart():
    histogram = histogram_of([1, 2], [3, 900])
    assert distances.ordered(histogram).tolist() == [0.5, 0.5]


def test_dates_rise_also_as_text():
    days = [date(2024, 1, 2), date(2023, 12, 31), date(2024, 10, 1), date(2024, 2, 1)]
    quasi = [1, 1, 2, 2]
    expected = distances.ordered(histogram_of(quasi, [2, 1, 4, 3]))
    assert distances.ordered(histogram_of(quasi, days)).tolist() == expected.tolist()
    written = [day.isoformat() for day in days]
    assert distances.ordered(histogram_of(quasi, written)).tolist() == expected.tolist()


def test_a_missing_value_is_the_last_rank():
    given = distances.ordered(histogram_of([1, 1, 2, 2], [5, None, -3, 40]))
    assert given.tolist() == distances.ordered(histogram_of([1, 1, 2, 2], [2, 4, 1, 3])).tolist()


def test_an_order_that_is_given_wins_and_may_name_more_than_there_is():
    values = ["low", "high", "middle", "low"]
    order = ["none", "low", "middle", "high", "highest"]
    expected = distances.ordered(histogram_of([1, 1, 2, 2], [1, 3, 2, 1]))
    assert distances.ordered(histogram_of([1, 1, 2, 2], values), order).tolist() == (
        expected.tolist()
    )
    numbers = histogram_of([1, 1, 2], [10, 2, 30])
    expected = distances.ordered(histogram_of([1, 1, 2], [1, 3, 2]))
    assert distances.ordered(numbers, ["10.0", 30, 2]).tolist() == expected.tolist()


def test_an_order_that_lacks_values_names_them():
    histogram = histogram_of([1, 2, 2], ["low", "high", "middle"])
    with pytest.raises(BadPlan, match="order of the sensitive column 's' lacks its values 'high'"):
        distances.ordered(histogram, ["low", "middle"])


@pytest.mark.parametrize("hierarchy", [None, Hierarchy.flat()])
def test_text_without_an_order_is_refused(hierarchy):
    """Alphabetical order, which suppression only would give, means nothing."""
    with pytest.raises(BadPlan, match=r"'s' have no order of their own.*order = "):
        distances.ordered(histogram_of([1, 2, 2], ["low", "high", "7"], hierarchy))


def test_hierarchical_needs_a_hierarchy_with_every_value():
    with pytest.raises(BadPlan, match="needs a hierarchy of the sensitive column 's'"):
        distances.hierarchical(histogram_of([1, 2], ["a", "b"]))
    short = Hierarchy.from_levels([["a", "*"]])
    with pytest.raises(BadHierarchy, match="'s': its hierarchy lacks the value 'b'"):
        distances.hierarchical(histogram_of([1, 2], ["a", "b"], short))


def test_many_classes_are_quick():
    rng = np.random.default_rng(3)
    classes, values = 100_000, 100
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, 4 * classes)])
    codes = rng.integers(0, values, len(label)).astype(np.int32)
    hierarchy = Hierarchy.ranges([5, 20])
    column = Sensitive.of("s", codes, list(rng.permutation(values).tolist()), hierarchy)
    histogram = Histogram.of(label, classes, column)
    for distance in (distances.equal, distances.kl, distances.ordered, distances.hierarchical):
        distance(histogram)  # compiles
        begin = perf_counter()
        assert distance(histogram).shape == (classes,)
        assert perf_counter() - begin < 2  # a tenth of a second on an idle machine


def test_two_ways_to_write_a_number_are_of_one_rank():
    values = ("1", "1.0", "2", "3")
    codes = np.array([0, 1, 2, 3, 0, 2], np.int32)
    label = np.array([0, 0, 0, 1, 1, 1])
    turned = ("1.0", "1", "2", "3")
    swapped = np.array([1, 0, 2, 3, 1, 2], np.int32)
    one = Histogram.of(label, 2, Sensitive("s", codes, values))
    two = Histogram.of(label, 2, Sensitive("s", swapped, turned))
    assert distances.ordered(one).tolist() == distances.ordered(two).tolist()
    same = Histogram.of(label, 2, Sensitive("s", codes % 2, ("1", "1.0")))
    assert distances.ordered(same).tolist() == [0.0, 0.0]
