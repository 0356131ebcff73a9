"""Texts that stay dictionaries are the same table as texts, in every step of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.io.files import read_table
from shoal.io.formats.parquet import Parquet
from shoal.io.frames import Frame, open_frame, same_rows
from shoal.io.native import packed_texts
from shoal.table.coding import value_codes

ROWS = 90


def people() -> pa.Table:
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Aix", "Bonn", "", None], ROWS)
    return pa.table(
        {
            "age": rng.integers(30, 40, ROWS),
            "town": pa.array(town.tolist(), pa.string()),
            "job.kind": rng.choice(["a", "b"], ROWS),
            "note": [f"note {i}" for i in range(ROWS)],  # too many for a dictionary
            "level": pa.array(rng.choice(["x", "y"], ROWS)).dictionary_encode(),
            "ill": rng.choice(["flu", "gout"], ROWS),
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose parts have dictionaries of their own, some of them none."""
    made = tmp_path / "people.parquet"
    table = people().cast(
        pa.schema([f.with_metadata({"a": "b"}) for f in people().schema])  # is no mark
    )
    pq.write_table(table, made, row_group_size=25, dictionary_pagesize_limit=60)
    return made


def test_a_packed_table_has_the_columns_of_the_file(path: Path) -> None:
    frame, plain = open_frame(path), people()
    assert not pa.types.is_dictionary(read_table(path).schema.field("town").type)
    stored = {name: pa.types.is_dictionary(frame.stored(name).type) for name in frame.names}
    assert stored == dict.fromkeys(plain.column_names, False) | dict.fromkeys(
        ["town", "note", "level", "ill"], True
    )
    for name in plain.column_names:
        assert frame.column(name).type == plain.schema.field(name).type
        assert frame.column(name).to_pylist() == plain[name].to_pylist()
    assert same_rows(frame, Frame(plain))


def test_codes_are_in_the_order_of_first_appearance(path: Path) -> None:
    frame, plain = open_frame(path), people()
    for name in plain.column_names:
        for missing in ((), ("Aix", "x", "3")):
            codes, values = value_codes(frame.stored(name), missing)
            expected, known = value_codes(plain[name], missing)
            assert codes.tolist() == expected.tolist()
            assert list(values) == list(known)
            assert values.array.type == known.array.type


def test_dictionaries_with_repeated_or_missing_entries() -> None:
    for entries in (["b", "a", "b", "c"], ["b", None, "a", "c"]):
        array = pa.DictionaryArray.from_arrays(
            pa.array([2, 0, None, 1, 2], pa.int32()), pa.array(entries)
        )
        codes, values = value_codes(array)
        expected, known = value_codes(pa.array(array.to_pylist()))
        assert codes.tolist() == expected.tolist()
        assert list(values) == list(known)


def test_selected_rows_are_texts_and_nothing_else(path: Path) -> None:
    frame = open_frame(path)
    taken = frame.rebuild(np.array([3, 1]), {}, drop=()).native
    assert taken.schema == people().schema
    assert taken.schema.field("town").metadata is None
    assert taken.to_pylist() == [people().to_pylist()[3], people().to_pylist()[1]]


def test_long_texts_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_texts, "MOST_BYTES", 8)
    column = pa.array(["four", None, "a", "four", "a"]).dictionary_encode()
    made = packed_texts.unpacked(column.slice(1))
    assert made.to_pylist() == [None, "a", "four", "a"]
    assert made.num_chunks == 2


def test_a_release_is_the_same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = shoal.Plan(
        columns={
            "age": {"role": "quasi", "hierarchy": {"ranges": [5]}},
            "town": "quasi",
            "job.kind": "quasi",
            "note": "other",
            "level": "other",
            "ill": "sensitive",
        },
        models=[{"name": "k-anonymity", "k": 3}],
        seed=3,
    )

    def released(name: str) -> tuple[bytes, dict]:
        release = shoal.anonymize(path, plan)
        release.save(tmp_path / name)
        numbers = release.as_dict()
        return (tmp_path / name).read_bytes(), {
            key: numbers[key] for key in numbers if key not in ("seconds", "made")
        }

    packed = released("packed.parquet")
    monkeypatch.setattr(Parquet, "read_packed", Parquet.read)
    assert released("plain.parquet") == packed


def test_other_dictionaries_keep_their_type(tmp_path: Path) -> None:
    """All values of both groups of rows are more than codes of 8 bits can number."""
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [pa.table({"q": pa.array([f"{part}{i}" for i in range(100)]).cast(kind)})
             for part in "ab"]  # fmt: skip
    with pq.ParquetWriter(tmp_path / "people.parquet", parts[0].schema) as file:
        for part in parts:
            file.write_table(part)
    frame = open_frame(tmp_path / "people.parquet")
    assert same_rows(frame, Frame(pa.concat_tables(parts)))
