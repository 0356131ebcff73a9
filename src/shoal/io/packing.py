"""Packing: compression of text files, by the last ending of their name."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import IO, Any


def _arrow_stream(kind: str, compression: str, raw: Any) -> Any:
    import pyarrow as pa  # slow to import, and the names of formats do not need it

    return getattr(pa, kind)(raw, compression=compression)


UNPACK: dict[str, Callable[[Any], Any]] = {
    ".gz": partial(_arrow_stream, "CompressedInputStream", "gzip"),
    ".xz": lzma.LZMAFile,
    ".zst": partial(_arrow_stream, "CompressedInputStream", "zstd"),
}
PACK: dict[str, Callable[[Any], Any]] = {  # the same table always gives the same bytes
    "": nullcontext,
    ".gz": lambda raw: gzip.GzipFile("", "wb", 4, raw, mtime=0),  # arrow's is many times slower
    ".xz": partial(lzma.LZMAFile, mode="wb", preset=1),  # so are the higher presets
    ".zst": partial(_arrow_stream, "CompressedOutputStream", "zstd"),
}
PACKINGS = tuple(UNPACK)


def packed(raw: IO[bytes], packing: str) -> Any:
    """A stream that compresses what is written to it."""
    return PACK[packing](raw)


def unpacked(raw: IO[bytes], packing: str) -> Any:
    """A stream that decompresses; buffered, so that a read returns as much as requested."""
    return io.BufferedReader(UNPACK[packing](raw), 1 << 20) if packing else raw
