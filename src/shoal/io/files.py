"""Files: read and write tables in the format of the file name."""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from shoal.base.errors import BadFile
from shoal.io.arrow_tables import takeable
from shoal.io.atomic import check_folder, check_place
from shoal.io.format import (
    DAMAGED,
    FileNames,
    FirstRows,
    Format,
    NotInstalled,
    Progress,
    check_writes,
    format_of,
)
from shoal.io.raw_text.wrong_ending import check_not_json, content_advice
from shoal.io.reading import Reading
from shoal.io.sources import check_source

Seen = TypeVar("Seen")


def read_table(
    path: str | Path,
    progress: Progress | None = None,
    reading: Reading | None = None,
    pack: bool = False,
) -> pa.Table:
    """Read a file of any known format; with `pack`, columns of text may be packed."""

    def whole(path: Path, form: Format) -> pa.Table:
        read = form.read_packed if pack else form.read
        return takeable(read(path, progress, reading))

    return _explained(Path(path), whole)


def read_between(
    path: str | Path,
    progress: Progress | None,
    reading: Reading | None,
    top: int,
    height: int,
) -> pa.Table:
    """Read so many records of a file after the first `top` ones, which are none."""

    def part(path: Path, form: Format) -> pa.Table:
        return takeable(form.read_between(path, progress, reading, top, height))

    return _explained(Path(path), part)


def read_first(path: str | Path, most: int, reading: Reading | None = None) -> FirstRows:
    """The first rows of a file of any known format, without reading all of it where possible."""
    return _explained(Path(path), lambda path, form: form.first_rows(path, most, reading))


def sheets_of(path: str | Path) -> list[str]:
    """The names of the tables of a file that can have several; none for other files."""
    return _explained(Path(path), lambda path, form: form.sheets(path))


def _explained(path: Path, look: Callable[[Path, Format], Seen]) -> Seen:
    """Look into a file; an error says what it is, if its name says something else."""
    check_source(path, "")
    form = format_of(path)
    if path.stat().st_size == 0:
        raise BadFile(f"cannot read {path}: the file is empty")
    reason = DAMAGED
    try:
        check_not_json(path, form.name)
        return look(path, form)
    except BadFile as error:
        advice = "" if isinstance(error, NotInstalled) else content_advice(path)
        if not advice:
            raise
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        # Only messages of the operating system are passed on: those of arrow contain rows.
        system = isinstance(error, OSError) and error.errno
        reason, advice = (os.strerror(system), "") if system else (reason, content_advice(path))
    raise BadFile(f"cannot read {path}: {reason}{advice}")


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


def check_names(path: str | Path, names: FileNames) -> None:
    """Check, before a long run, that a file of this name can store columns of these names."""
    if not names_folder(path):
        format_of(Path(path)).check_names(names)


def names_folder(path: str | Path) -> bool:
    """Whether a path names a folder of files rather than a file: it has no ending."""
    return not Path(path).suffix
