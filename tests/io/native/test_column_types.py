"""Types of columns come back where the published values allow it, and are text otherwise."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.errors import BadTable

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
