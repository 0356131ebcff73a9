"""Abilities: which formats can be written here, and whether a report can be printed."""

from __future__ import annotations

from pathlib import Path

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.io.format import formats
from shoal.report.pdf import check_report
from shoal.studio.tasks._serving import Held


def run(held: Held, progress: Progress) -> dict[str, str]:  # noqa: ARG001
    """What each format lacks, by its name, and "pdf"; "" for those that can be written."""
    lacking = {}
    for name, kind in formats.items():
        try:
            kind().check_installed()
            lacking[name] = ""
        except ShoalError as error:
            lacking[name] = str(error)
    try:
        check_report(Path("report.pdf"))
        lacking["pdf"] = ""
    except ShoalError as error:
        lacking["pdf"] = str(error)
    return lacking
