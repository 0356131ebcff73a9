"""Files: round trips, and how they may be written."""

import csv
import datetime as dt
import gzip
import lzma
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import BadFile, BadTable
from shoal.io import frames, text_reading
from shoal.io.compact import compact
from shoal.io.frames import Frame, open_frame, read, write
from tests.io.tables import MAKE, ODD_TEXT, PEOPLE, SECRET, as_read, file, values

ENDINGS = [t + p for t in (".csv", ".tsv", ".tab", ".txt") for p in ("", ".gz", ".xz", ".zst")]


@pytest.fixture(params=MAKE)
def kind(request):
    return request.param


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


def test_compressed_files_do_not_reveal_when_or_where_they_were_made(tmp_path):
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


def test_blank_lines_and_stray_quotes_are_harmless(tmp_path):
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


def test_reading_reports_progress(tmp_path):
    for ending in (".csv", ".csv.gz"):
        path = tmp_path / f"x{ending}"
        write(as_read({"id": [f"{i:05d}" for i in range(20_000)], "b": ["x"] * 20_000}), path)
        calls = []
        read(path, progress=lambda done, total, calls=calls: calls.append((done, total)))
        size = path.stat().st_size
        assert calls == sorted(calls)
        assert calls[-1] == (size, size)


@pytest.mark.parametrize(
    "cells", [[f"secret {i}" for i in range(40)], list(range(40)), [True] * 40]
)
def test_a_compact_column_has_no_bytes_of_other_rows(cells):
    whole = pa.array(cells)
    part = compact(whole.slice(7, 9))
    assert part.to_pylist() == cells[7:16]
    assert part.offset == 0
    own = pa.array(cells[7:16])  # made of these cells alone
    sizes = [[buffer and buffer.size for buffer in one.buffers()] for one in (part, own)]
    assert all(mine is None or mine <= fresh for mine, fresh in zip(*sizes, strict=True))
    assert not {b.address for b in whole.buffers() if b} & {b.address for b in part.buffers() if b}
