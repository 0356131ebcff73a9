"""SAS: transport files in both directions, data sets to read."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.base.errors import BadFile
from shoal.io.files import check_target
from shoal.io.formats._sas_writing import SAS
from shoal.io.frames import Frame, read, read_back, same_rows, write
from shoal.io.labels import Labels, labelled, table_labels
from shoal.io.reading import Reading
from tests.io.formats.statistics import LABELS, people
from tests.io.tables import SECRET, file, refuse, values


def test_a_plan_for_another_encoding_writes_ascii_only(tmp_path):
    """The same plan would read other letters, as the file does not name its encoding."""
    asked = Reading(encoding="latin-1")
    plain = pa.table({"town": ["A", None], "age": [1, 2]})
    write(Frame(plain), tmp_path / "x.xpt", asked)
    assert same_rows(read_back(tmp_path / "x.xpt", asked), Frame(plain))
    labels = labelled(plain, {"town": Labels("Größe")})
    coded = pa.table({"town": pa.array(["Zoë"]).dictionary_encode()})
    for table in (labels, coded):
        with pytest.raises(BadFile, match="column 'town' has letters beyond ASCII"):
            write(Frame(table), tmp_path / "y.xpt", asked)
        write(Frame(table), tmp_path / "z.xpt", Reading(encoding="utf-8"))


def test_cells_and_labels_of_columns_come_back(tmp_path):
    long = {**LABELS, "income": Labels("a label of more than forty bytes, as version 8 allows it")}
    table = labelled(people(), long)
    write(Frame(table), tmp_path / "x.xpt")
    back = read_back(tmp_path / "x.xpt")
    assert same_rows(back, Frame(table))
    assert table_labels(back.native.schema) == {
        name: Labels(one.column) for name, one in long.items()
    }


def test_files_of_others_are_read(tmp_path):
    frame = pd.DataFrame({"a": [1.5, np.nan], "s": ["x", ""], "d": [dt.date(2024, 5, 17)] * 2})
    pyreadstat.write_xport(frame, tmp_path / "x.xpt", file_format_version=5)
    assert read(tmp_path / "x.xpt").native.to_pydict() == {
        "a": [1.5, None], "s": ["x", None], "d": [dt.date(2024, 5, 17)] * 2,
    }  # fmt: skip


def test_nothing_says_when_it_was_written(tmp_path):
    write(Frame(people()), tmp_path / "x.xpt")
    _, about = pyreadstat.read_xport(tmp_path / "x.xpt")
    assert about.creation_time == dt.datetime(1960, 1, 1) or about.creation_time.year % 100 == 60
    assert about.file_label in (None, "")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_ibm_floats_are_exact(number):
    """The bytes of the file: sign, exponent of 16, and 56 bits."""
    assume(SAS.holds(np.array([number])).all())
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.xpt")
        write(Frame(pa.table({"a": [number]})), path)
        head, *rest = path.read_bytes()[-80:-72]
    fraction = int.from_bytes(bytes(rest), "big")
    sign = -1 if head >= 128 else 1
    assert sign * fraction * 2.0 ** (4 * (head % 128 - 64) - 56) == number


SPECIAL = {"refused": ["1.5", ".A", ".Z", None, "._"], "text": ["x", ".A", None, "y", "z"]}
DECLARED = {"refused": Labels("Refused", {}, (".A", ".Z", "._"))}


def test_special_missing_values_are_kept_apart(tmp_path):
    """They are numbers in the file, which SAS shows as .A to .Z and ._; text .A is text."""
    path = tmp_path / "x.xpt"
    write(Frame(labelled(pa.table(SPECIAL), DECLARED)), path)
    cells, _ = pyreadstat.read_xport(path)
    assert cells["refused"].dtype == np.float64
    assert cells["refused"].tolist()[0] == 1.5
    assert cells["refused"].isna().tolist() == [False, True, True, True, True]
    back = read_back(path)
    assert values(back) == SPECIAL
    assert table_labels(back.native.schema) == DECLARED
    plain = pa.table({"a": ["1", ".A"]})  # nothing declares it as missing
    write(Frame(plain), path)
    assert pyreadstat.read_xport(path)[0]["a"].tolist() == ["1", ".A"]
    assert table_labels(read_back(path).native.schema) == {}


def test_special_missing_values_of_other_files(tmp_path):
    """As SAS writes them, in version 5 too: the letter is the first byte of the number."""
    frame = pd.DataFrame({"t": ["abc"] * 3, "n": [2.0, np.nan, np.nan]})
    pyreadstat.write_xport(
        frame, tmp_path / "x.xpt", file_format_version=5, variable_format={"n": "DATE9"}
    )
    content = bytearray((tmp_path / "x.xpt").read_bytes())
    assert content[-80:].startswith(b"abc")
    content[-80 + 14] = ord("B")
    (tmp_path / "x.xpt").write_bytes(content)
    found = read(tmp_path / "x.xpt")
    assert values(found)["n"] == ["1960-01-03", ".B", None]
    assert table_labels(found.native.schema)["n"].missing == (".B",)
    write(found, tmp_path / "y.xpt")
    assert same_rows(read_back(tmp_path / "y.xpt"), found)
    _, about = pyreadstat.read_xport(tmp_path / "y.xpt")
    assert about.original_variable_types["n"] == "DATE9"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"größe": ["x"]}, "cannot store columns of the names 'größe'"),
        ({"a": ["x"], "A": ["y"]}, "does not distinguish 'A'"),
        ({"a": ["x "]}, "ends with a space"),
    ],
)
def test_what_sas_cannot_store(table, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        write(Frame(pa.table(table)), tmp_path / "x.xpt")


def test_data_sets_are_only_read(tmp_path):
    with pytest.raises(BadFile, match=r"end in \.sas7bdat can be read but not written; use"):
        check_target(tmp_path / "x.sas7bdat")
    assert "damaged" in refuse(file(tmp_path, f"a\n{SECRET}\n", "x.sas7bdat"))


def test_files_that_are_cut_off(tmp_path):
    path = tmp_path / "x.xpt"
    write(Frame(pa.table({"a": [SECRET + str(i) for i in range(500)]})), path)
    content = path.read_bytes()
    for keep in (0.01, 0.5, 0.98):
        assert "damaged" in refuse(file(tmp_path, content[: int(len(content) * keep)], path.name))
