"""Verdict: each limit of a plan, what the release reaches, and whether that is enough.

The rule: a limit is *red* if what is reached lies beyond it, *amber* if it lies within it but above
80 % of it, and *green* otherwise. It is *unknown* if what it is about was not measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, Protocol

from shoal.measures.exposure import Exposure, Success
from shoal.measures.information_loss import Quality
from shoal.measures.key_sets import views
from shoal.models import TOLERANCE
from shoal.plan import Plan
from shoal.table.published_table import Published

CLOSE = 0.8  # of a limit: above it a release is close to the limit
Colour = Literal["green", "amber", "red", "unknown"]
ATTACK = "attacks."  # before the name of an attack, as in a plan file


@dataclass(frozen=True)
class Verdict:
    """One limit, by its name in the plan, and what the release reaches."""

    name: str
    limit: float  # a share from 0 to 1; the loss in percent
    reached: float | None  # None: not measured
    column: str | None = None  # the sensitive column on which an attack succeeds most
    threshold: float | None = None  # of the risk, for the share of people at risk

    @property
    def verdict(self) -> Colour:
        """How the limit and what is reached compare.

        >>> [Verdict("loss", 30, reached).verdict for reached in (24, 24.1, 30, 30.1, None)]
        ['green', 'amber', 'amber', 'red', 'unknown']
        """
        if self.reached is None:
            return "unknown"
        if self.reached > self.limit * (1 + TOLERANCE):
            return "red"
        return "amber" if self.reached > CLOSE * self.limit * (1 + TOLERANCE) else "green"

    @property
    def attack(self) -> str | None:
        """The attack that the limit is about."""
        return self.name.removeprefix(ATTACK) if self.name.startswith(ATTACK) else None

    def as_dict(self) -> dict[str, Any]:
        """The verdict by the names of the JSON file."""
        found: dict[str, Any] = {
            "name": self.name,
            "limit": self.limit,
            "reached": self.reached,
            "verdict": self.verdict,
        }
        if self.threshold is not None:
            found["threshold"] = self.threshold
        if self.column is not None:
            found["column"] = self.column
        return found


class Judged(Protocol):
    """What limits are compared with."""

    @property
    def published(self) -> Published:
        """The table, as any reader sees it."""

    @property
    def after(self) -> Exposure:
        """What it discloses."""

    @property
    def attackers(self) -> Mapping[str, Exposure]:
        """What it discloses to each of several attackers, by name."""

    @property
    def quality(self) -> Quality | None:
        """What was lost; None: not measured."""


def verdicts(plan: Plan, measured: Judged, suppressed: float | None) -> list[Verdict]:
    """Every limit and what is reached; `suppressed` is the share of records, None: not known.

    Where several attackers know different columns, a limit applies to each of them.
    """
    return list(_verdicts(plan, measured, suppressed)) if plan.limits else []


def _verdicts(plan: Plan, measured: Judged, suppressed: float | None) -> Iterator[Verdict]:
    limits, quality = plan.limits, measured.quality
    each = list(measured.attackers.values()) or [measured.after]
    reached = {
        "highest_risk": _most(one.highest_risk for one in each),
        "average_risk": _most(one.average_risk for one in each),
        "loss": None if quality is None else quality.losses[plan.loss.name],
        "suppressed": suppressed,
    }
    for name in ("highest_risk", "average_risk"):
        if (limit := limits.limit(name)) is not None:
            yield Verdict(name, limit, reached[name])
    if (model := limits.share_at_risk) is not None:
        share = None
        if not measured.after.linked:  # otherwise risks are not 1 / class size
            seen = views(measured.published, plan.attackers)
            share = _most(model.check(one.published.classes).reached for one in seen)
        yield Verdict("share_at_risk", model.share, share, threshold=model.threshold)
    for name, limit in limits.attacks.items():
        worst = max((one.success(name) for one in each), key=_unknown_first)
        yield Verdict(ATTACK + name, limit, worst.share, worst.column)
    for name in ("loss", "suppressed"):
        if (limit := limits.limit(name)) is not None:
            yield Verdict(name, limit, reached[name])


def _unknown_first(one: Success) -> float:
    return inf if one.share is None else one.share


def _most(found: Iterable[float | None]) -> float | None:
    """The largest of these; None if one of them is not known."""
    known = list(found)
    return None if None in known else max(one for one in known if one is not None)
