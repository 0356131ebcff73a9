"""Borders: numbers and dates that are cut where the plan says."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.base.errors import BadHierarchy
from shoal.hierarchies.base import Hierarchy
from tests.hierarchies.test_builders import path
from tests.strategies import examples

AGES = Hierarchy.borders([[18, 30, 45, 65], [18, 65]])
DAYS = Hierarchy.borders([["2020-03-01", "2021-07-01", "2024-01-01"], ["2021-07-01"]])


def test_ages() -> None:
    tree = AGES.tree(range(10, 91))
    assert path(tree, "17") == ["17", "<18", "*"]  # the same piece in both levels is one value
    assert path(tree, "18") == ["18", "[18, 30)", "[18, 65)", "*"]
    assert path(tree, "29") == ["29", "[18, 30)", "[18, 65)", "*"]
    assert path(tree, "64") == ["64", "[45, 65)", "[18, 65)", "*"]
    assert path(tree, "65") == ["65", ">=65", "*"]
    assert tree.leaves[0] == 81
    assert tree.leaves[tree.node("<18")] == 8
    assert tree.leaves[tree.node("[18, 65)")] == 47
    assert tree.leaves[tree.node(">=65")] == 26


def test_dates() -> None:
    days = ["2019-12-31", "2020-02-29", "2020-03-01", "2021-06-30", "2021-07-01", "2025-01-01"]
    tree = DAYS.tree([dt.date.fromisoformat(day) for day in days])
    assert path(tree, "2020-02-29") == ["2020-02-29", "<2020-03-01", "<2021-07-01", "*"]
    assert path(tree, "2021-06-30")[1:3] == ["[2020-03-01, 2021-07-01)", "<2021-07-01"]
    assert path(tree, "2021-07-01")[1:3] == ["[2021-07-01, 2024-01-01)", ">=2021-07-01"]
    assert tree.leaves[tree.node("[2020-03-01, 2021-07-01)")] == 487
    moments = DAYS.tree(["2021-06-30 23:59:59.5", "2021-07-01T00:00", "2021-07-01 00:00"])
    assert path(moments, "2021-06-30 23:59:59.5")[1] == "[2020-03-01, 2021-07-01)"
    assert path(moments, "2021-07-01")[1] == "[2021-07-01, 2024-01-01)"  # two spellings of one


def test_leaves_count_whether_or_not_they_occur() -> None:
    some, every = AGES.tree([10, 20, 70]), AGES.tree(range(10, 71))
    for label in some.labels:
        assert some.leaves[some.node(label)] == every.leaves[every.node(label)]


@st.composite
def borders(draw: st.DrawFn) -> list[list[Fraction]]:
    """Levels of borders in halves, each with fewer than the one before."""
    levels = [draw(st.sets(st.integers(-40, 40), min_size=1, max_size=8))]
    while len(levels[-1]) > 1 and draw(st.booleans()):
        fewer = draw(st.sets(st.sampled_from(sorted(levels[-1])), min_size=1))
        if fewer == levels[-1]:
            break
        levels.append(fewer)
    return [[Fraction(one, 2) for one in sorted(level)] for level in levels]


def naive(levels: list[list[Fraction]], number: Fraction) -> list[str]:
    """What is above a number, by looking at every piece."""
    found: list[str] = []
    for level in levels:
        pieces = [(None, level[0]), *pairwise(level), (level[-1], None)]
        for low, high in pieces:
            if (low is None or low <= number) and (high is None or number < high):
                low, high = (None if end is None else f"{float(end):g}" for end in (low, high))
                label = f"<{high}" if low is None else f"[{low}, {high})"
                found.append(label if high is not None else f">={low}")
    return list(dict.fromkeys(found))


@settings(max_examples=examples(200))
@given(levels=borders(), halves=st.lists(st.integers(-50, 50), min_size=1, max_size=20))
def test_every_piece_is_that_of_its_definition(
    levels: list[list[Fraction]], halves: list[int]
) -> None:
    hierarchy = Hierarchy.borders([[float(one) for one in level] for level in levels])
    numbers = sorted({Fraction(one, 2) for one in halves})
    tree = hierarchy.tree([f"{float(one):g}" for one in numbers])
    assert [label for label in tree.labels if not label.strip("-.0123456789")] == [
        f"{float(one):g}" for one in numbers
    ]  # in their order
    for number in numbers:
        way = path(tree, f"{float(number):g}")
        assert way[1:-1] == naive(levels, number)
        for label in way[1:-1]:
            low, high = hierarchy.ends(label)
            assert low is None or low <= number
            assert high is None or number < high
            assert hierarchy.labelled(low, high) == label == hierarchy.normal(label)
            wide = None if low is None or high is None else high - low
            assert hierarchy.extent(label) == wide
            level = hierarchy.level_of(label)
            assert label in naive(levels[level - 1 : level], number)
            assert label not in naive(levels[: level - 1], number)


def test_a_piece_that_occurs_already_is_generalized_further() -> None:
    tree = AGES.tree(["[18, 30)", "[18, 65)", "<18", ">=65", "[20, 25)", "[0, 20)", "*", "22"])
    assert path(tree, "[18, 30)") == ["[18, 30)", "[18, 65)", "*"]
    assert path(tree, "22") == ["22", "[18, 30)", "[18, 65)", "*"]
    assert path(tree, "[20, 25)")[1:] == ["[18, 30)", "[18, 65)", "*"]
    assert path(tree, "[0, 20)") == ["[0, 20)", "*"]
    assert path(tree, "<18") == ["<18", "*"]
    assert all(AGES.knows(one) for one in ("<18", "< 18", ">=65.0", "[18, 30)", 17.5, "*"))
    assert not any(AGES.knows(one) for one in ("<", ">=", ">65", "[18, 30]", "old", True))


def test_how_wide_and_how_many_steps_up() -> None:
    widths = {"17": 0, "[18, 30)": 12, "[18, 65)": 47, "<18": None, ">=65": None, "*": None}
    assert {label: AGES.extent(label) for label in widths} == widths
    levels = {"17": 0, "[18, 30)": 1, "<18": 1, ">=65": 1, "[18, 65)": 2, "*": 3, "[20, 25)": 0,
              "[20, 50)": 1, "[0, 20)": 2}  # fmt: skip
    assert {label: AGES.level_of(label) for label in levels} == levels
    assert DAYS.extent("[2020-03-01, 2021-07-01)") == 487
    assert (DAYS.extent("2020-03-01"), DAYS.extent("2020-03-01 12:00")) == (1, 0)
    assert DAYS.ends("2020-03-01 12:00") is None
    assert DAYS.ends("<2020-03-01") == (None, dt.date(2020, 2, 29))
    assert DAYS.labelled(dt.date(2021, 7, 1), None) == ">=2021-07-01"


def test_numbers_and_dates_in_several_spellings_are_one_value() -> None:
    ways = ["25", "25.0", "+25", " 25", "025", "2.5e1"]
    tree = AGES.tree([*ways, "31.0"])
    assert {tree.find(way) for way in ways} == {tree.node("25")}
    assert tree.labels[tree.find("31")] == "31.0"
    assert tree.find("[18.0, 30)") == tree.node("[18, 30)")
    days = ["2024-05-17", "20240517", "2024-05-17 00:00"]
    tree = DAYS.tree(days)
    assert {tree.find(day) for day in days} == {tree.node("2024-05-17")}


@pytest.mark.parametrize(
    "hierarchy",
    [
        AGES,
        DAYS,
        Hierarchy.borders([18, 65]),
        Hierarchy.borders([[-0.5, 10**12]]),
        Hierarchy.borders([[Decimal("0.1"), Decimal("0.2")]]),
        Hierarchy.borders([[dt.date(2024, 1, 1)]]),
    ],
)
def test_a_plan_file_has_the_same_borders(hierarchy: Hierarchy) -> None:
    columns = {"a": {"role": "quasi", "hierarchy": hierarchy}}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}])
    again = Hierarchy.of(hierarchy.setting())
    assert again.setting() == hierarchy.setting()
    assert hierarchy.listed_values() == 0
    assert "borders = [[" in plan.to_toml()


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([], "one list of numbers or dates per level"),
        ([[]], "one list of numbers or dates per level"),
        ([[18, 30], []], "one list of numbers or dates per level"),
        ("x", "such as '2024-05-17', not 'x'"),
        (None, "one list of numbers or dates per level"),
        ([[30, 18]], "from small to large, each once, not"),
        ([[18, 18]], "from small to large, each once, not"),
        ([[18, 30], [18, 31]], "31 is in .* and not in the level before"),
        ([[18, 30], [18, 30]], "occurs twice"),
        ([[18, "2024-05-17"]], "all numbers or all dates"),
        ([["2024-05-17", "2024-05-18"]], "at least two days apart"),
        ([["2024-05-17 12:00"]], "a border of dates is a date"),
        ([[float("nan")]], "finite"),
        ([[True]], "need numbers"),
        ([[10**400]], "at most 15 digits"),
        ([list(range(10_001))], "at most 10,000"),
        ({"a": 1}, "one list of numbers or dates per level"),
    ],
)
def test_borders_that_make_no_sense(levels: object, message: str) -> None:
    with pytest.raises(BadHierarchy, match=message):
        Hierarchy.of({"borders": levels})


def test_values_that_are_no_numbers_or_dates() -> None:
    with pytest.raises(BadHierarchy, match="borders need numbers, but the column has 'old'"):
        AGES.tree([17, "old"])
    with pytest.raises(BadHierarchy, match="not dates: '17', and the borders are;"):
        DAYS.tree(["17"])


def test_reports_name_the_borders() -> None:
    assert AGES.describe() == "in ranges cut at 18, 30, 45 and 65, or at 18 and 65"
    many = Hierarchy.borders([list(range(10, 100, 10)), [50]])
    assert many.describe() == "in ranges cut at 10, 20, 30, 40, … 90 (9 borders), or at 50"
    assert [step.words for step in AGES.steps()] == ["cut at 18, 30, 45 and 65", "cut at 18 and 65"]
    assert AGES.width("17").words == "the exact number"
    assert DAYS.width("2024-05-17").words == "the exact date"


@pytest.mark.parametrize("ranges", ["label", "bounds", "midpoint"])
def test_a_release_and_its_file(tmp_path, ranges: str) -> None:
    rows = pa.table({"age": [str(7 * i % 90) for i in range(60)], "sex": list("fm") * 30})
    columns = {"age": {"role": "quasi", "hierarchy": AGES}, "sex": "quasi"}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 5}], seed=2,
                write={"ranges": ranges})  # fmt: skip
    release = shoal.anonymize(rows, plan)
    published = set(release.frame["age"].to_pylist())
    assert published & {"<18", ">=65"}
    release.save(tmp_path / "out.csv")
    assert shoal.audit(tmp_path / "out.csv", plan).holds
    if ranges != "midpoint":
        found = shoal.audit(tmp_path / "out.csv", plan, original=rows)
        assert found.as_dict()["losses"] == pytest.approx(release.losses)
    if ranges == "bounds":
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert lines[0] == "age_low,age_high,sex"
        assert {line[:-2] for line in lines[1:]} >= {",18", "65,"}


def test_new_records_get_the_same_pieces(tmp_path) -> None:
    columns = {"age": {"role": "quasi", "hierarchy": AGES, "missing_values": ["?"]}}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}])
    fit = pa.table({"age": ["3", "4", "20", "25", "70", "99", "?", "?"]})
    release = shoal.anonymize(fit, plan)
    assert set(release.frame["age"].to_pylist()) == {"<18", "[18, 30)", ">=65", "?"}
    release.recoding.save(tmp_path / "recoding.json")
    fitted = shoal.Fitted.load(tmp_path / "recoding.json")
    new = pa.table({"age": ["1", "17.5", "18", "29", "65", "120", "?", "?"]})
    applied = fitted.apply(new, keep_order=True)
    assert applied.frame["age"].to_pylist() == [
        "<18", "<18", "[18, 30)", "[18, 30)", ">=65", ">=65", "?", "?",
    ]  # fmt: skip
