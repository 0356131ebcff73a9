"""Feather: types come back, and nothing but the cells is in the file."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.feather
import pytest

from shoal.io.frames import Frame, read, read_back, write
from tests.io.tables import PEOPLE, SECRET, file, refuse, values


@pytest.mark.parametrize("ending", [".feather", ".arrow", ".ipc"])
def test_types_come_back(ending, tmp_path):
    table = pa.table({**PEOPLE, "kind": pa.array(["x", "y", "x", None]).dictionary_encode()})
    write(Frame(table), tmp_path / f"x{ending}")
    assert read_back(tmp_path / f"x{ending}").native.equals(table)


def test_dictionaries_of_several_parts_become_one(tmp_path):
    one, two = (pa.table({"a": pa.array(v).dictionary_encode()}) for v in (["x"], ["y", "x"]))
    write(Frame(pa.concat_tables([one, two])), tmp_path / "x.feather")
    assert values(read_back(tmp_path / "x.feather")) == {"a": ["x", "y", "x"]}


def test_files_of_others_are_read_and_nothing_else_is_written(tmp_path):
    coded = pa.array([SECRET, "x"]).dictionary_encode().slice(1)
    table = pa.table({"a": coded}).replace_schema_metadata({"about": SECRET})
    pyarrow.feather.write_feather(table, tmp_path / "x.feather", compression="zstd")
    frame = read(tmp_path / "x.feather")
    assert values(frame) == {"a": ["x"]}
    write(frame, tmp_path / "y.feather")
    assert SECRET.encode() not in (tmp_path / "y.feather").read_bytes()


def test_other_files(tmp_path):
    assert "damaged" in refuse(file(tmp_path, f"a\n{SECRET}\n", "x.feather"))
