"""The frontier: what more protection costs, setting by setting."""

from __future__ import annotations

from typing import Any

from shoal.base.progress import Progress
from shoal.comparing.frontier.points import RISK_WORDS, UnfinishedFrontier
from shoal.comparing.frontier.search import frontier
from shoal.comparing.frontier.words import risk_of
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import source_of


def run(
    held: Held,  # noqa: ARG001
    progress: Progress,
    plan: str,
    source: dict[str, Any],
    values: dict[str, list[float]],
    risk: str | None,
    limits: bool,
) -> dict[str, Any]:
    """Try settings on a sample, and the promising ones on the table; stopped, those so far."""
    try:
        found = frontier(
            source_of(source),
            plan,
            k=values.get("k"),
            l=values.get("l"),
            t=values.get("t"),
            risk=risk_of(risk),
            limits=limits,
            progress=progress,
        )
    except UnfinishedFrontier as stopped:
        found = stopped.frontier
    return found.as_dict() | {"risk_words": RISK_WORDS[found.by]}
