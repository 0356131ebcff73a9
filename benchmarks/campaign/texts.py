"""Tables as text: written and read by the csv module, whatever packs the bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = ("csv", "tsv", "csv.gz", "tsv.xz", "csv.zst", "parquet")


def unpack(path: Path) -> bytes:
    """The bytes of a text file without what packs them."""
    data = path.read_bytes()
    match path.suffix:
        case ".gz":
            return gzip.decompress(data)
        case ".xz":
            return lzma.decompress(data)
        case ".zst":
            return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return data


def _pack(data: bytes, path: Path) -> None:
    match path.suffix:
        case ".gz":
            data = gzip.compress(data, mtime=0)
        case ".xz":
            data = lzma.compress(data)
        case ".zst":
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(data)
            data = sink.getvalue().to_pybytes()
    path.write_bytes(data)


def _delimiter(path: Path, asked: str) -> str:
    return "\t" if ".tsv" in path.name else asked


def write_table(columns: dict[str, list], path: Path, delimiter: str = ",") -> None:
    """Write columns of texts, None for missing ones; Parquet may hold whole numbers too."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return
    lines = io.StringIO(newline="")
    delimiter = _delimiter(path, delimiter)
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None else cell for cell in row])
    _pack(lines.getvalue().encode(), path)


def read_table(path: Path, names: list[str]) -> dict[str, list]:
    """Read a table that should have these columns; missing cells are None."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        columns = {name: table[name].to_pylist() for name in table.column_names}
        return {
            name: [None if cell is None else str(cell) for cell in cells]
            for name, cells in columns.items()
        }
    text = unpack(path).decode()
    for delimiter in ",;\t|":
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        if rows and rows[0] == names:
            break
    header, *rows = rows
    if len(header) == 1:  # an empty line is a missing value
        rows = [row or [""] for row in rows]
    assert all(len(row) == len(header) for row in rows), "a row of another length"
    return {name: [row[j] or None for row in rows] for j, name in enumerate(header)}


def toml(value) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        inside = ", ".join(
            f"{json.dumps(k, ensure_ascii=False)} = {toml(v)}" for k, v in value.items()
        )
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def plan_text(plan: dict) -> str:
    """A plan as a TOML file."""
    lines = [
        f"{key} = {toml(value)}"
        for key, value in plan.items()
        if key not in ("columns", "models", "algorithm")
    ]
    if isinstance(plan.get("algorithm"), dict):
        lines.append(f"algorithm = {toml(plan['algorithm'])}")
    lines.append("[columns]")
    lines += [
        f"{json.dumps(n, ensure_ascii=False)} = {toml(c)}" for n, c in plan["columns"].items()
    ]
    for model in plan["models"]:
        lines += ["[[models]]", *(f"{key} = {toml(value)}" for key, value in model.items())]
    return "\n".join(lines) + "\n"
