"""A unique marker in every cell; after the run no file holds one that is not published.

A marker is a number of nine digits that occurs once in the table and in no other text. It is
published if some cell of the release holds it. Everything that was written is searched: packed
text, all pages, dictionaries, statistics and metadata of Parquet, all parts of spreadsheets, JSON,
report, recoding, screen.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.campaign.texts import (
    FORMATS,
    is_typed,
    plan_text,
    read_table,
    unpack,
    write_table,
)
from benchmarks.campaign.trial import Trial

MARKER = re.compile(rb"7[0-9]{8}")
# Figures and coordinates have sixteen digits, and some nine of them may be those of a marker. (In
# binary files a byte before a text is its length, which may look like a digit.)
IN_TEXT = re.compile(rb"(?<![0-9])7[0-9]{8}(?![0-9])")


def run(trial: Trial) -> None:
    """Anonymize a table of markers, and look for them in every file."""
    rng, folder = trial.rng, trial.folder
    n = rng.choice([3, 12, 60, 300])
    columns, plan = _case(rng, n)
    data = f"data.{rng.choice(['csv', 'csv.gz', 'parquet', 'parquet'])}"
    if data.endswith("parquet"):
        _write_parquet(rng, columns, folder / data)
    else:
        write_table(columns, folder / data)
    (folder / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    every = {*MARKER.findall(" ".join(map(str, chain(*columns.values()))).encode())}
    out = f"release.{rng.choice(FORMATS)}"
    words = ["anonymize", data, "--plan", "plan.toml", "--out", out, "--json", "numbers.json"]
    words += ["--recoding", "recoding.json"] if rng.random() < 0.7 else []
    words += ["--report", "report.html"] if rng.random() < 0.5 else []
    words += ["--explain"] if rng.random() < 0.3 else []
    book = f"codebook.{rng.choice(['html', 'csv', 'json'])}"
    words += ["--codebook", book] if rng.random() < 0.4 else []
    ran = trial.run(*words, seconds=120)
    trial.counts[f"exit {ran.code}"] += 1
    if ran.code == 0:
        _search(trial, every, folder / out, ("numbers.json", "recoding.json", "report.html", book))
    if ran.code == 0 and "--recoding" in words:
        again = f"applied.{rng.choice(FORMATS)}"
        words = ["apply", data, "--recoding", "recoding.json", "--out", again]
        ran = trial.run(*words, "--json", "applied.json", "--report", "applied.html", seconds=120)
        trial.counts[f"applied, exit {ran.code}"] += 1
        if ran.code == 0:
            _search(trial, every, folder / again, ("applied.json", "applied.html"))


def _search(trial: Trial, every: set[bytes], release: Path, more: tuple[str, ...]) -> None:
    """Look for markers that are not in a cell of the release, in all files of a run."""
    published = _published(release) & every
    trial.counts["markers"] += len(every)
    trial.counts["markers that are not published"] += len(every - published)
    files = {release.name: _reachable(release)}
    for name in (*more, "out.txt", "err.txt"):
        if (release.parent / name).exists():
            files[name] = (release.parent / name).read_bytes()
    for name, content in files.items():
        trial.counts["files searched"] += 1
        marker = IN_TEXT if name.endswith((".html", ".json", ".txt")) else MARKER
        leaked = {*marker.findall(content)} & every - published
        trial.check(
            not leaked,
            f"{name} holds {len(leaked)} markers that are not published: {sorted(leaked)[:3]}",
        )


def _case(rng, n: int) -> tuple[dict[str, list], dict]:
    """Columns of markers with all roles."""
    numbers = iter(rng.sample(range(700_000_000, 800_000_000), 12 * n))

    def cells(form: str = "{}") -> list[str]:
        return [form.format(next(numbers)) for _ in range(n)]

    columns = {"id": cells("Mr {}"), "ill": cells("ill {}"), "note": cells("n{}")}
    columns["unused"] = cells("u{}")
    settings: dict = {
        "id": {"role": "identifier"},
        "unused": {"role": "drop"},
        "ill": {"role": "sensitive"},
        "note": {"role": "other"},
    }
    kinds = rng.sample(
        ["prefixes", "flat", "ranges", "wide", "free_ranges", "free_sets", "missing"], 3
    )
    for kind in kinds:
        columns[kind] = cells("c{}" if kind in ("flat", "free_sets", "missing") else "{}")
        hierarchy: dict | None = {
            "prefixes": {"prefixes": [2, 1]}, "ranges": {"ranges": [10_000_000, 100_000_000]},
            "wide": {"ranges": [1000, 100_000_000]}, "free_ranges": {"free_ranges": True},
            "free_sets": {"free_sets": True},
        }.get(kind)  # fmt: skip
        settings[kind] = {"role": "quasi"} | ({"hierarchy": hierarchy} if hierarchy else {})
        if kind == "missing":
            columns[kind] = [None if rng.random() < 0.5 else cell for cell in columns[kind]]
    free = any("free" in kind for kind in kinds)
    columns["sex"] = [rng.choice("fm") for _ in range(n)]
    settings["sex"] = {"role": "quasi"}
    if rng.random() < 0.4:
        people = cells("p{}")
        columns["person"] = [people[rng.randrange(max(1, 2 * n // 3))] for _ in range(n)]
        settings["person"] = {"role": "person", "publish": rng.random() < 0.6}
        if settings["person"]["publish"]:
            del settings["person"]["publish"]
    names = (
        ["gaa", "mondrian", "k-member"]
        if free
        else ["peel", "full-domain", "full-domain", "gaa", "forest"]
    )
    algorithm: dict = {"name": rng.choice(names)}
    if algorithm["name"] == "full-domain":
        algorithm["suppression"] = rng.choice([0.1, 0.4])
    plan = {
        "columns": settings, "models": [{"name": "k-anonymity", "k": 2}], "algorithm": algorithm,
        "loss": rng.choice(["lm", "nllm", "ncp"]), "seed": 1,
    }  # fmt: skip
    if rng.random() < 0.4:
        # Reports are about the ranges of a release, whose free ends a file of midpoints lacks.
        ways = ["bounds"] if "free_ranges" in kinds else ["bounds", "midpoint"]
        plan["write"] = {"ranges": rng.choice(ways)}
    if rng.random() < 0.3:
        plan["write"] = {**plan.get("write", {}), "types": "infer"}
    return columns, plan


def _write_parquet(rng, columns: dict[str, list], path: Path) -> None:
    """Parquet with types that store values apart from their rows: also nested dictionaries."""
    arrays = {}
    for name, cells in columns.items():
        array = pa.array(cells, pa.string())
        if name == "note":
            match rng.choice(["text", "dictionary", "list", "struct", "large"]):
                case "dictionary":
                    array = array.dictionary_encode()
                case "list":
                    inner = array.dictionary_encode()
                    array = pa.ListArray.from_arrays(
                        pa.array(range(len(cells) + 1), pa.int32()), inner
                    )
                case "struct":
                    array = pa.StructArray.from_arrays([array.dictionary_encode()], ["inside"])
                case "large":
                    array = array.cast(pa.large_string())
        elif rng.random() < 0.4:
            array = array.dictionary_encode()
        arrays[name] = array
    table = pa.table(arrays)
    if rng.random() < 0.5:  # metadata that a writer adds
        table = table.replace_schema_metadata({"made of": columns["id"][0]})
    pq.write_table(table, path)


def _published(path: Path) -> set[bytes]:
    """The markers in cells of the release, those at the ends of ranges included."""
    if is_typed(path):
        return {*MARKER.findall(str([*read_table(path, []).values()]).encode())}
    return {*MARKER.findall(unpack(path))}


def _reachable(path: Path) -> bytes:
    """All bytes of a file, unpacked: also what no cell refers to."""
    match path.suffix:
        case ".parquet":
            return _pages(path)
        case ".xlsx":
            with ZipFile(path) as parts:
                return b"\n".join([path.read_bytes(), *map(parts.read, parts.namelist())])
        case ".feather":  # its buffers are not packed
            return path.read_bytes()
    return unpack(path)


def _pages(path: Path) -> bytes:
    """All bytes of a Parquet file, with its pages."""
    raw = path.read_bytes()
    parts = [raw]
    meta = pq.ParquetFile(path).metadata
    for group in range(meta.num_row_groups):
        for column in range(meta.num_columns):
            chunk = meta.row_group(group).column(column)
            at = chunk.dictionary_page_offset or chunk.data_page_offset
            at = min(at, chunk.data_page_offset)
            end = at + chunk.total_compressed_size
            while at < end:
                header, begin = _thrift_struct(raw, at)
                size, packed = header[2], header[3]
                page = raw[begin : begin + packed]
                # Version 2 pages begin with levels that are not packed.
                levels = (
                    header.get(8, {}).get(5, 0) + header.get(8, {}).get(6, 0) if 8 in header else 0
                )
                if chunk.compression != "UNCOMPRESSED" and header.get(8, {}).get(7, True):
                    codec = pa.Codec(chunk.compression.lower())
                    page = codec.decompress(page[levels:], size - levels).to_pybytes()
                parts.append(page)
                at = begin + packed
    return b"\n".join(parts)


def _thrift_struct(raw: bytes, at: int) -> tuple[dict, int]:
    """A struct in Thrift's compact protocol: its fields by number, and where it ends."""
    fields: dict = {}
    number = 0
    while raw[at]:
        kind, step = raw[at] & 15, raw[at] >> 4
        at += 1
        if step:
            number += step
        else:
            number, at = _zigzag(raw, at)
        fields[number], at = _thrift_value(raw, at, kind)
    return fields, at + 1


def _thrift_value(raw: bytes, at: int, kind: int):
    match kind:
        case 1 | 2:
            return kind == 1, at
        case 3:
            return raw[at], at + 1
        case 4 | 5 | 6:
            return _zigzag(raw, at)
        case 7:
            return None, at + 8
        case 8:
            size, at = _varint(raw, at)
            return raw[at : at + size], at + size
        case 9 | 10:
            size, inner = raw[at] >> 4, raw[at] & 15
            at += 1
            if size == 15:
                size, at = _varint(raw, at)
            values = []
            for _ in range(size):
                value, at = _thrift_value(raw, at, inner)
                values.append(value)
            return values, at
        case 12:
            return _thrift_struct(raw, at)
    raise AssertionError(f"thrift type {kind}")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not raw[at - 1] & 128:
            return value, at


def _zigzag(raw: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(raw, at)
    return value >> 1 ^ -(value & 1), at
