"""Files: read and write tables in the format of the file name."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

import pyarrow as pa

from shoal.base.errors import BadFile
from shoal.io.arrow_tables import takeable
from shoal.io.atomic import check_folder, check_place
from shoal.io.format import Progress, check_writes, format_of
from shoal.io.reading import Reading
from shoal.io.sources import check_source


def read_table(
    path: str | Path,
    progress: Progress | None = None,
    reading: Reading | None = None,
    pack: bool = False,
) -> pa.Table:
    """Read a file of any known format; with `pack`, columns of text may be packed."""
    path = Path(path)
    check_source(path, "")
    form = format_of(path)
    if path.stat().st_size == 0:
        raise BadFile(f"cannot read {path}: the file is empty")
    reason = "it is damaged, incomplete, or not of the format that its name says"
    try:
        read = form.read_packed if pack else form.read
        return takeable(read(path, progress, reading))
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        # Only messages of the operating system are passed on: those of arrow contain rows.
        if isinstance(error, OSError) and error.errno:
            reason = os.strerror(error.errno)
    raise BadFile(f"cannot read {path}: {reason}")


def write_table(table: pa.Table, path: str | Path, reading: Reading | None = None) -> None:
    """Write a table to exactly this path, in the format of its name."""
    check_writes(Path(path))
    format_of(Path(path)).write(table, Path(path), reading)


def check_bytes(path: Path, table: pa.Table, reading: Reading | None = None) -> None:
    """Raise an error unless the file of this table contains only its cells."""
    format_of(path).check_bytes(path, table, reading)


def keeps_types(path: str | Path) -> bool:
    """Whether a file of this name keeps the types of columns, as Parquet does."""
    return format_of(Path(path)).keeps_types


def check_target(path: str | Path, folders: bool = False) -> None:
    """Check, before a long run, that a table can be written to this path.

    `folders`: a path without an ending is a folder of files.
    """
    if folders and names_folder(path):
        check_folder(Path(path))
        return
    check_writes(Path(path))
    format_of(Path(path)).check_installed()
    check_place(Path(path))


def names_folder(path: str | Path) -> bool:
    """Whether a path names a folder of files rather than a file: it has no ending."""
    return not Path(path).suffix
