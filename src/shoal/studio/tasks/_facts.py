"""What the pages show of a release: numbers and sentences, no rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shoal import catalog
from shoal.attacks import Attack
from shoal.comparing.frontier.goal import verdicts_of
from shoal.flow.release import Release
from shoal.plan import Plan


@dataclass(frozen=True)
class ReleaseFacts:
    """A release, or what one would be like."""

    rows: int
    published: int
    suppressed: int
    people: int
    classes: int
    smallest_class: int
    linked: bool
    loss: float  # percent, by the loss of the plan
    loss_name: str
    highest_risk: float | None
    average_risk: float | None
    unique_before: float  # share of people who are alone in the original
    highest_before: float | None  # risks in the original
    average_before: float | None
    column_losses: dict[str, float]  # percent
    checks: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    findings: list[dict[str, Any]]  # what attacks find in the release
    attacks: list[dict[str, Any]]  # success of each attack, before and after, in percent
    crowds: list[tuple[int, int]]  # class size, and how many people are in such classes
    notes: list[str]
    seconds: float
    sampled: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def facts_of(release: Release, asked: Plan, sampled: bool = False) -> ReleaseFacts:
    """The numbers of a release; its limits are those that were asked for."""
    after, before = release.after, release.before
    risks = after.risks_by_name()
    return ReleaseFacts(
        rows=release.rows,
        published=release.published,
        suppressed=release.suppressed,
        people=after.people,
        classes=release.classes,
        smallest_class=release.smallest_class,
        linked=after.linked,
        loss=release.losses[release.plan.loss.name],
        loss_name=release.plan.loss.name,
        highest_risk=risks["prosecutor"],
        average_risk=after.average_risk,  # over people, as limits count it
        unique_before=before.risks.unique,
        highest_before=before.highest_risk,
        average_before=before.average_risk,
        column_losses=_column_losses(release),
        checks=[check.as_dict() for check in [*release.checks, *release.at_most]],
        limits=[one.as_dict() for one in _verdicts(release, asked)],
        findings=[one.as_dict() for one in release.findings],
        attacks=_attacks(release),
        crowds=[(int(size), int(many)) for size, many in _crowds(release)],
        notes=list(release.notes),
        seconds=sum(release.seconds.values()),
        sampled=sampled,
    )


def _verdicts(release: Release, asked: Plan) -> list[Any]:
    return list(release.limits) or verdicts_of(release, asked)


def _column_losses(release: Release) -> dict[str, float]:
    return dict(release.quality.columns)


def _attacks(release: Release) -> list[dict[str, Any]]:
    """The share of people or records on whom each attack succeeds."""
    found: list[dict[str, Any]] = []
    linked = release.after.linked
    for name, results in release.after.attacks.items():
        attack = catalog.attacks[name]()
        assert isinstance(attack, Attack)
        earlier = dict(attack.parts(release.before.attacks.get(name, {})))
        for column, one in attack.parts(results):
            if attack.judged(one):
                found.append(
                    {
                        "name": name,
                        "column": column,
                        "before": attack.share_of_people(earlier.get(column, {})),
                        "after": attack.share_of_people(one),
                        "words": attack.headline(one, column, linked),
                        "about": f"{attack.about(linked)} {attack.success(linked)}",
                    }
                )
    return found


def _crowds(release: Release) -> list[tuple[int, int]]:
    return list(release.after.crowds)
