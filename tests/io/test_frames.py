"""Frames and files: the same table in every kind, in and out, and every way in which it fails."""

import csv
import datetime as dt
import gzip
import lzma
import os
import subprocess
import sys
import threading
import uuid
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadFile, BadTable
from shoal.io import frames, text_reading
from shoal.io.frames import Frame, atomic, check_target, open_frame, read, write

PEOPLE = {
    "name": ["Ana", "Bo", "Zoë", "李"],
    "zip": ["04767", None, "04768", "04769"],
    "age": [29, 31, 40, 55],
    "visit": [1.5, 2.25, 0.125, 8.0],
    "smokes": [True, False, True, False],
    "born": [dt.date(1990, 1, 2), dt.date(1988, 5, 6), dt.date(1980, 7, 8), dt.date(1965, 9, 1)],
}
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
ENDINGS = [t + p for t in (".csv", ".tsv", ".tab", ".txt") for p in ("", ".gz", ".xz", ".zst")]
SECRET = "Rumpelstiltskin"  # stands in data rows; no message may show it


@pytest.fixture(params=MAKE)
def kind(request):
    return request.param


def values(frame: Frame) -> dict[str, list]:
    return {name: frame.column(name).to_pylist() for name in frame.names}


def as_read(table: dict[str, list]) -> Frame:
    return open_frame(pa.table({k: pa.array(v, pa.string()) for k, v in table.items()}))


def file(folder: Path, content: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refuse(path: Path, error: type[Exception] = BadFile) -> str:
    """The message with which a file is refused; it must name the file and hide the rows."""
    with pytest.raises(error) as caught:
        read(path)
    shown = caught.value
    while shown is not None:  # whatever hangs on the error may reach a log
        assert SECRET not in str(shown)
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    assert path.name in str(caught.value)
    return str(caught.value)


# Frames of every kind


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
def test_names_that_cannot_serve(native, message):
    with pytest.raises(BadTable, match=message):
        open_frame(native)


# Files: round trips

ODD_TEXT = {
    "id": ["007", "08", "1e5", "1.50", "NA", "null", "true"],
    "note": ["a,b;c\td|e", 'say "hi"', "two\nlines", "two\r\nlines", " spaces ", "", None],
    "naïve; name": ["é", "李", "🐟", None, "-", "'", '"'],
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_text_files_come_back_as_they_were(ending, tmp_path):
    path = tmp_path / f"odd.v2{ending.upper()}"
    write(as_read(ODD_TEXT), path)
    back = open_frame(str(path))
    assert back.kind == "arrow"
    assert values(back) == ODD_TEXT
    assert {field.type for field in back.native.schema} == {pa.string()}
    again = tmp_path / f"again{ending}"
    write(back, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".pq"])
def test_every_kind_of_frame_is_written(kind, ending, tmp_path):
    path = tmp_path / f"people{ending}"
    write(open_frame(MAKE[kind](PEOPLE)), path)
    back = values(read(path))
    if ending in (".parquet", ".pq"):
        assert back == PEOPLE
    else:
        assert back["zip"] == PEOPLE["zip"]
        assert back["age"] == ["29", "31", "40", "55"]
        assert back["visit"] == ["1.5", "2.25", "0.125", "8"]
        assert back["smokes"] == ["true", "false", "true", "false"]
        assert back["born"] == [str(day) for day in PEOPLE["born"]]


def test_the_index_of_pandas_is_not_written(tmp_path):
    for ending in (".csv", ".parquet"):
        path = tmp_path / f"x{ending}"
        write(open_frame(pd.DataFrame({"a": ["x", "y"]}, index=["Ana", "Bo"])), path)
        assert read(path).names == ["a"]
        assert b"Ana" not in path.read_bytes()


def test_parquet_keeps_types_and_ignores_folder_names(tmp_path):
    native = pa.table(
        {
            "c": pa.array(["x", None]).dictionary_encode(),
            "l": [[1], None],
            "d": [Decimal("1.5"), None],
        }
    ).replace_schema_metadata({"source": SECRET})
    folder = tmp_path / "k=5"
    folder.mkdir()
    write(open_frame(native), folder / "x.parquet")
    back = read(folder / "x.parquet").native
    assert back.schema == native.schema
    assert back.equals(native)
    assert not back.schema.metadata


TEXTS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_any_text_survives_a_csv(rows, delimiter):
    table = {name: list(column) for name, column in zip("ab", zip(*rows, strict=True), strict=True)}
    native = as_read(table).native.replace_schema_metadata({frames.DELIMITER_KEY: delimiter})
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        write(Frame(native), path)
        assert values(read(path)) == table
        with path.open(newline="", encoding="utf-8") as text:  # and others read the same
            _, *plain = csv.reader(text, delimiter=delimiter)
        assert plain == [[value or "" for value in row] for row in rows]


def test_only_what_needs_quotes_gets_them(tmp_path):
    path = tmp_path / "x.csv"
    write(as_read({"a": ["x", "y z", "p,q", 'r"s', "", None], "b,c": ["1"] * 6}), path)
    assert path.read_text() == 'a,"b,c"\nx,1\ny z,1\n"p,q",1\n"r""s",1\n"",1\n,1\n'


def test_a_single_column_keeps_its_missing_rows(tmp_path):
    path = tmp_path / "x.csv"
    write(as_read({"a": ["x", None, "y", None]}), path)
    assert path.read_text() == 'a\nx\n""\ny\n""\n'
    assert values(read(path)) == {"a": ["x", None, "y", None]}
    assert values(read(file(tmp_path, "a\nx\n\ny\n"))) == {"a": ["x", None, "y"]}


def test_packed_files_do_not_tell_when_or_where_they_were_made(tmp_path):
    frame = as_read(ODD_TEXT)
    for ending in (".csv.gz", ".csv.xz", ".csv.zst", ".parquet"):
        write(frame, tmp_path / f"one{ending}")
        write(frame, tmp_path / f"other{ending}")
        assert (tmp_path / f"one{ending}").read_bytes() == (
            tmp_path / f"other{ending}"
        ).read_bytes()
    with (
        gzip.open(tmp_path / "one.csv.gz") as unpacked,
        lzma.open(tmp_path / "one.csv.xz") as other,
    ):
        assert unpacked.read() == other.read()


def test_columns_that_are_no_text_are_written_as_text(tmp_path):
    native = pa.table(
        {
            "c": pa.array([5, None]).dictionary_encode(),
            "l": pa.array([["é", None], None]),
            "s": pa.array([{"a": dt.date(2020, 1, 2)}, None]),
            "t": pa.array([0, None], pa.timestamp("ns")),
            "f": pa.array([1, None], pa.timestamp("ms")),
            "z": pa.array([0, None], pa.timestamp("us", "UTC")),
            "d": pa.array([3_600_000_000_000, None], pa.duration("ns")),
            "n": pa.nulls(2),
            "b": pa.array([b"plain", None]),
        }
    )
    path = tmp_path / "x.csv"
    write(open_frame(native), path)
    assert read(path).native.to_pylist() == [
        {
            "c": "5",
            "l": '["é", null]',
            "s": '{"a": "2020-01-02"}',
            "t": "1970-01-01 00:00:00",
            "f": "1970-01-01 00:00:00.001",
            "z": "1970-01-01 00:00:00Z",
            "d": "1:00:00",
            "n": None,
            "b": "plain",
        },
        dict.fromkeys(native.column_names),
    ]


def test_a_column_that_has_no_place_in_the_format_is_named(tmp_path):
    with pytest.raises(BadFile, match=r"'b' is of type binary.*Parquet"):
        write(open_frame(pa.table({"b": [b"\xff"]})), tmp_path / "x.csv")
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(BadTable, match=r"'u' is of type sparse_union.*hide"):
        open_frame(pa.table({"u": union}))
    twice = pa.DictionaryArray.from_arrays([0], pa.array(["x"]).dictionary_encode())
    with pytest.raises(BadFile, match=r"'d' is of type dictionary.*Parquet"):
        write(open_frame(pa.table({"a": ["y"], "d": twice})), tmp_path / "x.parquet")


# Files: how they may be written


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_delimiters_line_ends_and_byte_order_marks(delimiter, end, bom, last, tmp_path):
    lines = ['"a,;"|b|c', "1||x", '"y|y"||"2' + end + '3"', '""|"q""q"|z']
    text = end.join(lines).replace("|", delimiter)
    path = file(tmp_path, bom + text + end * last)
    frame = read(path)
    assert values(frame) == {
        "a,;": ["1", f"y{delimiter}y", ""],
        "b": [None, None, 'q"q'],
        "c": ["x", f"2{end}3", "z"],
    }
    assert frame.native.schema.metadata == {b"shoal.delimiter": delimiter.encode()}
    built = frame.rebuild(np.array([0]), {"a,;": pa.array(["*"])}, drop=["c"])
    write(built, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f'"a,;"{delimiter}b\n*{delimiter}\n'
    assert values(read(tmp_path / "out.csv")) == {"a,;": ["*"], "b": [None]}
    write(built, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().endswith("\tb\n*\t\n")


def test_tabs_rule_tsv_and_do_not_follow_into_csv(tmp_path):
    frame = read(file(tmp_path, "a,b,c\td\n1\t2\n", "x.tsv"))
    assert frame.names == ["a,b,c", "d"]
    write(frame, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == '"a,b,c",d\n1,2\n'


@pytest.mark.parametrize(
    "content", ["a,b", "a,b\n", "a,b\r\n", "\ufeffa,b\n", "a,b\n\n", "\n\na,b\n"]
)
def test_a_header_alone_is_a_table_without_rows(content, tmp_path):
    frame = read(file(tmp_path, content))
    assert (frame.names, frame.height) == (["a", "b"], 0)
    assert frame.column("a").type == pa.string()
    write(frame, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b\n"


def test_blank_lines_and_stray_quotes_are_no_harm(tmp_path):
    frame = read(file(tmp_path, '\na,b\n\n1,5" nail\n\n2,x\n\n'))
    assert values(frame) == {"a": ["1", "2"], "b": ['5" nail', "x"]}


def test_headers_may_hold_line_ends_and_quotes(tmp_path):
    assert read(file(tmp_path, '"two\nlines","say ""hi"""\n1,2\n')).names == [
        "two\nlines",
        'say "hi"',
    ]


@pytest.mark.parametrize("delimiter", ",;|")
@pytest.mark.parametrize("names", [["x,y", "tag"], ["a;b|c"], ["a,b", "c|d", "e;f\tg"]])
def test_names_with_other_delimiters_are_read_back(tmp_path, names, delimiter):
    """The header decides which delimiter a file has, so its names must not suggest another."""
    table = pa.table({name: ["[-25, 27]", "1;2|3"] for name in names})
    given = table.replace_schema_metadata({"shoal.delimiter": delimiter})
    write(open_frame(given), tmp_path / "x.csv")
    assert values(read(tmp_path / "x.csv")) == table.to_pydict()


def test_a_file_of_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(text_reading, "BLOCK", 1 << 12)
    table = {"id": [f"{i:05d}" for i in range(20_000)], "note": ['a "b",\n'] * 20_000}
    for ending in (".csv", ".csv.gz", ".csv.xz", ".csv.zst"):
        write(as_read(table), tmp_path / f"x{ending}")
        assert values(read(tmp_path / f"x{ending}")) == table


def test_reading_tells_how_far_it_is(tmp_path):
    for ending in (".csv", ".csv.gz"):
        path = tmp_path / f"x{ending}"
        write(as_read({"id": [f"{i:05d}" for i in range(20_000)], "b": ["x"] * 20_000}), path)
        calls = []
        read(path, progress=lambda done, total, calls=calls: calls.append((done, total)))
        size = path.stat().st_size
        assert calls == sorted(calls)
        assert calls[-1] == (size, size)


# Files: how they fail


def test_files_that_are_not_there(tmp_path):
    file(tmp_path, "a\n1\n", "people.csv")
    assert refuse(tmp_path / "peple.csv").endswith("no such file; did you mean 'people.csv'?")
    assert refuse(tmp_path / "r.csv").endswith("no such file")  # only the ending is similar
    assert refuse(tmp_path / "people.tsv").endswith("no such file; did you mean 'people.csv'?")
    assert "no such file" in refuse(tmp_path / "nowhere" / "x.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory" in refuse(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["x", "x.xlsx", "x.gz", "x.parquet.gz", ".csv.bz2", "csv"])
def test_unknown_formats(name, tmp_path):
    path = file(tmp_path, "a\n1\n", name)
    assert ".parquet" in refuse(path)
    with pytest.raises(BadFile, match=r"cannot tell the format.*use \.csv"):
        write(as_read({"a": ["1"]}), path)
    with pytest.raises(BadFile, match=r"cannot tell the format.*use \.csv"):
        check_target(path)


@pytest.mark.parametrize("content", [b"", b"\n\r\n", b"\xef\xbb\xbf", b"  \n"])
def test_empty_files(content, tmp_path):
    assert "is empty" in refuse(file(tmp_path, content))
    assert "is empty" in refuse(file(tmp_path, gzip.compress(content), "x.csv.gz"))
    if not content:
        assert "is empty" in refuse(file(tmp_path, content, "x.parquet"))


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = file(tmp_path, "a\n1\n")

    def deny(*_, **__):
        raise PermissionError(13, "no")

    monkeypatch.setattr(Path, "open", deny)
    assert "Permission denied" in refuse(path)


@pytest.mark.parametrize("lines", [0, 1, 100_000])
def test_binary_files(lines, tmp_path):
    content = b"a,b\n" + f"1,{SECRET}\n".encode() * lines + b"1,\0\n"
    assert f"NUL byte in line {lines + 2}" in refuse(file(tmp_path, content))
    assert "is in UTF-16, not" in refuse(file(tmp_path, f"a,b\n1,{SECRET}".encode("utf-16")))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("lines", [0, 1, 100_000])
def test_files_in_another_encoding(lines, ending, tmp_path):
    content = "a,b\n" + f"1,{SECRET}\n" * lines + f"1,{SECRET} Müller\n"
    raw = content.encode("latin-1")
    path = file(tmp_path, gzip.compress(raw) if ending == ".csv.gz" else raw, f"x{ending}")
    message = refuse(path)
    assert f"line {lines + 2} " in message
    assert "save it as UTF-8" in message


def test_a_header_in_another_encoding(tmp_path):
    assert "line 1 " in refuse(file(tmp_path, "Größe,b\n1,2\n".encode("latin-1")))


def test_ragged_rows_are_counted_by_lines(tmp_path):
    text = f'a,b\n1,"two\nlines"\n\n{SECRET}\n1,2\n1,2,{SECRET}\n'
    message = refuse(file(tmp_path, text), BadTable)
    assert "must have 2 fields" in message
    assert "line 5 has 1, line 7 has 3;" in message


def test_at_most_five_ragged_rows_are_shown(tmp_path):
    message = refuse(file(tmp_path, "a;b\n" + f"{SECRET};2;3\n" * 12), BadTable)
    assert "line 2 has 3" in message
    assert "line 6 has 3 and 7 more differ" in message
    assert "line 7" not in message


@pytest.mark.parametrize(
    "rows",
    [
        [f'1,"{SECRET}', "2,x", "3,y"],  # open to the end
        [f'1,"{SECRET}'],
        [f'1,"{SECRET}', "2,x", '3,"y', "4,z"],  # closed by the next one that opens
        [f'1,"{SECRET}', *["2,x"] * 100_000],
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_a_quote_that_is_not_closed_swallows_no_rows(rows, end, last, tmp_path):
    text = end.join(["a,b", "0,w", *rows]) + end * last
    assert "begins in line 3 a quote" in refuse(file(tmp_path, text), BadTable)


def test_a_quote_that_is_not_closed_in_the_header(tmp_path):
    message = refuse(file(tmp_path, f'a,"b\n1,{SECRET}\n'), BadTable)
    assert "in the header is not closed" in message


def test_a_field_may_be_long_but_a_row_has_a_limit(tmp_path, monkeypatch):
    limit = csv.field_size_limit()
    long = "x\n" * 200_000  # more than the csv module takes by itself
    assert values(read(file(tmp_path, f'a,b\n1,"{long}"\n'))) == {"a": ["1"], "b": [long]}
    assert csv.field_size_limit() == limit
    monkeypatch.setattr(text_reading, "BLOCK", 1 << 12)
    row = ",".join([SECRET + "x" * 4000] * 4)
    assert "longer than" in refuse(file(tmp_path, f"a,b,c,d\n1,2,3,4\n{row}\n"), BadTable)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b,a,b,c", "same name: 'a', 'b'; rename"),
        ("a,,c", "without a name, counted from the left: 2;"),
        (",a", "index=False"),
        ("a,b,", "without a name, counted from the left: 3;"),
    ],
)
def test_headers_that_cannot_serve(header, message, tmp_path):
    row = ",".join([SECRET] * (header.count(",") + 1))
    assert message in refuse(file(tmp_path, f"{header}\n{row}\n"), BadTable)


def test_parquet_files_with_names_that_cannot_serve(tmp_path):
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "x.parquet")
    assert "same name: 'a'" in refuse(tmp_path / "x.parquet", BadTable)


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.xz", ".csv.zst", ".parquet"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9999])
def test_files_that_are_cut_off(ending, keep, tmp_path):
    path = tmp_path / f"x{ending}"
    rng = np.random.default_rng(7)
    write(as_read({"a": [f"{SECRET}{n}" for n in rng.integers(0, 10**9, 50_000)]}), path)
    content = path.read_bytes()
    assert "damaged" in refuse(file(tmp_path, content[: int(len(content) * keep)], path.name))


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.xz", ".csv.zst", ".parquet"])
def test_files_that_are_not_what_their_name_says(ending, tmp_path):
    assert "damaged" in refuse(file(tmp_path, f"a,b\n1,{SECRET}\n", f"x{ending}"))


def test_a_broken_file_leaves_no_thread_behind(tmp_path):
    before = threading.active_count()
    text = "a,b\n" + f"1,{SECRET}\n" * 200_000
    for content in (text + "1\n" + text, "a,b\n1\n" + text):
        path = file(tmp_path, gzip.compress(content.encode(), 1), "x.csv.gz")
        for _ in range(3):
            refuse(path, BadTable)
    assert threading.active_count() == before


# Targets


def test_atomic_gives_a_path_beside_the_target_and_renames_it(tmp_path):
    target = tmp_path / "release.v1.csv.gz"
    with atomic(str(target)) as beside:
        assert beside.parent == tmp_path
        assert beside.name.endswith(".csv.gz")
        assert not target.exists()
        write(as_read(ODD_TEXT), beside)
    assert values(read(target)) == ODD_TEXT
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, BadTable])
@pytest.mark.parametrize("before", [None, "old"])
def test_atomic_leaves_nothing_half_written(error, before, tmp_path):
    target = tmp_path / "release.csv"
    if before:
        target.write_text(before)
    with pytest.raises(error), atomic(target) as beside:  # noqa: PT012
        beside.write_text("half")
        raise error
    assert [path.read_text() for path in tmp_path.iterdir()] == [before] * bool(before)


def test_atomic_names_the_target_when_the_disk_is_full(tmp_path):
    target = tmp_path / "release.csv"
    with pytest.raises(BadFile, match=r"release\.csv: No space"), atomic(target) as beside:  # noqa: PT012
        beside.write_text("half")
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_atomic_follows_links_and_serves_any_ending(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(real)
    with atomic(link) as beside:
        beside.write_text("<p>")
    assert link.is_symlink()
    assert real.read_text() == "<p>"


@pytest.mark.parametrize("check", [check_target, lambda path: atomic(path).__enter__()])
def test_targets_that_cannot_be_written_are_refused_before_any_work(check, tmp_path, monkeypatch):
    blocker = file(tmp_path, "", "plain")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for path, message in [
        (tmp_path / "nowhere" / "x.csv", "no directory .*nowhere; make it first"),
        (blocker / "x.csv", "plain is not a directory"),
        (tmp_path / "folder.csv", "it is a directory"),
        (tmp_path / "pipe.csv", "not a regular file"),
    ]:
        with pytest.raises(BadFile, match=message):
            check(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(BadFile, match="no permission to write in the directory"):
        check(tmp_path / "x.csv")


def test_a_good_target_is_left_alone(tmp_path, monkeypatch):
    check_target(tmp_path / "x.csv")
    check_target(file(tmp_path, "old", "old.parquet"))
    monkeypatch.chdir(tmp_path)
    check_target("x.tsv.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["old.parquet"]


def test_neither_pandas_nor_polars_is_imported():
    code = "import sys, shoal.io.frames; print({'pandas', 'polars'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
