"""Hierarchies: every builder, and errors that name what is wrong."""

from __future__ import annotations

import datetime as dt
import gzip
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadFile, BadHierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.values import plain, range_of, text
from shoal.losses import lost_leaves


def path(tree, label):
    """Labels from a value up to the root."""
    node, labels = tree.node(label), []
    while True:
        labels.append(tree.labels[node])
        if node == 0:
            return labels
        node = int(tree.parent[node])


class TestRanges:
    def test_ages(self):
        tree = Hierarchy.ranges([5, 10, 20]).tree(range(17, 91))
        assert path(tree, "17") == ["17", "[15, 20)", "[10, 20)", "[0, 20)", "*"]
        assert path(tree, "20") == ["20", "[20, 25)", "[20, 30)", "[20, 40)", "*"]
        assert path(tree, "90") == ["90", "[90, 95)", "[90, 100)", "[80, 100)", "*"]
        assert tree.height == 5
        assert tree.leaves[0] == 74
        assert tree.leaves[tree.node("[15, 20)")] == 3  # 17, 18, 19

    def test_leaves_count_whether_or_not_they_occur(self):
        some = Hierarchy.ranges([5, 10, 20]).tree([17, 42, 90])
        every = Hierarchy.ranges([5, 10, 20]).tree(range(17, 91))
        for label in some.labels:
            assert some.leaves[some.node(label)] == every.leaves[every.node(label)]

    @given(
        st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=30),
        st.integers(1, 50),
        st.integers(-100, 100),
    )
    def test_every_range_holds_its_numbers(self, numbers, width, start):
        tree = Hierarchy.ranges([width, 3 * width], start).tree(numbers)
        for number in numbers:
            for label in path(tree, str(number))[1:-1]:
                low, high = map(int, label.strip("[)").split(", "))
                assert low <= number < high

    @pytest.mark.parametrize("hierarchy", [Hierarchy.ranges([10]), Hierarchy.free_ranges()])
    def test_one_number_in_several_spellings_is_one_value(self, hierarchy):
        ways = ["25", "25.0", "+25", " 25", "025", "2.5e1", "25."]
        tree = hierarchy.tree([*ways, "31.0", ".5", "1e3"])
        assert {tree.find(way) for way in ways} == {tree.node("25")}
        # Spelled in one way only, it keeps its spelling, and is found in any other.
        assert tree.labels[tree.find("31")] == "31.0"
        assert tree.labels[tree.find("0.50")] == ".5"
        assert tree.labels[tree.find("1000")] == "1e3"
        assert tree.find("26") == -1
        assert tree.labels == hierarchy.tree(["1e3", ".5", "31.0", *ways[::-1]]).labels

    @pytest.mark.parametrize("numbers", [[1, 10**20], [-(2**63), 2**63 - 1], [0, 2**64 - 1]])
    def test_more_whole_numbers_than_a_word_can_count(self, numbers):
        tree = Hierarchy.ranges([10, 1000]).tree(numbers)
        assert tree.leaves[0] == pytest.approx(numbers[1] - numbers[0])
        assert (lost_leaves(tree) >= 0).all()

    def test_upper_end_is_outside(self):
        tree = Hierarchy.ranges([5]).tree([24, 25])
        assert path(tree, "24")[1] == "[20, 25)"
        assert path(tree, "25")[1] == "[25, 30)"

    def test_decimals_are_exact(self):
        tree = Hierarchy.ranges([0.1, 0.5]).tree([0.3, 0.29, Decimal("0.7")])
        assert path(tree, "0.3") == ["0.3", "[0.3, 0.4)", "[0, 0.5)", "*"]
        assert path(tree, "0.29")[1] == "[0.2, 0.3)"
        assert path(tree, "0.7")[1] == "[0.7, 0.8)"

    @pytest.mark.parametrize("value", ["9007199254740993.25", "123456789012345678.9", "1e-30"])
    def test_many_digits_are_exact(self, value):
        tree = Hierarchy.ranges([0.5]).tree([value, 0.1])
        low, high = range_of(path(tree, value)[1])
        assert low <= Fraction(value) < high == low + Fraction(1, 2)

    def test_what_a_plan_file_cannot_hold(self):
        for width in (Decimal("0.99999999999999999999"), 1e301, float("nan"), float("inf")):
            with pytest.raises(BadHierarchy):
                Hierarchy.ranges([width])

    def test_negative_numbers_and_start(self):
        tree = Hierarchy.ranges([10], start=5).tree([-7, 3, 5])
        assert path(tree, "-7")[1] == "[-15, -5)"
        assert path(tree, "3")[1] == "[-5, 5)"
        assert path(tree, "5")[1] == "[5, 15)"

    def test_text_and_numbers_alike(self):
        assert (
            Hierarchy.ranges([5]).tree(["17", "20"]).labels
            == Hierarchy.ranges([5]).tree([17.0, 20.0]).labels
        )

    @pytest.mark.parametrize(
        ("widths", "message"),
        [
            ([5, 12], "12 is not a multiple of 5"),
            ([10, 5], "small to large"),
            ([], "above 0"),
            ([0], "above 0"),
            (["5"], "need numbers"),
        ],
    )
    def test_bad_widths(self, widths, message):
        with pytest.raises(BadHierarchy, match=message):
            Hierarchy.ranges(widths)

    @pytest.mark.parametrize("value", ["old", "17-20", True, float("inf"), dt.date(2024, 1, 1)])
    def test_no_numbers(self, value):
        with pytest.raises(BadHierarchy):
            Hierarchy.ranges([5]).tree([17, value])


class TestPrefixes:
    def test_postcodes(self):
        tree = Hierarchy.prefixes().tree(["47677", "47602", "02139"])
        assert path(tree, "47677") == ["47677", "4767*", "476**", "47***", "4****", "*"]
        assert path(tree, "02139")[-2] == "0****"

    def test_codes_of_different_lengths(self):
        tree = Hierarchy.prefixes().tree(["M1", "M12", "SW1A"])
        assert path(tree, "M12") == ["M12", "M12*", "M1*", "M*", "*"]
        assert path(tree, "M1") == ["M1", "M1*", "M*", "*"]
        assert tree.labels[tree.join(tree.node("M1"), tree.node("M12"))] == "M1*"

    def test_some_lengths(self):
        tree = Hierarchy.prefixes([3, 1]).tree(["47677"])
        assert path(tree, "47677") == ["47677", "476**", "4****", "*"]
        with pytest.raises(BadHierarchy, match="decreasing"):
            Hierarchy.prefixes([1, 3])

    def test_numbers(self):
        assert path(Hierarchy.prefixes().tree([123, 145]), "123")[1] == "12*"


class TestDates:
    def test_steps(self):
        tree = Hierarchy.dates(["month", "quarter", "year", "5 years", "decade"]).tree(
            [dt.date(2024, 5, 17), dt.date(2019, 12, 31)]
        )
        assert path(tree, "2024-05-17") == [
            "2024-05-17", "2024-05", "2024-Q2", "2024", "2020 to 2024", "2020 to 2029", "*",
        ]  # fmt: skip

    def test_days_of_moments(self):
        tree = Hierarchy.dates(["hour", "day", "month"]).tree([dt.datetime(2024, 5, 17, 13, 45)])
        assert path(tree, "2024-05-17 13:45:00")[1:] == [
            "2024-05-17 13h",
            "2024-05-17",
            "2024-05",
            "*",
        ]

    def test_text(self):
        tree = Hierarchy.dates(["year"]).tree(["2024-05-17", "2024-05-17 10:00"])
        assert path(tree, "2024-05-17")[1] == "2024"

    def test_one_date_in_several_spellings_is_one_value(self):
        ways = ["2024-05-17", "2024-05-17 00:00", "2024-05-17T00:00:00", "20240517", " 2024-05-17"]
        tree = Hierarchy.dates(["month"]).tree([*ways, "2024-05-17T10:00", "2024-05-18 00:00"])
        assert {tree.find(way) for way in ways} == {tree.node("2024-05-17")}
        assert tree.labels[tree.find("2024-05-18")] == "2024-05-18 00:00"
        assert tree.labels[tree.find("2024-05-17 10:00:00")] == "2024-05-17T10:00"
        # With days as steps, a day is more than its first moment.
        tree = Hierarchy.dates(["day", "month"]).tree([*ways[1:3], "2024-05-17 13:45"])
        assert path(tree, "2024-05-17 00:00:00")[1:3] == ["2024-05-17", "2024-05"]
        assert tree.find(ways[1]) == tree.find(ways[2]) == tree.node("2024-05-17 00:00:00")
        tree = Hierarchy.dates(["hour", "day"]).tree([*ways[1:3], "2024-05-17 13:45"])
        assert path(tree, "2024-05-17 00:00:00")[1:3] == ["2024-05-17 00h", "2024-05-17"]

    def test_moments_of_several_time_zones_stay_apart(self):
        ways = ["2024-05-17 00:00+02:00", "2024-05-17 00:00Z", "2024-05-17 00:00"]
        tree = Hierarchy.dates(["month"]).tree(ways)
        assert len({tree.find(way) for way in ways}) == 3

    def test_days_count_whether_or_not_they_occur(self):
        tree = Hierarchy.dates(["year"]).tree([dt.date(2023, 12, 31), dt.date(2024, 12, 31)])
        assert tree.leaves[0] == 367
        assert tree.leaves[tree.node("2024")] == 366
        assert tree.leaves[tree.node("2023")] == 1

    @pytest.mark.parametrize(
        "steps", [["year", "month"], ["week", "month"], ["quarter", "quarter"]]
    )
    def test_steps_that_do_not_fit(self, steps):
        with pytest.raises(BadHierarchy, match="does not consist of whole steps"):
            Hierarchy.dates(steps)

    def test_unknown_step_and_no_dates(self):
        with pytest.raises(BadHierarchy, match="did you mean 'month'"):
            Hierarchy.dates(["mont"])
        with pytest.raises(BadHierarchy, match=r"not dates: '17\.5\.2024'"):
            Hierarchy.dates(["month"]).tree(["17.5.2024"])


class TestGiven:
    def test_unbalanced_with_single_children_and_another_root(self):
        tree = Hierarchy.from_levels(
            [["a", "A", "AA", "any"], ["b", "any"], ["c", "C", "any"]]
        ).tree()
        assert tree.labels[0] == "any"
        assert path(tree, "b") == ["b", "any"]
        assert tree.height == 4

    def test_padded_rows(self):
        tree = Hierarchy.from_levels([["a", "A", "*"], ["b", "", "*"], ["c", "*", ""]]).tree()
        assert path(tree, "b") == ["b", "*"]
        assert path(tree, "c") == ["c", "*"]

    def test_nested_with_lists_and_empty_leaves(self):
        tree = Hierarchy.from_tree({"A": ["a", 1], "B": {"b": None, "c": {}}}).tree()
        assert tree.labels == ("*", "A", "a", "1", "B", "b", "c")

    def test_nested_too_deep(self):
        nested = ["leaf"]
        for i in range(3000):
            nested = {f"n{i}": nested}
        with pytest.raises(BadHierarchy, match="too deep; give each value its parent"):
            Hierarchy.from_tree(nested)
        parents = {f"n{i}": f"n{i + 1}" for i in range(3000)}
        assert Hierarchy.from_parents(parents).tree().height == 3001

    def test_parents_with_a_cycle(self):
        with pytest.raises(BadHierarchy, match="cycle"):
            Hierarchy.from_parents({"a": "b", "b": "a"})
        with pytest.raises(BadHierarchy, match="cycle"):
            Hierarchy.from_parents({"a": "b", "b": "c", "c": "b"})

    def test_parents_with_two_roots(self):
        with pytest.raises(BadHierarchy, match="same root"):
            Hierarchy.from_parents({"a": "X", "b": "Y"})

    def test_files(self, tmp_path):
        plain_file = tmp_path / "h.csv"
        plain_file.write_text("Cat;Felid;*\nLion;Felid;*\nDog;*\n", encoding="utf-8")
        packed = tmp_path / "h.csv.gz"
        packed.write_bytes(gzip.compress(b'\xef\xbb\xbf"Cat","Felid","*"\r\n"Dog, big","*"\r\n'))
        assert Hierarchy.from_csv(plain_file).tree().labels == ("*", "Felid", "Cat", "Lion", "Dog")
        assert Hierarchy.from_csv(packed).tree().node("Dog, big") > 0
        assert Hierarchy.from_csv(plain_file, sep=";").setting()["sep"] == ";"

    def test_bad_files(self, tmp_path):
        with pytest.raises(BadFile, match="no such file; paths are relative"):
            Hierarchy.from_csv(tmp_path / "none.csv")
        (tmp_path / "latin.csv").write_bytes("Zoë;*\n".encode("latin-1"))
        with pytest.raises(BadFile, match="UTF-8"):
            Hierarchy.from_csv(tmp_path / "latin.csv")
        (tmp_path / "twice.csv").write_text("a;X;*\na;Y;*\n", encoding="utf-8")
        with pytest.raises(BadHierarchy, match=r"twice\.csv: .*'a' has the parents"):
            Hierarchy.from_csv(tmp_path / "twice.csv")
        (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a;*\n")[:-6])
        with pytest.raises(BadFile):
            Hierarchy.from_csv(tmp_path / "cut.csv.gz")

    def test_settings(self):
        with pytest.raises(BadHierarchy, match="did you mean 'ranges'"):
            Hierarchy.of({"range": [5]})
        with pytest.raises(BadHierarchy, match="no option 'stert'"):
            Hierarchy.of({"ranges": [5], "stert": 1})
        with pytest.raises(BadHierarchy, match="not int"):
            Hierarchy.of(5)

    @pytest.mark.parametrize(
        "hierarchy",
        [
            Hierarchy.ranges([5, 10], start=2),
            Hierarchy.borders([[18, 30], [18]]),
            Hierarchy.prefixes(),
            Hierarchy.prefixes([2, 1]),
            Hierarchy.dates(["month", "5 years"]),
            Hierarchy.flat(),
            Hierarchy.from_tree({"*": {"A": ["a", "b"], "c": None}}),
            Hierarchy.from_parents({"a": "A", "A": "*"}),
            Hierarchy.from_levels([["a", "A", "*"], ["b", "*"]]),
        ],
    )
    def test_settings_make_the_same_again(self, hierarchy):
        again = Hierarchy.of(hierarchy.setting())
        values = ["2024-05-17", "2019-01-01"] if "dates" in hierarchy.setting() else [17, 23]
        assert again.tree(values).labels == hierarchy.tree(values).labels
        assert again.setting() == hierarchy.setting()


def test_real_trees(shared):
    tree = Hierarchy.from_csv(shared / "adult/hierarchies/trees/workclass.txt").tree()
    assert tree.height == 3
    assert path(tree, "Private") == ["Private", "*"]
    icd = Hierarchy.from_csv(shared / "informs/hierarchies/ICD9.txt").tree()
    assert icd.leaves[0] == 1221


def test_a_hundred_thousand_leaves(shared):
    begin = time.perf_counter()
    tree = Hierarchy.from_csv(shared / "cup/hierarchies/ZIP.csv.gz").tree()
    assert tree.leaves[0] == 100_000
    assert tree.height == 6
    # No timed test: only a guard against something of another order (measured: 0.5 s).
    assert time.perf_counter() - begin < 30


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_written_as_text_mean_the_same(number):
    assert float(plain(text(number))) == number


def test_decimals_keep_all_their_digits():
    digits = "0.12345678901234567890123456789012345678"
    assert plain(digits + "00") == text(Decimal(digits)) == digits


def test_leading_zeros_stay():
    assert plain("02139") == "02139"
    assert plain(" 17.0") == "17"
    assert plain("-0.50") == "-0.5"


@pytest.mark.parametrize(
    "setting",
    [
        {"prefixes": 3}, {"prefixes": ["a"]}, {"prefixes": [-1]}, {"prefixes": [1.5]},
        {"dates": 5}, {"tree": 5}, {"parents": 5}, {"levels": 5}, {"levels": [5]},
        {"ranges": None}, {"ranges": [float("nan")]},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(setting):
    with pytest.raises(BadHierarchy):
        Hierarchy.of(setting)
