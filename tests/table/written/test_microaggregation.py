"""Numbers of classes: exact, rounded, and in the type of the column."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadTable
from shoal.io.frames import Frame
from shoal.table.roles import Column
from shoal.table.written.microaggregation import (
    aggregate,
    check_numbers,
    class_numbers,
    decimal_places,
    words_for,
)
from tests.naive import microaggregation as naive

NUMBERS = st.decimals(-(10**25), 10**25, places=2) | st.integers(-20, 20)


@pytest.mark.parametrize("how", ["mean", "median"])
@given(rows=st.lists(st.tuples(st.integers(-1, 4), st.none() | NUMBERS), min_size=1, max_size=30))
def test_agrees_with_its_naive_twin(how, rows):
    numbers = sorted({Fraction(str(value)) for _, value in rows if value is not None})
    codes = np.array([-1 if v is None else numbers.index(Fraction(str(v))) for _, v in rows])
    record = np.array([label for label, _ in rows])
    found = aggregate(codes.astype(np.int32), numbers, record, how)
    assert len(found) == record.max() + 1
    for label, one in enumerate(found):
        inside = [value for other, value in rows if other == label]
        assert one == (naive.number(inside, how) if inside else None)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2, 9, 10], pa.int16(), [2, 10]),  # 1.5 and 9.5: halves go to the even neighbour
        ([1.0, 2.5, 9.0, 10.0], pa.float64(), [1.8, 9.5]),
        (["1", "2.25", "9", "x"], pa.string(), ["1.62", None]),
        (
            [Decimal("1.11"), Decimal("1.20"), None, None],
            pa.decimal128(6, 2),
            [Decimal("1.16"), None],
        ),
    ],
)
def test_numbers_have_the_type_and_the_places_of_the_column(values, kind, expected):
    frame = Frame(pa.table({"a": pa.array(values, kind)}))
    columns = {"a": Column(role="quasi", microaggregate="mean")}
    found = class_numbers(frame, columns, "a", ["x"], np.array([0, 0, 1, 1]))
    assert found.to_pylist() == expected
    assert found.type == kind


def test_a_long_number_does_not_give_the_sum_away():
    assert decimal_places([Fraction("0.000123456789"), Fraction("0.5")]) == 6
    assert decimal_places([Fraction("123456.789"), Fraction("900000.1")]) == 0
    assert decimal_places([Fraction("1.5")] * 3) == 1


def test_text_is_refused_with_the_column_and_its_values():
    frame = Frame(pa.table({"a": ["1", "old", "2"]}))
    columns = {"a": Column(role="quasi", microaggregate="mean")}
    with pytest.raises(BadTable, match=r"column 'a' has microaggregate.*'old'.*missing_values"):
        check_numbers(frame, columns, [])
    check_numbers(frame, columns, ["old"])


def test_the_note_states_to_how_many_places_numbers_are_rounded():
    """0.000001 is lost in a column from 0 to 250: six digits of its span are 250.000."""
    said = words_for("x", Column(role="quasi", microaggregate="mean"))
    assert "but to none beyond the first 6 digits of the difference between" in said
    assert decimal_places([Fraction("0.000001"), Fraction(250)]) == len("000")
