"""Codes that stand for missing values."""

from __future__ import annotations

import pytest

from shoal.flow.draft.missing_codes import missing_codes
from tests.flow.draft.test_dependencies import facts

AGES = list(range(18, 60))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*AGES, 999], ["999"]),
        ([*range(17, 48), 99], ["99"]),
        ([1, 2, 3, 4, 9], ["9"]),
        ([*range(1, 10)], []),  # 9 is the next after 8
        ([*range(18, 100)], []),  # 99 is an age
        ([1, 2, 99], ["99"]),
        ([0, 99, 1000, 2000], []),  # not the largest
        ([-1, -7, -8, -9, *range(18)], ["-1", "-7", "-8", "-9"]),
        ([-2, -1, 0, 1, 2, 3], []),
        ([-1, 0, 1, 2, 3], ["-1"]),
        ([-1278, -1, 0, 5, 17800], []),  # losses
        (["N", "12", "15", "20", "31"], ["N"]),
        ([".", "1.5", "2.5", "9.5"], ["."]),
        (["Y", "N"], []),  # no numbers at all
        (["A", "12", "15"], []),
        (["Not stated", "1", "2", "3"], ["Not stated"]),
        (["90+", "1", "2", "3"], []),
        ([*(f"{i:02}" for i in range(1, 15)), "99"], ["99"]),
        ([f"{i:02}" for i in range(1, 100)], []),
        (["01067", "24103", "24105", "99999"], []),  # postcodes
        (["None", "1", "2", "3"], []),  # no children are a number of children
    ],
)
def test_codes_of_a_column(values, codes):
    assert missing_codes(facts("x", values * 5)) == codes


def many(often):
    """Values, each as often as stated."""
    return [value for value, times in often.items() for _ in range(times)]


SCHOOLING = {**dict.fromkeys(range(21), 40), 20: 3, 19: 5}
CHILDREN = {0: 400, 1: 300, 2: 290, 3: 90, 4: 30, 5: 12, 6: 4, 7: 2, 8: 1}
OLD = {**dict.fromkeys(range(80), 30), **{age: max(1, 95 - age) for age in range(80, 97)}}


@pytest.mark.parametrize(
    ("often", "codes"),
    [
        (SCHOOLING | {99: 60}, ["99"]),
        (SCHOOLING | {98: 31, 99: 60}, ["98", "99"]),
        (SCHOOLING | {97: 2, 98: 31, 99: 60}, ["97", "98", "99"]),
        (SCHOOLING | {88: 31, 99: 60}, ["88", "99"]),
        (SCHOOLING | {88: 31}, ["88"]),
        (SCHOOLING | {88: 2}, []),  # somebody who studied long, or a mistake
        (CHILDREN | {9: 1, 99: 12}, ["99"]),
        (CHILDREN | {9: 60}, ["9"]),
        (CHILDREN | {9: 1}, []),
        (dict.fromkeys(range(1, 9), 50) | {9: 400}, []),  # 9 is a category
        ({1: 40, 2: 30, 3: 20, 4: 10, 5: 10, 8: 5, 9: 5}, ["8", "9"]),
        ({1: 40, 2: 30, 3: 20, 6: 10, 8: 5, 9: 5}, []),  # categories with gaps
        (OLD | {99: 90}, ["99"]),
        (OLD | {97: 1, 99: 1}, []),
        (dict.fromkeys(range(98), 30) | {98: 30, 99: 300}, []),  # 99 and more, without a gap
        # Hours a week have few large values, far from one another.
        (dict.fromkeys(range(61), 50) | {64: 3, 70: 4, 75: 1, 80: 2, 99: 80}, ["99"]),
        (dict.fromkeys(range(61), 50) | {64: 3, 70: 4, 75: 1, 80: 2, 99: 4}, []),
    ],
)
def test_codes_that_are_known_by_their_frequency(often, codes):
    assert missing_codes(facts("x", many(often))) == codes


def test_labels_decide():
    from dataclasses import replace

    asked = replace(facts("x", [1, 2, 8] * 9), labels={"1": "yes", "2": "no", "8": "Refused"})
    assert missing_codes(asked) == ["8"]
    plain = replace(asked, labels={"1": "Y", "2": "N", "8": "None"})
    assert missing_codes(plain) == []
