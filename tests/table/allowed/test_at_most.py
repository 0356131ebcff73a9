"""at_most in a plan: its forms, what it means for each kind of hierarchy, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shoal import BadPlan, Hierarchy, Plan
from shoal.hierarchies.free_values import Covers
from shoal.table.allowed.at_most import BEYOND, AtMost, tops_of
from tests.naive import at_most as naive

K = [{"name": "k-anonymity", "k": 2}]
RANGES = {"ranges": [5, 10]}
DATES = {"dates": ["month", "year"]}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"at_most": "exactly"}, "needs at_most = 'exact', { level = 2 } or { width = 10 }"),
        ({"at_most": {"wide": 5}}, "needs at_most = 'exact'"),
        ({"at_most": {"width": 5, "level": 1}}, "needs at_most = 'exact'"),
        ({"at_most": {}}, "needs at_most = 'exact'"),
        ({"at_most": 3}, "needs at_most = 'exact'"),
        ({"at_most": {"level": -1}}, "a whole number of 0 or more as the level of at_most, got -1"),
        ({"at_most": {"level": 1.5}}, "a whole number of 0 or more"),
        ({"at_most": {"level": True}}, "a whole number of 0 or more"),
        ({"at_most": {"width": 0}}, "a number above 0 as the width of at_most, got 0"),
        ({"at_most": {"width": "10"}}, "a number above 0 as the width"),
        ({"at_most": {"width": float("inf")}}, "a number above 0 as the width"),
        ({"at_most": {"width": 5}}, "no hierarchy, so that its values have no width; use at_most"),
        ({"at_most": {"width": 5}, "hierarchy": {"flat": True}}, "the hierarchy flat"),
        (
            {"at_most": {"width": 5}, "hierarchy": {"prefixes": True}},
            "hierarchy prefixes, so that its values have no width; use at_most = 'exact' or "
            "{ level = 1 }",
        ),
        ({"at_most": {"width": 2}, "hierarchy": {"free_sets": True}}, "the hierarchy free_sets"),
        ({"at_most": {"level": 1}, "hierarchy": {"free_sets": True}}, "no levels; use 'exact'"),
        ({"at_most": {"level": 1}, "hierarchy": {"free_ranges": True}}, "no levels; use width"),
        ({"at_most": {"width": 0.5}, "hierarchy": DATES}, "its width counts days: it is 1 or more"),
        (
            {"at_most": {"width": 0.5}, "hierarchy": {"levels": [["a", "*"]]}},
            "its width counts values",
        ),
        ({"at_most": "exact", "role": "sensitive"}, "at_most only with the role quasi"),
        ({"at_most": "exact", "role": "other"}, "at_most only with the role quasi, not other"),
    ],
)
def test_what_makes_no_sense_is_refused(column, message):
    with pytest.raises(BadPlan) as error:
        Plan(columns={"a": {"role": "quasi", **column}, "b": "quasi"}, models=K)
    assert message in str(error.value)
    assert str(error.value).startswith("column 'a'")


def test_suppression_is_stated_once():
    columns = {"a": {"role": "quasi", "at_most": "exact"}}
    both = {"name": "full-domain", "suppression": 0.1}
    with pytest.raises(BadPlan, match=r"suppression = 0\.05, and suppression = 0\.1"):
        Plan(columns=columns, models=K, algorithm=both, suppression=0.05)
    with pytest.raises(BadPlan, match="from 0 to 1"):
        Plan(columns=columns, models=K, suppression=1.5)
    assert Plan(columns=columns, models=K, algorithm=both).allowed_suppression == 0.1
    assert Plan(columns=columns, models=K, suppression=0.05).allowed_suppression == 0.05
    assert Plan(columns={"a": "quasi"}, models=K).allowed_suppression is None
    same = Plan(columns=columns, models=K, algorithm=both, suppression=0.1)
    assert same.changed(suppression=0.0).allowed_suppression == 0.1


def test_a_plan_is_the_same_from_its_file(tmp_path):
    columns = {
        "a": {"role": "quasi", "at_most": "exact"},
        "b": {"role": "quasi", "at_most": {"width": 10}, "hierarchy": RANGES},
        "c": {"role": "quasi", "at_most": {"width": 2.5}, "hierarchy": RANGES, "importance": 2},
        "d": {"role": "quasi", "at_most": {"level": 2}, "hierarchy": DATES},
        "e": {"role": "quasi", "at_most": {"level": 0}},
    }
    plan = Plan(columns=columns, models=K, suppression=0.05)
    plan.save(tmp_path / "plan.toml")
    text = (tmp_path / "plan.toml").read_text()
    for said in (
        "suppression = 0.05",
        'at_most = "exact"',
        "at_most = { width = 10 }",
        "at_most = { width = 2.5 }",
        "at_most = { level = 2 }",
    ):
        assert said in text
    again = Plan.load(tmp_path / "plan.toml")
    assert again.to_toml() == plan.to_toml()
    assert again.columns["e"].at_most == AtMost.of("exact")


@pytest.mark.parametrize("column", ["age", "stay", "zip", "day", "job", "sex"])
def test_tops_are_those_of_the_labels(column):
    """Every node against the naive definition, for all limits that make a difference."""
    values = {
        "age": [1, 7, 12, 13, 21, 44],
        "stay": [0, 2, 3, 4, 9, 29, 30, 90],
        "zip": ["47677", "47602", "47678", "48201"],
        "day": ["2023-02-27", "2024-02-29", "2024-03-01", "2024-08-13"],
        "job": list(naive.JOBS),
        "sex": ["f", "m"],
    }[column]
    given = naive.HIERARCHIES[column]
    hierarchy = Hierarchy.flat() if given is None else Hierarchy.of(given)
    tree = hierarchy.tree(values)
    limits = ["exact", *({"level": level} for level in range(6))]
    if column in ("age", "stay", "day", "job"):
        limits += [{"width": width} for width in (1, 2, 3, 5, 9, 10, 20, 29, 31, 91, 366, 10**6)]
    for limit in limits:
        tops = tops_of(AtMost.of(limit), hierarchy, tree)
        for node, label in enumerate(tree.labels):
            assert tops.allowed[node] == naive.allowed(column, limit, label, values)
        for value in values:
            expected = naive.top(column, limit, value, values)
            assert tree.labels[tops.top[tree.node(str(value))]] == expected
        assert tops.without_effect == naive.allowed(column, limit, tree.labels[0], values)


def test_missing_values_may_always_be_published():
    for hierarchy in (Hierarchy.of(RANGES), Hierarchy.flat(), Hierarchy.from_levels([["3", "*"]])):
        tree = hierarchy.tree(["3"]).with_missing(["?"])
        tops = tops_of(AtMost(level=0), hierarchy, tree)
        for label in ("3", "?", None):
            assert tops.top[tree.node(label)] == tree.node(label)
        assert tops.top[0] == BEYOND


def test_values_that_are_general_already_may_be_beyond_it():
    hierarchy = Hierarchy.of(RANGES)
    tree = hierarchy.tree(["3", "[10, 20)", "*"])
    tops = tops_of(AtMost(width=Fraction(5)), hierarchy, tree)
    assert tops.allowed[tree.node("3")]
    assert not tops.allowed[tree.node("[10, 20)")]
    assert not tops.allowed[0]


def test_free_ranges_stay_within_the_cells_of_a_grid():
    hierarchy = Hierarchy.free_ranges()
    tree = hierarchy.tree([3, 9, 10, 14.5, 20, 31])
    tops = tops_of(AtMost.of({"width": 10}), hierarchy, tree)
    cells = [int(tops.top[tree.node(value)]) for value in ("3", "9", "10", "14.5", "20", "31")]
    assert cells[0] == cells[1]
    assert cells[2] == cells[3]
    assert len(set(cells)) == 4
    covers = Covers(tree)
    codes = [covers.code(tree.code([1, 2])), covers.code(tree.code([2, 3])), 0]
    assert tops.of_codes(np.array(codes), covers).tolist() == [cells[0], BEYOND, BEYOND]
    # A range across two cells is narrow enough to be published, if somebody made it.
    assert tops.allowed_codes(np.array(codes), covers).tolist() == [True, True, False]
    # All numbers are within one range: they need no cells.
    assert tops_of(AtMost.of({"width": 28}), hierarchy, tree).without_effect
    lacking = tree.with_missing()
    tops = tops_of(AtMost.of({"width": 28}), hierarchy, lacking)
    assert len(set(tops.top[1:7].tolist())) == 1
    assert tops.top[lacking.node(None)] not in tops.top[:7]
