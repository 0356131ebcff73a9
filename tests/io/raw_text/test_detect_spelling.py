"""What a column shows of its spelling, and where it leaves a doubt."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.io.raw_text.detect_spelling import Detected, detect_spelling
from shoal.io.raw_text.spelling import Spelling

TODAY = date(2026, 1, 1)


def dated(date_format):
    return Spelling(date_format=date_format)


@pytest.mark.parametrize(
    ("values", "spelling"),
    [
        (["1,5", "2", "30,25"], Spelling(",")),
        (["1.234,5", "2,5"], Spelling(",", ".")),
        (["1,234.5", "2.5"], Spelling(".", ",")),
        (["1.234.567", "2"], Spelling(",", ".")),
        (["1 234,5"], Spelling(",", " ")),
        (["1\u00a0234,5", "12"], Spelling(",", " ")),
        (["1'234.5"], Spelling(".", "'")),
        (["12,5 %", "3 %"], Spelling(",", percent=True)),
        (["12 %", "3.5 %"], Spelling(percent=True)),
        (["17.05.2024", "01.02.2024"], dated("%d.%m.%Y")),
        (["05/17/2024", "01/02/2024"], dated("%m/%d/%Y")),
        (["2024/05/17"], dated("%Y/%m/%d")),
        (["17-05-2024 13:45"], dated("%d-%m-%Y %H:%M")),
        (["5/17/2024 1:45 PM"], dated("%m/%d/%Y %I:%M %p")),
        (["17-MAY-2024", "1-Jun-1899"], dated("%d-%b-%Y")),
        (["17 May 2024"], dated("%d %b %Y")),
        (["May 17, 2024"], dated("%b %d, %Y")),
        (["17.05.24", "31.12.69"], dated("%d.%m.%y")),
        (["05/05/2024"], dated("%d/%m/%Y")),  # both ways are the same
    ],
)
def test_what_is_clear(values, spelling):
    assert detect_spelling(values, TODAY) == Detected(spelling)


@pytest.mark.parametrize(
    "values",
    [
        [],
        ["", " "],
        ["1.5", "2"],
        ["1.234", "0.345"],
        ["2024-05-17"],
        ["2024"],
        ["a", "b"],
        ["1,5", "x"],
        ["1,5", "2.5"],  # two forms
        ["17.05.2024", "05/17/2024"],
        ["17.05.2024", "05.17.2024"],
        ["17.05.2024", "2024-05-17"],
        ["30.02.2024"],
        ["192.168.10.1"],
        ["[1, 2)", "*"],
        ["47677", "01300"],
    ],
)
def test_what_is_none(values):
    assert detect_spelling(values, TODAY) == Detected()


@pytest.mark.parametrize(
    ("values", "readings"),
    [
        (["01/02/2024", "05/06/2023"], ["2024-02-01", "2024-01-02"]),
        (["1,234", "17"], ["1.234", "1234"]),
        (["13.02.68"], ["2068-02-13", "1968-02-13"]),
        (["1.234", "2"], ["1.234", "1234"]),
    ],
)
def test_what_is_in_doubt_shows_both_readings(values, readings):
    found = detect_spelling(values, TODAY)
    assert found.spelling is None
    assert values[0] in found.doubt
    assert all(one in found.doubt for one in readings)


@given(
    st.lists(st.integers(0, 60_000), min_size=1, max_size=20),
    st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%b-%Y", "%d/%m/%Y %H:%M"]),
)
def test_dates_are_detected_rightly_or_in_doubt(days, written):
    dates = [date(1850, 1, 1) + timedelta(days=day) for day in days]
    cells = [day.strftime(written) for day in dates]
    found = detect_spelling(cells, TODAY)
    if found.spelling is None:
        assert found.doubt
        assert all(day.day <= 12 for day in dates)
    else:
        read = [found.spelling.read(cell).text[:10] for cell in cells]
        assert read == [day.isoformat() for day in dates]


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.integers(0, 4),
    st.sampled_from([(",", "."), (".", ","), (",", " "), (",", ""), (".", "'")]),
)
def test_numbers_are_detected_rightly_or_in_doubt(digits, places, signs):
    numbers = [f"{one / 10**places:,.{places}f}" for one in digits]
    change = str.maketrans({",": signs[1], ".": signs[0]})
    cells = [number.translate(change) for number in numbers]
    wanted = [float(number.replace(",", "")) for number in numbers]
    found = detect_spelling(cells, TODAY)
    if found.spelling is not None:
        assert [float(found.spelling.read(cell).text) for cell in cells] == wanted
    elif not found.doubt:
        assert [float(cell) for cell in cells] == wanted
