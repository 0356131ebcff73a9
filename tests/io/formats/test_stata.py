"""Stata: cells and labels come back, and pandas reads the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal.base.errors import BadFile, ShoalError
from shoal.io.frames import Frame, read, read_back, same_rows, write
from shoal.io.labels import Labels, labelled, table_labels
from shoal.io.reading import Reading
from tests.io.formats.statistics import LABELS, people
from tests.io.tables import SECRET, file, refuse


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
            "labels1": {1: "male", 2: "female", 9: "refused"}, "labels3": {-8: "unknown"},
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
