"""Mistakes: errors are shown where they can be resolved, with buttons that do it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, ShoalError, WayOut
from shoal.plan.ways_out import resolved
from shoal.studio.requirements.mistakes import buttons_of, checked, mistake_of, place_of, way_from
from shoal.studio.wording import LANGUAGES, Wording

PEOPLE = pa.table({"age": [20, 21, 22, 23] * 5, "disease": ["flu", "gout"] * 10})
K = {"name": "k-anonymity", "k": 3}


def plan_of(**given: Any) -> Plan:
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "disease": "sensitive"}
    return Plan(**({"columns": columns, "models": [K], "seed": 1} | given))


def error_of(plan: Plan) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        shoal.anonymize(PEOPLE, plan)
    return caught.value


DIVERSE = {"name": "distinct-l-diversity", "column": "disease", "l": 9}
CASES = {
    "model-0": plan_of(models=[{"name": "k-anonymity", "k": 99}]),
    "model-1": plan_of(models=[K, DIVERSE]),
    "add": plan_of(models=[]),
    "limits": plan_of(limits={"attacks": {"graph": 0.1}}),
}


@pytest.mark.parametrize("place", CASES)
def test_errors_have_their_place_and_buttons(place: str) -> None:
    plan = CASES[place]
    mistake = mistake_of(error_of(plan), plan)
    assert mistake.place == place
    assert mistake.buttons
    for button in mistake.buttons:
        form = {"action": button.action, "target": button.target, "value": button.value}
        assert resolved(plan, way_from(form)) != plan
        for language in LANGUAGES:
            assert Wording(language)(button.text, **button.filled)


def test_what_can_be_seen_without_the_table() -> None:
    assert checked(plan_of()) is None
    wrong = checked(plan_of(algorithm="concealment"))
    assert wrong is not None
    assert "does not support k-anonymity" in wrong.text
    assert wrong.place == "model-0"
    assert any(one.target == "peel" for one in wrong.buttons)


def test_errors_without_ways_out_are_placed_by_their_words() -> None:
    plan = plan_of(models=[K, DIVERSE])
    assert place_of(BadPlan("distinct-l-diversity is about 'x'"), plan) == "model-1"
    assert place_of(BadPlan("the loss weights is about edges"), plan) == "method"
    assert place_of(BadPlan("no attacker knows 'age'"), plan) == "attackers"
    assert place_of(ShoalError("internal error in shoal (KeyError)"), plan) == "preview"


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"action": "explode"},
        {"action": "set", "target": "k-anonymity", "value": "5"},
        {"action": "set", "target": "k-anonymity", "value": "{"},
    ],
)
def test_forms_that_no_button_sends_are_refused(form: dict[str, str]) -> None:
    with pytest.raises(BadPlan, match="not known"):
        way_from(form)


@pytest.mark.parametrize(
    ("target", "value", "english"),
    [
        ("highest_risk", None, "Remove the limit “Highest re-identification risk”"),
        ("loss", 0.4, "Set the limit “Information lost” to 0.4"),
        ("attacks.linkage", None, "Remove the limit “People on whom linkage succeeds”"),
    ],
)
def test_a_button_names_a_limit_as_the_page_does(
    target: str, value: float | None, english: str
) -> None:
    limits = {"highest_risk": 0.1, "loss": 0.1, "attacks": {"linkage": 0.1}}
    error = BadPlan("too much").offering(WayOut("limit", target, value))
    [button] = buttons_of(error, plan_of(limits=limits))
    assert button.words(Wording("en")) == english
    assert "_" not in button.words(Wording("de"))
