"""Words of the page that depend on numbers: ranges, class sizes and verdicts about limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.measures.verdicts.verdict import ATTACK, CLOSE
from shoal.studio.requirements.fields import FormField, text_of
from shoal.studio.wording import Wording

MARKS = {"green": "✔", "amber": "▲", "red": "✖", "unknown": "?"}


def range_words(t: Wording, field: FormField) -> str:
    """What may be entered into a field."""
    low, high = text_of(field.low), text_of(field.high)
    if field.low is not None and field.high is not None:
        return t("fields.between", low=low, high=high)
    if field.low is not None:
        return t("fields.least", low=low)
    return t("fields.most", high=high) if field.high is not None else ""


def size_words(t: Wording, low: int, high: int | None) -> str:
    """A group of class sizes."""
    if low == high:
        return t.number(low)
    if high is None:
        return t("facts.or_more", n=t.number(low))
    return f"{t.number(low)}–{t.number(high)}"


def limit_words(t: Wording, verdict: Mapping[str, Any]) -> str:
    """A limit, what is reached, and why the verdict is what it is, in a sentence."""
    name, unit = str(verdict["name"]), 0.01 if verdict["name"] == "loss" else 1.0
    what = limit_name(t, name, verdict)
    if verdict["reached"] is None:
        return t("verdicts.not_measured", what=what)
    values = [unit * verdict[one] for one in ("reached", "limit")]
    shown = [t.share(values[0]), t.exact(values[1])]
    if shown[0] == t.share(values[1]) and values[0] != values[1]:  # 9.09% and 9% must differ
        shown[0] = t.exact(values[0])
    return t(
        f"verdicts.why_{verdict['verdict']}",
        what=what,
        reached=shown[0],
        limit=shown[1],
        close=t.exact(CLOSE),
    )


def limit_name(t: Wording, name: str, verdict: Mapping[str, Any]) -> str:
    """What a limit is about."""
    if name.startswith(ATTACK):
        on = verdict.get("column")
        said = t("limits.attack", name=name.removeprefix(ATTACK))
        return said if on is None else f"{said} ({on})"
    if name == "share_at_risk":
        return t("verdicts.share_at_risk", threshold=t.exact(verdict["threshold"]))
    return t(f"limits.{name}")
