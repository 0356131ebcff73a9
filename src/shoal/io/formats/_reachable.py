"""Reachable: whether a written file contains its cells and nothing else.

A reader of a file can see more than its table: unused dictionary entries, the minimum and maximum
of a column, metadata, bytes between the parts. Here the file is parsed byte by byte, by code that
is independent of the code that wrote it.
"""

from __future__ import annotations

import base64
import hashlib
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.io.compact import plain_field
from shoal.io.format import holds_more
from shoal.io.text_layout import TextLayout, opened
from shoal.io.text_writing import text_parts
from shoal.kernels.bit_runs import decode_runs

Struct: TypeAlias = "dict[int, Any]"  # a Thrift struct, by number of field

CODECS = {"LZ4": "lz4_raw"}  # names in pyarrow
MAGIC = b"PAR1"
ARROW = b"ARROW:schema"
DATA, DICTIONARY = 0, 2  # kinds of pages (parquet.thrift, PageType)
BY_DICTIONARY = (2, 8)  # encodings whose values are places in the dictionary (Encoding)
COUNTS = {3, 4}  # counts of missing and of distinct values (Statistics)
GZIP_HEADER = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0])  # no file name, no comment, no time


# Text


def check_text(path: Path, layout: TextLayout, table: pa.Table) -> None:
    """Raise an error unless the cells, written again, give exactly the same bytes."""
    _check_packing(path, layout)
    with opened(path, layout) as stream:
        for part in text_parts(table, layout):
            if stream.read(len(part)) != part:
                raise holds_more("text that is in no cell")
        if stream.read(1):
            raise holds_more("text after the last row")


def check_digest(path: Path, layout: TextLayout, sha256: str | None) -> None:
    """Raise an error unless the decompressed text has this SHA-256."""
    _check_packing(path, layout)
    digest = hashlib.sha256()
    with opened(path, layout) as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    if digest.hexdigest() != sha256:
        raise holds_more("text that is in no cell")


def _check_packing(path: Path, layout: TextLayout) -> None:
    if layout.packing == ".gz":
        with path.open("rb") as raw:
            if raw.read(len(GZIP_HEADER)) != GZIP_HEADER:
                raise holds_more("its gzip header has fields")


# Parquet


class _Page(NamedTuple):
    header: Struct
    content: bytes  # decompressed


def check_parquet(path: Path) -> None:
    """Raise an error unless every byte of a Parquet file belongs to its cells."""
    import pyarrow.parquet as pq  # slow to import, and often not needed

    with pq.ParquetFile(path) as file:
        meta = file.metadata
        _check_notes(meta.metadata or {})
        levels = [
            (file.schema.column(i).max_repetition_level, file.schema.column(i).max_definition_level)
            for i in range(meta.num_columns)
        ]
    with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
        chunks = []
        for group in range(meta.num_row_groups):
            for i in range(meta.num_columns):
                chunk = meta.row_group(group).column(i)
                if chunk.is_stats_set or chunk.has_column_index or chunk.has_offset_index:
                    raise holds_more("statistics")
                start = chunk.data_page_offset
                if chunk.has_dictionary_page:
                    start = min(start, chunk.dictionary_page_offset)
                end = start + chunk.total_compressed_size
                chunks.append((start, end))
                pages = _pages(data, start, end, chunk.compression)
                _check_dictionary(pages, *levels[i])
        _check_tiles(data, chunks)


def _check_notes(notes: dict[bytes, bytes]) -> None:
    """Raise an error for metadata other than the types of the columns."""
    if set(notes) - {ARROW}:
        raise holds_more("metadata")
    if ARROW in notes:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(notes[ARROW])))
        plain = pa.schema([plain_field(field) for field in schema])
        if not schema.equals(plain, check_metadata=True):
            raise holds_more("metadata of columns")


def _check_tiles(data: mmap.mmap, chunks: list[tuple[int, int]]) -> None:
    """Raise an error unless the checked parts are the whole file."""
    footer = int.from_bytes(data[-8:-4], "little")
    place = len(MAGIC)
    for start, end in sorted(chunks):
        if start != place:
            raise holds_more("bytes between its columns")
        place = end
    if place != len(data) - 8 - footer or data[:4] != MAGIC or data[-4:] != MAGIC:
        raise holds_more("bytes between its parts")


def _check_dictionary(pages: Iterator[_Page], repetition: int, definition: int) -> None:
    """Raise an error unless every dictionary entry is used by a cell."""
    used = np.zeros(0, np.bool_)
    for header, content in pages:
        if header[1] == DICTIONARY:
            used = np.zeros(header[7][1], np.bool_)
        elif set(header[5].get(5, {})) - COUNTS:
            raise holds_more("statistics of a page")
        elif header[5][2] in BY_DICTIONARY:
            used[_places(content, header[5][1], repetition, definition)] = True
    if not used.all():
        raise holds_more("dictionary entries that are in no row")


def _pages(data: mmap.mmap, start: int, end: int, packing: str) -> Iterator[_Page]:
    while start < end:
        header, start = _struct(data, start)
        if header[1] not in (DATA, DICTIONARY):
            raise holds_more("pages of an unknown kind")
        content = data[start : start + header[3]]
        start += header[3]
        if packing != "UNCOMPRESSED" and header[2]:
            content = pa.decompress(
                content, header[2], CODECS.get(packing, packing.lower()), asbytes=True
            )
        yield _Page(header, content)
    if start != end:
        raise holds_more("a page that is longer than its column")


def _places(content: bytes, count: int, repetition: int, definition: int) -> npt.NDArray[Any]:
    """The places in the dictionary that a page refers to (data page v1, levels in front)."""
    place = 0
    if repetition:
        place += 4 + int.from_bytes(content[:4], "little")
    if definition:
        size = int.from_bytes(content[place : place + 4], "little")
        levels = content[place + 4 : place + 4 + size]
        count = int((_runs(levels, definition.bit_length(), count) == definition).sum())
        place += 4 + size
    return _runs(content[place + 1 :], content[place], count) if count else np.zeros(0, np.int64)


def _runs(content: bytes, width: int, count: int) -> npt.NDArray[Any]:
    """Decode integers of this width."""
    found = np.zeros(count, np.int64)
    if width and decode_runs(np.frombuffer(content, np.uint8), width, found) < count:
        raise holds_more("a page that is shorter than its column")
    return found


# Thrift's compact protocol, as far as the headers of pages need it


def _varint(data: Any, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, place


def _struct(data: Any, place: int) -> tuple[Struct, int]:
    fields: Struct = {}
    last = 0
    while (head := data[place]) != 0:
        place += 1
        if head >> 4:
            last += head >> 4
        else:
            number, place = _varint(data, place)
            last = (number >> 1) ^ -(number & 1)
        fields[last], place = _value(data, place, head & 15)
    return fields, place + 1


def _value(data: Any, place: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:
            return kind == 1, place
        case 3:
            return data[place], place + 1
        case 4 | 5 | 6:
            number, place = _varint(data, place)
            return (number >> 1) ^ -(number & 1), place
        case 7:
            return data[place : place + 8], place + 8
        case 8:
            size, place = _varint(data, place)
            return data[place : place + size], place + size
        case 12:
            return _struct(data, place)
    raise holds_more("a header of an unknown form")
