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


def test_labels_decide():
    from dataclasses import replace

    asked = replace(facts("x", [1, 2, 8] * 9), labels={"1": "yes", "2": "no", "8": "Refused"})
    assert missing_codes(asked) == ["8"]
    plain = replace(asked, labels={"1": "Y", "2": "N", "8": "None"})
    assert missing_codes(plain) == []
