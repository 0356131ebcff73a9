"""What a comparison is asked for, and what a line of it changes in the plan."""

from __future__ import annotations

from typing import Any

import pytest

from shoal import Plan
from shoal.base.errors import BadPlan
from shoal.studio.pages.compare.asked import asked_of, ks_of, own_k, ticked, with_line


def plan_of(**given: Any) -> Plan:
    asked: dict[str, Any] = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
        "models": [{"name": "k-anonymity", "k": 4}, {"name": "average-risk", "r": 0.1}],
    }
    return Plan(**(asked | given))


def test_the_arguments_of_a_comparison() -> None:
    fields = [("algorithm", "peel"), ("algorithm", "mondrian"), ("k", "2, 5;10"), ("limit", "7,5"),
              ("loss", "ncp")]  # fmt: skip
    assert asked_of(plan_of(), fields) == {
        "algorithms": ["peel", "mondrian"],
        "losses": ["ncp"],
        "limit": 7.5,
        "k": [2, 5, 10],
    }
    assert "k" not in asked_of(plan_of(), [("algorithm", "peel"), ("k", "")])


@pytest.mark.parametrize(
    "fields",
    [[], [("algorithm", "concealment")], [("algorithm", "nothing")],
     [("algorithm", "peel"), ("k", "1")], [("algorithm", "peel"), ("k", "two")],
     [("algorithm", "peel"), ("limit", "soon")]],
)  # fmt: skip
def test_bad_wishes_are_refused(fields: list[tuple[str, str]]) -> None:
    with pytest.raises(BadPlan):
        asked_of(plan_of(), fields)


def test_what_is_proposed_follows_the_plan() -> None:
    assert own_k(plan_of()) == 4
    assert own_k(plan_of(models=[{"name": "average-risk", "r": 0.1}])) is None
    assert ticked(plan_of(algorithm="kaca"), None)[0] == "kaca"


def test_a_line_sets_algorithm_loss_and_k() -> None:
    runs = [
        {"k": 7, "algorithm": "gaa weight=unit", "loss": "ncp",
         "options": {"strategy": "S1", "scope": "table", "column": None, "weight": "unit",
                     "candidates": "all"}},
    ]  # fmt: skip
    plan = with_line(plan_of(), {"runs": runs}, "0")
    assert (plan.algorithm.name, plan.algorithm.options()["weight"]) == ("gaa", "unit")
    assert (plan.loss.name, plan.models[0].options()["k"]) == ("ncp", 7)
    assert plan.models[1].options()["r"] == 0.1
    for place in ("1", "-1", "x", ""):
        with pytest.raises(BadPlan, match="not there any more"):
            with_line(plan_of(), {"runs": runs}, place)
    with pytest.raises(BadPlan, match="not there any more"):
        with_line(plan_of(), None, "0")


def test_the_form_keeps_what_was_compared_the_last_time() -> None:
    lines = [{"algorithm": name, "k": k} for k in (4, 2) for name in ("mdav", "gaa (passes = 2)")]
    found = {"runs": lines}
    assert ticked(plan_of(), found) == ["mdav", "gaa"]
    assert ks_of(plan_of(), found) == "2, 4"
    assert ks_of(plan_of(models=[{"name": "k-anonymity", "k": 9}]), found) == "9"
    for nothing in (None, {"runs": []}):
        assert ticked(plan_of(), nothing)[0] == "peel"
        assert ks_of(plan_of(), nothing) == "4"
