"""Tables as texts, written and read without shoal.

Text files by the csv module, JSON lines by json, spreadsheets by openpyxl, Parquet and Feather by
polars, which has readers of its own.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from collections.abc import Collection
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import polars as pl
import pyarrow as pa

TEXTS = ("csv", "tsv", "csv.gz", "tsv.xz", "csv.zst")
TYPED = (".parquet", ".feather", ".jsonl", ".xlsx")  # files whose cells have types
FORMATS = (*TEXTS, "parquet", "parquet", "feather", "jsonl", "xlsx")


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


def is_typed(path: Path | str) -> bool:
    return Path(path).suffix in TYPED


def write_table(columns: dict[str, list], path: Path, delimiter: str = ",") -> None:
    """Write columns of texts, None for missing ones; files with types may hold other cells too."""
    rows = zip(*columns.values(), strict=True)
    match path.suffix:
        case ".parquet":
            _frame(columns).write_parquet(path)
        case ".feather":
            _frame(columns).write_ipc(path)
        case ".jsonl":
            records = (dict(zip(columns, map(_plain, row), strict=True)) for row in rows)
            lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
            path.write_text(lines, encoding="utf-8")
        case ".xlsx":
            _write_sheet([list(columns), *rows], path)
        case _:
            lines = io.StringIO(newline="")
            delimiter = _delimiter(path, delimiter)
            writer = csv.writer(lines, delimiter=delimiter, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
            _pack(lines.getvalue().encode(), path)


def _frame(columns: dict[str, list]) -> pl.DataFrame:
    kinds = {name: next((c for c in cells if c is not None), "") for name, cells in columns.items()}
    return pl.DataFrame(
        [pl.Series(name, cells, type(kinds[name])) for name, cells in columns.items()]
    )


def _plain(cell: object) -> object:
    return cell.isoformat() if isinstance(cell, date) else cell


def _write_sheet(rows: list, path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Table")
    for row in rows:
        cells = []
        for value in row:
            cell = openpyxl.cell.WriteOnlyCell(sheet, value)
            if isinstance(value, str):  # =1+1 is a text here, not a formula
                cell.data_type = "s"
            cells.append(cell)
        sheet.append(cells)
    book.save(path)


def read_table(path: Path, known: Collection[str]) -> dict[str, list]:
    """Read a table that should have these columns; all cells as texts, missing ones None."""
    cells = read_cells(path, known)
    return {name: [_text(cell) for cell in column] for name, column in cells.items()}


def read_cells(path: Path, known: Collection[str]) -> dict[str, list]:
    """The same with the types that the file has; numbers of JSON are `Number`s."""
    match path.suffix:
        case ".parquet":
            frame = pl.read_parquet(path)
        case ".feather":
            frame = pl.read_ipc(path.read_bytes())
        case ".jsonl":
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
            records = [json.loads(line, parse_float=Number) for line in lines]
            assert all(list(one) == list(records[0]) for one in records), "a row of other columns"
            return {name: [one[name] for one in records] for name in records[0]}
        case ".xlsx":
            sheet = openpyxl.load_workbook(path).worksheets[0]
            header, *rows = sheet.iter_rows(values_only=True)
            return {name: [row[j] for row in rows] for j, name in enumerate(header)}
        case _:
            return _read_text(path, known)
    return {name: frame[name].to_list() for name in frame.columns}


class Number(str):
    """A number as JSON writes it."""


def _text(cell: object) -> str | None:
    """A cell of a typed file as the text that it means."""
    if isinstance(cell, datetime) and cell.time() == time.min:
        cell = cell.date()
    if isinstance(cell, float | Number):
        return str(cell).removesuffix(".0")
    return None if cell is None else str(cell)


def _read_text(path: Path, known: Collection[str]) -> dict[str, list]:
    text = unpack(path).decode()
    for delimiter in ",;\t|":
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        if rows and {*known} <= {*rows[0]}:
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
        if key not in ("columns", "models", "algorithm", "write")
    ]
    if isinstance(plan.get("algorithm"), dict):
        lines.append(f"algorithm = {toml(plan['algorithm'])}")
    if "write" in plan:
        lines.append(f"write = {toml(plan['write'])}")
    lines.append("[columns]")
    lines += [
        f"{json.dumps(n, ensure_ascii=False)} = {toml(c)}" for n, c in plan["columns"].items()
    ]
    for model in plan["models"]:
        lines += ["[[models]]", *(f"{key} = {toml(value)}" for key, value in model.items())]
    return "\n".join(lines) + "\n"
