"""Run a plan on the whole table, as `shoal anonymize` does."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.base.progress import Progress
from shoal.flow.anonymize import anonymize
from shoal.flow.saving.kept_release import keep
from shoal.plan import Plan
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.runs.run import KEPT, LOOK
from shoal.studio.tasks._facts import facts_of
from shoal.studio.tasks._serving import Held, Skipped, give_back
from shoal.studio.tasks.look._kept import keep_look
from shoal.studio.tasks.open import source_of

STEPS = ("encode", "recode", "decode", "attack")  # large ones, which need other memory each


def _tidying(progress: Progress) -> Progress:
    """Give memory back before each large step: what reading needed is of no use to the others."""
    begun: set[str] = set()

    def report(stage: str, share: float) -> None:
        progress(stage, share)
        if stage in STEPS and stage not in begun:
            begun.add(stage)
            give_back()

    return report


def run(
    held: Held, progress: Progress, source: dict[str, Any], plan: str, folder: str, name: str
) -> dict[str, Any]:
    """Anonymize, verify and keep the release in the folder of the run."""
    asked = Plan.load(plan)
    release = anonymize(source_of(source), asked, progress=_tidying(progress))
    give_back()
    place = PrivateFolder(Path(folder))
    progress("write", 0.0)
    target = place.inside(name)
    release.save(target)
    target.chmod(0o600)
    if release.frame is not None:  # otherwise it is too large for memory
        keep(release, place.folder(KEPT).path)
    held["release"] = release
    give_back()
    try:
        release.find_bound(progress)
    except Skipped:
        release.skip_bound()
    numbers = release.as_dict(progress)
    place.write("release.json", json.dumps(numbers, indent=2, ensure_ascii=False).encode())
    give_back()
    keep_look(release, place.inside(LOOK))
    written = release.written
    return {
        "facts": asdict(facts_of(release, asked)),
        "sha256": None if written is None else written.sha256,
    }
