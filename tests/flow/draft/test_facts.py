"""Facts about columns, compared with an obvious twin."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from math import isfinite, isnan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.flow.draft.facts import numbers_in
from shoal.table.coding import Values
from tests.flow.draft.test_dependencies import facts

TEXTS = st.text("0123456789+-.eE xN", max_size=6)


def naive_number(text: str) -> float:
    text = text.strip()
    if re.fullmatch(r"[+-]?0[0-9]+.*", text):
        return float("nan")
    try:
        number = float(text)
    except ValueError:
        return float("nan")
    return number if isfinite(number) else float("nan")


@given(st.lists(TEXTS, min_size=1))
@example(["0E0000"])
@example(["1e99999"])
def test_numbers_in_texts_are_those_of_the_naive_twin(texts):
    expected = [naive_number(text) for text in texts]
    np.testing.assert_equal(numbers_in(Values(pa.array(texts))).tolist(), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1.0, 2.0]),
        ([0.5, 1e300], [0.5, 1e300]),
        ([Decimal("1.25"), Decimal("3.00")], [1.25, 3.0]),
        ([True, False], None),
        ([date(2024, 5, 17)], None),
        (["1e999", "7"], None),
        (["1_000", "7"], None),  # Python reads it as 1000, and no table writes it so
    ],
)
def test_numbers_of_other_types(values, expected):
    found = facts("x", values)
    assert expected == (None if found.numbers is None else found.numbers.tolist())


def test_what_is_not_a_number_is_nan():
    found = numbers_in(Values(pa.array(["02139", "-", "0", "-0.5", "."])))
    assert [isnan(one) for one in found] == [True, True, False, False, True]
    assert facts("x", ["1", "2.0"]).whole
    assert not facts("x", ["1", "2.5"]).whole
