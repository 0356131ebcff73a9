"""JSON lines: what is read, what is refused."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pytest

from shoal.base.errors import BadFile, BadTable
from shoal.io.files import read_first
from shoal.io.frames import Frame, read, read_back, same_rows, write
from tests.io.tables import ODD_TEXT, PEOPLE, SECRET, as_read, file, refuse, values


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson.gz", ".jsonl.xz", ".jsonl.zst"])
def test_text_comes_back_as_it_was(ending, tmp_path):
    path = tmp_path / f"x{ending}"
    write(as_read(ODD_TEXT), path)
    assert values(read_back(path)) == ODD_TEXT


def test_others_read_what_is_written(tmp_path):
    write(Frame(pa.table(PEOPLE)), tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [{**row, "born": str(row["born"])} for row in pa.table(PEOPLE).to_pylist()]
    assert [json.loads(line) for line in lines] == rows
    assert same_rows(read_back(tmp_path / "x.jsonl"), Frame(pa.table(PEOPLE)))


def test_dates_and_zip_codes_stay_text_and_names_may_be_missing(tmp_path):
    text = '\ufeff{"zip": "01300", "day": "2024-05-17"}\n\n{"zip": "1", "day": "?", "n": 2}\n'
    assert values(read(file(tmp_path, text, "x.jsonl"))) == {
        "zip": ["01300", "1"],
        "day": ["2024-05-17", "?"],
        "n": [None, 2],
    }
    moment = '{"day": "2024-05-17 10:00:00"}\n'
    assert values(read(file(tmp_path, moment, "x.jsonl"))) == {"day": ["2024-05-17 10:00:00"]}


@pytest.mark.parametrize(
    ("text", "message", "error"),
    [
        ('{"a": 1}\n{"a": "%s"}\n', "column 'a' mixes types, a number and text (line 2)", BadTable),
        ('{"a": 1}\n{"a": "%s"\n', "line 2 is not a JSON object", BadFile),
        ('{"a": 1}\n["%s"]\n', "line 2 is not a JSON object", BadFile),
        ('{"a": "%s", "a": 2}\n', "line 1 has a name twice", BadFile),
        ('[{"a": "%s"}]', "line 1 is not a JSON object", BadFile),
        ('{"a": %s}', "line 1 is not a JSON object", BadFile),
        ('{"": "%s"}', "without a name", BadTable),
        ("\n \n", "is empty", BadFile),
        (
            '{"n": 1, "a": "%s"}\n{"n": 123456789012345678901234567890}',
            "column 'n' has numbers with too many digits",
            BadTable,
        ),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_lines_that_are_not_a_table(text, message, error, packed, tmp_path):
    content = text.replace("%s", SECRET).encode()
    name = "x.jsonl.gz" if packed else "x.jsonl"
    path = file(tmp_path, gzip.compress(content) if packed else content, name)
    assert message in refuse(path, error)


LONG = "9" * 5000


@pytest.mark.parametrize(
    ("text", "column", "shown"),
    [
        ('{"a": 1.5}\n{"a": 1e400}\n{"a": -2e999}\n', "a", "1e400 (line 2), -2e999 (line 3);"),
        ('{"a": 1.7976931348623159e308}\n', "a", "1.7976931348623159e308 (line 1);"),
        ('{"a": 12345678901234567890123}\n', "a", "12345678901234567890123 (line 1);"),
        ('{"a": 9007199254740993}\n{"a": 0.5}\n', "a", "9007199254740993 (line 1);"),
        (f'{{"a": {LONG}}}\n', "a", f"{'9' * 30}… (5000 characters) (line 1);"),
        ('{"x": 1}\n{"x": 2, "list": [1, {"b": 1e400}]}\n', "list", "1e400 (line 2);"),
        ('{"d": "2024-05-17 00:00:00", "a": 1e999}\n', "a", "1e999 (line 1);"),
        (
            "".join(f'{{"a": 1e{n}}}\n' for n in range(400, 408)),
            "a",
            "1e404 (line 5) and 3 more;",
        ),
    ],
)
def test_numbers_that_no_float_stores(text, column, shown, tmp_path):
    """They are named with their column, and nothing is rounded or read as infinite."""
    message = refuse(file(tmp_path, text, "x.jsonl"), BadTable)
    assert f"column {column!r} has numbers" in message
    assert shown in message
    assert message.endswith("write the column as text, in quotes, or correct them")


def test_large_numbers_that_floats_store(tmp_path):
    text = '{"a": 1e300, "b": 18014398509481984}\n{"a": 9007199254740994.0, "b": 0.5}\n'
    found = values(read(file(tmp_path, text, "x.jsonl")))
    assert found == {"a": [1e300, 9007199254740994.0], "b": [2.0**54, 0.5]}


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_files_without_a_row(content, tmp_path):
    assert "the file is empty" in refuse(file(tmp_path, content, "x.jsonl"))
    assert "the file is empty" in refuse(file(tmp_path, gzip.compress(content), "x.jsonl.gz"))


def test_text_in_another_encoding(tmp_path):
    path = file(tmp_path, f'{{"a": "{SECRET} Müller"}}\n'.encode("latin-1"), "x.jsonl")
    assert "line 1 is not a JSON object in UTF-8" in refuse(path)


def test_what_json_cannot_store(tmp_path):
    with pytest.raises(BadFile, match="'a' contains infinity or NaN"):
        write(Frame(pa.table({"a": [float("nan")]})), tmp_path / "x.jsonl")
    with pytest.raises(BadFile, match="without rows"):
        write(Frame(pa.table({"a": pa.array([], pa.int64())})), tmp_path / "x.jsonl")


def test_first_rows_have_all_columns_of_the_first_lines(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text(
        '{"a": 1.0, "b": true}\n\n{"c": [1, {"d": "ä"}], "a": null}\n{"z": 1}\n', "utf-8"
    )
    first = read_first(path, 2)
    assert first.names == ["a", "b", "c"]
    assert first.rows == [["1", "True", None], [None, None, '[1, {"d": "ä"}]']]
