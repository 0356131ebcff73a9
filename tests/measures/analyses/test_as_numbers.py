"""Which columns are numbers, and which numbers a value stands for."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import Hierarchy
from shoal.hierarchies.free_values import Covers
from shoal.measures.analyses.as_numbers import YEAR, number_column


def of(hierarchy, values, labels):
    """The mean and the variance of each label in the column with these values."""
    tree = hierarchy.tree(values)
    covers = Covers(tree)
    codes = []
    for label in labels:
        node = tree.node(label)
        codes.append(node if node >= 0 else covers.code(tree.cover(label)))
    found = number_column(tree, hierarchy).of_codes(np.array(codes), covers)
    return list(zip(found.mean.tolist(), found.variance.tolist(), strict=True))


def test_a_range_of_whole_numbers_is_the_whole_numbers_in_it():
    found = of(Hierarchy.ranges([10, 20]), ["31", "47", "50"], ["31", "[30, 40)", "[40, 60)"])
    assert found == [(31, 0), (34.5, np.var(range(30, 40))), (49.5, np.var(range(40, 60)))]


def test_a_range_of_other_numbers_is_uniform():
    assert of(Hierarchy.ranges([10]), ["31.5"], ["[30, 40)"]) == [(35, 100 / 12)]


def test_a_piece_without_an_end_is_the_numbers_that_occur_in_it():
    found = of(Hierarchy.borders([[30, 40]]), ["3", "31", "50", "70"], ["<30", "[30, 40)", ">=40"])
    assert found == [(3, 0), (34.5, np.var(range(30, 40))), (60, 100)]
    days = Hierarchy.borders([["2024-03-01"]])
    first, last = of(days, ["2024-02-28", "2024-03-05"], ["<2024-03-01", ">=2024-03-01"])
    assert (last[0] - first[0]) * YEAR == pytest.approx(6)


def test_free_ranges_include_both_ends():
    values = ["3", "5", "9"]
    assert of(Hierarchy.free_ranges(), values, ["[3, 5]"]) == [(4, np.var([3, 4, 5]))]
    assert of(Hierarchy.free_ranges(), ["3", "5.5", "9"], ["[3, 5.5]"]) == [(4.25, 2.5**2 / 12)]


def test_suppressed_and_missing_values_are_missing():
    hierarchy = Hierarchy.ranges([10])
    tree = hierarchy.tree(["31"]).with_missing(["?"])
    column = number_column(tree, hierarchy)
    codes = np.array([0, tree.node("?"), tree.node(None)])
    assert np.isnan(column.of_codes(codes, Covers(tree)).mean).all()


def test_a_value_that_was_a_range_already():
    found = of(Hierarchy.ranges([10, 20]), ["31", "[40, 50)"], ["[40, 50)", "31"])
    assert found == [(44.5, np.var(range(40, 50))), (31, 0)]


def test_dates_are_years():
    labels = ["2024-03-01", "2024-03", "2024"]
    day, month, year = of(Hierarchy.dates(["month", "year"]), ["2024-03-01", "2023-01-05"], labels)
    begin = 1970 + 19783 / YEAR  # days from 1970 to 2024-03-01
    assert day == (pytest.approx(begin), 0)
    assert month[0] == pytest.approx(begin + 15 / YEAR)
    assert month[1] == pytest.approx(np.var(range(31)) / YEAR**2)
    assert year[1] == pytest.approx(np.var(range(366)) / YEAR**2)


def test_dates_with_a_time_of_day():
    values = ["2024-03-01 12:00", "2024-03-02 06:00"]
    first, month = of(Hierarchy.dates(["month"]), values, ["2024-03-01 12:00", "2024-03"])
    assert first[0] == pytest.approx(1970 + 19783.5 / YEAR)
    assert month[0] == pytest.approx(1970 + (19783 + 15.5) / YEAR)
    assert month[1] == pytest.approx(31**2 / 12 / YEAR**2)


def test_numbers_in_a_level_table_if_it_groups_neighbours():
    near = Hierarchy.from_levels([["1", "low", "*"], ["2", "low", "*"], ["7", "high", "*"]])
    assert of(near, (), ["low", "7"]) == [(1.5, 0.25), (7, 0)]
    codes = Hierarchy.from_levels([["1", "x", "*"], ["2", "y", "*"], ["7", "x", "*"]])
    assert number_column(codes.tree(), codes) is None


@pytest.mark.parametrize(
    ("hierarchy", "values"),
    [
        (Hierarchy.flat(), ["02139", "10001"]),
        (Hierarchy.flat(), ["1", "two"]),
        (Hierarchy.prefixes(), ["10001", "20002"]),
    ],
    ids=["leading zeros", "a word", "codes"],
)
def test_columns_that_are_no_numbers(hierarchy, values):
    assert number_column(hierarchy.tree(values), hierarchy) is None


def test_numbers_without_a_hierarchy():
    assert of(Hierarchy.flat(), ["7", "-1.5", "2e3"], ["-1.5", "2e3"]) == [(-1.5, 0), (2000, 0)]
