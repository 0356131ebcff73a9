"""Files that cannot be read: each is refused with a message that shows no data."""

import csv
import gzip
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.base.errors import BadFile, BadTable
from shoal.io import text_reading
from shoal.io.format import formats
from shoal.io.frames import check_target, read, write
from tests.io.tables import SECRET, as_read, file, refuse, values


def test_files_that_are_not_there(tmp_path):
    file(tmp_path, "a\n1\n", "people.csv")
    assert refuse(tmp_path / "peple.csv").endswith("no such file; did you mean 'people.csv'?")
    assert refuse(tmp_path / "r.csv").endswith("no such file")  # only the ending is similar
    assert refuse(tmp_path / "people.tsv").endswith("no such file; did you mean 'people.csv'?")
    assert "no such file" in refuse(tmp_path / "nowhere" / "x.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory" in refuse(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["x", "x.docx", "x.gz", "x.parquet.gz", ".csv.bz2", "csv"])
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


def test_parquet_with_text_that_is_not_utf_8(tmp_path):
    odd = pa.array([b"\xff" + SECRET.encode(), b"a"]).view(pa.string())
    pq.write_table(pa.table({"a": odd}), tmp_path / "x.parquet")
    assert "it is damaged" in refuse(tmp_path / "x.parquet")
    with pytest.raises(pa.ArrowInvalid):
        list(formats["parquet"]().batches(tmp_path / "x.parquet", None))


@pytest.mark.parametrize("lines", [0, 1, 100_000])
def test_binary_files(lines, tmp_path):
    content = b"a,b\n" + f"1,{SECRET}\n".encode() * lines + b"1,\0\n"
    assert f"NUL byte in line {lines + 2}" in refuse(file(tmp_path, content))
    wide = f"a,b\n1,{SECRET}".encode("utf-16-le")  # without a mark
    assert "NUL byte in line 1" in refuse(file(tmp_path, wide))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("lines", [0, 1, 100_000])
def test_a_damaged_character(lines, ending, tmp_path):
    """Most of it is UTF-8: then it is in no other encoding."""
    good = f"1,{SECRET} Müller\n".encode()
    raw = b"a,b\n" + good * (lines + 2) + f"1,{SECRET} Müller\n".encode("latin-1") + good
    path = file(tmp_path, gzip.compress(raw) if ending == ".csv.gz" else raw, f"x{ending}")
    message = refuse(path)
    assert "is not in UTF-8" in message
    assert f"line {lines + 4} " in message
    assert "save the file as UTF-8" in message


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
def test_headers_that_cannot_be_used(header, message, tmp_path):
    row = ",".join([SECRET] * (header.count(",") + 1))
    assert message in refuse(file(tmp_path, f"{header}\n{row}\n"), BadTable)


@pytest.mark.parametrize("many", [1, 9])  # in the schema alone, or in the schema of arrow too
def test_parquet_files_with_names_that_are_not_utf_8(many, tmp_path):
    pq.write_table(pa.table({"name": ["x"]}), tmp_path / "x.parquet", store_schema=many > 1)
    content = (tmp_path / "x.parquet").read_bytes().replace(b"name", b"na\x80e", many)
    (tmp_path / "x.parquet").write_bytes(content)
    assert "it is damaged" in refuse(tmp_path / "x.parquet")
    form = formats["parquet"]()
    for read_all in (
        lambda: form.schema(tmp_path / "x.parquet"),
        lambda: list(form.batches(tmp_path / "x.parquet", None)),
        lambda: list(form.coded_batches(tmp_path / "x.parquet", [])),
    ):
        with pytest.raises(pa.ArrowInvalid):
            read_all()


def test_parquet_files_with_names_that_cannot_be_used(tmp_path):
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


def test_a_damaged_file_leaves_no_thread_behind(tmp_path):
    before = threading.active_count()
    text = "a,b\n" + f"1,{SECRET}\n" * 200_000
    for content in (text + "1\n" + text, "a,b\n1\n" + text):
        path = file(tmp_path, gzip.compress(content.encode(), 1), "x.csv.gz")
        for _ in range(3):
            refuse(path, BadTable)
    assert threading.active_count() == before
