"""Export: the release of a run as a file or a table, its codebook, and its report as a PDF.

All of it is made of what was kept of the run, so that it can be made after a restart, too.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from shoal.base.progress import Progress
from shoal.databases.database import Database
from shoal.databases.writing import check_out
from shoal.flow.saving.kept_release import KeptRelease, load_kept
from shoal.io.atomic import atomic
from shoal.io.files import read_table
from shoal.io.frames import check_target
from shoal.io.written.settings import Writing
from shoal.plan import Plan
from shoal.report.pdf import write_pdf
from shoal.studio.runs.run import KEPT
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import source_of


def run(
    held: Held,  # noqa: ARG001
    progress: Progress,
    what: str,
    folder: str,
    target: str | dict[str, Any],
    release: str = "",
    writing: dict[str, Any] | None = None,
    made: str = "",
    source: dict[str, Any] | None = None,
) -> str | None:
    """Write one thing; returns the checksum of a release.

    `folder` is that of the run, `release` the name of the file in it, and `target` a path, or what
    names a table of a database.
    """
    place = Path(folder)
    progress("write", 0.0)
    if what == "report":
        assert isinstance(target, str)
        page = (place / "report-paper.html").read_text(encoding="utf-8")
        with atomic(target, private=True) as path:
            write_pdf(page, path, datetime.fromisoformat(made))
        return None
    kept = _kept(place, release)
    if writing is not None:
        kept = kept.written_as(Writing(**writing))
    if isinstance(target, dict):
        table = Database(target["address"], target["table"])
        check_out(table, target["replace"], None if source is None else source_of(source))
        return kept.save(table, replace=target["replace"])
    if what == "codebook":
        kept.codebook(target)
        checksum = None
    else:
        check_target(target)
        checksum = kept.save(target)
    Path(target).chmod(0o600)
    return checksum


def _kept(place: Path, release: str) -> KeptRelease:
    """The records of a run; of one that was too large for memory there is only its file."""
    if (place / KEPT).is_dir():
        return load_kept(place / KEPT)
    plan = Plan.load(place / "plan.toml")
    return KeptRelease(read_table(place / release, reading=plan.read.of_release), plan)
