"""What the page shows of work in the background: the whole table, and the frontier."""

from __future__ import annotations

from typing import Any

from shoal.base.errors import ShoalError
from shoal.comparing.frontier.points import RISKS
from shoal.comparing.frontier.settings import own_values
from shoal.measures.verdicts.refusal import ways_out
from shoal.measures.verdicts.verdict import Verdict
from shoal.plan import Plan
from shoal.studio.project import Project
from shoal.studio.requirements import words
from shoal.studio.requirements.class_sizes import class_sizes
from shoal.studio.requirements.mistakes import Button, buttons_of


def whole_facts(project: Project, error: str = "") -> dict[str, Any]:
    """What is known of the whole table."""
    work, facts = project.works["whole"], project.works["whole"].result
    return {
        "work": work,
        "facts": facts,
        "old": not work.is_about(project.history.text),
        "whole_error": error or work.job.error,
        "words": words,
        "version": project.history.version,
        "ways": [] if facts is None else ways_of(facts, project.plan),
        "sizes": class_sizes(facts["crowds"]) if facts else [],
    }


def frontier_facts(project: Project, error: str = "") -> dict[str, Any]:
    """What is known of the frontier."""
    work, plan = project.works["frontier"], project.plan
    return {
        "frontier": work,
        "found": None if work.result is None else marked(work.result, plan),
        "frontier_error": error or work.job.error,
        "frontier_old": not work.is_about(project.history.text),
        "varied": list(own_values(plan)),
        "risks": RISKS,
        "has_limits": bool(plan.limits),
    }


def marked(found: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """A frontier with the setting of the plan as it is now."""
    own = own_values(plan)
    points = [
        {**one, "own": bool(own) and all(one.get(n, value) == value for n, value in own.items())}
        for one in found["points"]
    ]
    return {**found, "points": points}


def ways_of(facts: dict[str, Any], plan: Plan) -> list[tuple[Button, ...]]:
    """For each limit that is exceeded, what keeps to it."""
    found: list[tuple[Button, ...]] = []
    for one in facts["limits"]:
        given = {name: one[name] for name in one if name != "verdict"}
        red = one["verdict"] in ("red", "unknown")
        ways = ways_out(Verdict(**given), plan.models, facts["people"]) if red else []
        found.append(buttons_of(ShoalError().offering(*ways), plan))
    return found
