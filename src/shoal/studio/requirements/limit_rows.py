"""Limits as a form: thresholds in percent, presets with their sources, and verdicts in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal import catalog
from shoal.attacks import LinkageAttack, SensitiveAttack
from shoal.plan import Plan
from shoal.plan.limits import PRESETS, Limits
from shoal.studio.requirements.fields import number_from, text_of
from shoal.table.roles import columns_with_role

SHARES = ("highest_risk", "average_risk", "suppressed")  # of people or records, from 0 to 1
PERCENT = 100.0
ATTACK = "attacks."


@dataclass(frozen=True)
class LimitRow:
    """One threshold: its own value in percent as text, and that of the preset."""

    name: str
    value: str
    preset: str = ""  # what the preset says, if nothing else is given


def rows_of(plan: Plan, typed: Mapping[str, str] | None = None) -> list[LimitRow]:
    """All thresholds that a release of the plan can be compared with."""
    limits = plan.limits
    preset = PRESETS[limits.preset].values if limits.preset else {}
    rows = [
        LimitRow(name, _percent(getattr(limits, name)), _percent(preset.get(name)))
        for name in SHARES
    ]
    loss = LimitRow("loss", text_of(limits.loss))
    rows = [*rows[:2], loss, rows[2]]
    if not plan.linked or limits.share_at_risk is not None:
        own = limits.share_at_risk
        rows.append(LimitRow("share_at_risk", "" if own is None else _percent(own.share)))
        rows.append(LimitRow("threshold", "" if own is None else _percent(own.threshold)))
    rows += [
        LimitRow(f"{ATTACK}{name}", _percent(limits.attacks.get(name))) for name in attacks_of(plan)
    ]
    if typed is None:
        return rows
    return [LimitRow(row.name, typed.get(row.name, row.value), row.preset) for row in rows]


def attacks_of(plan: Plan) -> list[str]:
    """The attacks that are run on a release of the plan, and those that it has a limit for."""
    sensitive = bool(columns_with_role(plan.columns, "sensitive"))
    found = []
    for name, kind in catalog.attacks.items():
        fits = plan.linked or not issubclass(kind, LinkageAttack)
        fits = fits and (sensitive or not issubclass(kind, SensitiveAttack))
        if fits or name in plan.limits.attacks:
            found.append(name)
    return found


def limits_from(plan: Plan, typed: Mapping[str, str]) -> Limits:
    """The limits that a form states."""
    given: dict[str, Any] = {"preset": typed.get("preset") or None}
    given |= {name: _share(name, typed) for name in SHARES}
    if typed.get("loss", "").strip():
        given["loss"] = number_from("loss", typed["loss"])
    attacks = {name: _share(f"{ATTACK}{name}", typed) for name in attacks_of(plan)}
    given["attacks"] = {name: share for name, share in attacks.items() if share is not None}
    both = {"share": _share("share_at_risk", typed), "threshold": _share("threshold", typed)}
    stated = {name: value for name, value in both.items() if value is not None}
    if stated:
        given["share_at_risk"] = stated
    return Limits(**{name: one for name, one in given.items() if one is not None})


def _share(name: str, typed: Mapping[str, str]) -> float | None:
    text = typed.get(name, "").strip()
    return float(f"{number_from(name, text) / PERCENT:.12g}") if text else None


def _percent(share: float | None) -> str:
    """A share as the number of a percentage.

    >>> _percent(0.07), _percent(None), _percent(1 / 3)
    ('7', '', '33.3333333333')
    """
    return "" if share is None else text_of(float(PERCENT * share))
