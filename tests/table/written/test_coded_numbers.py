"""Top and bottom coding, and rounding."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, BadTable
from shoal.io.frames import Frame
from shoal.table.roles import Column
from shoal.table.written.coded_numbers import check_coded, with_coded_numbers

K2 = [{"name": "k-anonymity", "k": 2}]
PEOPLE = {
    "age": [31, 38, 52, 57],
    "income": [1_204, 99_000, 3_451, -20],
    "height": ["170.2", "169.9", "?", "201"],
}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [10]}},
    "income": {"role": "sensitive", "bottom": 0, "top": 10_000, "round": 500},
    "height": {"role": "other", "top": 200, "round": 0.5},
}


def plan(**changed):
    columns = {**COLUMNS, **changed}
    return Plan(columns=columns, models=K2, seed=1, keep_order=True, missing_values=["", "?"])


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_numbers_stay_numbers(kind):
    release = shoal.anonymize(kind(PEOPLE), plan())
    frame = Frame(release.frame)
    assert frame.column("income").to_pylist() == [1_000, 10_000, 3_500, 0]
    assert pa.types.is_integer(frame.column("income").type)
    assert frame.column("height").to_pylist() == ["170", "170", "?", "200"]
    said = [note for note in release.notes if "coded before publication" in note]
    assert "10,000 stands for 10,000 or more, 0 stands for 0 or less" in said[0]
    assert "rounded to multiples of 0.5" in said[1]
    audit = shoal.audit(release.frame, plan(), original=kind(PEOPLE))
    assert audit.quality.losses["nllm"] == release.quality.losses["nllm"]


def naive(value, bottom, top, step):
    """With decimals, as one computes by hand; the ends are multiples of the step."""
    one = Decimal(str(value))
    if step is not None:
        shifted = one / Decimal(str(step))
        rounded = shifted.to_integral_value(ROUND_HALF_UP)
        if shifted < 0 and abs(shifted - shifted.to_integral_value("ROUND_DOWN")) == Decimal("0.5"):
            rounded += 1  # halves go up, also below zero
        one = rounded * Decimal(str(step))
    one = one if top is None else min(one, Decimal(str(top)))
    return one if bottom is None else max(one, Decimal(str(bottom)))


@given(
    values=st.lists(st.integers(-400, 400).map(lambda i: i / 4), min_size=1, max_size=12),
    bottom=st.sampled_from([None, -50, 0]),
    top=st.sampled_from([None, 10, 25]),
    step=st.sampled_from([None, 0.5, 5, 2.5]),
)
def test_agrees_with_its_naive_twin_and_is_done_once(values, bottom, top, step):
    columns = {"x": Column(role="other", bottom=bottom, top=top, round=step)}
    for cells in (pa.array(values), pa.array([f"{one:g}" for one in values])):
        once = with_coded_numbers(Frame(pa.table({"x": cells})), columns, ())
        found = [Decimal(str(one)) for one in once.column("x").to_pylist()]
        assert found == [naive(one, bottom, top, step) for one in values]
        check_coded(once, columns)
        again = with_coded_numbers(once, columns, ())
        assert again.column("x").to_pylist() == once.column("x").to_pylist()


def test_a_quasi_identifier_without_a_hierarchy():
    people = pa.table({"age": [85, 91, 97, 85], "sex": list("ffmm")})
    columns = {"age": {"role": "quasi", "top": 85}, "sex": "quasi"}
    release = shoal.anonymize(people, Plan(columns=columns, models=K2, keep_order=True, seed=1))
    assert release.frame["age"].to_pylist() == [85, 85, 85, 85]
    assert release.frame["sex"].to_pylist() == list("ffmm")


def test_decimals_stay_decimals():
    cells = pa.array([Decimal("1.25"), None, Decimal("9.50")], pa.decimal128(5, 2))
    columns = {"x": Column(role="other", top=5, round=0.5)}
    found = with_coded_numbers(Frame(pa.table({"x": cells})), columns, ()).column("x")
    assert found.to_pylist() == [Decimal("1.50"), None, Decimal("5.00")]
    assert found.type == cells.type


def test_a_release_with_other_numbers_is_refused():
    column = {"x": Column(role="other", top=3)}
    with pytest.raises(BadTable, match="column 'x' would publish the number 4"):
        check_coded(Frame(pa.table({"x": [1, 4]})), column)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"role": "drop", "top": 3}, "can have top only with the roles quasi, sensitive and other"),
        ({"role": "other", "top": 3, "bottom": 3}, "needs bottom below top"),
        ({"role": "other", "top": 3, "round": 2}, "needs top as a multiple of round"),
        ({"role": "other", "round": 0}, "round"),
        ({"role": "other", "top": float("inf")}, "needs a finite number as top"),
        ({"role": "quasi", "top": 85, "hierarchy": {"ranges": [5]}}, "hierarchy with borders"),
    ],
)
def test_settings_that_make_no_sense(settings, words):
    with pytest.raises(BadPlan, match=words):
        plan(height=settings)


def test_values_that_are_no_numbers():
    with pytest.raises(BadTable, match="column 'height' has top, bottom or round, and values"):
        shoal.anonymize(pa.table({**PEOPLE, "height": ["1", "tall", "2", "3"]}), plan())


def test_engines_say_that_they_do_not_code(tmp_path):
    pd.DataFrame(PEOPLE).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(BadPlan, match=r"does not support top, bottom and round yet"):
        shoal.anonymize(tmp_path / "people.csv", plan().changed(engine="duckdb", keep_order=False))


def test_the_plan_file(tmp_path):
    plan().save(tmp_path / "plan.toml")
    text = (tmp_path / "plan.toml").read_text()
    assert "bottom = 0, round = 500" in text or "round = 500" in text
    again = Plan.load(tmp_path / "plan.toml").columns["income"]
    assert (again.bottom, again.top, again.round) == (0, 10_000, 500)


def test_numbers_that_outgrow_their_type_get_a_wider_one():
    small = {"x": pa.array([127, -128, 3], pa.int8())}
    price = {"x": pa.array([Decimal("9.99"), Decimal("0.12"), None])}
    for table, step, expected in (
        (small, 10, [130, -130, 0]),
        (price, 0.5, [Decimal(10), Decimal(0), None]),
    ):
        columns = {"x": Column(role="other", round=step)}
        found = with_coded_numbers(Frame(pa.table(table)), columns, ())
        assert found.column("x").to_pylist() == expected


def test_numbers_that_no_type_holds_are_refused():
    columns = {"x": Column(role="other", round=10)}
    table = Frame(pa.table({"x": pa.array([2**64 - 1], pa.uint64())}))
    with pytest.raises(BadTable, match=r"'x'.*uint64.*wider type"):
        with_coded_numbers(table, columns, ())


@pytest.mark.parametrize("name", ["top", "bottom", "round"])
def test_settings_that_a_float_cannot_store_are_refused(name):
    with pytest.raises(BadPlan, match=rf"at most 15 digits as {name}"):
        Plan(columns={"x": {"role": "other", name: 2**62 + 2}})
