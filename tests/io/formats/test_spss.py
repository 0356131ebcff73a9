"""SPSS: labels, missing codes and long text, and what a file cannot store."""

from __future__ import annotations

import datetime as dt
import struct
import sys

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from shoal.base.errors import BadFile, BadTable, ShoalError
from shoal.io.frames import Frame, open_frame, read, read_back, same_rows, write
from shoal.io.labels import Labels, labelled, table_labels
from shoal.io.reading import Reading
from tests.io.formats.statistics import LABELS, memory_to_refuse, people
from tests.io.tables import SECRET, file, refuse, values


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_cells_and_labels_come_back(ending, tmp_path):
    write(Frame(people()), tmp_path / f"x{ending}")
    back = read_back(tmp_path / f"x{ending}")
    assert same_rows(back, Frame(people()))
    assert table_labels(back.native.schema) == LABELS


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8-sig"])
def test_a_file_in_utf_8_is_read_as_such(encoding, tmp_path):
    """The plan of a text file in another encoding can write its release to such a file."""
    write(Frame(people()), tmp_path / "x.sav", Reading(encoding=encoding))
    back = read(tmp_path / "x.sav", reading=Reading(encoding=encoding))
    assert same_rows(back, Frame(people()))
    assert table_labels(back.native.schema) == LABELS


@pytest.mark.parametrize("encoding", ["latin-1", "iso8859_15", "cp1252"])
def test_a_file_that_names_no_encoding_has_the_stated_one(encoding, tmp_path):
    pyreadstat.write_sav(pd.DataFrame({"town": ["Zoë"]}), tmp_path / "x.sav")
    content = (tmp_path / "x.sav").read_bytes()
    record = struct.pack("<4i", 7, 20, 1, 5) + b"UTF-8"
    assert record in content
    content = content.replace(record, b"").replace("Zoë".encode(), "Zoë ".encode("latin-1"))
    (tmp_path / "x.sav").write_bytes(content)
    back = read(tmp_path / "x.sav", reading=Reading(encoding=encoding))
    assert back.native["town"].to_pylist() == ["Zoë"]


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_others_read_the_same(ending, tmp_path):
    write(Frame(people()), tmp_path / f"x{ending}")
    frame, about = pyreadstat.read_sav(tmp_path / f"x{ending}", user_missing=False)
    assert frame["sex"].tolist()[:3] == [1, 2, 2]
    assert frame["sex"].isna().tolist() == [False, False, False, True]  # 9 is declared as missing
    assert frame["born"].tolist()[0] == dt.date(1850, 1, 2)
    assert about.variable_value_labels["sex"] == {1: "male", 2: "female", 9: "refused"}
    assert about.variable_measure["sex"] == "nominal"
    assert not about.file_label
    assert about.creation_time == dt.datetime(1970, 1, 1)


def test_files_of_others_are_read(tmp_path):
    frame = pd.DataFrame(
        {
            "q1": [1.0, 2.0, 97.0, 99.0, None],
            "word": ["x", "", "01300", "NA", "y"],
            "day": [dt.date(2024, 5, 17)] * 5,
            "at": [dt.datetime(2024, 5, 17, 10, 30)] * 5,
            "share": [0.5, 1, 2, 3, 4],
        }
    )
    pyreadstat.write_sav(
        *(frame, tmp_path / "x.sav"),
        column_labels={"q1": "Question 1"},
        variable_value_labels={"q1": {1: "yes", 2: "no", 3: "perhaps", 99: "refused"}},
        missing_ranges={"q1": [{"lo": 90, "hi": 99}], "word": ["NA"]},
    )
    found = read(tmp_path / "x.sav").native
    assert found["q1"].to_pylist() == [1, 2, 97, 99, None]
    assert found["word"].to_pylist() == ["x", None, "01300", "NA", "y"]
    assert found["day"].to_pylist()[0] == dt.date(2024, 5, 17)
    assert found["at"].to_pylist()[0] == dt.datetime(2024, 5, 17, 10, 30)
    assert found["share"].to_pylist() == [0.5, 1, 2, 3, 4]
    labels = table_labels(found.schema)
    assert labels["q1"].column == "Question 1"
    assert labels["q1"].values == {"1": "yes", "2": "no", "3": "perhaps", "99": "refused"}
    assert labels["q1"].missing == ("97", "99")
    assert labels["word"].missing == ("NA",)


def test_labels_of_values_that_are_not_published_are_not_written(tmp_path):
    labels = {"a": Labels("A", {"1": "one", "7": SECRET}, ("7",))}
    write(Frame(labelled(pa.table({"a": [1, 2]}), labels)), tmp_path / "x.sav")
    assert SECRET.encode() not in (tmp_path / "x.sav").read_bytes()
    back = read_back(tmp_path / "x.sav").native
    assert table_labels(back.schema) == {"a": Labels("A", {"1": "one"})}


def test_many_missing_codes_are_a_range_if_nothing_else_is_in_it(tmp_path):
    codes = ("96", "97", "98", "99")
    table = pa.table({"a": [1, 96, 97, 98, 99], "b": [1, 90, 97.5, 98, 99]})
    labels = {"a": Labels(missing=codes), "b": Labels(missing=("90", "98", "99", "1"))}
    write(Frame(labelled(table, labels)), tmp_path / "x.sav")
    found = table_labels(read_back(tmp_path / "x.sav").native.schema)
    assert found == {"a": Labels(missing=codes)}  # 97.5 lies between the codes of b


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ([{"lo": float("-inf"), "hi": -1}, 97], ("-5", "-1", "97")),  # LO THRU -1, 97
        ([{"lo": 90, "hi": float("inf")}], ("96", "97")),  # 90 THRU HI
        ([{"lo": -5, "hi": 1}], ("-5", "-1", "1")),
        ([-1, 96, 97], ("-1", "96", "97")),
    ],
)
def test_ranges_of_missing_codes_of_others(declared, found, tmp_path):
    """A release declares the codes that it has, and not the range, which may tell others."""
    frame = pd.DataFrame({"a": [1.0, 96, 97, -1, -5, None]})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", missing_ranges={"a": declared})
    read_in = read(tmp_path / "x.sav")
    assert values(read_in) == {"a": [1, 96, 97, -1, -5, None]}
    assert table_labels(read_in.native.schema)["a"].missing == found
    write(read_in, tmp_path / "y.sav")
    again = read_back(tmp_path / "y.sav").native
    assert table_labels(again.schema)["a"].missing == found


@pytest.mark.parametrize("alone", ["-99", "99"])
def test_many_missing_codes_are_a_range_and_another_one(alone, tmp_path):
    codes = ("-9", "-8", "-7", alone)
    labels = {"a": Labels(missing=tuple(sorted(codes, key=int)))}
    table = labelled(pa.table({"a": [-50, -9, -8, -7, 5, int(alone)]}), labels)
    write(Frame(table), tmp_path / "x.sav")
    assert table_labels(read_back(tmp_path / "x.sav").native.schema) == labels


def test_tables_without_rows_keep_their_text(tmp_path):
    table = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
    for ending in (".sav", ".zsav", ".dta", ".xpt"):
        write(Frame(table), tmp_path / f"x{ending}")
        back = read_back(tmp_path / f"x{ending}")
        assert (back.names, back.height) == (["a", "b"], 0)


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
@pytest.mark.parametrize("size", [1, 8, 9, 255, 256, 504, 505, 1000, 32_767])
def test_text_of_any_length(size, ending, tmp_path):
    table = pa.table({"a": ["x" * size, "y"], "b": [1, 2], "c": ["é" * (size // 2), None]})
    write(Frame(table), tmp_path / f"x{ending}")
    assert same_rows(read_back(tmp_path / f"x{ending}"), Frame(table))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"zip code": ["x"]}, "cannot store columns of the names 'zip code'"),
        ({"1a": ["x"]}, "begins with a letter"),
        ({"with": ["x"]}, "cannot store columns"),
        ({"x" * 65: ["x"]}, "up to 64 bytes"),
        ({"a": ["x"], "A": ["y"]}, "does not distinguish 'A'"),
        ({"a": ["x" * 32_768]}, "text of 32,768 bytes"),
        ({"a": ["x "]}, "ends with a space"),
        ({"a": ["x\0y"]}, "with a NUL"),
    ],
)
def test_what_spss_cannot_store(table, message, tmp_path):
    with pytest.raises(BadFile, match=message) as caught:
        write(Frame(pa.table(table)), tmp_path / "x.sav")
    assert "SPSS" in str(caught.value)


def test_numbers_that_would_be_rounded_are_text(tmp_path):
    table = pa.table({"a": [2**53 + 1, 1], "b": [float("nan"), 1.0], "c": [-1.797e308, 1.7976e308]})
    write(Frame(table), tmp_path / "x.sav")
    back = read_back(tmp_path / "x.sav")
    assert same_rows(back, Frame(table))
    assert [str(field.type) for field in back.native.schema] == ["string", "string", "double"]


def test_codes_with_one_label_stay_different(tmp_path):
    labels = {"a": Labels("", {"1": "yes", "2": "yes"})}
    write(Frame(labelled(pa.table({"a": [1, 2]}), labels)), tmp_path / "x.sav")
    back = read_back(tmp_path / "x.sav")
    assert values(back) == {"a": [1, 2]}
    assert table_labels(back.native.schema) == labels


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    assert "damaged" in refuse(file(tmp_path, f"a\n{SECRET}\n", "x.sav"))
    head = bytes(16) + b"ENCRYPTEDSAV" + bytes(64)
    assert "password" in refuse(file(tmp_path, head, "x.sav"))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(BadFile, match=r"polars.*not installed: pip install 'shoal\[statistics\]'"):
        write(Frame(pa.table({"a": [1]})), tmp_path / "y.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(BadFile, match=r"not installed: pip install 'shoal\[statistics\]'"):
        read(file(tmp_path, "x", "x.sav"))


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_a_file_that_is_cut_off_or_changed(ending, tmp_path):
    path = tmp_path / f"x{ending}"
    write(Frame(pa.table({"a": [SECRET + str(i) for i in range(500)]})), path)
    content = path.read_bytes()
    for keep in (0.1, 0.5, 0.999):
        assert "damaged" in refuse(file(tmp_path, content[: int(len(content) * keep)], path.name))
    path.write_bytes(content.replace(b"01 Jan 70", b"17 Nov 26"))
    with pytest.raises(ShoalError, match="contains more than the cells"):
        read_back(path)


def test_dates_that_nobody_can_mean(tmp_path):
    frame = pd.DataFrame({"day": [1e15]})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_format={"day": "DATE11"})
    assert "dates before the year 1 or after 9999" in refuse(tmp_path / "x.sav", BadTable)


def test_a_release_keeps_the_labels_of_what_it_publishes(tmp_path):
    import numpy as np

    frame = open_frame(people())
    built = frame.rebuild(np.array([0, 1]), {"town": pa.array(["*", "A"])}, drop={"income"})
    labels = table_labels(built.native.schema)
    assert labels["sex"].values == {"1": "male", "2": "female"}
    assert labels["sex"].missing == ()
    assert labels["town"] == LABELS["town"]
    assert "income" not in labels


@pytest.mark.parametrize(
    ("place", "byte"),
    [
        (b"\4\0\0\0\1\0\0\0\1\0\0\0", 9),  # labels of variable 1, which becomes 2305
        (b"\6Aachen", 2),  # a label that is not in UTF-8
        (b"\0\x08\5\0\0\x08\5\0SEX", 2),  # a number that is shown as text
    ],
)
def test_dictionaries_that_would_end_the_process(place, byte, tmp_path):
    """The library that reads these files does not check them: it would crash."""
    path = tmp_path / "x.sav"
    write(Frame(people()), path)
    content = bytearray(path.read_bytes())
    start = content.index(place)
    content[start + byte] = {9: 9, 2: 1 if place.endswith(b"SEX") else 255}[byte]
    assert "damaged" in refuse(file(tmp_path, bytes(content), "y.sav"))


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")
@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_a_damaged_number_of_rows_takes_no_memory(ending, tmp_path):
    """The library has room made for as many rows as the file states: 30 GB were seen."""
    path = tmp_path / f"x{ending}"
    write(Frame(people()), path)
    content = bytearray(path.read_bytes())
    assert struct.unpack_from("<i", content, 80) == (len(people()),)
    struct.pack_into("<i", content, 80, 1 << 25)
    path.write_bytes(content)
    assert memory_to_refuse(path) < 200


def test_names_that_cannot_be_read_are_refused(tmp_path):
    pyreadstat.write_sav(pd.DataFrame({"TEXT": ["a"], "X": [1.0]}), tmp_path / "x.sav")
    content = (tmp_path / "x.sav").read_bytes()
    short = b"X       "
    assert content.count(short) == 1
    (tmp_path / "x.sav").write_bytes(
        content.replace(short, b"\xab       ").replace(b"X=X", b"X=\xf1")
    )
    assert "it is damaged" in refuse(tmp_path / "x.sav")
