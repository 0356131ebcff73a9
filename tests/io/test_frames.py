"""Frames: the same table in every kind, in and out."""

import datetime as dt
import subprocess
import sys
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadTable
from shoal.io.frames import Counted, Frame, open_frame, read, same_rows, write
from shoal.io.native.packed_texts import is_packed, packed
from tests.io.tables import MAKE, PEOPLE, SECRET, values


@pytest.fixture(params=MAKE)
def kind(request):
    return request.param


def test_a_frame_knows_its_kind_names_and_values(kind):
    native = MAKE[kind](PEOPLE)
    frame = open_frame(native)
    assert (frame.kind, frame.names, frame.height) == (kind, list(PEOPLE), 4)
    assert frame.native is native
    assert values(frame) == PEOPLE
    assert open_frame(frame) is frame
    assert repr(frame) == f"Frame({kind}, 4 rows, 6 columns)"


def test_rebuild_takes_rows_by_position_replaces_in_place_and_drops(kind):
    frame = open_frame(MAKE[kind](PEOPLE))
    rows = np.array([3, 0, 1])
    new = {"age": pa.array(["50-59", "20-39", None]), "zip": pa.array(["0476*", "0476*", "*"])}
    built = frame.rebuild(rows, new, drop={"name"})
    assert built.kind == kind
    assert built.names == ["zip", "age", "visit", "smokes", "born"]
    assert values(built) == {
        "zip": ["0476*", "0476*", "*"],
        "age": ["50-59", "20-39", None],
        **{name: [PEOPLE[name][row] for row in rows] for name in ("visit", "smokes", "born")},
    }
    assert values(frame) == PEOPLE  # the original is as it was


def test_rows_that_stand_for_several_keep_their_texts_packed():
    table = pa.table({"sex": ["f", "m", "m"], "age": ["31", "52", "57"], "zip": [1, 2, 3]})
    cells = [table["sex"].dictionary_encode(), table["age"].dictionary_encode(), table["zip"]]
    texts = packed(pa.table(cells, table.column_names), ["sex", "age"])
    counted = Counted(np.array([5, 6, 7]), np.array([0, 4, 9]))
    wide = pa.array(["[50, 60)", None]).dictionary_encode()
    built = Frame(texts, counted).rebuild(np.array([1, 2]), {"age": wide}, drop=())
    assert [is_packed(one) for one in built.native.schema] == [True, True, False]
    assert values(built) == {"sex": ["m", "m"], "age": ["[50, 60)", None], "zip": [2, 3]}
    assert built.native["sex"].chunk(0).dictionary.to_pylist() == ["m"]  # no value of other rows
    assert built.weight.tolist() == [6, 7]
    once = Frame(texts).rebuild(np.array([1, 2]), {}, drop=()).native
    assert once.schema.types == [pa.string(), pa.string(), pa.int64()]


def test_untouched_columns_keep_their_dtypes(kind):
    native = MAKE[kind](PEOPLE)
    built = open_frame(native).rebuild(np.arange(4), {}, drop=()).native
    if kind == "arrow":
        assert built.schema == native.schema
    else:
        assert list(built.dtypes) == list(native.dtypes)


@pytest.mark.parametrize("rows", [[], [2], [3, 2, 1, 0]])
def test_all_columns_may_be_replaced_and_all_rows_suppressed(kind, rows):
    frame = open_frame(MAKE[kind]({"a": [1, 2, 3, 4], "b": ["w", "x", "y", "z"]}))
    new = {name: pa.array(["*"] * len(rows), pa.string()) for name in "ab"}
    built = frame.rebuild(np.array(rows), new, drop=[])
    assert values(built) == {"a": ["*"] * len(rows), "b": ["*"] * len(rows)}
    assert built.height == len(rows)


def test_replaced_columns_have_natural_types(kind):
    new = {
        "text": pa.array(["x", None]),
        "whole": pa.array([1, 2]),
        "holes": pa.array([2**60 + 1, None]),
        "real": pa.array([0.5, None]),
        "flag": pa.array([True, False]),
        "flag_holes": pa.array([True, None]),
        "day": pa.array([dt.date(2020, 1, 1), None]),
        "chunks": pa.chunked_array([["a"], ["b"]]),
    }
    frame = open_frame(MAKE[kind]({name: [0, 0] for name in new}))
    built = frame.rebuild(np.array([1, 0]), new, drop=())
    assert values(built) == {name: column.to_pylist() for name, column in new.items()}
    if kind == "pandas":
        kinds = built.native.dtypes.astype(str).to_dict()
        assert built.native["text"].dtype == pd.Series(["x", None]).dtype
        assert (kinds["whole"], kinds["holes"], kinds["real"]) == ("int64", "Int64", "float64")
        assert (kinds["flag"], kinds["flag_holes"]) == ("bool", "boolean")
    if kind == "polars":
        assert built.native.schema["text"] == pl.String
        assert built.native.schema["day"] == pl.Date
    if kind == "arrow":
        assert built.native.schema.field("text").type == pa.string()


def test_rebuild_refuses_columns_of_another_length(kind):
    with pytest.raises(ValueError, match="as long as"):
        open_frame(MAKE[kind](PEOPLE)).rebuild(np.arange(4), {"age": pa.array(["*"])}, drop=())


@given(st.data())
def test_rebuild_agrees_with_plain_lists(data):
    height = data.draw(st.integers(1, 6))
    table = {
        name: data.draw(st.lists(st.text(), min_size=height, max_size=height)) for name in "ab"
    }
    rows = data.draw(st.lists(st.integers(0, height - 1), unique=True))
    for kind, make in MAKE.items():
        native = make(table)
        if kind == "pandas":
            native.index = data.draw(st.permutations([0] * (height - 1) + [7]))
        built = open_frame(native).rebuild(np.array(rows, dtype=int), {}, drop=["b"])
        assert values(built) == {"a": [table["a"][row] for row in rows]}


# What is special about pandas
@pytest.mark.parametrize("index", [[9, 9, 9, 9], [3, 2, 1, 0], list("abcd")])
def test_pandas_labels_are_never_positions(index):
    native = pd.DataFrame(PEOPLE, index=pd.Index(index, name="patient"))
    built = open_frame(native).rebuild(np.array([2, 0]), {"age": pa.array(["a", "b"])}, drop=())
    assert built.native["name"].tolist() == ["Zoë", "Ana"]
    assert built.native["age"].tolist() == ["a", "b"]
    assert built.native.index.equals(pd.RangeIndex(2))
    assert built.native.index.name is None


def test_a_filtered_pandas_frame_works_by_position():
    native = pd.DataFrame(PEOPLE)
    native = native[native["age"] > 30]
    built = open_frame(native).rebuild(np.array([0, 2]), {"age": pa.array(["a", "b"])}, drop=())
    assert built.native["name"].tolist() == ["Bo", "李"]
    assert built.native["age"].tolist() == ["a", "b"]


def test_notes_on_the_whole_table_are_left_behind():
    native = pd.DataFrame(PEOPLE)
    native.attrs["source"] = SECRET
    assert open_frame(native).rebuild(np.arange(4), {}, drop=()).native.attrs == {}
    assert native.attrs
    table = pa.table(PEOPLE).replace_schema_metadata({"source": SECRET})
    assert not open_frame(table).rebuild(np.arange(4), {}, drop=()).native.schema.metadata


PANDAS_COLUMNS = {
    "object": (pd.Series(["a", None, np.nan, pd.NA, pd.NaT], dtype=object), ["a"] + [None] * 4),
    "float": (pd.Series([1.5, np.nan]), [1.5, None]),
    "nullable": (pd.Series([1, pd.NA], dtype="Int64"), [1, None]),
    "text": (pd.Series(["x", pd.NA], dtype="string"), ["x", None]),
    "arrow text": (pd.Series(["x", pd.NA], dtype="string[pyarrow]"), ["x", None]),
    "arrow float": (pd.Series([1.5, None], dtype="double[pyarrow]"), [1.5, None]),
    "category": (pd.Series(["x", None, "y"], dtype="category"), ["x", None, "y"]),
    "decimal": (pd.Series([Decimal("1.50"), None]), [Decimal("1.50"), None]),
    "date": (pd.Series([dt.date(2020, 1, 2), None]), [dt.date(2020, 1, 2), None]),
    "numbers": (pd.Series([1, 2.5], dtype=object), [1.0, 2.5]),
    "mixed": (pd.Series([1, "a", None], dtype=object), ["1", "a", None]),
    "mixed category": (pd.Series([1, "a", None], dtype="category"), ["1", "a", None]),
    "truth": (pd.Series([1.5, True], dtype=object), ["1.5", "True"]),
    "times": (
        pd.Series([dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 5)], dtype=object),
        ["2020-01-02", "2020-01-02 05:00:00"],
    ),
    "huge": (pd.Series([2**70, None], dtype=object), [str(2**70), None]),
    "complex": (pd.Series([1j]), ["1j"]),
    "period": (pd.Series(pd.PeriodIndex(["2020-01", None], freq="M")), ["2020-01", None]),
    "interval": (pd.Series(pd.interval_range(0, 2)), ["(0, 1]", "(1, 2]"]),
    "empty": (pd.Series([None, None], dtype=object), [None, None]),
}


@pytest.mark.parametrize("name", PANDAS_COLUMNS)
def test_every_kind_of_pandas_column(name, tmp_path):
    series, expected = PANDAS_COLUMNS[name]
    frame = open_frame(pd.DataFrame({"x": series, "y": 1}))
    assert frame.column("x").to_pylist() == expected
    rows = np.arange(len(series))[::-1]
    built = frame.rebuild(rows, {}, drop=["y"])
    pd.testing.assert_series_equal(
        built.native["x"], series[::-1].reset_index(drop=True).rename("x")
    )
    for ending in (".csv", ".parquet"):
        write(frame, tmp_path / f"x{ending}")
        assert read(tmp_path / f"x{ending}").height == len(series)


def test_pandas_times_with_a_zone():
    times = pd.Series(pd.to_datetime(["2020-01-01 12:00", None])).dt.tz_localize("Europe/Paris")
    frame = open_frame(pd.DataFrame({"t": times}))
    assert frame.column("t").type.tz == "Europe/Paris"
    assert frame.column("t").null_count == 1
    assert frame.rebuild(np.array([1, 0]), {}, drop=()).native["t"].dtype == times.dtype


# What is special about polars and arrow
def test_polars_categories_objects_and_nested_columns():
    native = pl.DataFrame(
        {
            "c": pl.Series(["x", None, "y"], dtype=pl.Categorical),
            "e": pl.Series(["x", None, "y"], dtype=pl.Enum(["x", "y"])),
            "o": pl.Series([1, None, "z"], dtype=pl.Object),
            "i": pl.Series([2**70, None, 1], dtype=pl.Int128),
            "l": [[1], None, []],
        }
    )
    frame = open_frame(native)
    assert frame.column("c").to_pylist() == ["x", None, "y"]
    assert frame.column("o").to_pylist() == ["1", None, "z"]
    assert frame.column("i").to_pylist() == [str(2**70), None, "1"]
    built = frame.rebuild(np.array([2, 0]), {}, drop=["o"])
    assert built.native.schema == native.drop("o").schema
    assert built.native["l"].to_list() == [[], [1]]


def test_arrow_types_survive():
    native = pa.table(
        {
            "d": pa.chunked_array(
                [pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()]
            ),
            "l": pa.array([[1, None], None]),
            "s": pa.array([{"a": "p"}, None]),
            "u": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "t": pa.array([0, None], pa.timestamp("ns", "Asia/Tokyo")),
            "m": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
        }
    )
    frame = open_frame(native)
    assert frame.column("u").to_pylist() == [str(uuid.UUID(int=1)), None]
    built = frame.rebuild(np.array([1, 0]), {}, drop=()).native
    assert built.schema == native.schema
    assert built.to_pylist() == native.to_pylist()[::-1]


def test_arrow_views_become_plain_and_what_cannot_be_taken_is_refused():
    views = pa.table({"v": pa.array(["a", "b"], pa.string_view())})
    assert values(open_frame(views).rebuild(np.array([1]), {}, drop=())) == {"v": ["b"]}
    odd = pa.table({"odd": pa.array([["a"]], pa.list_(pa.string_view()))})
    with pytest.raises(BadTable, match=r"'odd' is of type list<item: string_view>.*cast"):
        open_frame(odd)


# What is no table
@pytest.mark.parametrize(
    "source",
    [[1], {"a": [1]}, np.zeros(3), pd.Series([1]), pl.Series([1]), pa.array([1]), None, 7],
    ids=lambda source: type(source).__name__,
)
def test_what_is_no_table_is_named(source):
    with pytest.raises(BadTable, match=r"a pandas or polars DataFrame.*got") as caught:
        open_frame(source)
    assert type(source).__name__ in str(caught.value)


def test_a_lazy_frame_is_to_be_collected():
    with pytest.raises(BadTable, match=r"call \.collect\(\) first"):
        open_frame(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("native", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "same name: 'age'; rename"),
        (pa.table([[1], [2]], names=["age", "age"]), "same name: 'age'; rename"),
        (pd.DataFrame([[1, 2]]), "not text: 0, 1; rename"),
        (
            pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
            "not text: .*rename",
        ),
        (pd.DataFrame({"a": [1], " ": [2]}), "without a name.*: 2;"),
        (pl.DataFrame({"": [1]}), "without a name.*: 1;"),
        (pd.DataFrame(), "no columns"),
        (pl.DataFrame(), "no columns"),
    ],
)
def test_names_that_cannot_be_used(native, message):
    with pytest.raises(BadTable, match=message):
        open_frame(native)


def test_neither_pandas_nor_polars_is_imported():
    code = "import sys, shoal.io.frames; print({'pandas', 'polars'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


TEXTS = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=6)


def coded(cells, pieces, seed):
    """Cells as dictionaries with entries in any order, one dictionary per piece."""
    rng = np.random.default_rng(seed)
    chunks = []
    for part in np.array_split(np.arange(len(cells)), pieces):
        entries = rng.permutation(["a", "b", "c"]).tolist()
        codes = [None if cells[i] is None else entries.index(cells[i]) for i in part]
        indices = pa.array(codes, pa.int32())
        chunks.append(pa.DictionaryArray.from_arrays(indices, pa.array(entries)))
    return Frame(pa.table({"q": pa.chunked_array(chunks)}))


@given(TEXTS, TEXTS, st.integers(1, 3), st.integers(1, 3))
def test_coded_texts_are_equal_if_their_texts_are(one, two, pieces, others):
    first = coded(one, pieces, 1)
    assert same_rows(first, coded(one, others, 2))
    assert same_rows(first, coded(two, others, 3)) == (one == two)
