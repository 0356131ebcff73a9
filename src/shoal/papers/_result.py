"""The output of an experiment: a page, its numbers as CSV, its plots as SVG."""

from __future__ import annotations

import csv
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from shoal.base.errors import BadFile
from shoal.io.frames import check_writable
from shoal.report.page import Page, render

INDEX = "index.html"


class Row(NamedTuple):
    """One number of ours, and the paper's where it has one; a line of a CSV file."""

    figure: str
    k: int | None  # None: a number over many k
    optimization: str
    metric: str
    ours: float
    theirs: float | None = None


@dataclass(frozen=True)
class Result:
    """All that is written: the page, and by file name the tables and the plots."""

    page: Page
    tables: dict[str, Sequence[Row]] = field(default_factory=dict)
    plots: dict[str, str] = field(default_factory=dict)


def write(result: Result, paper: str, folder: Path) -> None:
    """Write page, tables and plots into a folder."""
    for name, rows in result.tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(("paper", *Row._fields))
            lines.writerows((paper, *_plain(row)) for row in rows)
    for name, svg in result.plots.items():
        (folder / name).write_text(svg, encoding="utf-8")
    (folder / INDEX).write_text(render(result.page), encoding="utf-8")


def _plain(row: Row) -> list[object]:
    return [round(value, 6) if isinstance(value, float) else value for value in row]


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """A new folder next to the target; its files move into the target when all are written.

    The page moves last, so that it never links to files that are not there yet. Other files in
    the target remain.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_dir():
            raise BadFile(f"cannot write into {target}: it is a file; give another folder")
        if target.is_dir():
            check_writable(target / INDEX)
        folder = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
        folder.mkdir()
    except OSError as error:
        raise BadFile(f"cannot write into {target}: {error.strerror or error}") from error
    try:
        yield folder
        target.mkdir(exist_ok=True)
        for file in sorted(folder.iterdir(), key=lambda file: (file.name == INDEX, file.name)):
            file.replace(target / file.name)
    except OSError as error:
        raise BadFile(f"cannot write into {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
