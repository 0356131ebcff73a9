from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from shoal import datasets
from shoal.base.errors import BadFile
from shoal.datasets import _find
from shoal.datasets.informs import FILES, NAMES, PEOPLE, holds_informs

HEAD = ",".join(f'"{name.upper()}"' for name in PEOPLE.columns)
PERSON = '1,7,"{key}",12,{year},1,2,3,3,1,4,2,6,{school},2005,3,17800,5'
DIAGNOSES = '"DUID","DUPERSID","ICD9CODX","year"\n'


def write(folder: Path, diagnoses: str, packed: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    people = [PERSON.format(key=key, year=1950 + i, school=i - 1) for i, key in enumerate("abc")]
    texts = {"demographics05.csv": "\n".join([HEAD, *people]), "conditions05.csv": diagnoses}
    for name, text in texts.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_people_and_diagnoses_are_joined(tmp_path: Path, packed: bool) -> None:
    lines = '1,"b","401",2005\n1,"a","460",2005\n1,"b","401",2005\n1,"b","-1",2005\n'
    folder = write(tmp_path / "informs", DIAGNOSES + lines, packed)
    table = datasets.informs(tmp_path)
    assert table.equals(datasets.informs(folder))
    assert table.column_names == list(NAMES.values())
    assert table.select(["person", "year of birth", "education", "diagnosis"]).to_pylist() == [
        {"person": "b", "year of birth": 1951, "education": 0, "diagnosis": "401"},
        {"person": "a", "year of birth": 1950, "education": -1, "diagnosis": "460"},
        {"person": "b", "year of birth": 1951, "education": 0, "diagnosis": "-1"},
    ]
    assert table["sex"].type == pa.string()
    assert table["month of birth"].type == pa.int64()
    assert holds_informs(tmp_path)
    assert holds_informs(folder)


def test_diagnoses_of_somebody_who_is_not_there(tmp_path: Path) -> None:
    lines = '1,"x","401",2005\n1,"x","402",2005\n1,"a","460",2005\n'
    write(tmp_path, DIAGNOSES + lines)
    with pytest.raises(BadFile, match="names 1 people who are not in"):
        datasets.informs(tmp_path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"no folder .*demographics05\.csv and conditions05\.csv"):
        datasets.informs(tmp_path / "nowhere")
    assert not holds_informs(tmp_path)
    write(tmp_path, DIAGNOSES)
    (tmp_path / "demographics05.csv").unlink()
    assert not holds_informs(tmp_path)
    with pytest.raises(BadFile, match=r"contains none of 'demographics05\.csv'"):
        datasets.informs(tmp_path)


def test_the_facts(shared: Path) -> None:
    table = datasets.informs(shared)
    assert table.num_rows == 98_703
    assert len(table["person"].unique()) == 26_854
    distinct = {name: len(table[name].unique()) for name in table.column_names}
    del distinct["person"]
    assert list(distinct.values()) == [12, 86, 2, 6, 22, 6, 5, 2, 601]
    assert all(column.null_count == 0 for column in table.columns)


def test_the_sums_are_those_of_the_files(shared: Path) -> None:
    for file in FILES:
        assert _find.sha256(_find.unpack(_find.given(file, shared))) == file.sha256
