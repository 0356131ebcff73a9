"""The goal: the least loss within the limits of a plan, or the safest setting within a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shoal.base.errors import BadPlan
from shoal.base.wording import percent
from shoal.comparing.frontier.points import Point, Risk
from shoal.flow.release import Release
from shoal.measures.exposure import Exposure
from shoal.measures.information_loss import Quality
from shoal.measures.verdicts.verdict import Verdict, verdicts
from shoal.plan import Plan
from shoal.table.published_table import Published


class _Release(NamedTuple):
    """What a limit is compared with (`Judged`)."""

    published: Published
    after: Exposure
    attackers: Mapping[str, Exposure]
    quality: Quality


@dataclass(frozen=True)
class Goal:
    """What is looked for among the settings within the limits."""

    safest: bool  # the lowest risk; otherwise the least loss

    def best(self, points: Sequence[Point], by: Risk) -> Point | None:
        """The best setting within the limits; None: there is none."""
        within = [one for one in points if one.within]
        if self.safest:
            return min(within, key=lambda one: (one.risk(by), one.lost or 0.0), default=None)
        return min(within, key=lambda one: (one.lost or 0.0, one.risk(by)), default=None)

    def next_k(self, within: Mapping[int, bool]) -> int | None:
        """The k to try next, between the best one within the limits and the next one beyond them.

        A larger k is safer and loses more: within a loss the largest k is looked for, within risks
        the smallest. None: there is nothing between them.

        >>> within_a_loss, within_risks = Goal(safest=True), Goal(safest=False)
        >>> within_a_loss.next_k({5: True, 10: False}), within_risks.next_k({5: False, 6: True})
        (7, None)
        """
        good = [k for k, fits in within.items() if fits]
        if not good:
            return None
        best = max(good) if self.safest else min(good)
        worse = [k for k, fits in within.items() if not fits and (k > best) == self.safest]
        if not worse:
            return None
        other = min(worse) if self.safest else max(worse)
        return (best + other) // 2 if abs(best - other) > 1 else None

    def describe(self, chosen: Point | None, by: Risk, risk: str) -> str:
        """What was found, in a sentence."""
        if chosen is None:
            return "No setting that was tried on the table is within all limits of the plan."
        what = "The safest setting" if self.safest else "The setting that loses least"
        return (
            f"{what} within the limits is {chosen.setting.label}: it loses "
            f"{percent(chosen.lost or 0.0)}, and the {risk} is {percent(100 * chosen.risk(by))}."
        )


def goal_of(plan: Plan) -> Goal:
    """Limits on the loss alone: the safest setting; otherwise the one that loses least."""
    if not plan.limits:
        raise BadPlan(
            "the plan has no [limits]; state some, for example highest_risk = 0.1 or loss = 10.0"
        )
    about_risk = [name for name in plan.limits.stated() if name not in ("loss", "suppressed")]
    return Goal(safest=not about_risk)


def judged(release: Release, plan: Plan) -> list[str] | None:
    """The limits of the plan that a release does not keep to; None: the plan has none."""
    if not plan.limits:
        return None
    found = verdicts_of(release, plan)
    return [one.name for one in found if one.verdict not in ("green", "amber")]


def verdicts_of(release: Release, plan: Plan) -> list[Verdict]:
    """The limits of a plan, checked on a release that was made without them."""
    of_release = _Release(release.seen, release.after, release.attackers, release.quality)
    return verdicts(plan, of_release, release.suppressed / release.rows)
