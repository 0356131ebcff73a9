"""The whole table: what a plan would publish of it, without keeping the release."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shoal.base.progress import Progress
from shoal.flow.anonymize import anonymize
from shoal.plan import Plan
from shoal.studio.tasks._facts import facts_of
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import source_of


def run(held: Held, progress: Progress, plan: str, source: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Anonymize the whole table; a limit that is exceeded is shown, and does not end it."""
    asked = Plan.load(plan)
    release = anonymize(source_of(source), asked.changed(limits={}), progress=progress)
    return asdict(facts_of(release, asked))
