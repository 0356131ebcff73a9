"""Numbers and dates in many spellings: read exactly, or refused."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import BadPlan, BadTable, Plan
from shoal.io.frames import open_frame
from shoal.io.raw_text.date_formats import CANONICAL as CANONICAL_DATE
from shoal.io.raw_text.date_formats import DateFormat
from shoal.io.raw_text.spelling import Form, Spelling
from shoal.report.plan_facts import plan_file

BAD, SPELLED, CANONICAL, EITHER = Form.BAD, Form.SPELLED, Form.CANONICAL, Form.EITHER
MODELS = [{"name": "k-anonymity", "k": 2}]


@pytest.mark.parametrize(
    ("spelling", "cell", "text", "form"),
    [
        (Spelling(","), "1,5", "1.5", SPELLED),
        (Spelling(","), " −1,50 ", "-1.50", SPELLED),
        (Spelling(","), "1.5", "1.5", CANONICAL),
        (Spelling(","), "15", "15", EITHER),
        (Spelling(","), "1,5,6", "", BAD),
        (Spelling(","), "1 234,5", "", BAD),
        (Spelling(",", "."), "1.234.567,8", "1234567.8", SPELLED),
        (Spelling(",", "."), "1.234", "1234", SPELLED),
        (Spelling(",", "."), "1.2340", "1.2340", CANONICAL),
        (Spelling(",", "."), "1,234", "1.2340", SPELLED),
        (Spelling(",", "."), "1.23,4", "", BAD),
        (Spelling(",", "."), "12345.678", "12345.678", CANONICAL),
        (Spelling(".", ","), "1,234", "1234", SPELLED),
        (Spelling(".", ","), "12,34,567", "", BAD),
        (Spelling(".", "'"), "1’234.5", "1234.5", SPELLED),
        (Spelling(",", " "), "1\u202f234\u00a0567", "1234567", SPELLED),
        (Spelling(".", "_"), "1_000", "1000", SPELLED),
        (Spelling(",", percent=True), "12,5\u00a0%", "12.5", SPELLED),
        (Spelling(",", percent=True), "0,125", "", BAD),
        (Spelling(",", percent=True), "0", "0", EITHER),
        (Spelling(","), "[1.5, 2)", "[1.5, 2)", CANONICAL),
        (Spelling(","), "*", "*", CANONICAL),
        (Spelling(","), "{1.5, 2}", "{1.5, 2}", CANONICAL),
        (Spelling(","), "old", "", BAD),
        (Spelling(","), "", "", BAD),
        (Spelling(","), "٣,٥", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "7.5.2024", "2024-05-07", SPELLED),
        (Spelling(date_format="%d.%m.%Y"), "07.05.1624", "1624-05-07", SPELLED),
        (Spelling(date_format="%d.%m.%Y"), "31.12.9999", "9999-12-31", SPELLED),
        (Spelling(date_format="%d.%m.%Y"), "01.01.10000", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "01.01.0000", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "30.02.2024", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "05/17/2024", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "17.05.2024 10:00", "", BAD),
        (Spelling(date_format="%d.%m.%Y"), "2020 to 2029", "2020 to 2029", CANONICAL),
        (Spelling(date_format="%d-%b-%y"), "17-MAY-68", "2068-05-17", SPELLED),
        (Spelling(date_format="%d-%b-%y"), "17-may-69", "1969-05-17", SPELLED),
        (Spelling(date_format="%B %d, %Y"), "March 3, 1999", "1999-03-03", SPELLED),
        (Spelling(date_format="%m/%d/%Y %I:%M:%S %p"), "5/7/2024 12:00:01 AM",
         "2024-05-07 00:00:01", SPELLED),
        (Spelling(date_format="%m/%d/%Y %I:%M %p"), "5/7/2024 13:00 AM", "", BAD),
        (Spelling(date_format="%Y%m%d%H%M%S.%f"), "20240507010203.5",
         "2024-05-07 01:02:03.500000", SPELLED),
        (Spelling(date_format="%Y-%m-%d"), "2024-05-07", "2024-05-07", EITHER),
        (Spelling(date_format="100%% %d.%m.%Y"), "100% 07.05.2024", "2024-05-07", SPELLED),
    ],
)  # fmt: skip
def test_cells(spelling, cell, text, form):
    found = spelling.read(cell)
    assert found.form == form
    assert form == BAD or found.text == text


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.sampled_from(["", ".", " ", "'"]))
def test_no_canonical_number_is_read_as_another_one(digits, places, thousands):
    """Canonical text stays what it is, whatever the spelling of its column."""
    spelling = Spelling(",", thousands)
    number = f"{digits / 10**places:.{places}f}"
    canonical = spelling.read(number.replace(".", ",")).text
    assert float(canonical) == float(number)
    again = spelling.read(canonical)
    assert again.text == canonical
    assert again.form in (CANONICAL, EITHER)
    assert spelling.read(spelling.guarded(number)).form in (CANONICAL, EITHER)


@pytest.mark.parametrize(
    "stated",
    [
        {"decimal": ";"},
        {"decimal": "."} | {"thousands": "."},
        {"thousands": "::"},
        {"decimal": ",", "date_format": "%d.%m.%Y"},
        {"date_format": "%d.%m"},
        {"date_format": "%d.%d.%Y"},
        {"date_format": "%Y-%d-%m"},
        {"date_format": "%Y-%d-%m %H:%M"},
        {"date_format": "%x"},
        {"date_format": "%d.%m.%Y %I"},
        {"date_format": "%d.%m.%Y%"},
        {"percent": 1},
    ],
)
def test_spellings_that_mislead(stated):
    with pytest.raises(BadPlan, match="column 'n'"):
        Plan(columns={"n": {"role": "quasi", **stated}})


def test_no_format_misleads():
    """A date in a format that is allowed never looks like another canonical date."""
    days = [date(2024, 1, 1) + timedelta(days=i) for i in range(366)]
    for written in ("%d-%m-%Y", "%y-%m-%d", "%Y/%d/%m", "%d%m%Y", "%Y%d%m", "%m-%d-%y"):
        read = DateFormat(written)
        for day in days:
            cell = day.strftime(written)
            assert read.canonical(cell) == day.isoformat()
            assert cell == day.isoformat() or not CANONICAL_DATE.fullmatch(cell)


@pytest.mark.parametrize(
    ("stated", "cells", "message"),
    [
        ({"decimal": ","}, ["1,5", "x9", "2,5", "y"], r"2 rows \(2, 4\) cannot be read in that"),
        (
            {"decimal": ","},
            ["1,5", "2,5", "1.5"],
            r"two forms: 1 row \(3\) is not written",
        ),
        ({"decimal": ",", "thousands": "."}, ["1.500", "1.5", "2.5"], r"two forms: 1 row \(1"),
        ({"date_format": "%d.%m.%Y"}, ["17.05.2024", "2024-05-17"], "two forms"),
        ({"date_format": "%d.%m.%Y"}, ["17.05.2024", "31.11.2024"], r"1 row \(2\)"),
        ({"date_format": "%d/%m/%Y"}, ["17/05/2024", "05/17/2024"], r"1 row \(2\)"),
        ({"percent": True}, ["5 %", "0.05"], "two forms"),
    ],
)
def test_cells_that_do_not_fit(stated, cells, message):
    plan = Plan(columns={"n": {"role": "quasi", **stated}}, models=MODELS)
    for table in (pa.table({"n": cells}), pd.DataFrame({"n": cells}), pl.DataFrame({"n": cells})):
        for run in (shoal.anonymize, shoal.audit):
            with pytest.raises(BadTable, match=message) as caught:
                run(table, plan)
            assert not any(cell in str(caught.value) for cell in cells)


def test_words_for_missing_and_labels_fit():
    stated = {"role": "quasi", "decimal": ",", "missing_values": ["k. A."]}
    levels = {"levels": [["1.5", "low", "*"], ["2.5", "low", "*"], ["9", "high", "*"]]}
    plan = Plan(columns={"n": stated | {"hierarchy": levels}}, models=MODELS, seed=1)
    table = pa.table({"n": ["1,5", "2,5", "k. A.", "k. A.", None, None, "9", "9"]})
    release = shoal.anonymize(table, plan)
    assert sorted(map(str, release.frame["n"].to_pylist()))[-2:] == ["low", "low"]
    assert shoal.audit(release.frame, plan, original=table).holds


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_frames_in_memory(make):
    cells = {"n": ["1,5", "1,5", "2,5", "2,5"], "typed": [1.5, 1.5, 2.5, 2.5]}
    columns = {"n": {"role": "quasi", "decimal": ","}, "typed": {"role": "quasi", "decimal": ","}}
    table = make(cells)
    if make is pd.DataFrame:
        table.index = [9, 8, 7, 6]
    release = shoal.anonymize(table, Plan(columns=columns, models=MODELS, keep_order=True))
    assert open_frame(release.frame).column("n").to_pylist() == ["1.5", "1.5", "2.5", "2.5"]
    assert type(release.frame) is type(table)
    assert open_frame(table).column("n").to_pylist() == cells["n"]  # as it was


def test_the_plan_keeps_it(tmp_path):
    columns = {
        "n": {"role": "quasi", "decimal": ",", "thousands": ".", "percent": True},
        "d": {"role": "quasi", "date_format": "%d.%m.%Y", "hierarchy": {"dates": ["month"]}},
    }
    plan = Plan(columns=columns, models=MODELS, seed=1)
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").to_toml() == plan.to_toml()
    assert 'decimal = ",", thousands = ".", percent = true' in plan.to_toml()
    assert 'date_format = "%d.%m.%Y"' in plan_file(plan).toml
    table = pa.table({"n": ["1,5 %"] * 2, "d": ["17.05.2024"] * 2})
    release = shoal.anonymize(table, plan)
    release.recoding.save(tmp_path / "recoding.json")
    again = shoal.Fitted.load(tmp_path / "recoding.json").apply(table, seed=1)
    assert again.frame.to_pydict() == {"n": ["1.5"] * 2, "d": ["2024-05-17"] * 2}
