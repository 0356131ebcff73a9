"""Types of columns come back where the published values allow it, and are text otherwise."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Plan
from shoal.databases.database import Database
from shoal.databases.writing import write_to
from shoal.errors import BadTable
from shoal.io.frames import Frame, open_frame, read, write

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 1), None, None]
TREE = {"*": {"AB": ["a", "b"], "CD": ["c", "d"]}}


def published(frame: object, tree: dict | None = None) -> object:
    """The release of a frame with the quasi-identifier q, in its order."""
    column = {"role": "quasi", "hierarchy": None if tree is None else {"tree": tree}}
    asked = Plan(columns={"q": column}, models=[{"name": "k-anonymity", "k": 2}])
    return shoal.anonymize(frame, asked, keep_order=True).frame


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([1, 1, None, None], "Int64"),
        ([1, 1, None, None], "int16[pyarrow]"),
        ([1.5, 1.5, None, None], "float64"),
        ([1.5, 1.5, None, None], "Float32"),
        (["a", "a", None, None], "category"),
        ([1, 1, None, None], "category"),
        (["a", "a", None, None], "string"),
        (["a", "a", None, None], "string[pyarrow]"),
        (DAYS, pd.ArrowDtype(pa.date32())),
        (DAYS, "datetime64[ns]"),
    ],
    ids=str,
)
def test_pandas_with_missing_cells(cells: list, dtype: object) -> None:
    before = pd.DataFrame({"q": pd.Series(cells, dtype=dtype)})
    now = published(before)
    pd.testing.assert_frame_equal(now, before)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([1, 1, None, None], pl.Int16),
        ([1.5, 1.5, None, None], pl.Float64),
        (["a", "a", None, None], pl.Enum(["b", "a"])),
        (["a", "a", None, None], pl.Categorical),
        (DAYS, pl.Date),
        (DAYS, pl.Datetime("us")),
    ],
    ids=str,
)
def test_polars_with_missing_cells(cells: list, dtype: pl.DataType) -> None:
    now = published(pl.DataFrame({"q": pl.Series(cells, dtype=dtype)}))["q"]
    assert now.dtype == (pl.Enum(["a"]) if isinstance(dtype, pl.Enum) else dtype)
    assert now.to_list() == pl.Series(cells, dtype=dtype).to_list()


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.float32(), pa.dictionary(pa.int32(), pa.int64())], ids=str
)
def test_arrow_with_missing_cells(kind: pa.DataType) -> None:
    plain = pa.array([1, 1, None, None])
    cells = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)
    now = published(pa.table({"q": cells}))["q"]
    assert now.type == kind
    assert now.to_pylist() == [1, 1, None, None]


def test_generalized_categories_are_categories() -> None:
    cells = ["a", "b", "d", "d"]
    frame = pd.DataFrame({"q": pd.Categorical(cells, ["d", "c", "b", "a"])})
    now = published(frame, TREE)["q"]
    assert isinstance(now.dtype, pd.CategoricalDtype)
    assert now.tolist() == ["AB", "AB", "d", "d"]
    assert set(now.cat.categories) == {"AB", "d"}  # and no value that is not published

    enum = pl.Enum(["d", "c", "b", "a"])
    now = published(pl.DataFrame({"q": pl.Series(cells, dtype=enum)}), TREE)["q"]
    assert now.dtype == pl.Enum(["d", "AB"])
    assert now.to_list() == ["AB", "AB", "d", "d"]

    now = published(pa.table({"q": pa.array(cells).dictionary_encode()}), TREE)["q"]
    assert pa.types.is_dictionary(now.type)
    assert now.combine_chunks().dictionary.to_pylist() == ["AB", "d"]


def test_values_that_do_not_allow_it_are_text() -> None:
    numbers = {"q": [1, 2, 3, 3]}
    for frame in (pd.DataFrame(numbers, dtype="Int64"), pl.DataFrame(numbers), pa.table(numbers)):
        now = published(frame)["q"]
        cells = now.to_pylist() if isinstance(frame, pa.Table) else list(now)
        assert cells == ["*", "*", "3", "3"]


# Files and databases

TYPED = {
    "whole": pa.array([1, 1, None, None], pa.int64()),
    "part": pa.array([1.5, 1.5, None, None]),
    "day": pa.array(DAYS, pa.date32()),
    "word": pa.array(["a", "a", None, None]),
}


def plan_of(names: list[str], **more: object) -> Plan:
    asked: dict = {"columns": dict.fromkeys(names, "quasi"), "seed": 1, "keep_order": True,
                   "models": [{"name": "k-anonymity", "k": 2}]}  # fmt: skip
    return Plan(**asked | more)


@pytest.mark.parametrize(
    "ending", [".parquet", ".feather", ".jsonl", ".xlsx", ".sav", ".dta", ".xpt"]
)
def test_files_with_missing_cells(ending: str, tmp_path: Path) -> None:
    """A missing cell is empty in a column of numbers or dates, as it was."""
    cells = pa.table({**TYPED, "full": [1, 1, 2, 2]})  # a sheet has no record without a value
    write(Frame(cells), tmp_path / f"people{ending}")
    before = read(tmp_path / f"people{ending}")
    shoal.anonymize(tmp_path / f"people{ending}", plan_of(before.names)).save(
        tmp_path / f"release{ending}"
    )
    now = read(tmp_path / f"release{ending}")
    for name in before.names:
        assert now.column(name).type == before.column(name).type, name
        assert now.column(name).to_pylist() == before.column(name).to_pylist()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_engines_write_the_same_types(engine: str, tmp_path: Path) -> None:
    coded = pa.array(["a", "a", "b", "c"]).dictionary_encode()
    cells = pa.table({**TYPED, "coded": coded, "some": [1, 2, None, None]})
    pq.write_table(cells, tmp_path / "people.parquet")
    asked = plan_of(cells.column_names, engine=engine, keep_order=False)
    shoal.anonymize(tmp_path / "people.parquet", asked).save(tmp_path / "release.parquet")
    now = pq.read_table(tmp_path / "release.parquet")
    kinds = {field.name: field.type for field in now.schema}
    assert kinds == {field.name: field.type for field in cells.schema} | {"some": pa.string()}
    assert sorted(now["coded"].to_pylist()) == ["*", "*", "a", "a"]
    # A missing value and a suppressed one stay two things.
    assert sorted(now["some"].to_pylist(), key=str) == ["*", "*", None, None]


def test_databases_have_the_types_of_the_original(tmp_path: Path) -> None:
    write_to(Database(f"sqlite:///{tmp_path / 'people.db'}", table="people"),
             Frame(pa.table({"q": TYPED["whole"]})), False, lambda _: None)  # fmt: skip
    source = Database(f"sqlite:///{tmp_path / 'people.db'}", table="people")
    target = Database(f"sqlite:///{tmp_path / 'release.db'}", table="release")
    shoal.anonymize(source, plan_of(["q"])).save(target)
    assert open_frame(target).column("q").type == pa.int64()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([True, True, None, None]),
        pa.array([1e-7, 1e-7, None, None]),
        pa.array([0.1, 0.1, None, None], pa.float32()),
        pa.array([Decimal("1.50"), Decimal("1.50"), None, None], pa.decimal128(5, 2)),
        pa.array([dt.datetime(2024, 5, 17, 10)] * 2 + [None] * 2, pa.timestamp("ms", "UTC")),
        pa.array([True, True, None, None]).dictionary_encode(),
    ],
    ids=lambda cells: str(cells.type),
)
def test_further_types(cells: pa.Array) -> None:
    now = published(pa.table({"q": cells}))["q"]
    assert now.type == cells.type
    assert now.to_pylist() == cells.to_pylist()


def test_a_stated_spelling_of_another_column_changes_no_types() -> None:
    """Then the frame is read in another form first."""
    frame = pd.DataFrame({"q": pd.Series([1, 1, None, None], dtype="Int64"), "x": ["1,5"] * 4})
    columns = {"q": "quasi", "x": {"role": "other", "decimal": ","}}
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], keep_order=True)
    assert shoal.anonymize(frame, asked).frame["q"].dtype == "Int64"


def test_codes_for_missing_stay_numbers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": [31, 31, 99, 99, None, None]}), tmp_path / "people.parquet")
    columns = {"q": {"role": "quasi", "missing_values": ["99"]}}
    for missing, cells in (
        ("value", [31, 31, 99, 99, None, None]),
        ("empty", [31, 31] + [None] * 4),
    ):
        asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], missing=missing,
                     keep_order=True, algorithm="gaa")  # fmt: skip
        shoal.anonymize(tmp_path / "people.parquet", asked).save(tmp_path / "release.parquet")
        now = pq.read_table(tmp_path / "release.parquet")["q"]
        assert now.type == pa.int64()
        assert now.to_pylist() == cells


def test_an_index_of_pandas_is_no_column() -> None:
    frame = pd.DataFrame({"q": ["a", "a"]}, index=pd.Index(["p1", "p2"], name="patient"))
    assert published(frame).index.tolist() == [0, 1]
    assert published(frame).index.name is None
    asked = Plan(columns={"q": "quasi", "patient": "quasi"},
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    for run in (shoal.anonymize, shoal.audit):
        with pytest.raises(BadTable, match=r"'patient' is the index .* call \.reset_index\(\)"):
            run(frame, asked)
    assert shoal.audit(frame.reset_index(), asked).smallest_class == 1
