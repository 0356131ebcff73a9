"""Stata: cells and labels come back, and pandas reads the same."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import shoal
from shoal.base.errors import BadFile, ShoalError
from shoal.io.frames import Frame, read, read_back, same_rows, write
from shoal.io.labels import Labels, labelled, table_labels
from shoal.io.reading import Reading
from tests.io.formats.statistics import LABELS, memory_to_refuse, people
from tests.io.tables import SECRET, file, refuse, values


def test_cells_and_labels_come_back(tmp_path):
    write(Frame(people()), tmp_path / "x.dta")
    back = read_back(tmp_path / "x.dta")
    assert same_rows(back, Frame(people()))
    found = table_labels(back.native.schema)
    assert {name: one.column for name, one in found.items() if one.column} == {
        "sex": LABELS["sex"].column, "town": LABELS["town"].column,
    }  # fmt: skip
    assert found["sex"].values == LABELS["sex"].values
    assert found["town"].values == {}  # Stata labels integers only


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8-sig"])
def test_a_plan_for_another_encoding_reads_old_and_new_files(encoding, tmp_path):
    """Files of Stata 14 and later are in UTF-8; older ones have the encoding that is stated."""
    asked = Reading(encoding=encoding)
    write(Frame(people()), tmp_path / "x.dta", asked)
    assert same_rows(read(tmp_path / "x.dta", reading=asked), read(tmp_path / "x.dta"))
    if encoding != "utf-8-sig":
        frame = pd.DataFrame({"town": ["Zoë"]})
        frame.to_stata(tmp_path / "old.dta", version=114, write_index=False)
        assert b"Zo\xeb" in (tmp_path / "old.dta").read_bytes()
        old = read(tmp_path / "old.dta", reading=asked)
        assert old.native["town"].to_pylist() == ["Zoë"]


def test_pandas_reads_the_same(tmp_path):
    table = people().drop_columns(["born", "seen"])
    write(Frame(table), tmp_path / "x.dta")
    with pd.read_stata(tmp_path / "x.dta", iterator=True) as file:
        frame = file.read(convert_categoricals=False)
        assert file.value_labels() == {
            "sex0": {1: "male", 2: "female", 9: "refused"}, "income1": {-8: "unknown"},
        }  # fmt: skip
        assert file.variable_labels()["town"] == "Größe"
        assert file.data_label == ""
    assert frame["sex"].tolist() == [1, 2, 2, 9]
    assert frame["town"].tolist() == ["A", "B", "", "Zoë"]
    assert frame["income"].tolist()[2:] == [0.1 + 0.2, -8.0]
    assert np.isnan(frame["income"][1])


def test_files_of_others_are_read(tmp_path):
    frame = pd.DataFrame(
        {"a": [1, 2], "s": ["x", "01300"], "d": pd.to_datetime(["2024-05-17"] * 2)}
    )
    labels = {"a": {1: "yes"}}
    frame.to_stata(
        *(tmp_path / "x.dta",),
        write_index=False,
        value_labels=labels,
        convert_dates={"d": "td"},
        version=117,
    )
    found = read(tmp_path / "x.dta").native
    assert found["a"].to_pylist() == [1, 2]
    assert found["s"].to_pylist() == ["x", "01300"]
    assert str(found["d"][0]) == "2024-05-17"
    assert table_labels(found.schema)["a"].values == {"1": "yes"}


EXTENDED = pa.table(
    {
        "q1": ["1", ".a", ".b", None, "2.5"],
        "day": ["2024-05-17", ".z", None, "1850-01-02", ".z"],
        "at": [".c", "2024-05-17 10:30:00.125", None, "0001-01-01 00:00:00.000", ".c"],
        "word": ["x", ".a", None, "y", "z"],
        "alone": [".a", ".a", None, None, ".a"],
    }
)
EXTENDED_LABELS = {
    "q1": Labels("Question 1", {"1": "yes", ".a": "refused", ".b": "not asked"}, (".a", ".b")),
    "day": Labels(missing=(".z",)),
    "at": Labels(missing=(".c",)),
    "alone": Labels(missing=(".a",)),
}


def test_extended_missing_values_are_kept_apart(tmp_path):
    """They are numbers and dates in the file, which pandas reads too; text .a is text."""
    path = tmp_path / "x.dta"
    write(Frame(labelled(EXTENDED, EXTENDED_LABELS)), path)
    back = read_back(path)
    assert values(back) == EXTENDED.to_pydict()
    assert table_labels(back.native.schema) == EXTENDED_LABELS
    with pd.read_stata(path, iterator=True) as file:
        cells = file.read(convert_missing=True, convert_dates=False, convert_categoricals=False)
    assert [str(cell) for cell in cells["q1"]] == ["1.0", ".a", ".b", ".", "2.5"]
    assert [str(cell) for cell in cells["alone"]] == [".a", ".a", ".", ".", ".a"]
    assert [str(cell) for cell in cells["word"]] == ["x", ".a", "", "y", "z"]
    assert [str(cell) for cell in cells["day"]][1:3] == [".z", "."]


def test_extended_missing_values_of_others(tmp_path):
    frame = pd.DataFrame({"a": [1, "b", 3, None], "n": [1.0, 2.0, None, 4.0]})
    pyreadstat.write_dta(
        *(frame, tmp_path / "x.dta"),
        missing_user_values={"a": ["b", "c"]},
        variable_value_labels={"a": {1: "yes", "b": "refused", "c": SECRET}},
    )
    found = read(tmp_path / "x.dta")
    assert values(found) == {"a": ["1", ".b", "3", None], "n": [1, 2, None, 4]}
    labels = {"1": "yes", ".b": "refused", ".c": SECRET}
    assert table_labels(found.native.schema)["a"] == Labels("", labels, (".b",))
    write(found, tmp_path / "y.dta")
    assert SECRET.encode() not in (tmp_path / "y.dta").read_bytes()
    assert same_rows(read_back(tmp_path / "y.dta"), found)


def test_a_release_keeps_extended_missing_values(tmp_path):
    """A column of ranges has them as text, others as numbers of the file."""
    ages = [*range(20, 40), ".a", ".a", ".b"]
    frame = pd.DataFrame({"age": pd.Series(ages, dtype=object), "q": pd.Series(ages, dtype=object)})
    letters = {"age": ["a", "b"], "q": ["a", "b"]}
    frame = frame.replace({".a": "a", ".b": "b"})
    pyreadstat.write_dta(frame, tmp_path / "x.dta", missing_user_values=letters)
    plan = shoal.draft(tmp_path / "x.dta")
    assert plan.columns["q"].missing_values == [".a", ".b"]
    plan = shoal.Plan(
        columns={
            "age": {
                "role": "quasi",
                "hierarchy": {"ranges": [5, 10]},
                "missing_values": [".a", ".b"],
            },
            "q": {"role": "sensitive"},
        },
        models=[{"name": "k-anonymity", "k": 2}],
        seed=1,
    )
    release = shoal.anonymize(tmp_path / "x.dta", plan)
    release.save(tmp_path / "y.dta")
    _, about = pyreadstat.read_dta(tmp_path / "y.dta", user_missing=True)
    assert about.missing_user_values.keys() == {"q"}
    assert set(values(read(tmp_path / "y.dta"))["q"]) >= {".a", "20"}


def test_numbers_of_32_bits_keep_their_digits(tmp_path):
    numbers = np.array([0.1, 2710.349, np.nan, 123456792], np.float32)
    pd.DataFrame({"a": numbers}).to_stata(tmp_path / "x.dta", write_index=False)
    assert values(read(tmp_path / "x.dta")) == {"a": [0.1, 2710.349, None, 123456792]}


def test_codes_with_one_label_stay_different(tmp_path):
    labels = {"a": Labels("", {"1": "yes", "2": "yes", "3": "x" * 40, "4": "x" * 40})}
    write(Frame(labelled(pa.table({"a": [1, 2, 3, 4]}), labels)), tmp_path / "x.dta")
    back = read_back(tmp_path / "x.dta")
    assert values(back) == {"a": [1, 2, 3, 4]}
    assert table_labels(back.native.schema) == labels


def test_labels_of_columns_with_long_names(tmp_path):
    """They are stored under the name and a number."""
    name = "a" * 32
    write(Frame(pa.table({name: [1]})), tmp_path / "x.dta")
    table = labelled(pa.table({name: [1]}), {name: Labels("", {"1": "one"})})
    with pytest.raises(BadFile, match=f"too long for Stata: '{name}'"):
        write(Frame(table), tmp_path / "x.dta")


def test_labels_of_values_that_are_not_published_are_not_written(tmp_path):
    labels = {"a": Labels("A", {"1": "one", "7": SECRET})}
    write(Frame(labelled(pa.table({"a": [1, 2]}), labels)), tmp_path / "x.dta")
    assert SECRET.encode() not in (tmp_path / "x.dta").read_bytes()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"zip code": ["x"]}, "cannot store columns of the names 'zip code'"),
        ({"int": ["x"]}, "cannot store columns"),
        ({"a": ["x" * 2046]}, "text of 2,046 bytes"),
    ],
)
def test_what_stata_cannot_store(table, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        write(Frame(pa.table(table)), tmp_path / "x.dta")


def test_spaces_at_the_end_are_kept(tmp_path):
    table = pa.table({"a": ["x ", " y", "x" * 2045]})
    write(Frame(table), tmp_path / "x.dta")
    assert same_rows(read_back(tmp_path / "x.dta"), Frame(table))


def test_files_that_are_cut_off_or_changed(tmp_path):
    path = tmp_path / "x.dta"
    write(Frame(pa.table({"a": [SECRET + str(i) for i in range(500)]})), path)
    content = path.read_bytes()
    for keep in (0.01, 0.5, 0.98):
        assert "damaged" in refuse(file(tmp_path, content[: int(len(content) * keep)], path.name))
    path.write_bytes(content + b"more")
    with pytest.raises(ShoalError, match="contains more than the cells"):
        read_back(path)


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")
@pytest.mark.parametrize("version", [8, 15])
def test_a_damaged_number_of_rows_takes_no_memory(version, tmp_path):
    """The library has room made for as many rows as the file states."""
    path, rows = tmp_path / "x.dta", 7
    frame = pd.DataFrame({"a": range(rows), "b": 1.0, "c": 2.0, "d": 3.0})
    pyreadstat.write_dta(frame, path, version=version)
    content = bytearray(path.read_bytes())
    place = 6 if version == 8 else content.index(b"<N>") + 3
    assert struct.unpack_from("<i", content, place) == (rows,)
    struct.pack_into("<i", content, place, 1 << 25)
    path.write_bytes(content)
    assert memory_to_refuse(path) < 200
