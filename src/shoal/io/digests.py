"""Digests: the checksum of a file, and whether a frame was edited."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.base.errors import BadTable
from shoal.io.compact import ArrowColumn
from shoal.io.frames import Frame


def fingerprint(source: Any) -> str | None:
    """The SHA-256 of a file; None if the table is not given as a path."""
    if not isinstance(source, str | Path):
        return None
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_digest(frame: Frame) -> str | None:
    """A digest of names and cells, to notice that a frame was edited in place.

    None for arrow tables, which cannot be edited.

    >>> content_digest(Frame(pa.table({"age": [29]}))) is None
    True
    """
    if frame.kind == "arrow":
        return None
    digest = hashlib.blake2b()
    for name in frame.names:
        digest.update(repr(name).encode(errors="backslashreplace"))
        try:
            digest.update(_serialized(frame.exact(name)))
        except (BadTable, pa.ArrowException):  # text that no file can store
            digest.update(repr(frame.cells(name)).encode(errors="backslashreplace"))
    return digest.hexdigest()


def _serialized(column: ArrowColumn) -> Any:
    """The bytes of a column: its type and its cells."""
    table = pa.table([column], ["column"]).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()
