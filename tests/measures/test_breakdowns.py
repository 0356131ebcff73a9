"""A published table by class size, by precision and by sensitive value, against slow counts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from shoal import Hierarchy
from shoal.io.frames import open_frame
from shoal.measures.breakdowns.class_sizes import candidate_sizes, sizes
from shoal.measures.breakdowns.sensitive_classes import sensitive_facts
from shoal.measures.breakdowns.value_widths import LINES, widths
from shoal.table.published_table import read_published
from shoal.table.roles import Column
from tests.attacks.test_attacks_on_people import COLUMNS, hospital


def told(hierarchy, values, own=None):
    columns = {"a": Column(role="quasi", hierarchy=hierarchy, missing_values=own)}
    seen = read_published(open_frame(pa.table({"a": values})), columns, [""])
    (fact,) = widths(columns, seen, [""])
    assert sum(count for _, count in fact.rows) == len(values)
    assert len(fact.rows) <= LINES
    return dict(fact.rows)


def test_widths_of_dates():
    labels = ["2024-05-17", "2024-05", "2024", "2024", "2020 to 2029", "*", ""]
    assert told(Hierarchy.dates(["month", "year", "decade"]), labels) == {
        "the exact date": 1, "month": 1, "year": 2, "decade": 1, "suppressed": 1, "empty": 1,
    }  # fmt: skip
    finer = Hierarchy.dates(["hour", "week"])
    labels = ["2024-05-17 13:45", "2024-05-17 13h", "week of 2024-05-13", "2024-Q2", "2020 to 2024"]
    assert told(finer, labels) == {
        "the exact date": 1, "hour": 1, "week": 1, "quarter": 1, "5 years": 1, "suppressed": 0,
    }  # fmt: skip


def test_widths_of_numbers_codes_and_values():
    assert told(Hierarchy.ranges([5, 10]), ["17", "[15, 20)", "[10, 20)", "[10, 20)", "*"]) == {
        "the exact number": 1, "a range of 5": 1, "a range of 10": 2, "suppressed": 1,
    }  # fmt: skip
    assert told(Hierarchy.borders([[18, 65], [65]]), ["17", "<18", "<65", "[18, 20)", "*"]) == {
        "the exact number": 1, "cut at 18 and 65": 1, "cut at 65": 1, "other ranges": 1,
        "suppressed": 1,
    }  # fmt: skip
    assert told(Hierarchy.prefixes(), ["47677", "476**", "4****", "*"]) == {
        "the whole code": 1, "the first 3 characters": 1, "the first 1 character": 1,
        "suppressed": 1,
    }  # fmt: skip
    assert told(None, ["f", "m", "*"]) == {"as it was": 2, "suppressed": 1}
    assert told(Hierarchy.flat(), ["f"]) == {"as it was": 1, "suppressed": 0}
    tree = Hierarchy.from_tree({"Any": {"north": {"far": ["a"], "near": ["b"]}, "south": ["c"]}})
    assert told(tree, ["a", "far", "near", "north", "south", "Any"]) == {
        "as it was": 1, "level 1, such as “far”": 3, "level 2, such as “north”": 1, "suppressed": 1,
    }  # fmt: skip


def test_codes_for_missing_are_not_exact():
    ages, values = Hierarchy.ranges([5, 10]), ["17", "[15, 20)", "99", "99", "98", "*", ""]
    assert told(ages, values, own=["98", "99"]) == {
        "the exact number": 1, "a range of 5": 1, "a range of 10": 0, "suppressed": 1, "missing": 4,
    }  # fmt: skip
    assert told(ages, values)["the exact number"] == 4
    tree = Hierarchy.from_tree({"Any": {"north": ["a"], "south": ["b"]}})
    assert told(tree, ["a", "north", "?"], own=["?"]) == {
        "as it was": 1, "level 1, such as “north”": 1, "suppressed": 0, "missing": 1,
    }  # fmt: skip


def test_many_widths_become_few_lines():
    code = "1234567890"
    labels = [code[:i].ljust(10, "*") for i in range(1, 11) for _ in range(i)] + ["*"]
    found = told(Hierarchy.prefixes(), labels)
    assert found["the whole code"] == 10
    assert found["the first 9 characters"] == 9
    assert found["other widths"] == sum(range(1, 7))
    steps = ["month", "quarter", "year", "5 years", "decade", "century"]
    assert "decade" not in told(Hierarchy.dates(["month", "quarter", "year", "10 years"]), ["2024"])
    assert told(Hierarchy.dates(steps[:3]), ["2024"])["month"] == 0


def test_people_by_the_records_that_could_be_theirs():
    found = candidate_sizes(((5, 10), (6, 20), (300, 2)))
    assert sum(one.classes for one in found) == 32
    assert (found[0].fewest, found[0].most, found[0].classes) == (5, 9, 30)
    assert found[-1].most == 300


def test_sizes_count_every_class_once():
    rng = np.random.default_rng(0)
    for high in (3, 40, 90, 5_000, 10**9):
        people = rng.integers(2, high, 500)
        rows = people * 2
        found = sizes(people, rows)
        assert sum(one.classes for one in found) == 500
        assert sum(one.rows for one in found) == rows.sum()
        assert len(found) <= 30
        for one, after in pairwise(found):
            assert one.fewest <= one.most < after.fewest
            inside = (people >= one.fewest) & (people <= one.most)
            assert inside.sum() == one.classes


def seen(table):
    columns = {name: Column(role=role) for name, role in COLUMNS.items()}
    return read_published(open_frame(table), columns)


def test_the_class_in_which_nine_of_ten_have_gout_is_shown_first():
    (column,) = sensitive_facts(seen(hospital()))
    worst = column.worst[0]
    assert worst.published == {"town": "north"}
    assert (worst.rows, worst.people, worst.attacks) == (109, 10, ["skewness"])
    assert column.by_people
    at = column.values.index("gout")
    assert (column.shares[at], worst.shares[at]) == (45.0, 90.0)
    assert len(column.values) == len(column.shares)  # shares of people do not add up to 100


def test_a_class_that_one_person_fills_is_shown_by_its_rows():
    rows = [("north", "n0", "gout")] * 30 + [("north", f"n{i}", f"o{i}") for i in range(1, 5)]
    rows += [("south", f"s{i}", f"p{i}") for i in range(30)]
    table = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    (column,) = sensitive_facts(seen(pa.table(table)))
    assert not column.by_people
    assert column.worst[0].attacks == ["skewness (of records)"]
    assert sum(column.shares) == pytest.approx(100)
