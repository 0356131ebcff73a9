"""Law: no byte of a written file, nor of a frame given back, is a value that is not published.

Every cell of the input has a marker of its own. After a run every file that a command can write is
unpacked and searched for markers that are not published (item 9 of the list of defects).
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import io
import json
import lzma
import mmap
import pickle
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.base.errors import ShoalError
from shoal.cli import main as cli
from shoal.io import arrow_tables, files, frames
from shoal.io.formats import _reachable as reachable
from shoal.io.formats import parquet
from shoal.io.formats.parquet import Parquet

ROWS = 12
SUPPRESSED = (10, 11)  # their quasi-identifiers are theirs alone


def mark(column: str, row: int) -> str:
    return f"zq{column}{row:03d}qz"


def texts(column: str) -> list[str]:
    return [mark(column, row) for row in range(ROWS)]


def town(row: int) -> str:
    return mark("town", row if row in SUPPRESSED else row // 5)


def moment(row: int) -> dt.datetime:
    return dt.datetime(2101, 3, 1 + row, 1, 2, 3, 456789)


def number(row: int) -> int:
    return 7_310_557_000_000_001 + 1_000_003 * row


BASE = {
    "name": texts("name"),
    "who": texts("who"),
    "town": [town(row) for row in range(ROWS)],
    "disease": texts("disease"),
    "number": [number(row) for row in range(ROWS)],
    "moment": [moment(row) for row in range(ROWS)],
}
ROLES = {"name": "identifier", "who": "person", "town": "quasi", "disease": "sensitive"}

Patterns = dict[str, list[bytes]]  # what each cell looks like in a file


def patterns(names: list[str]) -> Patterns:
    """By column and row the bytes that would show the cell, published or not."""
    found = {}
    for name in names:
        for row in range(ROWS):
            if name == "number":
                shapes = [str(number(row)).encode(), struct.pack("<q", number(row))]
            elif name == "moment":
                micro = (moment(row) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
                shapes = [f"2101-03-{1 + row:02d}".encode()]
                shapes += [struct.pack("<q", micro * by) for by in (1, 1000)]
            else:
                shapes = [(town(row) if name == "town" else mark(name, row)).encode()]
            found[f"{name}{row}"] = shapes
    return found


def coded(name: str) -> pa.DictionaryArray:
    return pa.array(texts(name)).dictionary_encode()


def arrow() -> pa.Table:
    one = pa.array(range(ROWS + 1))
    columns: dict[str, pa.Array] = {
        **{name: pa.array(values) for name, values in BASE.items()},
        "coded": coded("coded"),
        "blob": pa.array([text.encode() for text in texts("blob")]),
        "list": pa.ListArray.from_arrays(one.cast(pa.int32()), coded("list")),
        "large": pa.LargeListArray.from_arrays(one, coded("large")),
        "fixed": pa.FixedSizeListArray.from_arrays(coded("fixed"), 1),
        "view": pa.ListViewArray.from_arrays(one[:-1].cast("int32"), [1] * ROWS, coded("view")),
        "struct": pa.StructArray.from_arrays([coded("struct")], ["x"]),
        "map": pa.MapArray.from_arrays(one.cast(pa.int32()), coded("map"), coded("map")),
        "deep": pa.ListArray.from_arrays(
            one.cast(pa.int32()), pa.StructArray.from_arrays([coded("deep")], ["x"])
        ),
        "json": pa.ExtensionArray.from_storage(
            pa.json_(), pa.array(map(json.dumps, texts("json")))
        ),
    }
    notes = {name: {"note": mark("note", 0), "PARQUET:field_id": "7"} for name in columns}
    inner = pa.field("x", columns["struct"].type.field(0).type, metadata={"n": mark("note", 1)})
    columns["struct"] = pa.StructArray.from_arrays([coded("struct")], fields=[inner])
    fields = [pa.field(name, one.type, metadata=notes[name]) for name, one in columns.items()]
    about = {
        "about": mark("note", 2),
        "pandas": mark("note", 3),
        "shoal.delimiter": mark("note", 4),
    }
    return pa.table(list(columns.values()), pa.schema(fields, about))


def sliced() -> pa.Table:
    """The same rows, cut out of a longer table."""
    long = pa.concat_tables([arrow(), arrow()])
    more = long.set_column(4, "number", pa.array([1] * ROWS + [number(i) for i in range(ROWS)]))
    return more.slice(ROWS, ROWS)


def pandas() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            **BASE,
            "category": pd.Categorical(texts("category")),
            "ordered": pd.Categorical(texts("ordered"), texts("ordered"), ordered=True),
            "coded": pd.arrays.ArrowExtensionArray(pa.chunked_array([coded("coded")])),
            "deep": pd.arrays.ArrowExtensionArray(arrow()["deep"]),
            "text": pd.array(texts("text"), "string[pyarrow]"),
        },
        index=pd.Index(texts("index"), name=mark("note", 0)),
    )
    frame.attrs["about"] = mark("note", 1)
    frame.columns.name = mark("note", 2)
    return frame


def polars() -> pl.DataFrame:
    enum = {name: pl.Series(texts(name), dtype=pl.Enum(texts(name))) for name in "efgh"}
    frame = pl.DataFrame({**BASE, "category": pl.Series(texts("category"), dtype=pl.Categorical)})
    return frame.with_columns(
        enum=pl.Series(texts("enum"), dtype=pl.Enum(texts("enum"))),
        e=pl.Series([[one] for one in texts("e")], dtype=pl.List(enum["e"].dtype)),
        f=pl.Series([[one] for one in texts("f")], dtype=pl.Array(enum["f"].dtype, 1)),
        g=pl.Series([{"x": one} for one in texts("g")], dtype=pl.Struct({"x": enum["g"].dtype})),
        h=pl.Series([[{"x": [one]}] for one in texts("h")]).cast(
            pl.List(pl.Struct({"x": pl.List(enum["h"].dtype)}))
        ),
    )


KINDS = {"arrow": arrow, "sliced": sliced, "pandas": pandas, "polars": polars}
NAMES = {kind: list(frames.open_frame(make()).names) for kind, make in KINDS.items()}
ALL = sorted({name for names in NAMES.values() for name in names} | {"note", "index"})
PATTERNS = patterns(ALL)


def asked(names: list[str]) -> shoal.Plan:
    return shoal.Plan(
        columns={name: {"role": ROLES.get(name, "other")} for name in names},
        models=[{"name": "k-anonymity", "k": 5}],
        algorithm={"name": "full-domain", "suppression": 0.2},
        seed=5,
    )


def hidden() -> Patterns:
    """What may be in no file: identifiers, person values, notes, and all of suppressed rows."""
    never = ("name", "who", "note", "index")
    return {
        cell: shapes
        for cell, shapes in PATTERNS.items()
        if cell.startswith(never) or cell.endswith(tuple(map(str, SUPPRESSED)))
    }


def shown(content: bytes, cells: Patterns) -> list[str]:
    return [cell for cell, shapes in cells.items() if any(shape in content for shape in shapes)]


def unpacked(path: Path) -> bytes:
    """All bytes that a reader of a file can reach."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        return content[:64] + gzip.decompress(content)
    if path.suffix == ".xz":
        return content[:64] + lzma.decompress(content)
    if path.suffix == ".zst":
        return content[:64] + pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as parts_of:
            return content + b"\0".join(parts_of.read(name) for name in parts_of.namelist())
    if path.suffix == ".zsav":
        # The end of the dictionary, 24 bytes, and the only block of rows.
        start = content.index(b"\xe7\x03\0\0\0\0\0\0") + 8 + 24
        return content + zlib.decompressobj().decompress(content[start:])
    if path.suffix == ".parquet":
        meta = pq.read_metadata(path)
        parts = [content, repr(meta.metadata).encode(), str(pq.read_schema(path)).encode()]
        parts += [_statistics(meta), _arrow_schema(meta.metadata)]
        with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for group in range(meta.num_row_groups):
                for i in range(meta.num_columns):
                    one = meta.row_group(group).column(i)
                    start = one.dictionary_page_offset or one.data_page_offset
                    pages = reachable._pages(
                        data, start, start + one.total_compressed_size, one.compression
                    )
                    parts += [page.content for page in pages]
        return b"\0".join(parts)
    return content


def _statistics(meta: pq.FileMetaData) -> bytes:
    groups = [meta.row_group(group) for group in range(meta.num_row_groups)]
    return b"\0".join(
        repr(group.column(i).statistics).encode()
        for group in groups
        for i in range(meta.num_columns)
    )


def _arrow_schema(notes: dict[bytes, bytes] | None) -> bytes:
    return base64.b64decode((notes or {}).get(b"ARROW:schema", b""))


def test_the_markers_can_be_found_at_all(tmp_path):
    """The search finds every cell of the original where nothing is hidden."""
    table = arrow()
    for ending, codec in ((".parquet", "none"), (".parquet", "snappy")):
        path = tmp_path / f"x{ending}"
        pq.write_table(table, path, compression=codec)
        cells = {c: s for c, s in PATTERNS.items() if c.rstrip("0123456789") in table.column_names}
        assert set(shown(unpacked(path), cells)) == set(cells)
        assert shown(unpacked(path), {"note": [mark("note", 1).encode()]})
    with pytest.raises(ShoalError, match="contains more than the cells"):
        files.check_bytes(path, table)


ENDINGS = (".parquet", ".csv", ".tsv", ".txt.gz", ".csv.xz", ".tab.zst", ".jsonl.gz")
ENDINGS += (".feather", ".xlsx", ".sav", ".zsav", ".dta", ".xpt")


@pytest.mark.parametrize("kind", KINDS)
def test_item_9_no_file_and_no_frame_holds_what_is_not_published(kind, tmp_path, monkeypatch):
    names = NAMES[kind]
    release = shoal.anonymize(KINDS[kind](), asked(names))
    assert release.suppressed == len(SUPPRESSED)
    frame = release.frame
    assert not shown(in_memory(frame), hidden())
    for ending in ENDINGS if kind != "sliced" else ENDINGS[:1]:
        path = tmp_path / f"release{ending}"
        if ending not in (".parquet", ".feather") and "blob" in names:  # others cannot hold it
            rest = [name for name in names if name != "blob"]
            part = frames.open_frame(KINDS[kind]()).select(rest).native
            saved = shoal.anonymize(part, asked(rest))
        else:
            saved = release
        saved.save(path)
        content = unpacked(path)
        assert not shown(content, hidden()), ending
        assert shown(content, {"published": [mark("disease", 3).encode()]})  # it is a release
    monkeypatch.setattr(Parquet, "writing", {"write_statistics": False, "compression": "none"})
    release.save(tmp_path / "plain.parquet")
    assert not shown((tmp_path / "plain.parquet").read_bytes(), hidden())
    back = frames.read(tmp_path / "plain.parquet")
    assert frames.same_rows(back, frames.open_frame(frame))


def in_memory(frame: object) -> bytes:
    """What somebody gets who is handed a frame: pickled, and in the format of its own library."""
    parts = [pickle.dumps(frame)]
    if isinstance(frame, pl.DataFrame):
        for write in (frame.write_ipc, frame.write_parquet):
            out = io.BytesIO()
            write(out, compression="uncompressed")
            parts.append(out.getvalue())
        parts.append(repr(frame.schema).encode())
        parts.append(arrow_bytes(frame.to_arrow()))
    elif isinstance(frame, pd.DataFrame):
        parts.append(repr(frame.dtypes.to_list()).encode())
        parts.append(arrow_bytes(pa.Table.from_pandas(frame)))
    else:
        parts.append(arrow_bytes(frame))
    return b"\0".join(parts)


def arrow_bytes(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def test_item_9_the_command_line_from_parquet_to_every_format(tmp_path, monkeypatch, capsys):
    """Release, report, JSON, recoding, record risks, comparison, draft: what may be in which."""
    data = tmp_path / "data.parquet"
    names = [name for name in NAMES["arrow"] if name not in ("blob", "view")]
    pq.write_table(arrow().select(names), data)
    plan = tmp_path / "plan.toml"
    asked(names).save(plan)
    out = tmp_path / "out"
    out.mkdir()
    for ending in (".parquet", ".csv", ".csv.gz"):
        run(monkeypatch, "anonymize", data, "--plan", plan, "--out", out / f"r{ending}")
    more = [
        "--report",
        out / "r.html",
        "--json",
        out / "r.json",
        "--recoding",
        out / "recoding.json",
    ]
    run(
        monkeypatch,
        "anonymize",
        data,
        "--plan",
        plan,
        "--out",
        out / "s.parquet",
        "--explain",
        *more,
    )
    run(
        *(monkeypatch, "audit", out / "r.parquet", "--plan", plan, "--original", data),
        *("--json", out / "audit.json", "--record-risks", out / "risks.csv"),
    )
    run(
        *(monkeypatch, "apply", data, "--recoding", out / "recoding.json", "--out", out / "a.csv"),
        *("--report", out / "a.html", "--json", out / "a.json"),
    )
    flat = [name for name in names if not pa.types.is_nested(arrow()[name].type)]
    pq.write_table(arrow().select(flat), data)
    run(monkeypatch, "draft", data, "-o", out / "draft.toml")
    written = sorted(out.iterdir())
    assert len(written) == 13
    printed = "".join(capsys.readouterr()).encode()
    for path in written:
        assert not shown(unpacked(path), hidden()), path.name
    assert not shown(printed, hidden())


@pytest.mark.slow
def test_item_9_a_comparison_holds_no_value(tmp_path, monkeypatch, capsys):
    data, plan, out = tmp_path / "data.parquet", tmp_path / "plan.toml", tmp_path / "out"
    names = [name for name in NAMES["arrow"] if name not in ("blob", "view")]
    pq.write_table(arrow().select(names), data)
    asked(names).save(plan)
    out.mkdir()
    run(
        *(monkeypatch, "compare", data, "--plan", plan, "--algorithms", "full-domain,gaa"),
        *("--csv", out / "c.csv", "--json", out / "c.json", "--plot", out / "c.svg"),
    )
    run(
        monkeypatch, "compare", data, "--plan", plan, "--algorithms", "gaa", "--plot", out / "c.png"
    )
    assert len(list(out.iterdir())) == 4
    for path in out.iterdir():
        assert not shown(unpacked(path), PATTERNS), path.name
    assert not shown("".join(capsys.readouterr()).encode(), PATTERNS)


def run(monkeypatch, *words: object) -> None:
    monkeypatch.setattr("sys.argv", ["shoal", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, None)


# The read-back


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        ({"write_statistics": True}, "statistics"),
        ({"write_statistics": False, "write_page_index": True}, "statistics"),
        ({"write_statistics": False, "data_page_version": "2.0"}, "unknown kind"),
    ],
)
def test_item_9_the_read_back_refuses_what_shows_more_than_cells(
    spoil, what, tmp_path, monkeypatch
):
    release = shoal.anonymize(arrow(), asked(NAMES["arrow"]))
    monkeypatch.setattr(Parquet, "writing", spoil)
    with pytest.raises(ShoalError, match=what):
        release.save(tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_item_9_the_read_back_sees_entries_of_dictionaries_and_notes(tmp_path, monkeypatch):
    release = shoal.anonymize(arrow(), asked(NAMES["arrow"]))
    monkeypatch.setattr(arrow_tables, "compact", lambda values: values)
    for name, what in (
        ("list", "dictionary"),
        ("struct", "metadata of columns"),
        ("map", "dictionary"),
    ):
        wide = arrow().select([name])[name].take(pa.array([0] * release.published))
        place = release.frame.column_names.index(name)
        table = release.frame.set_column(place, name, wide)
        with pytest.raises(ShoalError, match=what):
            spoiled(release, table).save(tmp_path / "x.parquet")
    monkeypatch.undo()
    path = tmp_path / "x.csv.gz"
    frames.write(frames.open_frame(release.frame.select(["town"])), path)
    table = frames.read_back(path).native
    for content in (
        gzip.compress(gzip.decompress(path.read_bytes()), mtime=9),
        path.read_bytes() + gzip.compress(b"secret\n", mtime=0),
    ):
        path.write_bytes(content)
        with pytest.raises(ShoalError, match="contains more than the cells"):
            files.check_bytes(path, table)


def spoiled(release: shoal.Release, table: pa.Table) -> shoal.Release:
    return replace(release, frame=table)


def test_item_9_every_dictionary_is_checked_in_every_group_of_rows(tmp_path, monkeypatch):
    """More rows than a group has; dictionaries that do not fit on a page; chunks that differ."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(parquet, "ROWS", 700)
    words = pa.array([f"word {i}" for i in rng.integers(0, 300, 3000)])
    few = [pa.array(list("ab") * 750).dictionary_encode(), pa.array(list("cb") * 750)]
    table = pa.table(
        {
            "many": words.dictionary_encode(),
            "few": pa.chunked_array([few[0], few[1].dictionary_encode()]),
            "holes": pa.array([None if i % 7 else str(i % 91) for i in range(3000)]),
            "lists": pa.array([[str(i % 5)] * (i % 3) if i % 4 else None for i in range(3000)]),
            "long": pa.array([f"{i % 1500:0900d}" for i in range(3000)]).dictionary_encode(),
            "sorted": pa.array(np.repeat([1, 2, 3], 1000)),
        }
    )
    path = tmp_path / "x.parquet"
    frames.write(frames.open_frame(table), path)
    assert pq.read_metadata(path).num_row_groups == 5
    assert frames.same_rows(frames.read_back(path), frames.open_frame(table))
