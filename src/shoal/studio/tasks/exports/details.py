"""Details: what follows a run and is kept with it, its report and its recoding."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress
from shoal.flow.release import Release
from shoal.report.release_report import report_pages
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.tasks._serving import Held

REPORT, PAPER, RECODING = "report.html", "report-paper.html", "recoding.json"


def run(held: Held, progress: Progress, folder: str) -> None:
    """Write them to the folder of the run."""
    release: Release = held["release"]
    place = PrivateFolder(Path(folder))
    target = place.inside(RECODING)
    release.recoding.save(target)
    target.chmod(0o600)
    screen, paper = report_pages(release, progress=progress)
    place.write(PAPER, paper.encode())
    place.write(REPORT, screen.encode())  # the last one: with it, everything is there
