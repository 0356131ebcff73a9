"""The best setting within the limits of a plan."""

from __future__ import annotations

import pytest

import shoal
from shoal import BadPlan
from shoal.comparing.frontier.goal import Goal
from tests.comparing.frontier.test_search import PLAN, people


def losses(table, plan, ks):
    """What each k loses, as anonymize finds it."""
    found = {}
    for k in ks:
        models = [{"name": "k-anonymity", "k": k}, *plan.models[1:]]
        found[k] = shoal.anonymize(table, plan.changed(models=models, limits={})).losses["nllm"]
    return found


def test_the_safest_k_within_a_loss():
    """Found by bisection, and the next larger k that was tried is beyond the limit."""
    table = people(300)
    lost = losses(table, PLAN, [3, 20])
    most = (lost[3] + lost[20]) / 2
    plan = PLAN.changed(limits={"loss": most})
    found = shoal.frontier(table, plan, k=[3, 20], limits=True)
    k = int(found.chosen.setting.value("k"))
    assert 3 < k < 20
    assert found.chosen.lost <= most
    beyond = [one for one in found.on_table if one.setting.value("k") == k + 1]
    assert [one.beyond for one in beyond] == [("loss",)]
    assert beyond[0].lost > most
    assert "The safest setting within the limits is k =" in found.advice[-1]


def test_the_least_loss_within_risks():
    table = people(300)
    plan = PLAN.changed(limits={"highest_risk": 1 / 7})
    found = shoal.frontier(table, plan, k=[3, 12], limits=True)
    assert found.chosen.setting.value("k") == 7
    assert found.chosen.highest <= 1 / 7
    assert next(one for one in found.on_table if one.setting.value("k") == 6).within is False


def test_limits_that_nothing_keeps_to():
    plan = PLAN.changed(limits={"highest_risk": 0.2, "loss": 0.01})
    found = shoal.frontier(people(200), plan, k=[3, 6], limits=True)
    assert found.chosen is None
    assert "No setting that was tried on the table is within all limits" in found.advice[-1]


def test_limits_are_needed():
    with pytest.raises(BadPlan, match=r"the plan has no \[limits\]"):
        shoal.frontier(people(50), PLAN, limits=True)


def test_the_next_k():
    assert Goal(safest=True).next_k({2: True, 5: True, 10: False, 20: False}) == 7
    assert Goal(safest=False).next_k({2: False, 5: False, 10: True, 20: True}) == 7
    assert Goal(safest=True).next_k({2: True, 5: True}) is None
    assert Goal(safest=True).next_k({2: False}) is None
