"""Limits as a form: percentages in and out, presets, and verdicts in words."""

from __future__ import annotations

from typing import Any

import pytest

from shoal import Plan
from shoal.base.errors import BadPlan
from shoal.measures.verdicts.verdict import Verdict
from shoal.studio.requirements.limit_rows import limits_from, rows_of
from shoal.studio.requirements.words import limit_words
from shoal.studio.wording import LANGUAGES, Wording


def plan_of(**limits: Any) -> Plan:
    return Plan(
        columns={"age": "quasi", "disease": "sensitive"},
        models=[{"name": "k-anonymity", "k": 3}],
        limits=limits,
    )


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"preset": "public"},
        {"preset": "cells-11", "highest_risk": 0.07},
        {"loss": 12.5, "suppressed": 0.03, "average_risk": 1.0},
        {"share_at_risk": {"share": 0.05, "threshold": 0.2}},
        {"attacks": {"homogeneity": 0.0, "skewness": 0.29}},
    ],
)
def test_a_form_gives_back_what_it_shows(limits: dict[str, Any]) -> None:
    plan = plan_of(**limits)
    typed = {row.name: row.value for row in rows_of(plan)}
    assert limits_from(plan, typed | {"preset": plan.limits.preset or ""}) == plan.limits


def test_rows_are_those_that_can_be_judged() -> None:
    names = [row.name for row in rows_of(plan_of())]
    assert "attacks.homogeneity" in names
    assert "attacks.graph" not in names
    columns = Plan(columns={"age": "quasi"}, models=[{"name": "k-concealment", "k": 3}])
    names = [row.name for row in rows_of(columns)]
    assert "attacks.graph" in names
    assert "attacks.homogeneity" not in names
    assert "share_at_risk" not in names


def test_the_value_of_a_preset_is_shown_where_none_is_given() -> None:
    rows = {row.name: row for row in rows_of(plan_of(preset="public"))}
    assert (rows["highest_risk"].value, rows["highest_risk"].preset) == ("", "9")


def test_what_was_typed_is_shown_again() -> None:
    rows = {row.name: row.value for row in rows_of(plan_of(loss=5.0), {"loss": "little"})}
    assert rows["loss"] == "little"


@pytest.mark.parametrize(
    "typed",
    [{"loss": "x"}, {"highest_risk": "0"}, {"highest_risk": "101"}, {"share_at_risk": "5"},
     {"preset": "private"}, {"attacks.linkage": "-1"}],
)  # fmt: skip
def test_bad_limits_are_refused(typed: dict[str, str]) -> None:
    with pytest.raises(BadPlan):
        limits_from(plan_of(), typed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_verdicts_can_be_read_without_colours(language: str) -> None:
    t = Wording(language)
    cases = [
        Verdict("highest_risk", 0.2, 0.1),
        Verdict("loss", 30.0, 25.0),
        Verdict("suppressed", 0.0, 0.01),
        Verdict("share_at_risk", 0.1, None, threshold=0.2),
        Verdict("attacks.skewness", 0.1, 0.5, "disease"),
    ]
    said = [limit_words(t, one.as_dict()) for one in cases]
    assert len(set(said)) == len(cases)
    assert [one.verdict for one in cases] == ["green", "amber", "red", "unknown", "red"]
    assert "disease" in said[4]
    assert t.exact(0.25) in said[1]  # of the loss, which is in percent already
